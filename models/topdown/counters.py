"""Measured metrics under any profiler's names -> the quantities of the thesis's equations."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

from kernelcast.errors import MetricsError
from kernelcast.models.topdown.metric_sets import (
    MetricSet,
    MetricUnit,
    RateMetric,
    StallMetric,
    StallNames,
    rate_metrics,
    stall_metrics,
    stall_names,
)

__all__ = ["Counters", "IssueRates", "read_counters"]

_PROFILERS = (MetricSet.NVPROF, MetricSet.NCU)
_WARP_THREADS = 32
_PERCENT = 100.0
_FRACTIONS_UP_TO = 1.5
"""Stall shares of a file without units are percent, not fractions, if they add up to more."""
_ROUNDING = 0.005
"""How far rounded shares may add up to more than all, and efficiencies exceed 1."""
_REPLAY_NOISE = 0.05
"""The share by which IPC_Issued may lie below IPC, measured in another pass."""


@dataclass(frozen=True, slots=True)
class IssueRates:
    """Warp instructions a cycle and SM: executed, and issued with replays; Eff_warp is 0 to 1."""

    ipc: float
    ipc_issued: float
    eff_warp: float


@dataclass(frozen=True)
class Counters:
    """`stalls` are STALL_x of the thesis, percent of all stalls by reason."""

    metric_set: MetricSet
    rates: IssueRates
    stalls: Mapping[StallMetric, float]
    assumptions: tuple[str, ...] = ()


def read_counters(
    metrics: Mapping[str, float],
    *,
    unavailable: frozenset[str] = frozenset(),
    is_strict: bool = False,
) -> Counters:
    """`metrics` in SI units; percentages as fractions or, where a file has no units, as percent.

    `unavailable` were asked for and have no value. Strict: percentages of stalls stay as they are
    and need not add up to 100; otherwise they are brought to 100. MetricsError, in one line, names
    all metrics that are missing.
    """
    names = frozenset(metrics) | unavailable
    metric_set = _metric_set(names)
    spelling = _spelling(metric_set, names)
    missing = [
        *_missing_rates(metric_set, metrics, unavailable),
        *_missing_stalls(spelling, metrics, unavailable, is_strict),
    ]
    if missing:
        raise MetricsError(f"these {metric_set.value} metrics are missing: {', '.join(missing)}")
    rates, assumptions = _rates(metric_set, metrics)
    values = _stall_values(spelling, metrics)
    stalls = _strict(values, spelling.unit) if is_strict else _normalised(values)
    return Counters(metric_set, rates, stalls, assumptions)


@lru_cache
def _metric_set(names: frozenset[str]) -> MetricSet:
    """The metrics of the profiler that has most of the names; MetricsError where none has."""
    best = max(_PROFILERS, key=lambda item: _known_count(item, names))
    if not _known_count(best, names):
        raise MetricsError(
            "no metric of nvprof or ncu that a TopDown analysis needs among "
            f"{', '.join(sorted(names)[:5]) or 'none'}"
        )
    return best


def _known_count(metric_set: MetricSet, names: frozenset[str]) -> int:
    rates = rate_metrics(metric_set).values()
    found = sum(_first_present(metrics, names) is not None for metrics in rates)
    return found + _stall_count(_spelling(metric_set, names), names)


def _first_present(
    alternatives: tuple[RateMetric, ...], names: Collection[str]
) -> RateMetric | None:
    return next((metric for metric in alternatives if metric.metric in names), None)


@lru_cache
def _spelling(metric_set: MetricSet, names: frozenset[str]) -> StallNames:
    """The unit in which most reasons were measured."""
    return max(stall_names(metric_set), key=lambda spelling: _stall_count(spelling, names))


def _stall_count(spelling: StallNames, names: frozenset[str]) -> int:
    reasons = stall_metrics(spelling.metric_set)
    return sum(spelling.find(reason, names) is not None for reason in reasons)


def _missing_rates(
    metric_set: MetricSet, metrics: Mapping[str, float], unavailable: frozenset[str]
) -> list[str]:
    return [
        _said(asked.metric if asked else alternatives[0].metric, asked is not None)
        for alternatives in rate_metrics(metric_set).values()
        if _first_present(alternatives, metrics) is None
        for asked in (_first_present(alternatives, unavailable),)
    ]


def _missing_stalls(
    spelling: StallNames,
    metrics: Mapping[str, float],
    unavailable: frozenset[str],
    is_strict: bool,
) -> list[str]:
    """Strict percentages need only what the thesis adds up; other units need all for the sum."""
    only_printed = is_strict and spelling.unit is MetricUnit.PERCENT
    return [
        _said(asked or spelling.first(reason), asked is not None)
        for reason in stall_metrics(spelling.metric_set)
        if reason.is_needed
        and (reason.printed_part or not only_printed)
        and spelling.find(reason, metrics) is None
        for asked in (spelling.find(reason, unavailable),)
    ]


def _said(name: str, was_asked_for: bool) -> str:
    return f"{name} (asked for, without a value)" if was_asked_for else name


def _rates(
    metric_set: MetricSet, metrics: Mapping[str, float]
) -> tuple[IssueRates, tuple[str, ...]]:
    """Checked, with what had to be assumed."""
    ipc, issued, efficiency = (
        _quantity(rate_metrics(metric_set)[name], metrics)
        for name in ("IPC", "IPC_Issued", "Eff_warp")
    )
    if efficiency > 1 + _ROUNDING:
        raise MetricsError(f"the warp execution efficiency is {efficiency:.4g}, more than 1")
    assumptions: tuple[str, ...] = ()
    if issued < ipc:
        if issued < ipc * (1 - _REPLAY_NOISE):
            raise MetricsError(f"the issued IPC {issued:g} is below the executed IPC {ipc:g}")
        assumptions = (f"no replays: the issued IPC {issued:g} is below the executed {ipc:g}",)
    return IssueRates(ipc, max(issued, ipc), min(efficiency, 1.0)), assumptions


def _quantity(alternatives: tuple[RateMetric, ...], metrics: Mapping[str, float]) -> float:
    found = _first_present(alternatives, metrics)
    assert found is not None
    value = _not_negative(found.metric, metrics[found.metric])
    if found.unit is MetricUnit.THREADS:
        return value / _WARP_THREADS
    if found.unit is MetricUnit.PERCENT and value > 1 + _ROUNDING:
        return value / _PERCENT
    return value


def _stall_values(spelling: StallNames, metrics: Mapping[str, float]) -> dict[StallMetric, float]:
    named = ((item, spelling.find(item, metrics)) for item in stall_metrics(spelling.metric_set))
    return {reason: _not_negative(name, metrics[name]) for reason, name in named if name}


def _normalised(values: Mapping[StallMetric, float]) -> dict[StallMetric, float]:
    """Percent of the sum; zeros where nothing stalled."""
    total = math.fsum(values.values())
    return {reason: _PERCENT * value / total if total else 0.0 for reason, value in values.items()}


def _strict(values: Mapping[StallMetric, float], unit: MetricUnit) -> dict[StallMetric, float]:
    """Percent as measured; warps and cycles can only be related to their sum."""
    if unit is not MetricUnit.PERCENT:
        return _normalised(values)
    total = math.fsum(values.values())
    factor = 1.0 if total > _FRACTIONS_UP_TO else _PERCENT
    percent = {reason: factor * value for reason, value in values.items()}
    if factor * total <= _PERCENT:
        return percent
    if factor * total > _PERCENT * (1 + _ROUNDING):
        raise MetricsError(f"the stalls add up to {factor * total:.4g} %, more than all of them")
    return _normalised(percent)


def _not_negative(name: str, value: float) -> float:
    if not (math.isfinite(value) and value >= 0):
        raise MetricsError(f"{name} is {value:g}, which it cannot be")
    return value
