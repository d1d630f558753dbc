"""Asynchronous copies that nobody has waited for yet: reading what they bring is an error.

The reference engine makes copies at once. So that a wait that is missing does not stay hidden, it
notes the words of shared memory that a copy writes, until the thread that began it waited for its
group, or until a thread saw the phase of its mbarrier end.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernelcast.errors import MemoryAccessError
from kernelcast.simcore.engine.batch import Batch
from kernelcast.simcore.isa.kernel import (
    Atomic,
    BulkCopy,
    Fence,
    Instruction,
    Kernel,
    Load,
    Store,
)
from kernelcast.simcore.isa.mbarrier_words import PHASE_SHIFT, is_mbarrier_look

__all__ = ["CopiesUnderWay", "has_copies"]

Ints = npt.NDArray[np.int64]
_WORD_BYTES = 4
_NOBODY = -1
_FAMILY = "cp.async."
_COMMITS = f"{_FAMILY}commit_group"
_ARRIVES = f"{_FAMILY}mbarrier.arrive"


def has_copies(kernel: Kernel) -> bool:
    """Whether anything in the kernel may be under way."""
    return any(
        isinstance(i, BulkCopy) or (isinstance(i, Store) and i.mnemonic.startswith(_FAMILY))
        for i in kernel.instructions
    )


class CopiesUnderWay:
    """Words of the shared memory of a batch.

    By word: the instruction that copies to it, the lane that began it and the number of its group,
    and the number of the copy that an mbarrier is told of. `_NOBODY` stands for none. By lane:
    groups that are closed, and those that are done.
    """

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        words = batch.shared.bytes.size // _WORD_BYTES
        self._pc, self._lane, self._group, self._copy = (
            np.full(words, _NOBODY, np.int64) for _ in range(4)
        )
        self._closed = np.zeros(batch.lanes, np.int64)
        self._done = np.zeros(batch.lanes, np.int64)
        self._places: list[int] = []
        self._parities: list[int] = []
        self._has_come: list[bool] = []

    def touch(
        self, instruction: Instruction, lanes: npt.NDArray[np.intp] | None, first: Ints, size: int
    ) -> None:
        """An access to `size` bytes from each of these places in the batch's shared memory on.
        MemoryAccessError when it reads what is under way."""
        is_copy = instruction.mnemonic.startswith(_FAMILY)
        who = np.arange(self._batch.lanes) if lanes is None else lanes
        first = np.broadcast_to(first, who.shape)
        if isinstance(instruction, Store) and is_copy:
            self._begin(instruction, who, first, size)
        elif isinstance(instruction, Atomic) and instruction.mnemonic.startswith(_ARRIVES):
            self._tell(who, first)
        elif isinstance(instruction, Load) and is_mbarrier_look(instruction):
            self._look(first)
        elif isinstance(instruction, Load) and not is_copy:
            self._check(instruction, who, first, size)

    def fence(self, fence: Fence, lanes: npt.NDArray[np.intp] | None) -> None:
        """A thread's group ends, or it waits for groups."""
        if not fence.mnemonic.startswith(_FAMILY) or fence.mnemonic.startswith(f"{_FAMILY}bulk"):
            return
        some = slice(None) if lanes is None else lanes
        if fence.mnemonic.startswith(_COMMITS):
            self._closed[some] += 1
        elif fence.groups_left is not None:
            if fence.mnemonic.startswith(f"{_FAMILY}wait_all"):
                self._closed[some] += 1
            self._done[some] = np.maximum(self._done[some], self._closed[some] - fence.groups_left)

    def begin_in_bulk(self, pc: int, first: Ints, size: int, mbarrier: int) -> None:
        """A copy in bulk to these places, which the mbarrier at a place will be told of."""
        words = _words(first, size).reshape(-1)
        self._pc[words] = pc
        self._lane[words] = _NOBODY
        self._copy[words] = self._new_copy(mbarrier)

    def _begin(self, store: Store, lanes: npt.NDArray[np.intp], first: Ints, size: int) -> None:
        words = _words(first, size)
        self._pc[words] = store.pc
        self._lane[words] = lanes[:, None]
        self._group[words] = self._closed[lanes][:, None]
        self._copy[words] = _NOBODY

    def _tell(self, lanes: npt.NDArray[np.intp], mbarriers: Ints) -> None:
        """The copies that these threads have begun are those of an mbarrier, too."""
        for mbarrier in np.unique(mbarriers).tolist():
            mine = np.isin(self._lane, lanes[mbarriers == mbarrier]) & (self._pc != _NOBODY)
            if mine.any():
                self._copy[mine] = self._new_copy(mbarrier)

    def _look(self, mbarriers: Ints) -> None:
        """What was begun before a phase that is over has come."""
        for mbarrier in np.unique(mbarriers).tolist():
            parity = self._parity(mbarrier)
            mine = [n for n, place in enumerate(self._places) if place == mbarrier]
            over = [n for n in mine if self._parities[n] != parity]
            for number in mine[: mine.index(over[-1]) + 1] if over else ():
                self._has_come[number] = True

    def _check(self, load: Load, lanes: npt.NDArray[np.intp], first: Ints, size: int) -> None:
        words = _words(first, size)
        under_way = self._pc[words] != _NOBODY
        if not under_way.any():
            return
        owner, copy = self._lane[words], self._copy[words]
        waited = (owner != _NOBODY) & (self._group[words] < self._done[owner])
        come = np.array([*self._has_come, False])
        late = (under_way & ~waited & ~((copy != _NOBODY) & come[copy])).any(axis=1)
        if not late.any():
            return
        row = int(np.argmax(late))
        place = int(first[row]) % self._batch.shared.stride
        raise MemoryAccessError(
            f"load of {size} bytes at address {place:#x} of shared memory: it reads what an "
            "asynchronous copy brings that has not been waited for",
            load.span,
            self._batch.thread_name(int(lanes[row])),
            load.origin,
        )

    def _new_copy(self, mbarrier: int) -> int:
        self._places.append(mbarrier)
        self._parities.append(self._parity(mbarrier))
        self._has_come.append(False)
        return len(self._places) - 1

    def _parity(self, mbarrier: int) -> int:
        words = self._batch.shared.typed(np.dtype(np.uint64))
        return int(words[mbarrier >> 3]) >> PHASE_SHIFT & 1


def _words(first: Ints, size: int) -> Ints:
    """Numbers of the words; shape (places, words)."""
    words = first[:, None] // _WORD_BYTES
    return np.asarray(words + np.arange(max(1, size // _WORD_BYTES)))
