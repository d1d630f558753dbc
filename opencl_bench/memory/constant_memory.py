"""Constant memory: the whole work-group reads one entry at a time, or each item another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kernelcast.errors import BenchmarkError
from kernelcast.opencl_bench.benchmark import Effort
from kernelcast.opencl_bench.measurement import Finding
from kernelcast.opencl_bench.memory.rates import bandwidth, per_second, require_equal
from kernelcast.opencl_bench.memory.sizes import REPEATS, Words, numbered_words
from kernelcast.opencl_bench.memory.work_shape import WORD_BYTES
from kernelcast.opencl_bench.target import Target

__all__ = ["measure_constant_memory"]

_COUNT = 1024
"""Entries that a work-item adds, as in the thesis."""
_GROUPS_PER_UNIT = {True: 32, False: 8}
"""Work-groups for each compute unit, by whether the device is a CPU."""
_PASSES = {Effort.QUICK: 4, Effort.FULL: 32}
_VARIANTS: Mapping[str, tuple[int, str]] = {
    "constant_broadcast_bandwidth": (0, "all work-items read the same entry at a time"),
    "constant_serialised_bandwidth": (1, "each work-item reads another entry at a time"),
}


def _window_sums(content: Words, group: int, lane_step: int, count: int) -> Words:
    """What each work-item of a work-group adds in one pass."""
    running = np.concatenate(([np.uint32(0)], np.cumsum(content, dtype=np.uint32)))
    first = np.arange(group) * lane_step
    return running[first + count] - running[first]


def measure_constant_memory(target: Target, effort: Effort) -> Sequence[Finding]:
    """Bytes count once for each work-item that receives them."""
    facts = target.facts
    group = min(256, facts.max_work_group)
    groups = facts.compute_units * _GROUPS_PER_UNIT[facts.is_cpu]
    count = min(_COUNT, facts.constant_bytes // WORD_BYTES - group)
    if count < 1:
        raise BenchmarkError(f"{facts.constant_bytes} bytes of constant memory are too few")
    content, passes = numbered_words(count + group), _PASSES[effort]
    table = target.buffer(content)
    numbers = np.arange(groups * group, dtype=np.uint32).reshape(groups, group)
    findings = []
    for name, (lane_step, what) in _VARIANTS.items():
        sums = target.empty(numbers.nbytes)
        seconds = target.seconds(
            target.kernel("constant.cl", "constant_read", {"LANE_STEP": lane_step}),
            (numbers.size,),
            (group,),
            (table, sums, np.uint32(count), np.uint32(passes)),
            REPEATS[effort],
        )
        expected = numbers + np.uint32(passes) * _window_sums(content, group, lane_step, count)
        require_equal("constant_read", target.read(sums, numbers), expected)
        moved = float(numbers.nbytes) * count * passes
        samples = per_second("constant_read", moved, seconds)
        method = f"{what}; {count} entries of 32 bits repeatedly, work-groups of {group}"
        findings.append(bandwidth(name, samples, method))
    return findings
