"""An OpenCL device that workloads are timed on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from kernelcast.errors import BenchmarkError
from kernelcast.measuring.accelerator import (
    Array,
    BuiltKernel,
    DeviceBuffer,
    DeviceLaunch,
    MeasuringError,
)
from kernelcast.opencl_bench.drivers import OpenClDevice as Chosen
from kernelcast.opencl_bench.drivers import opencl_device, opencl_devices
from kernelcast.opencl_bench.opencl_queue import OpenClQueue
from kernelcast.validation.measured_times import Api, DeviceFacts

__all__ = ["OpenClDevice", "device_names"]

_EMPTY_KERNEL = b"__kernel void empty(void) {}"
_UNTOLD = None
"""OpenCL tells neither registers per thread nor the width and clock of the memory."""


class OpenClDevice:
    """One device with a context and an in-order queue of its own."""

    api = Api.OPENCL
    is_dry_run = False

    def __init__(self, number: int | None) -> None:
        with _errors():
            chosen = opencl_device(number)
            self._queue = OpenClQueue(chosen)
        self._facts = _read_facts(chosen)

    @property
    def facts(self) -> DeviceFacts:
        """What the OpenCL driver says of the device."""
        return self._facts

    def build(self, source: bytes, entry: str, options: Sequence[str] = ()) -> BuiltKernel:
        """Builds a program; MeasuringError where it has no such kernel."""
        with _errors():
            kernels = self._queue.kernels(source.decode(), options, f"the source of {entry}")
            if entry not in kernels:
                raise MeasuringError(f"the source has no kernel {entry}")
            kernel = kernels[entry]
            shared, private = self._queue.local_bytes(kernel), self._queue.private_bytes(kernel)
        return BuiltKernel(entry, kernel, None, _UNTOLD, shared, private)

    def discard(self, kernel: BuiltKernel) -> None:
        """pyopencl releases what nothing refers to."""

    def empty_kernel(self) -> BuiltKernel:
        """A kernel without parameters that does nothing."""
        return self.build(_EMPTY_KERNEL, "empty")

    def allocate(self, nbytes: int) -> DeviceBuffer:
        """Allocates device memory."""
        with _errors():
            return DeviceBuffer(self._queue.allocate(nbytes), nbytes)

    def free(self, buffer: DeviceBuffer) -> None:
        """Frees device memory."""
        with _errors():
            self._queue.release(buffer.handle)

    def upload(self, buffer: DeviceBuffer, array: Array) -> None:
        """Copies an array to the device and waits."""
        with _errors():
            self._queue.upload(buffer.handle, array)

    def download(self, buffer: DeviceBuffer, array: Array) -> None:
        """Copies device memory to an array and waits."""
        with _errors():
            self._queue.download(buffer.handle, array)

    def copy(self, to: DeviceBuffer, source: DeviceBuffer) -> None:
        """Enqueues a copy on the device."""
        with _errors():
            self._queue.copy(to.handle, source.handle)

    def fill(self, buffer: DeviceBuffer) -> None:
        """Enqueues a fill with zeros."""
        with _errors():
            self._queue.fill(buffer.handle, buffer.nbytes)

    def time(self, launch: DeviceLaunch) -> float:
        """Seconds from start to end of the profiled command."""
        global_size = tuple(
            groups * threads for groups, threads in zip(launch.grid, launch.block, strict=True)
        )
        kernel = launch.kernel.handle
        if launch.dynamic_shared_bytes or kernel.num_args != len(launch.arguments):
            given = f"{len(launch.arguments)} and {launch.dynamic_shared_bytes} bytes"
            raise MeasuringError(
                f"kernel {launch.kernel.name} takes {kernel.num_args} arguments and no dynamic "
                f"shared memory, got {given}"
            )
        arguments = [
            item.handle if isinstance(item, DeviceBuffer) else item for item in launch.arguments
        ]
        with _errors():
            self._queue.set_arguments(kernel, arguments)
            return self._queue.launch(kernel, global_size, launch.block).event

    def clocks(self) -> Mapping[str, float]:
        """OpenCL knows the highest clock only."""
        return {}


def device_names() -> list[str]:
    """The devices in the order of their numbers; MeasuringError when there is none."""
    with _errors():
        return [f"{item.name} ({item.platform})" for item in opencl_devices()]


@contextmanager
def _errors() -> Iterator[None]:
    """What the driver refuses is the case's failure, not the end of all."""
    try:
        yield
    except BenchmarkError as error:
        raise MeasuringError(error.message) from None


def _read_facts(device: Chosen) -> DeviceFacts:
    told = device.handle
    return DeviceFacts(
        name=device.name,
        compute_capability=None,
        sm_count=int(told.max_compute_units),
        sm_clock_hz=told.max_clock_frequency * 1e6 or None,
        memory_clock_hz=_UNTOLD,
        memory_bus_bits=_UNTOLD,
        l2_bytes=int(told.global_mem_cache_size) or None,
        driver=f"{device.platform} {device.driver}",
        cuda_version=None,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
    )
