"""Model `component-throughput`: Zhang and Owens, HPCA 2011: three components over barrier stages.

Time of the instruction pipeline = sum over types of instructions / throughput(warps), of shared
memory = wavefronts x bytes / bandwidth(warps), of global memory = bytes / bandwidth of a synthetic
benchmark of the same thread blocks, threads and transactions. With one thread block on an SM its
barrier stages follow each other, each as slow as its slowest component; with several they overlap,
and the launch has one bottleneck. Thread blocks that do not fill all SMs alike, and the L2, which
the paper's GPU has not, are taken into account beside it (docs/component-throughput.md).

Variant `paper`: a warp of which some lanes access shared memory has the conflicts of a whole one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from kernelcast.errors import ModelNotApplicable
from kernelcast.models.component_throughput.causes import Cause, causes, next_bottleneck
from kernelcast.models.component_throughput.component_facts import COMPONENTS
from kernelcast.models.component_throughput.curves import (
    global_bandwidth,
    instruction_throughput,
    shared_bandwidth,
)
from kernelcast.models.component_throughput.stage_profile import InstructionType, StageProfile
from kernelcast.models.component_throughput.stages_from_trace import stage_profiles
from kernelcast.models.component_throughput.times import (
    Component,
    LaunchWork,
    StageTime,
    stage_times,
    time_of,
)
from kernelcast.models.estimate import Advice, Combine, Estimate, Parameter, Term
from kernelcast.models.model import ModelOptions, check_variant, declared, launch_validity
from kernelcast.models.tensor_work import refuse_tensor_work
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.units import format_seconds

__all__ = ["NAME", "PAPER", "component_throughput", "launch_stage_times"]

NAME = "component-throughput"
PAPER = "paper"
_MOST_STAGES = 32
"""The most stages in a tree of terms; beyond it, equal neighbours are one term."""
_BASIS = (
    "the lower end has all components of a stage overlap, as the paper does, whose times are up to "
    "15 % too short; the upper end adds them"
)


@declared(variants=(PAPER,), sections=(COMPONENTS,))
def component_throughput(profile: KernelProfile, device: Device, options: ModelOptions) -> Estimate:
    """Estimates by components; ModelNotApplicable without launch and occupancy."""
    work = _work(profile, options)
    times = stage_times(work, device)
    if not time_of(times):
        raise ModelNotApplicable(f"kernel {profile.kernel} executes nothing")
    factor = profile.repeats * (1.0 if options.utilization is None else options.utilization)
    terms = _terms(times, factor)
    slowest = _slowest(times)
    found = causes(times, work, device, slowest)
    return Estimate(
        kernel=profile.kernel,
        device=device.name,
        model=NAME,
        terms=terms,
        bottleneck=slowest.value,
        time_low_s=terms.seconds,
        time_high_s=factor * sum(sum(stage.components.values()) for stage in times),
        basis=_BASIS,
        repeats=profile.repeats,
        parameters=_parameters(times, work, device, terms.seconds),
        causes=(*_where(times, factor, slowest), *(str(cause) for cause in found)),
        advice=_advice(found, times, factor, slowest),
        assumptions=(*_assumptions(profile, device), *profile.assumptions),
        validity=launch_validity(profile, terms.seconds),
    )


def launch_stage_times(
    profile: KernelProfile, device: Device, options: ModelOptions
) -> tuple[StageTime, ...]:
    """The times of one launch behind an estimate; ModelNotApplicable as it."""
    return stage_times(_work(profile, options), device)


def _work(profile: KernelProfile, options: ModelOptions) -> LaunchWork:
    check_variant(NAME, component_throughput, options.variant)
    refuse_tensor_work(profile, NAME)
    whole_warps = options.variant == PAPER
    if profile.launch is None or profile.occupancy is None:
        raise ModelNotApplicable(
            f"{NAME} needs grid, thread block and resident warps, which the profile does not tell"
        )
    stages = profile.derived(stage_profiles) or ()
    if not stages and whole_warps:
        raise ModelNotApplicable(
            f"{NAME}'s variant {PAPER} needs barrier stages, which the profile does not tell apart"
        )
    return LaunchWork(
        stages=stages or (_single_stage(profile),),
        thread_blocks=profile.launch.thread_blocks,
        threads=profile.launch.threads_per_thread_block,
        thread_blocks_per_sm=profile.occupancy.thread_blocks_per_sm,
        warps_per_sm=profile.occupancy.warps_per_sm,
        whole_warps=whole_warps,
    )


def _single_stage(profile: KernelProfile) -> StageProfile:
    """A profiler's counts as one stage; those of threads make full warps."""
    counts, shared, traffic = profile.instructions, profile.shared, profile.traffic
    double = min(counts.fp64 / profile.warp_width, counts.warp_instructions)
    special = min(
        (counts.special_function or 0.0) / profile.warp_width, counts.warp_instructions - double
    )
    requests = wavefronts = 0.0
    if shared is not None:
        requests = shared.load_requests + shared.store_requests
        wavefronts = shared.load_wavefronts + shared.store_wavefronts
    sectors = (traffic.l2_read_sectors or 0.0) + (traffic.l2_write_sectors or 0.0)
    asked = (traffic.requested_load_bytes or 0.0) + (traffic.requested_store_bytes or 0.0)
    assert profile.occupancy is not None
    warps = profile.occupancy.warps_per_sm / profile.occupancy.thread_blocks_per_sm
    return StageProfile(
        instructions=(0.0, counts.warp_instructions - double - special, special, double),
        computations=(counts.fp32 + counts.fp64) / profile.warp_width,
        folded_loads=0.0,
        active_warps=warps,
        shared_requests=requests,
        shared_wavefronts=wavefronts,
        ideal_shared_wavefronts=wavefronts if shared is None else shared.ideal_wavefronts or 0.0,
        whole_shared_wavefronts=wavefronts,
        shared_warps=warps,
        global_transactions=traffic.dram_read_transactions + traffic.dram_write_transactions,
        global_bytes=traffic.dram_bytes,
        l2_bytes=sectors * traffic.sector_bytes,
        requested_bytes=asked,
    )


def _slowest(times: Sequence[StageTime]) -> Component:
    """The component that most of the time goes to."""
    spent = dict.fromkeys(Component, 0.0)
    for stage in times:
        spent[stage.bottleneck] += stage.seconds()
    return max(spent, key=lambda component: spent[component])


def _terms(times: Sequence[StageTime], factor: float) -> Term:
    if len(times) == 1:
        return _stage_term("kernel", times, factor)
    if len(times) <= _MOST_STAGES:
        runs = [[stage] for stage in times]
    else:
        runs = [list(run) for _, run in groupby(times, key=lambda stage: stage.bottleneck)]
    parts = tuple(_stage_term(_run_name(run), run, factor) for run in runs)
    return Term("kernel", "sum over barrier stages", Combine.SUM, parts=parts)


def _run_name(run: Sequence[StageTime]) -> str:
    return run[0].name if len(run) == 1 else f"{run[0].name} to {run[-1].name.split()[-1]}"


def _stage_term(name: str, run: Sequence[StageTime], factor: float) -> Term:
    """The slowest component of stages that have one bottleneck."""
    types = tuple(
        Term(
            f"type {kind.value}",
            "warp instructions / throughput(warps)",
            leaf_seconds=factor * sum(stage.types[column] for stage in run),
        )
        for column, kind in enumerate(InstructionType)
    )
    shared_s = factor * sum(stage.shared_s for stage in run)
    global_s = factor * sum(stage.global_s for stage in run)
    parts = (
        Term(Component.INSTRUCTIONS.value, "sum over types", Combine.SUM, parts=types),
        Term(
            Component.SHARED.value, "wavefronts × bytes / bandwidth(warps)", leaf_seconds=shared_s
        ),
        Term(
            Component.GLOBAL.value,
            "bytes / bandwidth(thread blocks, threads, transactions)",
            leaf_seconds=global_s,
        ),
    )
    return Term(name, "the slowest component", Combine.MAX, parts=parts)


def _where(times: Sequence[StageTime], factor: float, slowest: Component) -> Iterator[str]:
    """The bottleneck's share, and what follows when it is removed."""
    seconds = time_of(times)
    spent = sum(stage.seconds() for stage in times if stage.bottleneck is slowest)
    following, gain = next_bottleneck(times, slowest)
    yield (
        f"{spent / seconds:.0%} of the time are bound by {slowest.value}; were it free, "
        f"{following.value} would be next and the launch {gain:.2f} times as fast"
    )
    conflicts = _without_conflicts(times)
    if conflicts > 1:
        yield f"without bank conflicts the launch would be {conflicts:.2f} times as fast"


def _without_conflicts(times: Sequence[StageTime]) -> float:
    """How much faster if shared memory took as few wavefronts as its words need."""
    total = 0.0
    for stage in times:
        taken, ideal = stage.stage.shared_wavefronts, stage.stage.ideal_shared_wavefronts
        share = min(1.0, ideal / taken) if taken else 1.0
        total += max(
            stage.seconds(Component.SHARED),
            stage.shared_s * share,
        )
    return time_of(times) / total if total else 1.0


def _advice(
    found: Sequence[Cause], times: Sequence[StageTime], factor: float, slowest: Component
) -> tuple[Advice, ...]:
    """Advice with what is gained at most: the launch were the slowest component free."""
    now_s, left_s = (factor * time_of(times, *free) for free in ((), (slowest,)))
    why = f"from {format_seconds(now_s)} to {format_seconds(left_s)} at best"
    gain = now_s / left_s if left_s else None
    return tuple(Advice(cause.advice, why, gain) for cause in found)


def _parameters(
    times: Sequence[StageTime], work: LaunchWork, device: Device, time_s: float
) -> tuple[Parameter, ...]:
    counts = [
        Parameter(
            f"N_{kind.value}",
            sum(stage.instructions[column] for stage in work.stages),
            "",
            f"warp instructions of type {kind.value}",
        )
        for column, kind in enumerate(InstructionType)
    ]
    total = sum(stage.warp_instructions for stage in work.stages)
    density = sum(stage.computations for stage in work.stages) / total if total else 0.0
    moved = sum(stage.global_bytes for stage in work.stages)
    return (
        *counts,
        Parameter("density", density, "", "floating-point arithmetic of all warp instructions"),
        Parameter(
            "N_shared", sum(map(work.wavefronts, work.stages)), "", "wavefronts of shared memory"
        ),
        Parameter(
            "N_global",
            sum(stage.global_transactions for stage in work.stages),
            "",
            "transactions of global memory",
        ),
        Parameter("bytes", moved, "B", "moved between the SMs and DRAM"),
        Parameter("stages", float(len(work.stages)), "", "between barriers"),
        Parameter("warps", float(work.warps_per_sm), "", "resident warps of an SM"),
        *_rates(times, work, device),
        Parameter("time", time_s, "s", "predicted time of all launches"),
    )


def _rates(times: Sequence[StageTime], work: LaunchWork, device: Device) -> Iterator[Parameter]:
    """Throughputs at the warps that are at work, means over stages."""
    throughput = instruction_throughput(device, InstructionType.II)
    rates = [throughput.at(stage.warps) for stage in times]
    yield Parameter("T_II", sum(rates) / len(rates), "1/s", "warp instructions, mean over stages")
    bandwidth = shared_bandwidth(device)
    shared = [bandwidth.at(stage.shared_warps) for stage in times if stage.shared_bytes]
    if shared:
        meaning = "sustained shared bandwidth, mean over stages"
        yield Parameter("B_shared", sum(shared) / len(shared), "B/s", meaning)
    moved = sum(stage.global_bytes for stage in work.stages)
    if moved:
        per_thread = moved / (work.thread_blocks * work.threads)
        rate = global_bandwidth(device).bytes_per_s(work.thread_blocks, work.threads, per_thread)
        yield Parameter("B_global", rate, "B/s", "of the benchmark with the same configuration")


def _assumptions(profile: KernelProfile, device: Device) -> Iterator[str]:
    yield f"instructions: {instruction_throughput(device, InstructionType.II).basis}"
    yield f"shared memory: {shared_bandwidth(device).basis}"
    if device.section(COMPONENTS) is None:
        yield "functional units by type from the peaks, all SMs share the memory alike (assumed)"
    if not profile.derived(stage_profiles):
        yield "the profile does not tell barrier stages apart: all components overlap"
    if profile.device != device.name:
        yield f"occupancy and transactions are those of {profile.device}"
