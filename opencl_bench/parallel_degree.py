"""How many warps' worth of mixed work a compute unit does at a time, over warps and mixes.

Luo and Suda fit their constants a, b, c, d to such degrees (section 3.4): N warps that take T(N)
where one takes T(1) have the degree N T(1) / T(N). The share of computation of a mix is what its
multiply-adds add to the time of one warp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kernelcast.errors import BenchmarkError
from kernelcast.opencl_bench.benchmark import Benchmark, Effort
from kernelcast.opencl_bench.compute.timing import long_enough
from kernelcast.opencl_bench.measurement import Curve, CurvePoint, Finding, Unit, measurement
from kernelcast.opencl_bench.target import DeviceFacts, Target

__all__ = ["PARALLEL_DEGREE_BENCHMARKS", "degree_curve_name", "mix_of", "share_name"]

_MIXES = (16, 64, 256)
"""Further multiply-adds for each load, besides none."""
_WARPS = (1, 2, 4, 8, 16, 32)
_SMALLEST_PLACES, _MOST_PLACES = 1 << 22, 1 << 26
_WORD_BYTES = 4
_JUMP = 1_048_583
"""Words from place to place: a prime, far beyond a page, so that no prefetcher follows."""
_FIRST_ROUNDS = 64
_FACTOR, _NONE = np.uint32(6), np.uint32(0)
_CURVE, _SHARE = "parallel_degree_over_warps_of_mix_", "computation_share_of_mix_"

Words: TypeAlias = npt.NDArray[np.uint32]


def degree_curve_name(mix: int) -> str:
    """The name of the curve over warps for one mix."""
    return f"{_CURVE}{mix}"


def share_name(mix: int) -> str:
    """The name of the share for one mix."""
    return f"{_SHARE}{mix}"


def mix_of(name: str) -> int | None:
    """The mix of a degree curve's name, None for another finding."""
    return int(name.removeprefix(_CURVE)) if name.startswith(_CURVE) else None


@dataclass(frozen=True, slots=True)
class _Chains:
    """A work-group of `warps` on each compute unit, over `places` words larger than all caches."""

    target: Target
    effort: Effort
    places: int
    next_places: object

    def round_seconds(self, mix: int, warps: int) -> npt.NDArray[np.float64]:
        """Seconds of a round of the kernel's loop, for each repeated launch."""
        facts = self.target.facts
        group = warps * facts.preferred_work_group_multiple
        items = group * facts.compute_units
        kernel = self.target.kernel("degree.cl", "mixed_chain", {"MIX": mix, "PLACES": self.places})
        blank = np.zeros(items, np.uint32)
        result = self.target.buffer(blank)

        def run(rounds: int, repeats: int) -> npt.NDArray[np.float64]:
            arguments = (self.next_places, result, _FACTOR, _NONE, np.uint32(rounds))
            seconds = self.target.seconds(kernel, (items,), (group,), arguments, repeats)
            if not np.array_equal(
                self.target.read(result, blank), _last_values(items, mix, rounds, self.places)
            ):
                raise BenchmarkError("kernel mixed_chain: wrong result")
            return seconds

        rounds, seconds = long_enough(run, _FIRST_ROUNDS, self.effort)
        return np.asarray(seconds / rounds)


def _last_values(items: int, mix: int, rounds: int, places: int) -> Words:
    """What the kernel computes.

    Each step multiplies by two (and three), so that modulo 2^32 only the last 32 steps count.
    """
    steps = mix + 1
    relevant = min(rounds, -(-32 // steps))
    at = np.arange(items, dtype=np.int64) % places
    x = np.full(items, 1 if relevant == rounds else 0, np.uint32)
    for done in range(rounds - relevant, rounds):
        v = ((at + (done + 1) * _JUMP) % places).astype(np.uint32)
        for _ in range(steps):
            x = x * _FACTOR + v
    return x


def _chains(target: Target, effort: Effort) -> _Chains:
    facts = target.facts
    places = _place_count(facts)
    content = ((np.arange(places, dtype=np.int64) + _JUMP) % places).astype(np.uint32)
    return _Chains(target, effort, places, target.buffer(content))


def _place_count(facts: DeviceFacts) -> int:
    """The power of two whose words exceed the caches four times and fit into one buffer."""
    wanted = max(_SMALLEST_PLACES, facts.cache_bytes * 4 // _WORD_BYTES)
    room = min(_MOST_PLACES, facts.max_buffer_bytes // _WORD_BYTES)
    return 1 << (min(wanted, room).bit_length() - 1)


def _measure(target: Target, effort: Effort) -> Sequence[Finding]:
    """Nothing in a quick session: the surface needs many launches to be of use."""
    if effort is Effort.QUICK:
        return ()
    facts = target.facts
    most = facts.max_work_group // facts.preferred_work_group_multiple
    warps = [count for count in _WARPS if count <= most]
    chains = _chains(target, effort)
    load = float(np.median(chains.round_seconds(0, 1)))
    findings: list[Finding] = []
    for mix in _MIXES:
        times = {count: chains.round_seconds(mix, count) for count in warps}
        findings += _findings(mix, times, load)
    return findings


def _findings(
    mix: int, times: dict[int, npt.NDArray[np.float64]], load_s: float
) -> Sequence[Finding]:
    alone = float(np.median(times[1]))
    what = f"rounds of one load and {mix} multiply-adds, each waiting for the one before"
    points = []
    for count, seconds in times.items():
        low, middle, high = np.percentile(count * alone / seconds, (25, 50, 75))
        points.append(CurvePoint(float(count), float(middle), float((high - low) / middle)))
    shares = 1 - load_s / times[1]
    curve = Curve(
        degree_curve_name(mix),
        "warps of a compute unit",
        Unit.COUNT,
        "parallel degree",
        Unit.RATIO,
        tuple(points),
        f"{what}; a work-group on each compute unit",
    )
    if not np.any(shares > 0):
        return [curve]
    method = f"{what}: what the multiply-adds add to the time of one warp"
    return [curve, measurement(share_name(mix), list(shares), Unit.RATIO, method)]


PARALLEL_DEGREE_BENCHMARKS = (
    Benchmark("parallel_degree", "parallel degree over warps and mixes", _measure),
)
