"""Model `interval` without paths of warps: a bound of the time from counts alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kernelcast.errors import ModelNotApplicable
from kernelcast.models.estimate import Combine, Estimate, Parameter, Term
from kernelcast.models.interval.spread import SPREAD, ends
from kernelcast.models.model import launch_validity
from kernelcast.models.tensor_work import tensor_rate
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.timing_facts import TimingFacts
from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.traces.amd_opcodes import AMD_ARCHITECTURE

__all__ = ["interval_bound"]

_BASIS = (
    "the lower end is the slowest throughput without any latency; the upper end adds all terms, as "
    f"if nothing overlapped; with {SPREAD}"
)
_ASSUMED = (
    "no paths of warps: each resource works at its full rate, all of them at the same time; "
    "dependences, barriers, branches and the tail are not seen"
)


def interval_bound(profile: KernelProfile, device: Device, factor: float) -> Estimate:
    """The slowest of issue, units, memory levels and latency. `factor` is one of the time.

    ModelNotApplicable without any work. The device has timing facts.
    """
    found, spread = _terms(profile, device, factor), ends(device)
    if not found.throughput:
        raise ModelNotApplicable(f"kernel {profile.kernel} has neither instructions nor traffic")
    work = Term("work", "the slowest of its parts", Combine.MAX, parts=found.work)
    terms = Term("kernel", "work + launch", Combine.SUM, parts=(work, found.launch))
    return Estimate(
        kernel=profile.kernel,
        device=device.name,
        model="interval",
        terms=terms,
        bottleneck=terms.bottleneck.name,
        time_low_s=_terms(profile, spread.fast, factor).least_seconds,
        time_high_s=_terms(profile, spread.slow, factor).most_seconds,
        basis=_BASIS,
        repeats=profile.repeats,
        parameters=(Parameter("time", terms.seconds, "s", "predicted time of all launches"),),
        causes=tuple(
            f"{term.name}: {term.seconds / work.seconds:.0%} of the work's time"
            for term in sorted(work.parts, key=lambda term: -term.seconds)[:3]
        ),
        assumptions=(*_assumptions(profile, device, bool(found.latency)), *profile.assumptions),
        validity=launch_validity(profile, terms.seconds),
    )


Rows = Iterator[tuple[str, str, float]]


@dataclass(frozen=True, slots=True)
class _Terms:
    throughput: tuple[Term, ...]
    latency: tuple[Term, ...]
    launch: Term

    @property
    def work(self) -> tuple[Term, ...]:
        return (*self.throughput, *self.latency)

    @property
    def least_seconds(self) -> float:
        return self.launch.seconds + max(term.seconds for term in self.throughput)

    @property
    def most_seconds(self) -> float:
        return self.launch.seconds + sum(term.seconds for term in self.work)


def _terms(profile: KernelProfile, device: Device, factor: float) -> _Terms:
    timing = device.timing
    assert timing is not None

    def terms(*rows: tuple[str, str, float]) -> tuple[Term, ...]:
        return tuple(
            Term(name, formula, leaf_seconds=factor * seconds) for name, formula, seconds in rows
        )

    throughput = (
        *_issue(profile, device, timing),
        *_units(profile, device, timing),
        *_memory(profile, device, timing),
    )
    return _Terms(
        throughput=terms(*(row for row in throughput if row[2])),
        latency=terms(*_latency(profile, device, timing)),
        launch=Term("launch", "overhead", leaf_seconds=factor * timing.launch_overhead_s),
    )


def _issue(profile: KernelProfile, device: Device, timing: TimingFacts) -> Rows:
    is_machine_code = profile.code.startswith(AMD_ARCHITECTURE)
    issues = timing.mixed_issues if is_machine_code else 0
    issues = issues or timing.issues_per_scheduler
    slots = device.sm.warp_schedulers * issues / timing.issue_cycles
    cycles = profile.instructions.warp_instructions / (slots * device.architecture.sm_count)
    yield "issue", "warp instructions / issue slots", device.seconds(cycles)


def _units(profile: KernelProfile, device: Device, timing: TimingFacts) -> Rows:
    """Terms of functional units from counts of operations; none for a count that is missing."""
    counts, sms = profile.instructions, device.architecture.sm_count
    for name, operations, lanes in (
        ("fp32 units", counts.fp32, timing.fp32.lanes),
        ("fp64 units", counts.fp64, timing.fp64.lanes),
        ("integer units", counts.integer, timing.integer.lanes),
        ("conversion units", counts.conversion, timing.conversion.lanes),
        ("special function units", counts.special_function, timing.special_function.lanes),
    ):
        if operations:
            yield name, "operations / lanes", device.seconds(operations / (lanes * sms))
    rate = tensor_rate(profile, device)
    if rate is not None:
        yield "tensor units", "operations / rates of their types", counts.tensor_total / rate
    if profile.shared is not None:
        passes = profile.shared.load_wavefronts + profile.shared.store_wavefronts
        yield "shared memory", "wavefronts / SMs", device.seconds(passes / sms)


def _memory(profile: KernelProfile, device: Device, timing: TimingFacts) -> Rows:
    traffic = profile.traffic
    ports = timing.l2_bytes_per_cycle * device.sm_cycles_per_s
    bandwidth = min(timing.l2_bandwidth_bytes_per_s, ports)
    yield "L2 bandwidth", "bytes / bandwidth of L2", traffic.known_l2_bytes / bandwidth
    attainable = device.dram.bandwidth_bytes_per_s * timing.dram_efficiency
    yield "DRAM bandwidth", "bytes / attainable bandwidth", traffic.dram_bytes / attainable


def _latency(profile: KernelProfile, device: Device, timing: TimingFacts) -> Rows:
    """Little's law with one load of each resident warp on its way."""
    requests = profile.traffic.global_load_requests
    if profile.occupancy is None or not requests:
        return
    reads, hits = profile.traffic.l2_read_sectors, profile.traffic.l2_read_hit_sectors
    missed = 1.0 if not reads or hits is None else 1.0 - hits / reads
    latency = timing.l2_latency_cycles + missed * (
        timing.dram_latency_cycles - timing.l2_latency_cycles
    )
    warps = profile.occupancy.warps_per_sm * device.architecture.sm_count
    yield "memory latency", "loads x latency / warps", device.seconds(requests * latency / warps)


def _assumptions(profile: KernelProfile, device: Device, has_latency: bool) -> tuple[str, ...]:
    found = [_ASSUMED]
    if profile.not_timed:
        found.append(f"why there are no paths: {profile.not_timed}")
    if has_latency:
        found.append("each resident warp has one load on its way at a time")
    else:
        found.append("latency is hidden: the profile has no occupancy or no loads")
    if profile.shared is None:
        found.append("shared memory is not counted")
    if profile.device != device.name:
        found.append(f"counts and traffic as {profile.device} has them, not {device.name}")
    return tuple(found)
