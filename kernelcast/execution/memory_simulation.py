"""The memories of several devices, simulated while a kernel runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kernelcast.errors import LaunchError, UnfitDevice
from kernelcast.execution.run_options import RunOptions
from kernelcast.simcore.device.atomic_facts import AtomicFacts
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.resident_launch import ResidentLaunch
from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.device_memory import FIRST_OF_LAUNCHES
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.launch.local_arrays import resource_needs
from kernelcast.simcore.memory.contents.cache_contents import FirstContents
from kernelcast.simcore.profile.occupancy import occupancy
from kernelcast.simcore.profile.shared_configuration import with_l1_left
from kernelcast.store.memory_facts import memory_facts
from kernelcast.traces.stream import AccessSink
from kernelcast.traces.trace import InstructionRow, ResourceNeeds

if TYPE_CHECKING:
    from kernelcast.simcore.memory.contents.cache_contents import CacheContents
    from kernelcast.simcore.memory.simulated_memory import MemoryResult, SimulatedMemory
    from kernelcast.simcore.memory.stateless_counts import StatelessCounts

__all__ = [
    "MemorySimulation",
    "SimulatedDevice",
    "alike",
    "check_fit",
    "followed",
    "resident_launch",
]

_END_OF_LAUNCHES = 1 << 60


@dataclass(frozen=True)
class SimulatedDevice:
    """What one launch did to the memory of `device`."""

    device: Device
    memory: MemoryResult

    @property
    def thread_blocks_per_sm(self) -> int:
        """How many thread blocks of the launch an SM held."""
        return self.memory.thread_blocks_per_sm

    @property
    def found(self) -> FirstContents:
        """What L2 held when the launch began."""
        return self.memory.found


class MemorySimulation:
    """One launch on several devices, which finds in their L2 what the options say.

    LaunchError when it does not fit one of the devices.
    """

    def __init__(
        self, kernel: Kernel, launch: Launch, devices: Sequence[Device], options: RunOptions
    ) -> None:
        self._kernel = kernel
        self._launch = launch
        self._devices = tuple(devices)
        self._found = options.first_contents
        self._contents = options.contents
        self._memories: list[tuple[list[int], SimulatedMemory]] = []

    def sinks(self, warp_width: int) -> list[AccessSink]:
        """The memories of the devices with warps of that many threads, unused.

        What counts for several of them takes accesses, too.
        """
        groups = self._groups(warp_width)
        if not groups:
            return []
        # The compiled memory simulator is slow to import and runs without devices do not need it.
        from kernelcast.simcore.memory.stateless_counts import stateless_counts

        resident = [self._resident(number) for number, *_ in groups]
        devices = [device for device, _ in resident]
        counts = stateless_counts(instruction_rows(self._kernel), devices)
        new = [
            (group, self._memory(group, warp_width, each, own))
            for group, each, own in zip(groups, resident, counts, strict=True)
        ]
        self._memories += new
        return [*(memory for _, memory in new), *dict.fromkeys(counts)]

    def _groups(self, warp_width: int) -> list[list[int]]:
        """Numbers of devices that one memory stands for, first those that come first."""
        chosen = [
            number
            for number, device in enumerate(self._devices)
            if device.architecture.warp_width == warp_width
        ]
        # What launches leave in L2 is kept for each device.
        if self._found is not FirstContents.NOTHING or self._contents is not None:
            return [[number] for number in chosen]
        resident = [self._resident(number) for number in chosen]
        return [
            [chosen[place] for place in group]
            for group in alike(resident, instruction_rows(self._kernel))
        ]

    def _resident(self, number: int) -> ResidentLaunch:
        return resident_launch(self._kernel, self._launch, self._devices[number])

    def finish(self) -> tuple[SimulatedDevice, ...]:
        """The results of all devices that got their accesses, whose L2 has what the launch left."""
        with ThreadPoolExecutor() as pool:
            results = list(pool.map(lambda item: item[1].finish(), self._memories))
        if self._contents is not None:
            for (number, *_), memory in self._memories:
                self._contents.keep(self._devices[number], memory.left)
        made = {
            number: SimulatedDevice(self._devices[number], result)
            for (group, _), found in zip(self._memories, results, strict=True)
            for number, result in zip(group, found, strict=True)
        }
        return tuple(made[number] for number in sorted(made))

    def _memory(
        self,
        group: Sequence[int],
        warp_width: int,
        resident: ResidentLaunch,
        counts: StatelessCounts,
    ) -> SimulatedMemory:
        from kernelcast.simcore.memory.hierarchy import Latencies
        from kernelcast.simcore.memory.simulated_memory import SimulatedMemory

        device = self._devices[group[0]]
        return SimulatedMemory(
            instruction_rows(self._kernel),
            warp_width,
            -(-self._launch.threads_per_thread_block // warp_width),
            resident,
            self._found,
            None if self._contents is None else self._contents.of(device),
            [Latencies.of(self._devices[number]) for number in group],
            counts,
        )


def alike(launches: Sequence[ResidentLaunch], rows: Sequence[InstructionRow]) -> list[list[int]]:
    """Positions of launches of the instructions `rows` whose memories do the same, grouped.

    They may differ in latencies, and in what atomics take where there are none.
    """
    has_atomics = any(row.kind == "atomic" for row in rows)
    groups: dict[tuple[Device, int], list[int]] = {}
    for number, (device, thread_blocks_per_sm) in enumerate(launches):
        facts = memory_facts(device).device
        if not has_atomics:
            facts = replace(facts, atomics=AtomicFacts())
        groups.setdefault((facts, thread_blocks_per_sm), []).append(number)
    return list(groups.values())


def resident_launch(kernel: Kernel, launch: Launch, device: Device) -> ResidentLaunch:
    """What a launch makes of a device. LaunchError when no thread block fits an SM."""
    needs = resource_needs(kernel, launch)
    found = occupancy(needs, launch.shape, device)
    return ResidentLaunch(with_l1_left(device, needs, found), found.thread_blocks_per_sm)


def check_fit(needs: ResourceNeeds, launch: Launch, devices: Sequence[Device]) -> None:
    """Raises UnfitDevice when no thread block fits an SM of some of the devices."""
    reasons = []
    for device in devices:
        try:
            occupancy(needs, launch.shape, device)
        except LaunchError as error:
            reasons.append((device, error.message))
    if reasons:
        raise UnfitDevice(reasons)


@contextmanager
def followed(options: RunOptions) -> Iterator[RunOptions]:
    """Options of a launch whose CacheContents become those of `options` once it has succeeded.

    What the launch itself brought to the device is gone then. LaunchError when other options do
    not let it follow those before.
    """
    contents = options.contents
    if contents is None:
        yield options
        return
    _check(contents, options)
    with contents.launch() as changed:
        yield replace(options, caches=changed)
        changed.invalidate(FIRST_OF_LAUNCHES, _END_OF_LAUNCHES - FIRST_OF_LAUNCHES)


def _check(contents: CacheContents, options: RunOptions) -> None:
    if options.memory is None:
        raise LaunchError(
            "caches=CacheContents goes with memory=: without one each launch has addresses of its "
            "own, which mean nothing to the next"
        )
    if not options.devices or not options.record_memory:
        raise LaunchError(
            "caches=CacheContents goes with devices= and record_memory=True: what a launch leaves "
            "in L2 is known of simulated memory only"
        )
    if not contents.bind(options.memory):
        raise LaunchError("caches: the launches before were on another device memory")
