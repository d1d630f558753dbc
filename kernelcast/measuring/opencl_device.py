"""An OpenCL device through pyopencl, with profiled events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import numpy as np

from kernelcast.measured_times import Api, DeviceFacts
from kernelcast.measuring.accelerator import (
    Array,
    BuiltKernel,
    DeviceBuffer,
    DeviceLaunch,
    MeasuringError,
)

__all__ = ["OpenClDevice", "device_names"]

_EMPTY_KERNEL = b"__kernel void empty(void) {}"
_UNTOLD = None
"""OpenCL tells neither registers per thread nor the width and clock of the memory."""


class OpenClDevice:
    """One device with a context and an in-order queue of its own."""

    api = Api.OPENCL
    is_dry_run = False

    def __init__(self, number: int) -> None:
        self._cl = _import_pyopencl()
        devices = _devices(self._cl)
        if not 0 <= number < len(devices):
            raise MeasuringError(
                f"there is no device {number}: {len(devices)} OpenCL devices are there"
            )
        self._device = devices[number]
        with self._errors():
            self._context = self._cl.Context([self._device])
            self._queue = self._cl.CommandQueue(
                self._context, properties=self._cl.command_queue_properties.PROFILING_ENABLE
            )
        self._facts = _read_facts(self._device)

    @property
    def facts(self) -> DeviceFacts:
        return self._facts

    def build(self, source: bytes, entry: str) -> BuiltKernel:
        with self._errors():
            program = self._cl.Program(self._context, source.decode()).build()
            kernel = self._cl.Kernel(program, entry)
        information = self._cl.kernel_work_group_info
        with self._errors():
            shared_bytes = kernel.get_work_group_info(information.LOCAL_MEM_SIZE, self._device)
            private_bytes = kernel.get_work_group_info(information.PRIVATE_MEM_SIZE, self._device)
        return BuiltKernel(entry, kernel, program, _UNTOLD, int(shared_bytes), int(private_bytes))

    def discard(self, kernel: BuiltKernel) -> None:
        """pyopencl releases what nothing refers to."""

    def empty_kernel(self) -> BuiltKernel:
        return self.build(_EMPTY_KERNEL, "empty")

    def allocate(self, nbytes: int) -> DeviceBuffer:
        with self._errors():
            handle = self._cl.Buffer(self._context, self._cl.mem_flags.READ_WRITE, nbytes)
        return DeviceBuffer(handle, nbytes)

    def free(self, buffer: DeviceBuffer) -> None:
        with self._errors():
            buffer.handle.release()

    def upload(self, buffer: DeviceBuffer, array: Array) -> None:
        with self._errors():
            self._cl.enqueue_copy(self._queue, buffer.handle, array, is_blocking=True)

    def download(self, buffer: DeviceBuffer, array: Array) -> None:
        with self._errors():
            self._cl.enqueue_copy(self._queue, array, buffer.handle, is_blocking=True)

    def copy(self, to: DeviceBuffer, source: DeviceBuffer) -> None:
        with self._errors():
            self._cl.enqueue_copy(self._queue, to.handle, source.handle)

    def fill(self, buffer: DeviceBuffer) -> None:
        with self._errors():
            self._cl.enqueue_fill_buffer(
                self._queue, buffer.handle, np.zeros(1, np.uint32), 0, buffer.nbytes
            )

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
        with self._errors():
            for position, argument in enumerate(arguments):
                kernel.set_arg(position, argument)
            event = self._cl.enqueue_nd_range_kernel(self._queue, kernel, global_size, launch.block)
            event.wait()
            return float(event.profile.end - event.profile.start) * 1e-9

    def clocks(self) -> Mapping[str, float]:
        """OpenCL knows the highest clock only."""
        return {}

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """OpenCL's errors as MeasuringError of one line."""
        try:
            yield
        except self._cl.Error as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            raise MeasuringError(lines[0] if lines else type(error).__name__) from None


def device_names() -> list[str]:
    """The devices in the order of their numbers; MeasuringError when there is none."""
    return [f"{item.name} ({item.platform.name})" for item in _devices(_import_pyopencl())]


def _devices(cl: ModuleType) -> list[Any]:
    try:
        found = [device for platform in cl.get_platforms() for device in platform.get_devices()]
    except cl.Error as error:
        raise MeasuringError(f"no OpenCL device: {error}") from None
    if not found:
        raise MeasuringError("no OpenCL device")
    return found


def _read_facts(device: Any) -> DeviceFacts:
    return DeviceFacts(
        name=device.name.strip(),
        compute_capability=None,
        sm_count=int(device.max_compute_units),
        sm_clock_hz=device.max_clock_frequency * 1e6 or None,
        memory_clock_hz=_UNTOLD,
        memory_bus_bits=_UNTOLD,
        l2_bytes=int(device.global_mem_cache_size) or None,
        driver=f"{device.platform.name} {device.driver_version}",
        cuda_version=None,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _import_pyopencl() -> ModuleType:
    try:
        import pyopencl
    except ImportError:
        raise MeasuringError("pyopencl is not installed: pip install pyopencl") from None
    return pyopencl
