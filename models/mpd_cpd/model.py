"""Model `mpd-cpd`: Luo and Suda, memory and computation parallel degrees from PTX instructions.

Each PTX instruction costs clocks by its operands. Along the path of a warp, tasks of computation
and of memory access make calculate periods; how many warps compute (CPD) and access memory (MPD) at
a time gives the time of each, and all of them the time of a wave of resident warps. The variant
`strict` follows the print where the usual reading does not (docs/deviations.md).
"""

from __future__ import annotations

from dataclasses import replace

from kernelcast.errors import ModelNotApplicable
from kernelcast.models.estimate import Advice, Combine, Estimate, Parameter, Term
from kernelcast.models.model import (
    ModelOptions,
    Recording,
    check_variant,
    declared,
    launch_validity,
)
from kernelcast.models.mpd_cpd.calculate_periods import (
    InstructionStream,
    calculate_periods,
    computation_proportion,
    executions,
)
from kernelcast.models.mpd_cpd.derived_ptx_costs import MEASURED_ON, ptx_costs
from kernelcast.models.mpd_cpd.equations import PeriodType, Reading
from kernelcast.models.mpd_cpd.instruction_stream import instruction_stream
from kernelcast.models.mpd_cpd.ptx_costs import PTX_COSTS
from kernelcast.models.mpd_cpd.wave import Wave, WavePart
from kernelcast.models.option import ModelOption
from kernelcast.models.tensor_work import refuse_tensor_work
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.profile import KernelProfile

__all__ = ["NAME", "mpd_cpd"]

NAME = "mpd-cpd"
_LEAST_ACCURACY = 0.826
"""Mean of min/max of measured and predicted times over 1 to 32 warps of the kernel that the paper
predicts worst (Table 4, Black-Scholes with seven more accesses)."""
_BASIS = (
    f"the time over and times {_LEAST_ACCURACY}, the mean accuracy of the kernel that the paper "
    "predicts worst on the GTX 260 (Table 4); other GPUs were not measured"
)
_FORMULAS = {
    WavePart.COMPUTATION: "sum of ceil(N_act c_i / CPD)",
    WavePart.PREVIOUS_MEMORY: "sum of T_p",
    WavePart.OWN_MEMORY: "sum of T_c",
    WavePart.ONE_WARP: "what the sum of c_i + m_i has more than that of T_i",
}
_MEANINGS = {
    PeriodType.NO_WAIT: "neither memory task outlasts its computation task",
    PeriodType.OWN_MEMORY: "its own memory task does",
    PeriodType.PREVIOUS_MEMORY: "that of the period before does",
    PeriodType.BOTH: "both do",
}


COMPUTATION_PROPORTION = ModelOption(
    "computation_proportion",
    float,
    "P of mpd-cpd, from 0 to 1. Default: what the executed instructions give.",
    lambda share: "" if 0 <= share <= 1 else f"a proportion lies between 0 and 1, got {share}",
    symbol="P",
)


@declared(
    needs={Recording.PATHS},
    variants=(Reading.STRICT.value,),
    options=(COMPUTATION_PROPORTION,),
    sections=(PTX_COSTS,),
)
def mpd_cpd(profile: KernelProfile, device: Device, options: ModelOptions) -> Estimate:
    """Estimates by Luo and Suda; ModelNotApplicable without paths of warps or costs."""
    check_variant(NAME, mpd_cpd, options.variant)
    refuse_tensor_work(profile, NAME)
    if profile.machine is not None:
        raise ModelNotApplicable(
            f"{NAME} prices instructions of PTX, and what was executed is machine code of "
            f"{profile.code}" + (": --code source" if profile.has_source else "")
        )
    costs = ptx_costs(device)
    if costs is None:
        raise ModelNotApplicable(
            f"{NAME} needs costs of PTX instructions, and {device.name} has neither [ptx_costs] "
            "nor the [timing] from which they could be derived"
        )
    stream = profile.derived(instruction_stream)
    if stream is None:
        raise ModelNotApplicable(
            f"{NAME} walks along the paths of warps: {profile.not_timed or 'none were recorded'}"
        )
    given = options.value(COMPUTATION_PROPORTION)
    counted = computation_proportion(executions(stream), costs)
    wave = Wave(
        periods=calculate_periods(stream, costs),
        proportion=counted if given is None else given,
        active_warps=_active_warps(stream, device),
        device=device,
        costs=costs,
        reading=Reading.USUAL if options.variant is None else Reading(options.variant),
    )
    if not wave.total_clocks:
        raise ModelNotApplicable(f"no warp of kernel {profile.kernel} executes anything")
    return _estimate(profile, stream, wave, options)


def _active_warps(stream: InstructionStream, device: Device) -> int:
    """N_act; a profile of another device may have more than this one holds."""
    warps = stream.thread_blocks_per_sm * stream.paths.warps_per_thread_block
    return max(1, min(warps, device.sm.max_warps))


def _estimate(
    profile: KernelProfile, stream: InstructionStream, wave: Wave, options: ModelOptions
) -> Estimate:
    waves = _waves(stream, wave)
    factor = profile.repeats * waves * (options.utilization or 1.0) / stream.path_share
    terms = _terms(wave, factor)
    return Estimate(
        kernel=profile.kernel,
        device=wave.device.name,
        model=NAME,
        terms=terms,
        bottleneck=terms.bottleneck.name,
        time_low_s=terms.seconds * _LEAST_ACCURACY,
        time_high_s=terms.seconds / _LEAST_ACCURACY,
        basis=_BASIS,
        repeats=profile.repeats,
        parameters=_parameters(wave, waves, terms.seconds),
        causes=_causes(wave),
        advice=_advice(wave),
        assumptions=(*_assumptions(profile, stream, wave, options), *profile.assumptions),
        validity=launch_validity(profile, terms.seconds),
    )


def _waves(stream: InstructionStream, wave: Wave) -> float:
    """How often each multiprocessor is filled with N_act warps; at least once."""
    warps = stream.thread_blocks * stream.paths.warps_per_thread_block
    return max(1.0, warps / (wave.active_warps * wave.device.architecture.sm_count))


def _terms(wave: Wave, factor: float) -> Term:
    return Term(
        "kernel",
        "waves x sum of T_i / clock",
        Combine.SUM,
        parts=tuple(
            Term(part.value, _FORMULAS[part], leaf_seconds=factor * wave.device.seconds(clocks))
            for part, clocks in wave.parts.items()
            if clocks
        ),
    )


def _parameters(wave: Wave, waves: float, time_s: float) -> tuple[Parameter, ...]:
    periods = wave.periods
    warps = len(periods.start) - 1
    shares = wave.type_shares
    return (
        Parameter("P", wave.proportion, "", "share of computation in the clocks of instructions"),
        Parameter("N_act", float(wave.active_warps), "", "resident warps of a multiprocessor"),
        Parameter("CPD", wave.computation_degree, "", "warps that compute at a time"),
        Parameter("MPD", wave.mean_memory_degree, "", "warps that access memory at a time, mean"),
        Parameter(
            "periods", len(periods.computation_clocks) / warps, "", "calculate periods of a warp"
        ),
        Parameter("c", float(periods.computation_clocks.sum()) / warps, "clocks", "of a warp"),
        Parameter("m", float(periods.access_clocks.sum()) / warps, "clocks", "of a warp"),
        *(
            Parameter(f"type {kind.value}", shares[kind], "", f"share of periods: {meaning}")
            for kind, meaning in _MEANINGS.items()
        ),
        Parameter("wave", wave.total_clocks, "clocks", "sum of T_i"),
        Parameter("waves", waves, "", "times that a multiprocessor is filled with warps"),
        Parameter("time", time_s, "s", "predicted time of all launches"),
    )


def _causes(wave: Wave) -> tuple[str, ...]:
    warps, others = wave.active_warps, wave.active_warps - 1
    reasons = {
        WavePart.COMPUTATION: f"computation, {wave.computation_degree:.3g} of {warps} warps at a "
        "time",
        WavePart.PREVIOUS_MEMORY: "memory of the period before, which serves "
        f"{wave.mean_memory_degree:.3g} of {warps} warps at a time",
        WavePart.OWN_MEMORY: f"memory that outlasts the computation of {others} other warps",
        WavePart.ONE_WARP: "the instructions of one warp after each other, which take longer than "
        "the equations give all of them",
    }
    total = wave.total_clocks
    return tuple(
        f"{clocks / total:.1%} of the time: {reasons[part]}"
        for part, clocks in wave.parts.items()
        if clocks
    )


def _advice(wave: Wave) -> tuple[Advice, ...]:
    """What a multiprocessor full of warps, and accesses without any wait, would gain."""
    found = []
    now = wave.total_clocks / wave.active_warps
    most = wave.device.sm.max_warps
    if wave.active_warps < most:
        full = replace(wave, active_warps=most)
        gain = 1 - full.total_clocks / most / now
        if gain > 0:
            warps = f"{most} resident warps instead of {wave.active_warps}"
            found.append(Advice(warps, f"-{gain:.1%}", 1 / (1 - gain)))
    waits = 1 - wave.parts[WavePart.COMPUTATION] / wave.total_clocks
    if waits > 0:
        memory = "no wait for memory (fewer accesses, other work meanwhile)"
        found.append(Advice(memory, f"-{waits:.1%}", 1 / (1 - waits) if waits < 1 else None))
    return tuple(found)


def _assumptions(
    profile: KernelProfile, stream: InstructionStream, wave: Wave, options: ModelOptions
) -> tuple[str, ...]:
    device, recorded = wave.device, len(stream.paths.thread_blocks)
    found = [f"{recorded} recorded thread blocks stand for {stream.thread_blocks}"]
    if device.section(PTX_COSTS) is None:
        found.append(
            f"costs of instructions are assumed: those of the {MEASURED_ON}, scaled by the "
            f"latencies of {device.name}"
        )
    if options.value(COMPUTATION_PROPORTION) is not None:
        found.append("P is as given, not as counted")
    if not stream.paths.is_complete:
        found.append(f"the paths hold {stream.path_share:.0%} of what their thread blocks execute")
    if profile.device != device.name:
        found.append(f"transactions as {profile.device} has them, not {device.name}")
    return tuple(found)
