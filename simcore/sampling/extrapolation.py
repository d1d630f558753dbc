"""Extrapolation of the traffic of a sample to that of the launch, with its error.

A ratio estimator (Cochran, "Sampling Techniques", chapter 6): how often each access is issued in
the whole grid is known exactly, and the sample says what one issue moves at each level.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

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
from kernelcast.simcore.sampling.plan import SamplePlan

__all__ = ["IssueCounts", "extrapolate"]

_CONFIDENCE = 0.95
_STATELESS = ("requests", "requested_bytes", "sectors", "ideal_sectors")
"""What does not depend on caches: the warm-ups count too."""

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Sample:
    """What a sample counted by instruction: requests of the launch, rows of cold start and parts.

    `halves`: positions in `parts` of the measured halves of each sample; `relative_error` of the
    population.
    """

    population: Reals
    cold: Counters
    all_parts: Counters
    parts: Sequence[Counters]
    halves: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    relative_error: float

    @property
    def measured(self) -> list[int]:
        """Positions of all intervals that are measured."""
        return sorted({place for pair in self.halves for half in pair for place in half})


@dataclass(frozen=True)
class IssueCounts:
    """How often instructions are issued: in the `whole` launch, and in what was `simulated`.

    Shape (instructions,) each. `relative_error`: standard error of `whole` as a share of it.
    """

    whole: Reals
    simulated: Reals
    relative_error: float = 0.0


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
    sample = _Sample(
        _population(finished.by_instruction.requests, issues),
        _total(part for part, item in zip(parts, plan.intervals, strict=True) if item.is_cold),
        finished.by_instruction,
        parts,
        plan.halves(),
        issues.relative_error,
    )
    columns = {name: _column(sample, name) for name in Counters._fields}
    written = finished.dram_write_transactions
    # a sector counts for the store that dirties it; when it is written is another matter
    dirtied = int(finished.by_instruction.dram_writes.sum())
    of_reads = {"dram_reads": 1.0, "dram_writes": _ratio(finished.fill_reads, dirtied)}
    of_writes = {"dram_writes": _ratio(written, dirtied)}
    fills = of_reads["dram_writes"] * float(columns["dram_writes"].sum())
    reads = _with_error(sample, of_reads, float(columns["dram_reads"].sum()) + fills)
    writes = of_writes["dram_writes"] * float(columns["dram_writes"].sum())
    left = min(finished.left_writes, round(writes))
    traffic = TrafficResult(
        by_instruction=Counters(*(np.rint(columns[name]).astype(np.int64) for name in columns)),
        sector_bytes=finished.sector_bytes,
        transaction_bytes=finished.transaction_bytes,
        writes=WriteBacks(round(writes) - left, round(fills), left),
    )
    return SampledTraffic(traffic, reads, _with_error(sample, of_writes, writes), plan.share)


def _ratio(count: int, of: int) -> float:
    return count / of if of else 0.0


def _total(parts: Iterable[Counters]) -> Counters:
    columns = zip(*parts, strict=True)
    return Counters(*(np.sum(column, axis=0) for column in columns))


def _population(requests: Ints, issues: IssueCounts) -> Reals:
    """Requests of the whole grid by pc: exact but for accesses under a guard."""
    simulated = issues.simulated
    more = np.divide(issues.whole, simulated, out=np.zeros(len(simulated)), where=simulated > 0)
    population: Reals = requests.astype(np.float64) * more
    return population


def _column(sample: _Sample, name: str) -> Reals:
    """One counter of the whole launch by pc."""
    if name in _STATELESS:
        rate = _rate(sample, name, is_measured=False)
        return rate * sample.population
    cold: Ints = getattr(sample.cold, name)
    rest = np.maximum(0.0, sample.population - sample.cold.requests)
    return cold + _rate(sample, name, is_measured=True) * rest


def _rate(sample: _Sample, name: str, *, is_measured: bool) -> Reals:
    """What one request of each pc adds to a counter; of accesses never measured, over all parts."""
    counted: Reals = getattr(sample.all_parts, name).astype(np.float64)
    requests: Reals = sample.all_parts.requests.astype(np.float64)
    if is_measured:
        chosen = sample.measured
        measured = sum(sample.parts[i].requests for i in chosen)
        counted = np.where(measured, sum(getattr(sample.parts[i], name) for i in chosen), counted)
        requests = np.where(measured, measured, requests)
    return np.divide(counted, requests, out=np.zeros_like(counted), where=requests > 0)


def _with_error(sample: _Sample, weights: Mapping[str, float], value: float) -> SampledCount:
    """A weighted sum of counters with its standard error.

    The error has two parts: scatter between the samples, and how far their second halves are from
    the whole.
    """
    residual = _residuals(sample, weights)
    measured = float(sum(sample.parts[i].requests.sum() for i in sample.measured))
    rest = float(np.maximum(0.0, sample.population - sample.cold.requests).sum())
    if not rest:
        return SampledCount(value, 0.0, value, value)
    if not measured:
        raise TraceFormatError("none of the accesses that were to be measured was simulated")
    samples, expansion = len(residual), rest / measured
    by_sample = residual.sum(axis=1)
    scatter = math.sqrt(samples * by_sample.var(ddof=1) * max(0.0, 1.0 - measured / rest))
    drift = 2.0 * abs(float(residual[:, 1].sum()))
    error = math.hypot(expansion * math.hypot(scatter, drift), sample.relative_error * value)
    reach = error * float(stdtrit(samples - 1, 0.5 + _CONFIDENCE / 2))
    return SampledCount(value, error, max(0.0, value - reach), value + reach)


def _residuals(sample: _Sample, weights: Mapping[str, float]) -> Reals:
    """What the common rates leave unexplained, shape (samples, halves)."""
    rates = {name: _rate(sample, name, is_measured=True) for name in weights}
    found = np.zeros((len(sample.halves), 2))
    for row, pair in enumerate(sample.halves):
        for half, position in _once(pair):
            part = sample.parts[position]
            for name, weight in weights.items():
                left = getattr(part, name) - rates[name] * part.requests
                found[row, half] += weight * float(left.sum())
    return found


def _once(pair: tuple[tuple[int, ...], tuple[int, ...]]) -> Iterator[tuple[int, int]]:
    """(half, position) of each interval of a sample; a sample of one half has it twice."""
    first, second = pair
    for half, places in enumerate([first] if first == second else pair):
        for place in places:
            yield half, place
