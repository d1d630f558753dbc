"""The memories of several devices, simulated while a kernel runs."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.launch.local_arrays import resource_needs
from kernelcast.simcore.profile.occupancy import occupancy
from kernelcast.simcore.profile.shared_configuration import with_l1_left

if TYPE_CHECKING:
    from kernelcast.simcore.memory.simulated_memory import MemoryResult, SimulatedMemory

__all__ = ["MemorySimulation", "ResidentLaunch", "SimulatedDevice", "resident_launch"]


@dataclass(frozen=True)
class SimulatedDevice:
    """What one launch did to the memory of `device`."""

    device: Device
    memory: MemoryResult


class MemorySimulation:
    """One launch on several devices. LaunchError when it does not fit one of them."""

    def __init__(
        self, kernel: Kernel, launch: Launch, devices: Sequence[Device], is_warm: bool = False
    ) -> None:
        self._kernel = kernel
        self._launch = launch
        self._devices = tuple(devices)
        self._is_warm = is_warm
        self._memories: dict[int, SimulatedMemory] = {}

    def sinks(self, warp_width: int) -> list[SimulatedMemory]:
        """The memories of the devices with warps of that many threads, unused."""
        found = []
        for number, device in enumerate(self._devices):
            if device.architecture.warp_width == warp_width:
                self._memories[number] = self._memory(device, warp_width)
                found.append(self._memories[number])
        return found

    def finish(self) -> tuple[SimulatedDevice, ...]:
        """The results of all devices that got their accesses."""
        with ThreadPoolExecutor() as pool:
            results = list(pool.map(lambda memory: memory.finish(), self._memories.values()))
        return tuple(
            SimulatedDevice(self._devices[number], result)
            for number, result in zip(self._memories, results, strict=True)
        )

    def _memory(self, device: Device, warp_width: int) -> SimulatedMemory:
        # The compiled memory simulator is slow to import and runs without devices do not need it.
        from kernelcast.simcore.memory.simulated_memory import SimulatedMemory

        resident = resident_launch(self._kernel, self._launch, device)
        return SimulatedMemory(
            instruction_rows(self._kernel),
            warp_width,
            -(-self._launch.threads_per_thread_block // warp_width),
            resident.device,
            resident.thread_blocks_per_sm,
            self._is_warm,
        )


class ResidentLaunch(NamedTuple):
    """A device with the L1 that shared memory leaves, and the thread blocks that an SM holds."""

    device: Device
    thread_blocks_per_sm: int


def resident_launch(kernel: Kernel, launch: Launch, device: Device) -> ResidentLaunch:
    """What a launch makes of a device. LaunchError when no thread block fits an SM."""
    needs = resource_needs(kernel, launch)
    found = occupancy(needs, launch.shape, device)
    return ResidentLaunch(with_l1_left(device, needs, found), found.thread_blocks_per_sm)
