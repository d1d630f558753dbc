"""A device that executes nothing, for dry runs: memory of the host, launches that only pack."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import numpy as np

from kernelcast.measuring.accelerator import (
    Array,
    BuiltKernel,
    DeviceBuffer,
    DeviceLaunch,
    MeasuringError,
)
from kernelcast.validation.measured_times import Api, DeviceFacts

__all__ = ["FakeAccelerator"]

_EMPTY_KERNEL = "empty"
_ELF = b"\x7fELF"


class FakeAccelerator:
    """Has no compiler: a source is accepted when it defines the kernel that is asked for."""

    is_dry_run = True

    def __init__(self, api: Api) -> None:
        self._api = api
        self._facts = DeviceFacts(
            name="dry run",
            compute_capability="8.0" if api is Api.CUDA else None,
            sm_count=0,
            sm_clock_hz=None,
            memory_clock_hz=None,
            memory_bus_bits=None,
            l2_bytes=None,
            driver=None,
            cuda_version=None,
            date=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        self._allocated: set[int] = set()

    @property
    def api(self) -> Api:
        """The interface that it pretends to have."""
        return self._api

    @property
    def facts(self) -> DeviceFacts:
        """Made-up facts of a device."""
        return self._facts

    @property
    def buffers_in_use(self) -> int:
        """Allocated buffers that nobody freed."""
        return len(self._allocated)

    def build(self, source: bytes, entry: str, options: Sequence[str] = ()) -> BuiltKernel:
        """Checks that the source defines the kernel; MeasuringError otherwise."""
        if source.startswith(_ELF):
            pattern = re.escape(b".text." + entry.encode()) + rb"\0"
        else:
            word = rb"\.entry" if self._api is Api.CUDA else rb"_?_?kernel\b[^;{]*?"
            pattern = word + rb"\s+" + re.escape(entry.encode()) + rb"\s*\("
        if not re.search(pattern, source):
            raise MeasuringError(f"the source has no kernel {entry}")
        return BuiltKernel(entry, entry, None, None, None, None)

    def discard(self, kernel: BuiltKernel) -> None:
        """Nothing was built."""

    def empty_kernel(self) -> BuiltKernel:
        """A kernel that does nothing."""
        return BuiltKernel(_EMPTY_KERNEL, _EMPTY_KERNEL, None, None, None, None)

    def allocate(self, nbytes: int) -> DeviceBuffer:
        """Allocates host memory filled with zeros."""
        memory = np.zeros(nbytes, np.uint8)
        self._allocated.add(id(memory))
        return DeviceBuffer(memory, nbytes)

    def free(self, buffer: DeviceBuffer) -> None:
        """Frees a buffer; KeyError for one that is not allocated."""
        self._allocated.remove(id(buffer.handle))

    def upload(self, buffer: DeviceBuffer, array: Array) -> None:
        """Copies an array into the buffer."""
        buffer.handle[:] = array.reshape(-1).view(np.uint8)

    def download(self, buffer: DeviceBuffer, array: Array) -> None:
        """Copies the buffer into an array."""
        array.reshape(-1).view(np.uint8)[:] = buffer.handle

    def copy(self, to: DeviceBuffer, source: DeviceBuffer) -> None:
        """Copies one buffer into another at once."""
        to.handle[:] = source.handle

    def fill(self, buffer: DeviceBuffer) -> None:
        """The caches of nothing need no emptying."""

    def time(self, launch: DeviceLaunch) -> float:
        """Seconds that packing the arguments took on the host."""
        start = time.perf_counter()
        self.execute(launch)
        return time.perf_counter() - start

    def execute(self, launch: DeviceLaunch) -> None:
        """Looks at each argument; an error where one is no buffer of this device."""
        for argument in launch.arguments:
            if isinstance(argument, DeviceBuffer) and id(argument.handle) not in self._allocated:
                raise MeasuringError("an argument is no buffer of this device")

    def clocks(self) -> Mapping[str, float]:
        """No clocks: nothing tells them."""
        return {}
