"""Measures one case on a device: check the results once, then time launches from cold caches."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import numpy as np

from kernelcast.measuring.accelerator import (
    Accelerator,
    Array,
    BuiltKernel,
    DeviceBuffer,
    DeviceLaunch,
    DeviceLost,
    MeasuringError,
)
from kernelcast.measuring.cases import PreparedCase, compare
from kernelcast.simcore.launch.images import Image
from kernelcast.simcore.launch.launch import Argument, LocalBytes
from kernelcast.simcore.launch.textures import Surface, Texture
from kernelcast.validation.buffer_results import buffer_results
from kernelcast.validation.measured_times import MeasuredRow, MeasuredTime

__all__ = ["LEAST_REPEATS", "Session", "Settings"]

LEAST_REPEATS = 20
_FLUSHED_L2_SIZES = 2
_LEAST_FLUSHED_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class Settings:
    """Warm-up ends when both its launches and its wall seconds are reached."""

    repeats: int = LEAST_REPEATS
    warm_up_launches: int = 3
    warm_up_s: float = 0.05
    is_checked: bool = True


@dataclass(frozen=True, slots=True)
class _Refill:
    """A buffer that the kernel changes, and the copy of what it held before."""

    buffer: DeviceBuffer
    original: DeviceBuffer


class Session:
    """Measurements on one device.

    Before each timed launch the buffers that the kernel changes are refilled, then twice the
    second-level cache is overwritten: no launch finds its data there, and the host has enqueued the
    launch before the device gets to it.
    """

    def __init__(self, accelerator: Accelerator, settings: Settings) -> None:
        self._device = accelerator
        self._settings = settings
        self._flushed_bytes = max(
            _FLUSHED_L2_SIZES * (accelerator.facts.l2_bytes or 0), _LEAST_FLUSHED_BYTES
        )

    def launch_overhead(self) -> float:
        """Median seconds of an empty kernel of one thread, timed like any other."""
        kernel = self._device.empty_kernel()
        with _ended_by(lambda: self._device.discard(kernel)):
            times, _ = self._timed(DeviceLaunch(kernel, (1, 1, 1), (1, 1, 1), 0, ()), ())
        return times.seconds

    def launch_once(self, prepared: PreparedCase, source: bytes) -> None:
        """One launch and no other: what a profiler watches."""
        with self._placed(prepared, source) as (launch, _):
            self._device.time(launch)

    def measure(self, prepared: PreparedCase, source: bytes) -> MeasuredRow:
        """One row without metrics; MeasuringError, or the errors of a reference."""
        with self._placed(prepared, source) as (launch, buffers):
            self._device.time(launch)
            found = self._downloaded(prepared, buffers)
            is_checked = self._settings.is_checked and not self._device.is_dry_run
            check = compare(prepared, prepared.named_arguments | found) if is_checked else None
            changed = _changed(prepared.buffers, found)
            results = () if self._device.is_dry_run else buffer_results(prepared.buffers, found)
            with self._uploaded([prepared.buffers[name] for name in changed]) as originals:
                refills = [
                    _Refill(buffers[name], original)
                    for name, original in zip(changed, originals, strict=True)
                ]
                times, clocks = self._timed(launch, refills)
        kernel = launch.kernel
        static_bytes = kernel.shared_bytes
        return MeasuredRow(
            workload=prepared.case.name,
            size=prepared.case.size,
            kernel=kernel.name,
            grid=launch.grid,
            block=launch.block,
            registers=kernel.registers,
            shared_bytes=None
            if static_bytes is None
            else static_bytes + launch.dynamic_shared_bytes,
            local_bytes=kernel.local_bytes,
            time_s=times,
            clocks=clocks,
            check=check,
            restored=tuple(changed),
            warnings=kernel.remarks,
            results=results,
        )

    def _timed(
        self, launch: DeviceLaunch, refills: Sequence[_Refill]
    ) -> tuple[MeasuredTime, dict[str, float]]:
        """Times of the repeats, and the clocks before (after warm-up) and after them."""
        settings = self._settings
        with self._allocated(self._flushed_bytes) as scratch:
            end, launches = time.perf_counter() + settings.warm_up_s, 0
            while launches < settings.warm_up_launches or time.perf_counter() < end:
                self._timed_once(launch, refills, scratch)
                launches += 1
            before = self._device.clocks()
            seconds = [self._timed_once(launch, refills, scratch) for _ in range(settings.repeats)]
            after = self._device.clocks()
        clocks = {f"{name}_before": value for name, value in before.items()}
        clocks |= {f"{name}_after": value for name, value in after.items()}
        return _summary(seconds), clocks

    def _timed_once(
        self, launch: DeviceLaunch, refills: Sequence[_Refill], scratch: DeviceBuffer
    ) -> float:
        for refill in refills:
            self._device.copy(refill.buffer, refill.original)
        self._device.fill(scratch)
        return self._device.time(launch)

    @contextmanager
    def _placed(
        self, prepared: PreparedCase, source: bytes
    ) -> Iterator[tuple[DeviceLaunch, Mapping[str, DeviceBuffer]]]:
        """The launch with the kernel compiled and its buffers, by name, on the device."""
        kernel = self._device.build(
            source, prepared.kernel.name, prepared.case.workload.kernel.compilation.options
        )
        with (
            _ended_by(lambda: self._device.discard(kernel)),
            self._uploaded(list(prepared.buffers.values())) as uploaded,
        ):
            buffers = dict(zip(prepared.buffers, uploaded, strict=True))
            yield _device_launch(prepared, kernel, buffers), buffers

    @contextmanager
    def _uploaded(self, arrays: Sequence[Array]) -> Iterator[list[DeviceBuffer]]:
        with ExitStack() as stack:
            made = [stack.enter_context(self._allocated(array.nbytes)) for array in arrays]
            for buffer, array in zip(made, arrays, strict=True):
                self._device.upload(buffer, array)
            yield made

    @contextmanager
    def _allocated(self, nbytes: int) -> Iterator[DeviceBuffer]:
        buffer = self._device.allocate(nbytes)
        with _ended_by(lambda: self._device.free(buffer)):
            yield buffer

    def _downloaded(
        self, prepared: PreparedCase, buffers: Mapping[str, DeviceBuffer]
    ) -> dict[str, Argument]:
        found: dict[str, Argument] = {}
        for name, before in prepared.buffers.items():
            array = np.empty_like(before)
            self._device.download(buffers[name], array)
            found[name] = array
        return found


@contextmanager
def _ended_by(release: Callable[[], None]) -> Iterator[None]:
    """Calls `release` at the end, unless the device is lost and can release nothing."""
    is_lost = False
    try:
        yield
    except DeviceLost:
        is_lost = True
        raise
    finally:
        if not is_lost:
            release()


def _device_launch(
    prepared: PreparedCase, kernel: BuiltKernel, buffers: Mapping[str, DeviceBuffer]
) -> DeviceLaunch:
    """The launch on the device; MeasuringError for a value not as wide as its parameter."""
    arguments: list[DeviceBuffer | LocalBytes | bytes] = []
    named = prepared.named_arguments.items()
    for (name, value), parameter in zip(named, prepared.kernel.parameters, strict=True):
        if name in buffers:
            arguments.append(buffers[name])
            continue
        if isinstance(value, LocalBytes):
            arguments.append(value)
            continue
        if isinstance(value, Image | Texture | Surface):
            raise MeasuringError(
                f"{prepared.case.workload.path}: {name} is a texture or surface, which this tool "
                "does not make on a device"
            )
        packed = value if isinstance(value, bytes) else np.asarray(value).tobytes()
        if len(packed) != parameter.size:
            raise MeasuringError(
                f"{prepared.case.workload.path}: {name} has {len(packed)} bytes, the kernel's "
                f"parameter {parameter.name} {parameter.size}"
            )
        arguments.append(packed)
    launch = prepared.launch
    return DeviceLaunch(
        kernel, launch.grid, launch.thread_block, launch.dynamic_shared_bytes, tuple(arguments)
    )


def _changed(before: Mapping[str, Array], after: Mapping[str, Argument]) -> list[str]:
    """The buffers whose bytes a launch has changed."""
    return [
        name
        for name, array in before.items()
        if not np.array_equal(_bytes_of(array), _bytes_of(np.asarray(after[name])))
    ]


def _bytes_of(array: Array) -> Array:
    return array.reshape(-1).view(np.uint8)


def _summary(seconds: Sequence[float]) -> MeasuredTime:
    return MeasuredTime(
        median=statistics.median(seconds),
        mean=statistics.fmean(seconds),
        std=statistics.stdev(seconds) if len(seconds) > 1 else 0.0,
        min=min(seconds),
        repeats=len(seconds),
    )
