"""Extrapolation of the traffic of a sample to that of the launch, with its error.

A ratio estimator (Cochran, "Sampling Techniques", chapter 6): how often each access is issued in
the whole grid is known exactly, and the sample says what one issue moves at each level.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
from kernelcast.simcore.sampling.plan import Role, SamplePlan
from kernelcast.traces.trace import ThreadBlockClasses

__all__ = ["extrapolate"]

_CONFIDENCE = 0.95
_STATELESS = ("requests", "requested_bytes", "sectors", "ideal_sectors")
"""What does not depend on caches: the warm-ups count too."""

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Sample:
    """What a sample counted by instruction: requests of the launch, rows of cold start and parts.

    `halves`: the two measured intervals of each sample, positions in `parts`.
    """

    population: Reals
    cold: Counters
    all_parts: Counters
    parts: Sequence[Counters]
    halves: tuple[tuple[int, int], ...]


def extrapolate(
    plan: SamplePlan,
    parts: Sequence[Counters],
    finished: TrafficResult,
    classes: ThreadBlockClasses,
) -> SampledTraffic:
    """`parts`: counts of each interval of the plan; `finished`: of all, write-back included.

    TraceFormatError when the counts are not those of the plan, or those measured are empty.
    """
    if len(parts) != len(plan.intervals):
        raise TraceFormatError(
            f"counts of {len(parts)} intervals where {len(plan.intervals)} were sampled"
        )
    sample = _Sample(
        _population(plan, finished.by_instruction.requests, classes),
        parts[0],
        finished.by_instruction,
        parts,
        _halves(plan),
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


def _population(plan: SamplePlan, requests: Ints, classes: ThreadBlockClasses) -> Reals:
    """Requests of the whole grid by pc: exact but for accesses under a guard."""
    count = len(classes.warp_issues)
    sizes = np.zeros(count, np.int64)
    for item in plan.intervals:
        own = classes.of_thread_block[item.first : item.end]
        sizes += np.bincount(own, minlength=count)
    simulated = (sizes @ classes.warp_issues).astype(np.float64)
    issues: Reals = classes.totals()[0].astype(np.float64)
    per_simulated = np.divide(issues, simulated, out=np.zeros(len(issues)), where=simulated > 0)
    population: Reals = requests.astype(np.float64) * per_simulated
    return population


def _halves(plan: SamplePlan) -> tuple[tuple[int, int], ...]:
    """Positions of the two measured intervals of each sample; the same twice for a lone one."""
    roles = [item.role for item in plan.intervals]
    found = []
    for position, role in enumerate(roles):
        if role is Role.MEASURED and roles[position - 1] is not Role.MEASURED:
            has_second = roles[position + 1 : position + 2] == [Role.MEASURED]
            found.append((position, position + has_second))
    return tuple(found)


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
        chosen = sorted({position for pair in sample.halves for position in pair})
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
    chosen = {position for pair in sample.halves for position in pair}
    measured = float(sum(sample.parts[i].requests.sum() for i in chosen))
    rest = float(np.maximum(0.0, sample.population - sample.cold.requests).sum())
    if not rest:
        return SampledCount(value, 0.0, value, value)
    if not measured:
        raise TraceFormatError("none of the accesses that were to be measured was simulated")
    samples, expansion = len(residual), rest / measured
    by_sample = residual.sum(axis=1)
    scatter = math.sqrt(samples * by_sample.var(ddof=1) * max(0.0, 1.0 - measured / rest))
    drift = 2.0 * abs(float(residual[:, 1].sum()))
    error = expansion * math.hypot(scatter, drift)
    reach = error * float(stdtrit(samples - 1, 0.5 + _CONFIDENCE / 2))
    return SampledCount(value, error, max(0.0, value - reach), value + reach)


def _residuals(sample: _Sample, weights: Mapping[str, float]) -> Reals:
    """What the common rates leave unexplained, shape (samples, halves)."""
    rates = {name: _rate(sample, name, is_measured=True) for name in weights}
    found = np.zeros((len(sample.halves), 2))
    for row, pair in enumerate(sample.halves):
        for half, position in enumerate(sorted(set(pair))):
            part = sample.parts[position]
            for name, weight in weights.items():
                left = getattr(part, name) - rates[name] * part.requests
                found[row, half] += weight * float(left.sum())
    return found
