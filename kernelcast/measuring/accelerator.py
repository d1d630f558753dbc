"""The little that a device must do to be measured: memory, launches, times, clocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy.typing as npt

from kernelcast.errors import KernelcastError
from kernelcast.simcore.launch.launch import LocalBytes
from kernelcast.validation.measured_times import Api, DeviceFacts

__all__ = [
    "Accelerator",
    "Array",
    "BuiltKernel",
    "DeviceBuffer",
    "DeviceLaunch",
    "DeviceLost",
    "MeasuringError",
]

Array: TypeAlias = npt.NDArray[Any]


class MeasuringError(KernelcastError):
    """No device, no driver, or a call of the driver that failed."""


class DeviceLost(MeasuringError):
    """The device is lost: it executes nothing more for this process."""


@dataclass(frozen=True, slots=True)
class DeviceBuffer:
    """Memory of the device; `handle` is an address or an object of the API."""

    handle: Any
    nbytes: int


@dataclass(frozen=True, slots=True)
class BuiltKernel:
    """A kernel that the driver compiled. `shared_bytes` are the static ones of a thread block.

    `handle` and `module` are the API's; numbers are None where the driver does not tell them.
    `remarks` say how what was compiled differs from the source; rows carry them as warnings.
    """

    name: str
    handle: Any
    module: Any
    registers: int | None
    shared_bytes: int | None
    local_bytes: int | None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceLaunch:
    """One launch; `arguments` in order, values as the bytes that the kernel takes."""

    kernel: BuiltKernel
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared_bytes: int
    arguments: tuple[DeviceBuffer | LocalBytes | bytes, ...]


class Accelerator(Protocol):
    """A device with one in-order queue. Methods raise MeasuringError, DeviceLost at the worst."""

    @property
    def api(self) -> Api:
        """The interface that kernels are launched with."""

    @property
    def facts(self) -> DeviceFacts:
        """What is known of the device."""

    @property
    def is_dry_run(self) -> bool:
        """Whether nothing is executed, so that times mean nothing."""

    def build(self, source: bytes, entry: str, options: Sequence[str] = ()) -> BuiltKernel:
        """Builds the kernel `entry` of a source."""

    def discard(self, kernel: BuiltKernel) -> None:
        """Unloads a kernel's module."""

    def empty_kernel(self) -> BuiltKernel:
        """A kernel without parameters that does nothing."""
        ...

    def allocate(self, nbytes: int) -> DeviceBuffer:
        """Allocates device memory."""

    def free(self, buffer: DeviceBuffer) -> None:
        """Frees device memory."""

    def upload(self, buffer: DeviceBuffer, array: Array) -> None:
        """Copies an array to the device and waits."""

    def download(self, buffer: DeviceBuffer, array: Array) -> None:
        """Copies device memory to an array and waits."""

    def copy(self, to: DeviceBuffer, source: DeviceBuffer) -> None:
        """Enqueues a copy on the device; returns before it ends."""
        ...

    def fill(self, buffer: DeviceBuffer) -> None:
        """Enqueues a fill with zeros; returns before it ends."""
        ...

    def time(self, launch: DeviceLaunch) -> float:
        """Enqueues one launch behind what was enqueued before, waits for it; its seconds."""
        ...

    def clocks(self) -> Mapping[str, float]:
        """`sm_hz` and `memory_hz` at this moment; empty where nothing tells."""
        ...
