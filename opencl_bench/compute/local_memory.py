"""Local (shared) memory: swaps by width and over warps, reads over the stride between work-items.

The swaps are shmembench of Konstantinidis' thesis (Athens, 2017; appendices A.4 and B.2), which
gives T_ldst (section 4.2.3): every swap is two loads and two stores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.errors import BenchmarkError
from kernelcast.opencl_bench.benchmark import Benchmark, Effort
from kernelcast.opencl_bench.compute.parallelism import curve_points, warp_counts, warp_width
from kernelcast.opencl_bench.compute.timing import EFFORTS, Seconds, long_enough
from kernelcast.opencl_bench.compute.verification import check_words
from kernelcast.opencl_bench.measurement import Curve, Finding, Measurement, Unit, measurement
from kernelcast.opencl_bench.target import DeviceFacts, Target
from kernelcast.simcore.launch.launch import LocalBytes

__all__ = ["LOCAL_MEMORY_BENCHMARKS", "strided_sums", "swapped_sums"]

_FILE = "local_memory.cl"
_PLACES = 6
_SWAPS = ((0, 1), (2, 3), (4, 5), (1, 2), (3, 4))
_ACCESSES = 4 * len(_SWAPS)
_WORD_BYTES = 4
_CPU_GROUP, _GPU_GROUP = 64, 256
_GROUPS_PER_UNIT = 8
_STRIDE_READS = 8
_QUICK_STRIDES = (1, 2, 3, 4, 8, 16, 17, 32, 33)
_LONGEST_STRIDE = 33
_MOST_STRIDE_WORDS = 4096

_Words = npt.NDArray[np.uint32]


def swapped_sums(work_items: int, iterations: int) -> _Words:
    """What `local_swap` computes: its places end permuted; sums weigh them by position."""
    order = list(range(_PLACES))
    period = 0
    orders = []
    while not period or order != list(range(_PLACES)):
        orders.append(tuple(order))
        for j, k in _SWAPS:
            order[j], order[k] = order[k], order[j]
        period += 1
    last = np.array(orders[iterations % period])
    weights = np.arange(1, _PLACES + 1)
    first = _PLACES * np.arange(work_items)
    return np.asarray((weights * (first[:, np.newaxis] + last)).sum(axis=1)).astype(np.uint32)


def strided_sums(work_group: int, stride: int, words: int, iterations: int) -> _Words:
    """What `local_stride` computes for one work-group.

    A work-item reads words one after another, around the end of the tile; each holds its index.
    """
    rounds, rest = divmod(_STRIDE_READS * iterations, words)
    up_to = np.concatenate(([0], np.cumsum(np.tile(np.arange(words, dtype=np.uint64), 2))))
    bases = np.arange(work_group) * stride % words
    sums = np.uint64(rounds) * up_to[words] + up_to[bases + rest] - up_to[bases]
    return np.asarray(sums).astype(np.uint32)


@dataclass(frozen=True, slots=True)
class _Swaps:
    """`lanes`: 32-bit words of an access."""

    lanes: int
    work_group: int
    work_groups: int

    @classmethod
    def filling(cls, facts: DeviceFacts, lanes: int) -> _Swaps:
        """Work-groups for all compute units, of which two fit into local memory at a time."""
        room = facts.local_bytes // (2 * _PLACES * lanes * _WORD_BYTES)
        wanted = _CPU_GROUP if facts.is_cpu else _GPU_GROUP
        most = min(room, wanted, facts.max_work_group)
        if most < 1:
            raise _too_small(facts)
        group = 1 << (most.bit_length() - 1)
        return cls(lanes, group, _GROUPS_PER_UNIT * facts.compute_units)

    @property
    def method(self) -> str:
        return (
            f"swaps of {32 * self.lanes} bits, two loads and two stores each; {self.work_groups} "
            f"work-groups of {self.work_group}"
        )

    def bytes_per_s(self, target: Target, effort: Effort) -> Sequence[float]:
        """Loaded and stored, of each repetition."""
        name = f"local_swap_{32 * self.lanes}_bit"
        kernel = target.kernel(_FILE, name, _defines(target.facts))
        tile = LocalBytes(_PLACES * self.lanes * _WORD_BYTES * self.work_group)
        items = self.work_group * self.work_groups
        shape = np.zeros((items, self.lanes), np.uint32)
        sums = target.buffer(shape)

        def run(iterations: int, repeats: int) -> Seconds:
            arguments = (sums, tile, np.uint32(self.work_group), np.uint32(iterations))
            seconds = target.seconds(kernel, (items,), (self.work_group,), arguments, repeats)
            expected = swapped_sums(items, iterations)[:, np.newaxis]
            check_words(name, target.read(sums, shape), expected)
            return seconds

        guess = _first_guess(target.facts, effort, items, _ACCESSES)
        iterations, seconds = long_enough(run, guess, effort)
        return list(items * _ACCESSES * self.lanes * _WORD_BYTES * iterations / seconds)


def _bandwidth(target: Target, effort: Effort) -> Sequence[Measurement]:
    found = []
    for lanes in (1, 2, 4):
        swaps = _Swaps.filling(target.facts, lanes)
        samples = swaps.bytes_per_s(target, effort)
        name = f"local_bandwidth_{32 * lanes}_bit"
        found.append(measurement(name, samples, Unit.BYTES_PER_S, swaps.method))
    return found


def _load_store_throughput(target: Target, effort: Effort) -> Sequence[Measurement]:
    """Words per second of work-items that swap single words, as the thesis's do."""
    swaps = _Swaps.filling(target.facts, lanes=1)
    samples = [bandwidth / _WORD_BYTES for bandwidth in swaps.bytes_per_s(target, effort)]
    method = f"32-bit words loaded and stored: {swaps.method}"
    return [measurement("local_load_store_throughput", samples, Unit.OPERATIONS_PER_S, method)]


def _over_warps(target: Target, effort: Effort) -> Sequence[Finding]:
    facts = target.facts
    width = warp_width(facts)
    room = facts.local_bytes // (_PLACES * _WORD_BYTES * width)
    counts = [count for count in warp_counts(facts, effort) if count <= room]
    if not counts:
        raise _too_small(facts)

    def samples(warps: int) -> Sequence[float]:
        swaps = _Swaps(1, warps * width, facts.compute_units)
        return swaps.bytes_per_s(target, effort)

    return [
        Curve(
            "local_bandwidth_over_warps",
            "warps of a work-group",
            Unit.COUNT,
            "local memory bandwidth",
            Unit.BYTES_PER_S,
            curve_points(counts, samples),
            f"swaps of 32 bits; a work-group on each compute unit, warps of {width} work-items",
        )
    ]


def _over_stride(target: Target, effort: Effort) -> Sequence[Finding]:
    facts = target.facts
    words = _stride_words(facts)
    wanted = _CPU_GROUP if facts.is_cpu else _GPU_GROUP
    group = min(wanted, facts.max_work_group, words)
    items = group * _GROUPS_PER_UNIT * facts.compute_units
    kernel = target.kernel(_FILE, "local_stride", _defines(facts))
    tile = LocalBytes((words + _STRIDE_READS) * _WORD_BYTES)
    shape = np.zeros(items, np.uint32)
    sums = target.buffer(shape)

    def samples(stride: int) -> Sequence[float]:
        def run(iterations: int, repeats: int) -> Seconds:
            arguments = (sums, tile, np.uint32(stride), np.uint32(iterations))
            seconds = target.seconds(kernel, (items,), (group,), arguments, repeats)
            expected = strided_sums(group, stride, words, iterations)
            check_words("local_stride", target.read(sums, shape).reshape(-1, group), expected)
            return seconds

        guess = _first_guess(facts, effort, items, _STRIDE_READS)
        iterations, seconds = long_enough(run, guess, effort)
        return list(items * _STRIDE_READS * _WORD_BYTES * iterations / seconds)

    strides = _QUICK_STRIDES if effort is Effort.QUICK else range(1, _LONGEST_STRIDE + 1)
    return [
        Curve(
            "local_load_bandwidth_over_stride",
            "words between work-items",
            Unit.COUNT,
            "local memory load bandwidth",
            Unit.BYTES_PER_S,
            curve_points(strides, samples),
            f"reads of 32 bits; work-groups of {group} over {words} words",
        )
    ]


def _too_small(facts: DeviceFacts) -> BenchmarkError:
    return BenchmarkError(f"{facts.local_bytes} bytes of local memory are too few for swaps")


def _defines(facts: DeviceFacts) -> Mapping[str, object]:
    return {"WORDS": _stride_words(facts)}


def _stride_words(facts: DeviceFacts) -> int:
    """A power of two, so that wrapping keeps banks; two work-groups fit into local memory."""
    room = facts.local_bytes // (2 * _WORD_BYTES) - _STRIDE_READS
    return min(_MOST_STRIDE_WORDS, 1 << (max(room, _STRIDE_READS).bit_length() - 1))


def _first_guess(facts: DeviceFacts, effort: Effort, items: int, accesses: int) -> int:
    """Iterations if each compute unit made an access in two clocks (32 a clock on a GPU)."""
    a_clock = 0.5 if facts.is_cpu else 32.0
    rate = facts.compute_units * a_clock * facts.clock_hz
    return int(EFFORTS[effort].launch_s * rate / (items * accesses))


LOCAL_MEMORY_BENCHMARKS = (
    Benchmark("local_bandwidth", "local memory bandwidth by width", _bandwidth),
    Benchmark("local_load_store", "local memory loads and stores", _load_store_throughput),
    Benchmark("local_over_warps", "local memory bandwidth over warps", _over_warps),
    Benchmark("local_over_stride", "local memory bandwidth over stride", _over_stride),
)
