"""Atomic additions to global and local memory, each work-item to its own word or all to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.opencl_bench.benchmark import Benchmark, Effort
from kernelcast.opencl_bench.compute.timing import EFFORTS, Seconds, long_enough
from kernelcast.opencl_bench.compute.verification import check_words
from kernelcast.opencl_bench.measurement import Measurement, Unit, measurement
from kernelcast.opencl_bench.target import DeviceFacts, Target
from kernelcast.simcore.launch.launch import LocalBytes

__all__ = ["ATOMIC_BENCHMARKS"]

_WORK_GROUP = 64
_GROUPS_PER_UNIT = 4
_WORD_BYTES = 4
_GUESSED_S = 8e-9
"""Seconds of an addition, for a first guess of how long to run."""


@dataclass(frozen=True, slots=True)
class _Additions:
    """`spread`: words from one work-item's word to the next one's, 0 when all share one."""

    kernel: str
    spread: int
    work_group: int
    work_groups: int

    @classmethod
    def on(cls, facts: DeviceFacts, kernel: str, spread: int) -> _Additions:
        group = min(_WORK_GROUP, facts.max_work_group)
        return cls(kernel, spread, group, _GROUPS_PER_UNIT * facts.compute_units)

    @property
    def work_items(self) -> int:
        return self.work_group * self.work_groups

    @property
    def method(self) -> str:
        shared = "all" if self.kernel == "global_atomic" else "its work-group"
        word = "a word of each work-item" if self.spread else f"one word of {shared}"
        return f"atomic_add to {word}; {self.work_groups} work-groups of {self.work_group}"

    def per_s(self, target: Target, effort: Effort) -> Sequence[float]:
        """Additions per second of each repetition."""
        kernel = target.kernel("atomic.cl", self.kernel, {})
        values = target.buffer(np.arange(1, self.work_group + 1, dtype=np.uint32))
        blank, none = np.zeros(self.work_items, np.uint32), np.zeros(1, np.uint32)

        def run(iterations: int, repeats: int) -> Seconds:
            words, launches = target.buffer(blank), target.buffer(none)
            numbers = np.uint32(self.spread), np.uint32(iterations)
            arguments = (words, launches, values, *numbers, *self._tile)
            sizes = (self.work_items,), (self.work_group,)
            seconds = target.seconds(kernel, *sizes, arguments, repeats)
            count = int(target.read(launches, none)[0])
            check_words(self.kernel, target.read(words, blank), self.sums(iterations, count))
            return seconds

        guess = int(EFFORTS[effort].launch_s / (self.work_items * _GUESSED_S))
        iterations, seconds = long_enough(run, guess, effort)
        return list(self.work_items * iterations / seconds)

    @property
    def _tile(self) -> tuple[LocalBytes, ...]:
        is_local = self.kernel == "local_atomic"
        return (LocalBytes(_WORD_BYTES * self.work_group),) if is_local else ()

    def sums(self, iterations: int, launches: int) -> npt.NDArray[np.uint32]:
        """What the words hold in the end; they wrap."""
        added = np.uint64(iterations) * np.arange(1, self.work_group + 1, dtype=np.uint64)
        if self.kernel == "local_atomic":
            own = added if self.spread else np.full(self.work_group, added.sum())
            return np.tile(own, self.work_groups).astype(np.uint32)
        sums = np.tile(added, self.work_groups) * np.uint64(launches)
        if not self.spread:
            sums = np.where(np.arange(self.work_items) == 0, sums.sum(), np.uint64(0))
        return sums.astype(np.uint32)


def _atomics(target: Target, effort: Effort) -> Sequence[Measurement]:
    found = []
    for kernel in ("global_atomic", "local_atomic"):
        for name, spread in ((f"{kernel}_throughput", 1), (f"{kernel}_contended_throughput", 0)):
            additions = _Additions.on(target.facts, kernel, spread)
            samples = additions.per_s(target, effort)
            found.append(measurement(name, samples, Unit.OPERATIONS_PER_S, additions.method))
    return found


ATOMIC_BENCHMARKS = (Benchmark("atomics", "atomic additions", _atomics),)
