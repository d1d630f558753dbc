"""Follows a launch while it runs: takes the records of workers, decides what needs clocks.

A `Detector` is the watcher's; each worker of the engine hands its records to a `Follower`, which
has the shared memory of the thread blocks that run there. All of them run on one thread, so records
come in the order in which the launch was executed.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt

from kernelcast.errors import KernelcastError
from kernelcast.simcore.checking.barriers import Barriers
from kernelcast.simcore.checking.clocks import Clocks
from kernelcast.simcore.checking.findings import Raw
from kernelcast.simcore.checking.following import follow
from kernelcast.simcore.checking.plan import Plan
from kernelcast.simcore.checking.records import (
    BARRIER,
    CLOCKED,
    EVENT_AT,
    FOUND,
    KIND_BITS,
    MOST_THREADS,
    OPENED,
    PC_BITS,
    RACE,
    SEGMENT_SHIFT,
    STAMPS,
    Findings,
    Shadow,
)
from kernelcast.simcore.checking.runs import runs_of
from kernelcast.simcore.checking.synchronisation import Synchronisation
from kernelcast.simcore.engine.jit.codegen.memory.counted_accesses import CountedAccesses
from kernelcast.simcore.engine.jit.codegen.memory.records import EVENT, VALUES
from kernelcast.simcore.engine.jit.runtime.task import Task
from kernelcast.simcore.engine.reference.clusters import ClusterMembers
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.stream import AccessBatch
from kernelcast.traces.trace import AccessTable

__all__ = ["Detector", "Follower"]

Ints = npt.NDArray[np.int64]
_ROWS, _KEYS = 1 << 14, 1 << 13


class Detector:
    """What is found in one launch. `new_follower` is the log that a worker of the engine keeps."""

    def __init__(self, plan: Plan, kernel: Kernel, launch: Launch) -> None:
        geometry = plan.geometry
        self.plan = plan
        self.instructions = {i.pc: i for i in kernel.instructions}
        thread_blocks = launch.thread_blocks
        cluster = launch.cluster_of(kernel) if geometry.is_cluster else (1, 1, 1)
        members = ClusterMembers(launch.grid, cluster, np.arange(thread_blocks))
        self.ranks, self._mates = members.rank, members.mates
        self.cluster_size = members.size
        self.clocks, self.barriers = Clocks(), Barriers()
        self.findings = Findings(
            np.zeros((_ROWS, 8), np.int64),
            np.full(_KEYS, -1, np.int64),
            np.zeros(_KEYS, np.int64),
            np.zeros(8, np.int64),
        )
        self.buffers = np.zeros((plan.words, plan.buffer_cells + 1), np.int64)
        self.segments = np.zeros((plan.buffer_cells >> SEGMENT_SHIFT) + 1, np.int64)
        self._raw: list[Raw] = []
        self._suspects: Counter[tuple[int, int, int]] = Counter()
        if thread_blocks * geometry.warps * geometry.width > MOST_THREADS:
            raise KernelcastError(f"check follows at most {MOST_THREADS:,} threads")

    def mate(self, thread_block: int, rank: int) -> int:
        """The thread block of a rank in the cluster of another one."""
        return int(self._mates[thread_block, rank])

    def new_follower(self, task: Task) -> Follower:
        """The log of a worker."""
        return Follower(self, task)

    @property
    def found(self) -> list[tuple[Raw, int]]:
        """All that was found, each with how often it occurred."""
        return [(raw, self._often(raw)) for raw in self._raw]

    def _often(self, raw: Raw) -> int:
        if raw.key in self._suspects:
            return self._suspects[raw.key]
        places = raw.prior_pc << PC_BITS | raw.pc
        wanted = (places << KIND_BITS | raw.kind) << 3 | raw.space
        at = np.flatnonzero(self.findings.keys == wanted)
        return int(self.findings.often[at].sum()) or 1

    def note(self, raw: Raw) -> None:
        """Takes a finding that has been decided; those of a kind at the same places are one."""
        self._suspects[raw.key] += 1
        if self._suspects[raw.key] == 1:
            self._raw.append(raw)

    def settle(self) -> None:
        """Takes what `follow` has found; with clocks, what they do not order."""
        findings = self.findings
        rows = findings.rows[: findings.out[FOUND]].copy()
        findings.out[FOUND] = 0
        for row in rows.tolist():
            raw = Raw.of(row)
            if raw.kind == RACE and self.clocks.is_used:
                if raw.key in self._suspects or not self._is_race(raw):
                    if raw.key in self._suspects and self._is_race(raw):
                        self._suspects[raw.key] += 1
                    continue
                self._suspects[raw.key] = 1
            self._raw.append(raw)

    def _is_race(self, raw: Raw) -> bool:
        size = self.plan.geometry.warps * self.plan.geometry.width
        mine, theirs = (raw.thread - 1) // size, (raw.prior_thread - 1) // size
        return not self.clocks.knows(raw.thread, mine, raw.prior_thread, theirs, raw.prior_stamp)


class Follower:
    """The log of one worker: the shared memory of the thread blocks that run there."""

    def __init__(self, detector: Detector, task: Task) -> None:
        plan, geometry = detector.plan, detector.plan.geometry
        self._detector = detector
        self._plan = plan
        ranks = detector.cluster_size
        threads = ranks * geometry.warps * geometry.width
        fine = threads if geometry.is_fine else 1
        self.shadow = Shadow(
            np.zeros((plan.words, ranks * geometry.shared_cells + 1), np.int64),
            detector.buffers,
            detector.segments,
            np.zeros(ranks * geometry.shared_cells + 1 if geometry.has_copies else 1, np.int64),
            np.zeros((2, plan.buffer_cells + 1 if geometry.has_copies else 1), np.int64),
            np.zeros(threads * geometry.local_cells + 1, np.int32),
            plan.rows,
            np.zeros((fine, geometry.width), np.int64),
            detector.ranks,
            np.zeros((threads if geometry.has_copies else 1, 2), np.int64),
            np.zeros(ranks * geometry.warps, np.int64),
            np.zeros(max(64, geometry.width), np.int64),
        )
        self.state = np.full((ranks, 4), -1, np.int64)
        offsets = task.source.lane_offsets
        self._lane_offsets = np.array(offsets, np.int64).reshape(-1, geometry.width)
        if not offsets:
            self._lane_offsets = np.zeros((1, geometry.width), np.int64)
        self._runs = runs_of(offsets, geometry.width)
        self.counted = CountedAccesses((), 0, geometry.width, 1)
        self._synchronisation = Synchronisation(detector, self)

    def take(self, words: Ints) -> None:
        """The records of a ring, in the order in which they were made."""
        at, detector = 0, self._detector
        out = detector.findings.out
        while at < len(words):
            at = follow(
                words,
                at,
                self._lane_offsets,
                self._runs,
                (self._plan.table, self._plan.geometry),
                self.shadow,
                detector.findings,
                self.state,
            )
            detector.settle()
            if out[EVENT_AT]:
                at = self._host(words, at, int(out[EVENT_AT]))
            out[CLOCKED] = detector.clocks.is_used

    def _host(self, words: Ints, at: int, why: int) -> int:
        """What compiled code leaves to clocks; the record to go on with."""
        width = self._plan.geometry.width
        if why == STAMPS:
            raise KernelcastError("check gives up: too many synchronisations of a thread block")
        if why == BARRIER:
            self._synchronisation.pass_barrier(int(words[at + 2]))
            return at
        if why == OPENED:
            self._synchronisation.leave(words[at : at + 5].tolist())
            return at
        is_listed = bool(words[at] >> 31 & 1)
        following = at + (5 if is_listed else 4 + width)
        addresses = words[at + 4 : following].tolist()
        values: list[int] = []
        if following < len(words) and words[following] & VALUES:
            values = words[following + 4 : following + 4 + width].tolist()
        if is_listed and not words[at] & EVENT:
            which = int(words[at] >> 32)
            addresses = (words[at + 4] + self._lane_offsets[which]).tolist()
        self._synchronisation.record(words[at : at + 5].tolist(), addresses, values)
        return following

    def batch(self, first: int, end: int, warp_time: npt.NDArray[np.int32]) -> AccessBatch:
        """No accesses: the launch is followed as it runs."""
        width = self._plan.geometry.width
        nothing = AccessTable.empty(), PatternTable.empty(width)
        return AccessBatch(first, end - first, *nothing, warp_time)
