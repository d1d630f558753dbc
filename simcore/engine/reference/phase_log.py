"""Which phases of barriers and mbarriers the instructions of a batch take part in or wait for.

The engine runs warps in an order of its own; what does not depend on it is which phase an arrival
belongs to, and how many phases had ended when a wait was over.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.recording.path_recorder import PathRecorder, PhaseRole
from kernelcast.simcore.engine.reference.batch import Batch
from kernelcast.simcore.engine.reference.counted_barriers import has_counted_barriers
from kernelcast.simcore.isa.ir.kernel import Instruction, Kernel, Load, Store
from kernelcast.simcore.isa.ir.mbarrier_words import (
    PHASE_SHIFT,
    is_mbarrier_look,
    is_of_mbarrier,
)

__all__ = ["PhaseLog", "has_phases"]

Ints = npt.NDArray[np.int64]
Lanes = npt.NDArray[np.intp] | None
_WORD_SHIFT = 3
_NOBODY = -1
_CLUSTER = -1
"""Stands for the number of the barrier of the cluster."""


def has_phases(kernel: Kernel) -> bool:
    """Whether warps wait at mbarriers, or at barriers that are not for the whole thread block."""
    return has_counted_barriers(kernel) or any(map(is_mbarrier_look, kernel.instructions))


class PhaseLog:
    """Tells the recorder of the phases of one batch.

    By word of 8 bytes of shared memory: the number of the mbarrier that lies there, and how many of
    its phases have ended; the same of barriers by number.
    """

    def __init__(self, batch: Batch, recorder: PathRecorder) -> None:
        self._batch = batch
        self._recorder = recorder
        words = batch.shared.bytes.size >> _WORD_SHIFT
        self._number = np.full(words, _NOBODY, np.int64)
        self._ended = np.zeros(words, np.int64)
        self._barriers: dict[tuple[int, int], int] = {}
        self._opened: dict[int, int] = {}
        self._passed_cluster = np.zeros(batch.lanes, np.int64)

    def touch(self, instruction: Instruction, lanes: Lanes, first: Ints) -> None:
        """An access to these places in the batch's shared memory: a new mbarrier or a look."""
        if not is_of_mbarrier(instruction):
            return
        who = self._batch.lane_of(lanes)
        words = np.broadcast_to(first, who.shape) >> _WORD_SHIFT
        if isinstance(instruction, Store):
            self._number[words] = _NOBODY
        elif isinstance(instruction, Load) and is_mbarrier_look(instruction):
            ended = self._ended[words]
            seen = (ended > 0) & (self._number[words] != _NOBODY)
            numbers, phases = self._number[words[seen]], ended[seen] - 1
            self._record(instruction.pc, who[seen], numbers, phases, PhaseRole.WAIT)

    def change(self, pc: int, who: Ints, words: Ints, old: Ints, now: Ints) -> None:
        """Records that lanes `who`, in ascending order, add to mbarriers.

        `old`: what each one found, `now` what is there when all are done.
        """
        numbers = np.array([self._mbarrier(word) for word in words.tolist()], np.int64)
        phases = np.zeros(len(words), np.int64)
        for word in np.unique(words).tolist():
            mine = np.flatnonzero(words == word)
            bits = np.append(old[mine], now[mine[-1:]]) >> PHASE_SHIFT & 1
            ends = np.cumsum(bits[1:] != bits[:-1])
            phases[mine] = self._ended[word] + np.append(0, ends[:-1])
            self._ended[word] += ends[-1]
        self._record(pc, who, numbers, phases, PhaseRole.ARRIVAL)

    def arrive(self, pc: int, lanes: Lanes, barriers: Ints) -> None:
        """Lanes come to barriers of their thread block by number, and go on."""
        self._come(pc, self._batch.lane_of(lanes), barriers, PhaseRole.ARRIVAL)

    def wait(self, pc: int, lanes: Lanes, barriers: Ints) -> None:
        """Lanes come to barriers of their thread block and wait there."""
        self._come(pc, self._batch.lane_of(lanes), barriers, PhaseRole.MEETING)

    def open(self, barriers: Ints, thread_blocks: Ints) -> None:
        """Barriers of these thread blocks, one each, have opened."""
        for barrier, owner in set(zip(barriers.tolist(), thread_blocks.tolist(), strict=True)):
            number = self._barrier(owner, barrier)
            self._opened[number] = self._opened.get(number, 0) + 1

    def arrive_at_cluster(self, pc: int, lanes: Lanes) -> None:
        """Lanes come by the barrier of their cluster."""
        who = self._batch.lane_of(lanes)
        numbers = self._numbers(who, np.full(len(who), _CLUSTER))
        self._record(pc, who, numbers, self._passed_cluster[who], PhaseRole.ARRIVAL)
        self._passed_cluster[who] += 1

    def wait_for_cluster(self, pc: int, lanes: Lanes) -> None:
        """Lanes wait for as many phases as they came by."""
        who = self._batch.lane_of(lanes)
        who = who[self._passed_cluster[who] > 0]
        numbers = self._numbers(who, np.full(len(who), _CLUSTER))
        self._record(pc, who, numbers, self._passed_cluster[who] - 1, PhaseRole.WAIT)

    def _come(self, pc: int, who: Ints, barriers: Ints, role: PhaseRole) -> None:
        numbers = self._numbers(who, np.broadcast_to(barriers, who.shape))
        phases = np.array([self._opened.get(number, 0) for number in numbers.tolist()], np.int64)
        self._record(pc, who, numbers, phases, role)

    def _numbers(self, who: Ints, barriers: Ints) -> Ints:
        owners = self._batch.thread_block_of(who)
        pairs = zip(owners.tolist(), barriers.tolist(), strict=True)
        return np.array([self._barrier(owner, barrier) for owner, barrier in pairs], np.int64)

    def _barrier(self, owner: int, barrier: int) -> int:
        if (owner, barrier) not in self._barriers:
            self._barriers[owner, barrier] = self._recorder.new_barrier(owner)
        return self._barriers[owner, barrier]

    def _mbarrier(self, word: int) -> int:
        if self._number[word] == _NOBODY:
            self._number[word] = self._recorder.new_barrier(
                (word << _WORD_SHIFT) // self._batch.shared.stride
            )
            self._ended[word] = 0
        return int(self._number[word])

    def _record(self, pc: int, who: Ints, barriers: Ints, phases: Ints, role: PhaseRole) -> None:
        """Once for each warp."""
        if len(who):
            rows = np.unique(np.stack((who // self._batch.width, barriers, phases)), axis=1)
            self._recorder.record_phases(pc, rows, role)
