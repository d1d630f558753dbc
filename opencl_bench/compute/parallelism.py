"""Throughput of fp32 multiply-adds over the parallelism that hides their latency.

Zhang and Owens (HPCA 2011), Figure 2: instruction throughput over warps; the same over work-groups
and over independent chains of one work-item (instruction-level parallelism).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from kernelcast.opencl_bench.benchmark import Benchmark, Effort
from kernelcast.opencl_bench.compute.chains import ChainLaunch, chain_settings
from kernelcast.opencl_bench.compute.float_operations import basic
from kernelcast.opencl_bench.measurement import Curve, CurvePoint, Unit
from kernelcast.opencl_bench.target import DeviceFacts, Target

__all__ = ["PARALLELISM_BENCHMARKS", "curve_points", "warp_counts", "warp_width"]

_MULTIPLY_ADD = basic("fp32")[0]
_MOST_CHAINS = 8
_MOST_WARPS = 32
_GROUP_STEP, _LARGEST_GROUP = 4, 144
"""Steps and end of group sizes, which go beyond two of the widest wavefronts."""
_DIVERGENT_GROUP = 256


def curve_points(
    xs: Iterable[int], samples: Callable[[int], Sequence[float]]
) -> tuple[CurvePoint, ...]:
    """Median and relative interquartile range of the samples at each x."""
    points = []
    for x in xs:
        low, middle, high = np.percentile(samples(x), (25, 50, 75))
        points.append(CurvePoint(float(x), float(middle), float((high - low) / middle)))
    return tuple(points)


def warp_width(facts: DeviceFacts) -> int:
    """Work-items that a compute unit is said to run together."""
    return min(facts.preferred_work_group_multiple, facts.max_work_group)


def warp_counts(facts: DeviceFacts, effort: Effort) -> tuple[int, ...]:
    """The numbers of sub-groups to measure in one work-group.

    Sub-groups have the preferred multiple of work-items: powers of four; in a full session powers
    of two and all numbers up to 12.
    """
    limit = min(facts.max_work_group // warp_width(facts), _MOST_WARPS)
    if effort is Effort.QUICK:
        return tuple(1 << shift for shift in range(0, max(limit, 1).bit_length(), 2))
    powers = {1 << shift for shift in range(limit.bit_length())}
    return tuple(sorted(powers | set(range(1, min(limit, 12) + 1))))


def _group_counts(facts: DeviceFacts, effort: Effort) -> tuple[int, ...]:
    """Numbers of work-groups around that of compute units, where throughput stops rising."""
    units = facts.compute_units
    few = {1, max(1, units // 2), units, units + 1, 2 * units, 4 * units}
    if effort is Effort.QUICK:
        return tuple(sorted(few))
    eighths = {max(1, units * part // 8) for part in range(1, 33)}
    return tuple(sorted(few | eighths | {8 * units, 16 * units}))


def _over_work_groups(target: Target, effort: Effort) -> Sequence[Curve]:
    facts = target.facts
    setting = chain_settings(facts, effort)[0]

    def samples(groups: int) -> Sequence[float]:
        launch = ChainLaunch.throughput(_MULTIPLY_ADD, setting, facts, groups)
        return launch.throughputs(target, effort)

    counts = _group_counts(facts, effort)
    method = (
        f"work-groups of {setting.work_group}, {setting.chains} chains of {setting.lanes(4)} lanes "
        "in each work-item"
    )
    return [_curve("work_groups", "work-groups", counts, samples, method)]


def _over_warps(target: Target, effort: Effort) -> Sequence[Curve]:
    facts = target.facts
    setting = chain_settings(facts, effort)[0]
    width = warp_width(facts)

    def samples(warps: int) -> Sequence[float]:
        launch = ChainLaunch.latency(
            _MULTIPLY_ADD, setting, facts, warps * width, facts.compute_units
        )
        return launch.throughputs(target, effort)

    counts = warp_counts(facts, effort)
    method = f"a work-group on each compute unit, warps of {width} work-items with one chain each"
    return [_curve("warps", "warps of a work-group", counts, samples, method)]


def _over_work_group_size(target: Target, effort: Effort) -> Sequence[Curve]:
    """Sizes between multiples of a warp too: the steps tell its width. Full sessions only."""
    if effort is Effort.QUICK:
        return []
    facts = target.facts
    setting = chain_settings(facts, effort)[0]

    def samples(items: int) -> Sequence[float]:
        launch = ChainLaunch.latency(_MULTIPLY_ADD, setting, facts, items)
        return launch.throughputs(target, effort)

    most = min(_LARGEST_GROUP, facts.max_work_group)
    counts = range(_GROUP_STEP, most + 1, _GROUP_STEP)
    method = "one work-group, one chain of each work-item"
    name = "work-items of a work-group"
    return [_curve("work_group_size", name, counts, samples, method)]


def _over_chains(target: Target, effort: Effort) -> Sequence[Curve]:
    facts = target.facts
    setting = chain_settings(facts, effort)[0]
    group = 1 if facts.is_cpu else warp_width(facts)

    def samples(chains: int) -> Sequence[float]:
        launch = ChainLaunch.fp32_chains(_MULTIPLY_ADD, setting, facts, chains, group)
        return launch.throughputs(target, effort)

    counts = (1, 2, 4, 8) if effort is Effort.QUICK else tuple(range(1, _MOST_CHAINS + 1))
    method = (
        f"a work-group of {group} on each compute unit, chains of {setting.lanes(4)} lanes each"
    )
    return [_curve("chains", "independent chains of a work-item", counts, samples, method)]


def _over_divergence(target: Target, effort: Effort) -> Sequence[Curve]:
    """Runs shorter than a wavefront make it take both branches in turn."""
    facts = target.facts
    setting = chain_settings(facts, effort)[0]
    group = min(_DIVERGENT_GROUP, facts.max_work_group)

    def samples(run: int) -> Sequence[float]:
        launch = ChainLaunch.divergent(_MULTIPLY_ADD, setting, facts, run, group)
        return launch.throughputs(target, effort)

    runs = tuple(1 << shift for shift in range(group.bit_length()))
    return [
        Curve(
            "fp32_throughput_over_divergence_run",
            "neighbouring work-items that branch alike",
            Unit.COUNT,
            "fp32 multiply-add throughput",
            Unit.OPERATIONS_PER_S,
            curve_points(runs[::2] if effort is Effort.QUICK else runs, samples),
            f"work-groups of {group}, one chain of each work-item, two branches alike",
        )
    ]


def _curve(
    over: str,
    x_name: str,
    xs: Sequence[int],
    samples: Callable[[int], Sequence[float]],
    method: str,
) -> Curve:
    return Curve(
        f"fp32_multiply_add_throughput_over_{over}",
        x_name,
        Unit.COUNT,
        "fp32 multiply-add throughput",
        Unit.OPERATIONS_PER_S,
        curve_points(xs, samples),
        method,
    )


PARALLELISM_BENCHMARKS = (
    Benchmark("fp32_over_work_groups", "fp32 throughput over work-groups", _over_work_groups),
    Benchmark("fp32_over_warps", "fp32 throughput over warps", _over_warps),
    Benchmark(
        "fp32_over_work_group_size",
        "fp32 throughput over work-group size",
        _over_work_group_size,
    ),
    Benchmark("fp32_over_chains", "fp32 throughput over chains", _over_chains),
    Benchmark("fp32_over_divergence", "fp32 throughput over divergence", _over_divergence),
)
