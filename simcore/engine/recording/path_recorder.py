"""The Recorder of warp paths: which basic blocks each warp ran, in order, and where it accessed.

A *visit* is one run of a basic block by one warp. Visits are sorted by warp in the end, then
spread out to the instructions of their basic blocks.
"""

from __future__ import annotations

from enum import Enum

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.recording.patterns import PatternPool, WarpRows
from kernelcast.simcore.engine.recording.recorder import Lanes
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.traces.phase_table import PhaseTable
from kernelcast.traces.warp_paths import NO_PATTERN, WarpPaths

__all__ = ["PathRecorder", "PhaseRole", "RecordingFull"]

Ints = npt.NDArray[np.int64]
_MOST_STEPS = 1 << 17
"""Instructions, each for any number of warps: where warps go ways of their own they bound the time
that recording takes, as events do where all go together."""


class RecordingFull(Exception):  # ends the run of the sample; what was recorded stays
    """The next run of a basic block would be one event too many."""


class PhaseRole(Enum):
    """What an event does in a phase: take part, wait for its end, or, at a barrier, both.

    Where lanes of a warp come to a barrier one after the other, its last event waits.
    """

    ARRIVAL = 0
    WAIT = 1
    MEETING = 2


class PathRecorder:
    """Keeps the paths of all warps of one batch, up to `most_events`."""

    def __init__(self, kernel: Kernel, width: int, warps: int, most_events: int) -> None:
        self._width = width
        self._warps = warps
        self._most_events = most_events
        self._blocks = _BlockTable(kernel)
        self._pool = PatternPool(width)
        self._steps = 0
        self._events = 0
        self._visits = 0
        self._running: Ints | None = None
        self._first_visit = 0
        self._visit_columns: list[tuple[Ints, int, npt.NDArray[np.uint8]]] = []
        self._guards: list[tuple[Ints, int, npt.NDArray[np.uint8]]] = []
        self._accesses: list[tuple[Ints, int, npt.NDArray[np.int32], Ints]] = []
        self._owners: list[int] = []
        self._phases: list[tuple[Ints, int, Ints, PhaseRole]] = []

    def record_run(
        self, basic_block: int, mask: npt.NDArray[np.bool_] | None, stages: Ints, issued: Ints
    ) -> None:
        """RecordingFull instead of the first run that does not fit."""
        if mask is None:
            warps, lanes = np.arange(self._warps), np.full(self._warps, self._width, np.uint8)
        else:
            counts = np.count_nonzero(mask.reshape(-1, self._width), axis=1).astype(np.uint8)
            warps = np.flatnonzero(counts)
            lanes = counts[warps]
        length = int(self._blocks.length[basic_block])
        self._steps += max(1, length)
        self._events += len(warps) * length
        if self._events > self._most_events or self._steps > _MOST_STEPS:
            raise RecordingFull
        self._running = None if mask is None else warps
        self._first_visit = self._visits
        self._visits += len(warps)
        self._visit_columns.append((warps, basic_block, lanes))

    def record_guard(self, pc: int, lanes: Lanes, chosen: npt.NDArray[np.intp]) -> None:
        """The instruction is issued all the same."""
        warp = (chosen if lanes is None else lanes[chosen]) // self._width
        counts = np.bincount(warp, minlength=self._warps).astype(np.uint8)
        warps = np.arange(self._warps) if self._running is None else self._running
        self._guards.append((self._visit_of(warps), self._blocks.place[pc], counts[warps]))

    def record_access(self, pc: int, rows: WarpRows, warps: Ints, time: Ints, stage: Ints) -> None:
        """`rows` number the warps of the batch."""
        self._add_access(pc, rows)

    def record_pattern(self, pc: int, rows: WarpRows, stage: Ints) -> None:
        """Notes an access with its pattern among the events of its warp."""
        self._add_access(pc, rows)

    def new_barrier(self, thread_block: int) -> int:
        """Numbers a barrier of a thread block, which counts within the batch."""
        self._owners.append(thread_block)
        return len(self._owners) - 1

    def record_phases(self, pc: int, rows: Ints, role: PhaseRole) -> None:
        """`rows`: warps of the batch, barriers and phases, shape (3, n)."""
        self._phases.append((self._visit_of(rows[0]), self._blocks.place[pc], rows, role))

    def paths(self, thread_blocks: Ints, *, is_complete: bool) -> WarpPaths:
        """The recorded paths of all warps; `thread_blocks`: the numbers of the batch's."""
        warp = np.concatenate([np.zeros(0, np.int64), *(item[0] for item in self._visit_columns)])
        sizes = [len(item[0]) for item in self._visit_columns]
        block = np.repeat([item[1] for item in self._visit_columns], sizes).astype(np.int64)
        lanes = np.concatenate([np.zeros(0, np.uint8), *(item[2] for item in self._visit_columns)])
        order = np.argsort(warp, kind="stable")
        length = self._blocks.length[block[order]]
        first_event = np.empty(len(order), np.int64)
        first_event[order] = np.cumsum(length) - length
        events_of_warp = np.bincount(warp[order], length, self._warps).astype(np.int64)
        within = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
        pc = self._blocks.pcs[np.repeat(self._blocks.first[block[order]], length) + within]
        taking_part = np.repeat(lanes[order], length)
        for visits, place, counts in self._guards:
            taking_part[first_event[visits] + place] = counts
        pattern, address = self._access_columns(first_event, len(pc))
        return WarpPaths(
            thread_blocks=thread_blocks,
            warps_per_thread_block=self._warps // len(thread_blocks),
            start=np.concatenate((np.zeros(1, np.int64), np.cumsum(events_of_warp))),
            pc=pc,
            lanes=taking_part,
            pattern=pattern,
            address=address,
            patterns=self._pool.table(),
            is_complete=is_complete,
            phases=self._phase_table(first_event),
        )

    def _add_access(self, pc: int, rows: WarpRows) -> None:
        where = self._visit_of(rows.warps), self._blocks.place[pc]
        self._accesses.append((*where, self._pool.numbers(rows), rows.first))

    def _visit_of(self, warps: Ints) -> Ints:
        """The visits of those warps of the run that is under way."""
        if self._running is None:
            return self._first_visit + warps
        return self._first_visit + np.searchsorted(self._running, warps)

    def _access_columns(self, first_event: Ints, events: int) -> tuple[npt.NDArray[np.int32], Ints]:
        """Pattern and address by event; of a generic access to several spaces the first part."""
        pattern, address = np.full(events, NO_PATTERN, np.int32), np.zeros(events, np.int64)
        for visits, place, numbers, first in reversed(self._accesses):
            at = first_event[visits] + place
            pattern[at] = numbers
            address[at] = first
        return pattern, address

    def _phase_table(self, first_event: Ints) -> PhaseTable:
        none = np.zeros(0, np.int64)
        events = [first_event[visits] + place for visits, place, _, _ in self._phases]
        event = np.concatenate([none, *events])
        joined = [np.zeros((3, 0), np.int64), *(rows for _, _, rows, _ in self._phases)]
        warp, barrier, phase = np.concatenate(joined, axis=1)
        sizes = [len(item) for item in events]
        role = np.repeat([item.value for *_, item in self._phases], sizes).astype(np.int64)
        meets = np.flatnonzero(role == PhaseRole.MEETING.value)
        order = meets[np.lexsort((event[meets], phase[meets], barrier[meets], warp[meets]))]
        keys = np.stack((warp, barrier, phase))[:, order]
        is_last = np.append((keys[:, 1:] != keys[:, :-1]).any(axis=0), len(order) > 0)
        last = order[is_last[: len(order)]]
        chosen = np.concatenate((np.arange(len(event)), last))
        is_wait = np.concatenate((role == PhaseRole.WAIT.value, np.ones(len(last), np.bool_)))
        return PhaseTable(
            event[chosen],
            barrier[chosen].astype(np.int32),
            phase[chosen].astype(np.int32),
            is_wait,
            np.array(self._owners, np.int32),
        )


class _BlockTable:
    """The pcs of each basic block: `pcs[first[b] : first[b] + length[b]]`; `place` by pc."""

    def __init__(self, kernel: Kernel) -> None:
        found = [
            [i.pc for i in (*block.body, block.terminator) if i.mnemonic] for block in kernel.blocks
        ]
        self.length = np.array([len(pcs) for pcs in found], np.int64)
        self.first = np.cumsum(self.length) - self.length
        self.pcs = np.array([pc for pcs in found for pc in pcs], np.int32)
        self.place = {pc: place for pcs in found for place, pc in enumerate(pcs)}
