"""Latency of a load over footprint, and the clock, by chains in which each step waits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernelcast.errors import BenchmarkError
from kernelcast.opencl_bench.benchmark import Effort
from kernelcast.opencl_bench.measurement import Curve, CurvePoint, Finding, Unit, measurement
from kernelcast.opencl_bench.memory.rates import curve_point, per_second, require_equal
from kernelcast.opencl_bench.memory.sizes import REPEATS, Words, array_bytes, footprints
from kernelcast.opencl_bench.memory.work_shape import WORD_BYTES
from kernelcast.opencl_bench.target import DeviceFacts, Target

__all__ = ["measure_clock", "measure_latency"]

_FILE = "chase.cl"
_LINE_BYTES = 64
"""Distance of the visited words on devices that tell no cache line."""
_STEPS = {Effort.QUICK: 1 << 14, Effort.FULL: 1 << 17}
_LONGEST_LAP = {Effort.QUICK: 1 << 18, Effort.FULL: 1 << 21}
"""A cycle of more lines is not walked through once before it is timed: no cache holds it."""
_CLOCK_STEPS = {Effort.QUICK: 1 << 20, Effort.FULL: 1 << 24}
_CYCLES_PER_STEP = 2
_SEED = 20


def _cycle(lines: int) -> npt.NDArray[np.int64]:
    """A cycle through every line once, in random order."""
    return np.random.default_rng(_SEED).permutation(lines)


def _successors(cycle: npt.NDArray[np.int64], words_per_line: int) -> Words:
    """The index of the word to visit next, at the first word of each line."""
    words = np.zeros(cycle.size * words_per_line, np.uint32)
    words[cycle * words_per_line] = np.roll(cycle, -1) * words_per_line
    return words


def _latency(target: Target, lines: int, line_bytes: int, effort: Effort) -> CurvePoint:
    words_per_line = line_bytes // WORD_BYTES
    cycle = _cycle(lines)
    following = target.buffer(_successors(cycle, words_per_line))
    state = target.buffer(np.array([cycle[0] * words_per_line, 0], np.uint32))
    kernel = target.kernel(_FILE, "chase_pointers", {})
    steps = _STEPS[effort]
    if steps < lines <= _LONGEST_LAP[effort]:
        lap = np.uint32(lines + -lines % 8)
        target.seconds(kernel, (1,), (1,), (following, state, lap), 1)
    seconds = target.seconds(
        kernel, (1,), (1,), (following, state, np.uint32(steps)), REPEATS[effort]
    )
    at, walked = target.read(state, np.empty(2, np.uint32))
    if walked < steps:
        raise BenchmarkError("kernel chase_pointers computes a wrong result")
    expected = cycle[int(walked) % lines] * words_per_line
    require_equal("chase_pointers", np.array([at]), np.uint32(expected))
    per_second("chase_pointers", steps, seconds)
    return curve_point(lines * line_bytes, seconds / steps)


def _line_bytes(facts: DeviceFacts) -> int:
    line = facts.cache_line_bytes
    return line if line >= WORD_BYTES and line % WORD_BYTES == 0 else _LINE_BYTES


def measure_latency(target: Target, effort: Effort) -> Sequence[Finding]:
    """One work-item; a repetition goes on where the last one ended."""
    line = _line_bytes(target.facts)
    largest = array_bytes(target.facts, effort)
    sizes = footprints(largest, line, effort)
    points = [_latency(target, size // line, line, effort) for size in sizes]
    curve = Curve(
        "chase_latency_over_footprint",
        "footprint",
        Unit.BYTES,
        "latency of a load",
        Unit.SECONDS,
        tuple(points),
        f"one work-item follows a random cycle through lines of {line} bytes, {_STEPS[effort]} "
        "loads a launch; misses of the address translation are included",
    )
    return (curve,)


def measure_clock(target: Target, effort: Effort) -> Sequence[Finding]:
    """An estimate for CPUs, where integer addition and exclusive or take one cycle each.

    Nothing for other devices: OpenCL tells no latency that the clock could be had from.
    """
    if not target.facts.is_cpu:
        return ()
    steps, term = _CLOCK_STEPS[effort], 3
    result = target.buffer(np.zeros(1, np.uint32))
    arguments = (result, np.uint32(0), np.uint32(term), np.uint32(steps))
    kernel = target.kernel(_FILE, "chase_arithmetic", {})
    seconds = target.seconds(kernel, (1,), (1,), arguments, REPEATS[effort])
    found = target.read(result, np.empty(1, np.uint32))
    require_equal("chase_arithmetic", found, np.uint32(steps * term % 2**32))
    cycles = per_second("chase_arithmetic", _CYCLES_PER_STEP * steps, seconds)
    method = "estimate: a chain of integer additions and exclusive ors, one cycle each"
    return (measurement("clock_under_load", list(cycles), Unit.HERTZ, method),)
