"""Zhang and Owens, section 3: the time that each component takes for each barrier stage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from kernelcast.models.component_throughput.curves import (
    global_bandwidth,
    instruction_throughput,
    shared_bandwidth,
    wavefront_bytes,
)
from kernelcast.models.component_throughput.stage_profile import InstructionType, StageProfile
from kernelcast.simcore.device.device import Device

__all__ = ["Component", "LaunchWork", "StageTime", "stage_times", "time_of"]


class Component(Enum):
    """The components of a GPU that one stage may keep busy."""

    INSTRUCTIONS = "instruction pipeline"
    SHARED = "shared memory"
    GLOBAL = "global memory"


@dataclass(frozen=True, slots=True)
class LaunchWork:
    """One launch: its stages, and how many thread blocks of how many warps an SM holds.

    `whole_warps`: wavefronts are those of warps that take part with all their lanes, and only the
    warps that access shared memory in a stage are at work in it (section 5.2).
    """

    stages: tuple[StageProfile, ...]
    thread_blocks: int
    threads: int
    thread_blocks_per_sm: int
    warps_per_sm: int
    whole_warps: bool = False

    @property
    def is_serial(self) -> bool:
        """Whether SMs hold one thread block each, so that nothing overlaps across a barrier."""
        return self.thread_blocks_per_sm == 1

    def wavefronts(self, stage: StageProfile) -> float:
        """Wavefronts of shared memory, with whole warps where these are assumed."""
        return stage.whole_shared_wavefronts if self.whole_warps else stage.shared_wavefronts

    def warps(self, stage: StageProfile) -> float:
        """Warps of an SM at work at a time."""
        if self.whole_warps and stage.shared_requests:
            return self.shared_warps(stage)
        return self._resident(stage.active_warps)

    def shared_warps(self, stage: StageProfile) -> float:
        """Warps of an SM that access shared memory at a time."""
        return self._resident(stage.shared_warps)

    def _resident(self, active_warps: float) -> float:
        resident = active_warps * self.thread_blocks_per_sm
        return max(1.0, min(resident, float(self.warps_per_sm)))


@dataclass(frozen=True, slots=True)
class StageTime:
    """Seconds of each component in one stage; `types` of each type of instruction.

    `warps`, `shared_warps`: of an SM, that issue instructions and that access shared memory at a
    time.
    """

    name: str
    stage: StageProfile
    types: tuple[float, float, float, float]
    shared_s: float
    global_s: float
    warps: float
    shared_warps: float
    shared_bytes: float

    @property
    def components(self) -> dict[Component, float]:
        """Seconds of each component."""
        return {
            Component.INSTRUCTIONS: sum(self.types),
            Component.SHARED: self.shared_s,
            Component.GLOBAL: self.global_s,
        }

    @property
    def bottleneck(self) -> Component:
        """The component that takes longest."""
        components = self.components
        return max(components, key=lambda item: components[item])

    def seconds(self, without: Component | None = None) -> float:
        """The slowest component; one may be taken to cost nothing."""
        return max(s for component, s in self.components.items() if component is not without)


def stage_times(work: LaunchWork, device: Device) -> tuple[StageTime, ...]:
    """One for each stage, or one for the whole launch where stages overlap.

    The stages of each thread block follow each other in any case: the launch takes no less than one
    thread block of each SM alone. ModelNotApplicable for instructions that the device has no units
    for.
    """
    if work.is_serial:
        return _in_turn(work, device)
    overlapped = (_time("kernel", _together(work.stages), work, device),)
    if work.whole_warps:
        return overlapped
    return max(overlapped, _in_turn(_first_of_each_sm(work, device), device), key=time_of)


def _in_turn(work: LaunchWork, device: Device) -> tuple[StageTime, ...]:
    return tuple(
        _time(f"stage {number}", stage, work, device) for number, stage in enumerate(work.stages)
    )


def _first_of_each_sm(work: LaunchWork, device: Device) -> LaunchWork:
    """The launch's first thread block of each SM, with nothing else on the SMs."""
    thread_blocks = min(work.thread_blocks, device.architecture.sm_count)
    share = thread_blocks / work.thread_blocks
    stages = tuple(
        replace(
            stage,
            instructions=_four(share * count for count in stage.instructions),
            **{name: share * getattr(stage, name) for name in _SUMS},
        )
        for stage in work.stages
    )
    return replace(
        work,
        stages=stages,
        thread_blocks=thread_blocks,
        thread_blocks_per_sm=1,
        warps_per_sm=work.warps_per_sm // work.thread_blocks_per_sm,
    )


def time_of(times: Sequence[StageTime], without: Component | None = None) -> float:
    """Seconds of all stages, one component free of charge if it is named."""
    return sum(stage.seconds(without) for stage in times)


def _time(name: str, stage: StageProfile, work: LaunchWork, device: Device) -> StageTime:
    warps, shared_warps = work.warps(stage), work.shared_warps(stage)
    share = _busiest(work, device)
    types = _four(
        share * count / instruction_throughput(device, kind).at(warps) if count else 0.0
        for kind, count in zip(InstructionType, stage.instructions, strict=True)
    )
    shared_bytes = work.wavefronts(stage) * wavefront_bytes(device)
    return StageTime(
        name=name,
        stage=stage,
        types=types,
        shared_s=share * shared_bytes / shared_bandwidth(device).at(shared_warps),
        global_s=_global_s(stage, work, device),
        warps=warps,
        shared_warps=shared_warps,
        shared_bytes=shared_bytes,
    )


def _busiest(work: LaunchWork, device: Device) -> float:
    """Thread blocks of the busiest SM over the mean of all."""
    sms = device.architecture.sm_count
    return -(-work.thread_blocks // sms) * sms / work.thread_blocks


def _global_s(stage: StageProfile, work: LaunchWork, device: Device) -> float:
    """The synthetic benchmark of the same configuration; the L2 where it is the slower one."""
    l2_s = _l2_s(stage, work, device)
    if not stage.global_bytes:
        return l2_s
    per_thread = stage.global_bytes / (work.thread_blocks * work.threads)
    rate = global_bandwidth(device).bytes_per_s(work.thread_blocks, work.threads, per_thread)
    return max(l2_s, stage.global_bytes / rate)


def _l2_s(stage: StageProfile, work: LaunchWork, device: Device) -> float:
    """The slower one of the L2 and of the busiest SM's way to it."""
    timing = device.timing
    if timing is None:
        return 0.0
    sms = device.architecture.sm_count * timing.l2_bytes_per_cycle
    ways_s = device.seconds(_busiest(work, device) * stage.l2_bytes / sms)
    return max(ways_s, stage.l2_bytes / timing.l2_bandwidth_bytes_per_s)


def _together(stages: Sequence[StageProfile]) -> StageProfile:
    """All stages as one; warps by what their work takes, one after the other."""
    columns = zip(*(stage.instructions for stage in stages), strict=True)
    total = sum(stage.warp_instructions for stage in stages)
    requests = sum(stage.shared_requests for stage in stages)
    spans = sum(stage.warp_instructions / stage.active_warps for stage in stages)
    shared_spans = sum(stage.shared_requests / stage.shared_warps for stage in stages)
    return StageProfile(
        instructions=_four(sum(column) for column in columns),
        active_warps=total / spans if spans else 1.0,
        shared_warps=requests / shared_spans if shared_spans else 1.0,
        **{name: sum(getattr(stage, name) for stage in stages) for name in _SUMS},
    )


def _four(values: Iterable[float]) -> tuple[float, float, float, float]:
    first, second, third, fourth = values
    return first, second, third, fourth


_SUMS = (
    "computations",
    "folded_loads",
    "shared_requests",
    "shared_wavefronts",
    "ideal_shared_wavefronts",
    "whole_shared_wavefronts",
    "global_transactions",
    "global_bytes",
    "l2_bytes",
    "requested_bytes",
)
