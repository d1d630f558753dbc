"""Model `interval`: where the cycles go, from a simulation of the warps of one SM.

The recorded paths of warps are walked with their dependences, units, memory levels and barriers
(docs/timing.md). Each issue slot is used or lost for one reason, so that the terms add up to the
time. Without paths, as for a profile from a profiler's file, counts and throughputs give a bound.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from kernelcast.errors import ModelNotApplicable
from kernelcast.models.estimate import Combine, Estimate, Parameter, Term
from kernelcast.models.interval.advice import explanation
from kernelcast.models.interval.bound import interval_bound
from kernelcast.models.interval.decisive_facts import decisive_facts
from kernelcast.models.interval.expected import expected_walks_s
from kernelcast.models.interval.model_error import model_error
from kernelcast.models.interval.relief import reliefs
from kernelcast.models.interval.shares import Group, Share, time_shares
from kernelcast.models.interval.spread import SPREAD, premises
from kernelcast.models.model import ModelOptions, Recording, declared, launch_validity
from kernelcast.models.option import ModelOption
from kernelcast.models.slot_account import slot_account
from kernelcast.models.tensor_work import check_tensor_units
from kernelcast.progress import lasting_stage, tell
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.timing_facts import TimingFacts
from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.simcore.profile.timed import timed_warps, walk_tables
from kernelcast.simcore.timing.kernel.mbarrier_waits import MBARRIER_WAIT
from kernelcast.simcore.timing.kernel.timed_kernel import TimedKernel

if TYPE_CHECKING:
    from kernelcast.simcore.host.shared_tables import SharedTables
    from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming

__all__ = ["EXPLAINED", "NAME", "RANGED", "interval"]

NAME = "interval"

EXPLAINED = ModelOption(
    "explained",
    str,
    "yes or no: whether the launch is simulated without each of its parts, to say what holds it "
    "up; otherwise the largest term is named.",
    lambda given: "" if given in ("yes", "no") else f"explained is yes or no, not {given!r}",
)

RANGED = ModelOption(
    "ranged",
    str,
    "yes or no: whether the launch is simulated with facts of the GPU that are a little off, too, "
    "to say between which times it may lie; otherwise errors of measured launches alone say it.",
    lambda given: "" if given in ("yes", "no") else f"ranged is yes or no, not {given!r}",
)


@declared(needs={Recording.PATHS}, options=(EXPLAINED, RANGED))
def interval(profile: KernelProfile, device: Device, options: ModelOptions) -> Estimate:
    """Estimates from a simulated SM; ModelNotApplicable for devices without timing facts."""
    if device.timing is None:
        raise ModelNotApplicable(
            f"{NAME} needs timing facts, and {device.name} has none ([timing] in its file)"
        )
    check_tensor_units(profile, device)
    factor = profile.repeats * (1.0 if options.utilization is None else options.utilization)
    timed = profile.derived(timed_warps)
    if timed is None:
        return interval_bound(profile, device, factor)
    others = () if options.value(RANGED) == "no" else premises(device)
    made = _simulated(profile, timed, device, factor, others)
    return made.estimate if options.value(EXPLAINED) == "no" else _explained(made, timed, factor)


class _Simulated(NamedTuple):
    """An estimate that names its largest term, and what it takes to explain it."""

    estimate: Estimate
    timing: LaunchTiming
    shares: dict[Share, float]
    tables: SharedTables


def _explained(made: _Simulated, kernel: TimedKernel, factor: float) -> Estimate:
    """The estimate with what the launch would gain without its parts."""
    found = reliefs(kernel, made.timing.device, made.timing, tables=made.tables)
    explained = explanation(kernel, made.timing, made.shares, found, factor)
    return replace(
        made.estimate,
        bottleneck=found[0].name,
        gain=found[0].gain,
        gain_text=found[0].gain_text,
        causes=explained.causes,
        advice=explained.advice,
        account=slot_account(made.timing, kernel),
        decisive_facts=decisive_facts(kernel, made.timing, made.tables),
    )


def _simulated(
    profile: KernelProfile,
    kernel: TimedKernel,
    device: Device,
    factor: float,
    versions: tuple[Device, ...],
) -> _Simulated:
    """Times the launch on the device, and on `versions` of it, which say how far it may be off."""
    from kernelcast.simcore.host.shared_tables import SharedTables
    from kernelcast.simcore.timing.launch.launch_timing import launch_timing
    from kernelcast.simcore.timing.launch.steady_stretch import MOST_INSTRUCTIONS

    tables = profile.derived(walk_tables) or SharedTables()
    timed = partial(launch_timing, kernel, tables=tables)
    # The compiled simulator leaves the interpreter to others.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        first = pool.submit(timed, device)
        others = [pool.submit(timed, item, only_time=True) for item in versions]
        walks = [first, *others]
        expected_s = expected_walks_s(kernel, device, len(walks), MOST_INSTRUCTIONS)
        stage = lasting_stage("walk", expected_s)
        tell(stage, 0.0)
        for number, walk in enumerate(walks, 1):
            walk.result()
            tell(stage, number / len(walks))
    timing = first.result()
    seconds = [factor * walk.result().seconds for walk in walks]
    error = model_error()
    shares, tail_s = time_shares(timing)
    terms = _terms(timing, shares, tail_s, factor)
    made = Estimate(
        kernel=profile.kernel,
        device=device.name,
        model=NAME,
        terms=terms,
        bottleneck=terms.bottleneck.name,
        time_low_s=min(error.low * terms.seconds, *seconds),
        time_high_s=max(error.high * terms.seconds, *seconds),
        basis=f"simulated again with {SPREAD}; {error.basis}" if versions else error.basis,
        coverage=error.coverage,
        repeats=profile.repeats,
        parameters=_parameters(timing, kernel, device, terms.seconds),
        cycles=timing.cycles * timing.scale,
        clock_hz=device.running_clock_hz,
        assumptions=(*_assumptions(profile, kernel, device, timing), *profile.assumptions),
        validity=launch_validity(profile, terms.seconds),
    )
    return _Simulated(made, timing, shares, tables)


def _terms(timing: LaunchTiming, shares: dict[Share, float], tail_s: float, factor: float) -> Term:
    parts = [
        Term(
            group.value,
            "slots of one SM / slots per cycle / clock",
            Combine.SUM,
            parts=tuple(
                Term(share.name, share.meaning, leaf_seconds=factor * seconds)
                for share, seconds in shares.items()
                if share.group is group and seconds
            ),
        )
        for group in Group
        if any(seconds and share.group is group for share, seconds in shares.items())
    ]
    imbalance_s = timing.device.seconds(timing.scale * timing.imbalance_cycles)
    for name, meaning, seconds in (
        ("tail", "slots lost while the SM has fewer thread blocks than at first", tail_s),
        ("imbalance", "cycles in which only some SMs have work", imbalance_s),
        ("launch", "overhead of a launch", timing.overhead_s),
    ):
        if seconds:
            parts.append(Term(name, meaning, leaf_seconds=factor * seconds))
    return Term("kernel", "sum over issue slots, and the launch", Combine.SUM, parts=tuple(parts))


def _parameters(
    timing: LaunchTiming, kernel: TimedKernel, device: Device, time_s: float
) -> tuple[Parameter, ...]:
    warps = kernel.thread_blocks_per_sm * kernel.paths.warps_per_thread_block
    ipc = timing.instructions / timing.full_cycles if timing.full_cycles else 0.0
    facts: TimingFacts | None = device.timing
    assert facts is not None
    return (
        Parameter("cycles", float(timing.cycles), "cycles", "of the SM that ends last"),
        Parameter("IPC", ipc, "", "warp instructions of an SM and cycle"),
        Parameter("IPC_max", timing.slots_per_cycle, "", "issue slots of an SM and cycle"),
        Parameter("warps", float(warps), "", "resident warps of an SM"),
        Parameter("thread blocks", float(timing.thread_blocks), "", "of an SM"),
        Parameter("simulated", float(timing.simulated_instructions), "", "warp instructions"),
        *_utilization(timing, kernel, device),
        Parameter("time", time_s, "s", "predicted time of all launches"),
    )


def _utilization(timing: LaunchTiming, kernel: TimedKernel, device: Device) -> Iterator[Parameter]:
    """nvprof's rating of every part that is used."""
    from kernelcast.simcore.timing.launch.utilization import nvprof_ratings, utilization

    for name, rating in nvprof_ratings(utilization(kernel, device, timing), device).items():
        if rating:
            yield Parameter(f"{name}_utilization", float(rating), "", "0 (idle) to 10 (busy)")


def _assumptions(
    profile: KernelProfile, kernel: TimedKernel, device: Device, timing: LaunchTiming
) -> tuple[str, ...]:
    recorded = len(kernel.paths.thread_blocks)
    found = [f"{recorded} recorded thread blocks stand for {kernel.thread_blocks}"]
    if not kernel.paths.is_complete:
        found.append(f"their paths hold {kernel.path_share:.0%} of what they execute")
    if not timing.is_steady:
        found.append("no steady state was found: the last stretch that was simulated is repeated")
    if profile.device != device.name:
        found.append(f"shares of cache hits as {profile.device} has them, not {device.name}")
    looks = any(row.opcode == MBARRIER_WAIT for row in kernel.instructions)
    if looks and not len(kernel.paths.phases):
        found.append("nobody waits at mbarriers: the paths do not say what for")
    if not kernel.paths.is_own_phase.all():
        found.append("thread blocks do not wait for what others of their cluster owe them")
    guessed = sum(key.startswith("timing.") for key in device.assumed)
    if guessed:
        found.append(f"{guessed} of {device.name}'s timing facts are assumed")
    return tuple(found)
