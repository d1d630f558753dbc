"""Extrapolation of the traffic of a sample to that of the launch, with its error.

A ratio estimator (Cochran, "Sampling Techniques", chapter 6): how often each access is issued in
the whole grid is known exactly, and the sample says what one issue moves at each level.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from kernelcast.errors import TraceFormatError
from kernelcast.simcore.memory.hierarchy import (
    SampledCount,
    SampledTraffic,
    TrafficResult,
    WriteBacks,
)
from kernelcast.simcore.memory.levels import Counters
from kernelcast.simcore.memory.repeats import completed
from kernelcast.simcore.sampling.plan import SamplePlan
from kernelcast.traces.trace import Trace

__all__ = ["IssueCounts", "extrapolate"]

_CONFIDENCE = 0.95
_UNSEEN = 0.01
"""A share of the value that the interval has besides: caches that were warmed up are not those of
the launch, and no sample can tell. It is what was found where samples do not scatter."""
_STATELESS = ("requests", "requested_bytes", "sectors", "ideal_sectors")
"""What does not depend on caches: the warm-ups count too."""

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Sample:
    """What a sample counted by instruction, of which `size` is known of the whole launch.

    `population`: that of the launch. `halves`: positions in `parts` of the measured halves of each
    sample; `relative_error` of the population.
    """

    size: str
    population: Reals
    cold: Counters
    all_parts: Counters
    parts: Sequence[Counters]
    halves: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    relative_error: float

    def sizes(self, counts: Counters) -> Ints:
        """What a part has of what is known of the launch."""
        found: Ints = getattr(counts, self.size)
        return found

    @property
    def rest(self) -> Reals:
        """What the launch has after its start."""
        return np.maximum(0.0, self.population - self.sizes(self.cold))

    @property
    def measured(self) -> list[int]:
        """Positions of all intervals that are measured."""
        return sorted({place for pair in self.halves for half in pair for place in half})


@dataclass(frozen=True)
class IssueCounts:
    """How often instructions are issued: in the `whole` launch, and in what was `simulated`.

    Shape (instructions,) each. `whole_lanes` and `simulated_lanes`: by how many lanes, None where
    that is not known. `relative_error`: standard error of `whole` as a share of it.
    """

    whole: Reals
    simulated: Reals
    relative_error: float = 0.0
    whole_lanes: Reals | None = None
    simulated_lanes: Reals | None = None

    @classmethod
    def of(cls, whole: Trace, simulated: tuple[Ints, Ints], relative_error: float) -> IssueCounts:
        """What a launch issues, and (issues, lanes) of what was simulated."""
        issues, lanes = (item.astype(np.float64) for item in whole.classes.totals())
        some, some_lanes = (item.astype(np.float64) for item in simulated)
        return cls(issues, some, relative_error, lanes, some_lanes)

    def populations(self, counted: Counters) -> Iterator[tuple[str, Reals]]:
        """(what, how much of it the launch has by pc): exact but for accesses under a guard."""
        yield "requests", _more(counted.requests, self.whole, self.simulated)
        if self.whole_lanes is not None and self.simulated_lanes is not None:
            lanes = self.whole_lanes, self.simulated_lanes
            yield "requested_bytes", _more(counted.requested_bytes, *lanes)


def extrapolate(
    plan: SamplePlan,
    parts: Sequence[Counters],
    finished: TrafficResult,
    issues: IssueCounts,
) -> SampledTraffic:
    """`parts`: counts of each interval of the plan; `finished`: of all, write-back included.

    TraceFormatError when the counts are not those of the plan, or those measured are empty.
    """
    if len(parts) != len(plan.intervals):
        raise TraceFormatError(
            f"counts of {len(parts)} intervals where {len(plan.intervals)} were sampled"
        )
    if plan.is_followed:
        parts = completed(parts, [item.leaves_out for item in plan.intervals])
        finished = replace(finished, by_instruction=_total(parts))
    cold = _total(part for part, item in zip(parts, plan.intervals, strict=True) if item.is_cold)
    found = [
        _extrapolated(
            _Sample(
                *(size, population, cold, finished.by_instruction, parts, plan.halves()),
                issues.relative_error,
            ),
            finished,
            plan.share,
        )
        for size, population in issues.populations(finished.by_instruction)
    ]
    # what DRAM does follows from requests of warps, or from those of lanes: the better of the two
    return min(found, key=lambda item: item.dram_reads.standard_error)


def _extrapolated(sample: _Sample, finished: TrafficResult, share: float) -> SampledTraffic:
    columns = {name: _column(sample, name) for name in Counters._fields}
    written = finished.dram_write_transactions
    # a sector counts for the store that dirties it; when it is written is another matter
    dirtied = int(finished.by_instruction.dram_writes.sum())
    fills_of_writes = _ratio(finished.fill_reads, dirtied)
    of_reads = {"dram_reads": 1.0, "memory_side_hits": -1.0, "dram_writes": fills_of_writes}
    of_writes = {"dram_writes": _ratio(written, dirtied)}
    fills = fills_of_writes * float(columns["dram_writes"].sum())
    missed = float((columns["dram_reads"] - columns["memory_side_hits"]).sum())
    reads = _with_error(sample, of_reads, missed + fills)
    writes = of_writes["dram_writes"] * float(columns["dram_writes"].sum())
    left = min(finished.left_writes, round(writes))
    traffic = TrafficResult(
        by_instruction=Counters(*(np.rint(columns[name]).astype(np.int64) for name in columns)),
        sector_bytes=finished.sector_bytes,
        transaction_bytes=finished.transaction_bytes,
        writes=WriteBacks(round(writes) - left, round(fills), left),
    )
    return SampledTraffic(traffic, reads, _with_error(sample, of_writes, writes), share)


def _ratio(count: int, of: int) -> float:
    return count / of if of else 0.0


def _total(parts: Iterable[Counters]) -> Counters:
    columns = zip(*parts, strict=True)
    return Counters(*(np.sum(column, axis=0) for column in columns))


def _more(counted: Ints, whole: Reals, some: Reals) -> Reals:
    """A count of a part as it is in the whole."""
    more = np.divide(whole, some, out=np.zeros(len(some)), where=some > 0)
    found: Reals = counted.astype(np.float64) * more
    return found


def _column(sample: _Sample, name: str) -> Reals:
    """One counter of the whole launch by pc."""
    if name in _STATELESS:
        rate = _rate(sample, name, is_measured=False)
        return rate * sample.population
    cold: Ints = getattr(sample.cold, name)
    return cold + _rate(sample, name, is_measured=True) * sample.rest


def _rate(sample: _Sample, name: str, *, is_measured: bool) -> Reals:
    """What the size of a part adds to a counter by pc; of what is never measured, over all."""
    counted: Reals = getattr(sample.all_parts, name).astype(np.float64)
    sizes: Reals = sample.sizes(sample.all_parts).astype(np.float64)
    if is_measured:
        chosen = sample.measured
        measured = sum(sample.sizes(sample.parts[i]) for i in chosen)
        counted = np.where(measured, sum(getattr(sample.parts[i], name) for i in chosen), counted)
        sizes = np.where(measured, measured, sizes)
    return np.divide(counted, sizes, out=np.zeros_like(counted), where=sizes > 0)


def _with_error(sample: _Sample, weights: Mapping[str, float], value: float) -> SampledCount:
    """A weighted sum of counters with its standard error.

    The error has two parts: scatter between the samples, and how far their second halves are from
    the whole.
    """
    residual = _residuals(sample, weights)
    measured = float(sum(sample.sizes(sample.parts[i]).sum() for i in sample.measured))
    rest = float(sample.rest.sum())
    if not rest:
        return SampledCount(value, 0.0, value, value)
    if not measured:
        raise TraceFormatError("none of the accesses that were to be measured was simulated")
    samples, expansion = len(residual), rest / measured
    by_sample = residual.sum(axis=1)
    scatter = math.sqrt(samples * by_sample.var(ddof=1) * max(0.0, 1.0 - measured / rest))
    drift = 2.0 * abs(float(residual[:, 1].sum()))
    error = math.hypot(expansion * math.hypot(scatter, drift), sample.relative_error * value)
    reach = error * float(stdtrit(samples - 1, 0.5 + _CONFIDENCE / 2)) + _UNSEEN * value
    return SampledCount(value, error, max(0.0, value - reach), value + reach)


def _residuals(sample: _Sample, weights: Mapping[str, float]) -> Reals:
    """What the common rates leave unexplained, shape (samples, halves)."""
    rates = {name: _rate(sample, name, is_measured=True) for name in weights}
    found = np.zeros((len(sample.halves), 2))
    for row, pair in enumerate(sample.halves):
        for half, position in _once(pair):
            part = sample.parts[position]
            for name, weight in weights.items():
                left = getattr(part, name) - rates[name] * sample.sizes(part)
                found[row, half] += weight * float(left.sum())
    return found


def _once(pair: tuple[tuple[int, ...], tuple[int, ...]]) -> Iterator[tuple[int, int]]:
    """(half, position) of each interval of a sample; a sample of one half has it twice."""
    first, second = pair
    for half, places in enumerate([first] if first == second else pair):
        for place in places:
            yield half, place
