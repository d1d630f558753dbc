"""Barriers over the size of the work-group, and what a launch costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernelcast.errors import BenchmarkError
from kernelcast.opencl_bench.benchmark import Benchmark, Effort
from kernelcast.opencl_bench.compute.parallelism import curve_points
from kernelcast.opencl_bench.compute.timing import EFFORTS, Seconds, long_enough
from kernelcast.opencl_bench.compute.verification import check_words
from kernelcast.opencl_bench.measurement import Curve, Finding, Unit, measurement
from kernelcast.opencl_bench.target import DeviceFacts, Target
from kernelcast.simcore.launch.launch import LocalBytes

__all__ = ["SYNCHRONISATION_BENCHMARKS"]

_GUESSED_BARRIER_S = 5e-7
_BARRIER_GROUP = 256
"""The work-group whose barrier counts as the device's."""
_LARGEST_GROUP = 1024
_WORD_BYTES = 4
_BURSTS = {Effort.QUICK: (5, 200), Effort.FULL: (15, 2000)}
"""Repetitions, and launches that follow each other without waiting."""


def _barrier_seconds(target: Target, effort: Effort, group: int) -> Sequence[float]:
    """Seconds of a barrier of one work-group, with the store and load that hand a value on."""
    kernel = target.kernel("barrier.cl", "barriers", {})
    blank = np.zeros(group, np.uint32)
    values = target.buffer(blank)

    def run(iterations: int, repeats: int) -> Seconds:
        arguments = (values, LocalBytes(2 * _WORD_BYTES * group), np.uint32(iterations))
        seconds = target.seconds(kernel, (group,), (group,), arguments, repeats)
        expected = (np.arange(group) + iterations) % group
        check_words("barriers", target.read(values, blank), expected)
        return seconds

    guess = int(EFFORTS[effort].launch_s / _GUESSED_BARRIER_S)
    iterations, seconds = long_enough(run, guess, effort)
    return list(seconds / iterations)


def _barriers(target: Target, effort: Effort) -> Sequence[Finding]:
    samples = {
        group: _barrier_seconds(target, effort, group)
        for group in _barrier_groups(target.facts, effort)
    }
    typical = max((group for group in samples if group <= _BARRIER_GROUP), default=min(samples))
    method = "one work-group; each work-item stores a word before a barrier, loads one after it"
    return [
        measurement(
            "barrier_time",
            samples[typical],
            Unit.SECONDS,
            f"{method}; {typical} work-items",
        ),
        Curve(
            "barrier_time_over_work_group",
            "work-items of a work-group",
            Unit.COUNT,
            "time of a barrier",
            Unit.SECONDS,
            curve_points(samples, samples.__getitem__),
            method,
        ),
    ]


def _barrier_groups(facts: DeviceFacts, effort: Effort) -> tuple[int, ...]:
    """Powers of two (16 and 256 in a quick session) whose two words each fit into local memory."""
    limit = min(facts.max_work_group, _LARGEST_GROUP, facts.local_bytes // (2 * _WORD_BYTES))
    largest = max(limit, 1).bit_length()
    shifts = range(4, largest, 4) if effort is Effort.QUICK else range(largest)
    return tuple(1 << shift for shift in shifts) or (1,)


def _launches(target: Target, effort: Effort) -> Sequence[Finding]:
    repeats, burst = _BURSTS[effort]
    kernel = target.kernel("launch.cl", "count_launch", {})
    none = np.zeros(1, np.uint32)
    counter = target.buffer(none)
    alone = [target.launch_seconds(kernel, (counter,), 1) for _ in range(repeats)]
    in_a_row = [target.launch_seconds(kernel, (counter,), burst) for _ in range(repeats)]
    counted, least = int(target.read(counter, none)[0]), repeats * (burst + 1)
    if counted < least:
        raise BenchmarkError(f"kernel count_launch ran {counted} times, launched {least} times")
    return [
        measurement(
            "launch_overhead",
            alone,
            Unit.SECONDS,
            "one launch of one work-item, from the call until the host knows it is done",
        ),
        measurement(
            "launch_rate",
            [1 / seconds for seconds in in_a_row],
            Unit.OPERATIONS_PER_S,
            f"{burst} launches of one work-item in a row, awaited together",
        ),
    ]


SYNCHRONISATION_BENCHMARKS = (
    Benchmark("barriers", "barriers over work-group size", _barriers),
    Benchmark("launches", "launch overhead and rate", _launches),
)
