"""Asynchronous copies that nobody has waited for yet: reading what they bring is an error.

The reference engine makes copies at once. So that a wait that is missing does not stay hidden, it
notes the words of shared memory that a copy writes, until the thread that began it waited for its
group, or until a thread saw the phase of its mbarrier end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.errors import MemoryAccessError
from kernelcast.simcore.engine.reference.batch import Batch
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    BulkCopy,
    Fence,
    Instruction,
    Kernel,
    Load,
    Store,
)
from kernelcast.simcore.isa.ir.mbarrier_words import PHASE_SHIFT, is_mbarrier_look

__all__ = ["OutstandingCopies", "has_copies"]

Ints = npt.NDArray[np.int64]
_WORD_BYTES = 4
_NOBODY = -1
_FAMILY = "cp.async."
_COPIES = (_FAMILY, "LDGSTS")
_COMMITS = (f"{_FAMILY}commit_group", "LDGDEPBAR")
_ARRIVES = (f"{_FAMILY}mbarrier.arrive", "ARRIVES.LDGSTSBAR")
_GROUPING = (_FAMILY, "LDGDEPBAR", "DEPBAR")
"""How copies, and what closes groups of them and waits, are called by PTX and by SASS."""
_MBARRIER_BYTES = 8


def has_copies(kernel: Kernel) -> bool:
    """Whether a copy of the kernel may be outstanding."""
    return any(
        isinstance(i, BulkCopy) or (isinstance(i, Store) and i.mnemonic.startswith(_COPIES))
        for i in kernel.instructions
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Told:
    """Words that are to come before the phase of an mbarrier that has this parity ends.

    `copies`: the numbers of the copies that bring them. What a later one brings is not meant.
    """

    parity: int
    words: Ints
    copies: Ints


class OutstandingCopies:
    """Words of the shared memory of a batch.

    By word: whether a copy to it is outstanding, the number of that copy, the lane that began it
    and the number of its group. `_NOBODY` stands for none. By lane: groups that are closed, and
    those that are done. By mbarrier: what it is told of, in the order in which it was.
    """

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        words = batch.shared.bytes.size // _WORD_BYTES
        self._outstanding = np.zeros(words, bool)
        self._copy, self._lane, self._group = (np.full(words, _NOBODY, np.int64) for _ in range(3))
        self._copies = 0
        self._closed = np.zeros(batch.lanes, np.int64)
        self._done = np.zeros(batch.lanes, np.int64)
        self._told: dict[int, list[_Told]] = {}

    def touch(
        self, instruction: Instruction, lanes: npt.NDArray[np.intp] | None, first: Ints, size: int
    ) -> None:
        """An access to `size` bytes from each of these places in the batch's shared memory on.
        MemoryAccessError when it reads what an outstanding copy writes."""
        is_copy = instruction.mnemonic.startswith(_COPIES)
        who = np.arange(self._batch.lanes) if lanes is None else lanes
        first = np.broadcast_to(first, who.shape)
        if isinstance(instruction, Store) and is_copy:
            self._begin(who, first, size)
        elif isinstance(instruction, Atomic) and instruction.mnemonic.startswith(_ARRIVES):
            self._tell(who, first)
        elif isinstance(instruction, Load) and is_mbarrier_look(instruction):
            self._look(first)
        elif isinstance(instruction, Load) and not is_copy:
            self._look_at_told(instruction, first)
            self._check(instruction, who, first, size)

    def fence(self, fence: Fence, lanes: npt.NDArray[np.intp] | None) -> None:
        """A thread's group ends, or it waits for groups."""
        name = fence.mnemonic
        if not name.startswith(_GROUPING) or name.startswith(f"{_FAMILY}bulk"):
            return
        some = slice(None) if lanes is None else lanes
        if name.startswith(_COMMITS):
            self._closed[some] += 1
        elif fence.groups_left is not None:
            if name.startswith(f"{_FAMILY}wait_all"):
                self._closed[some] += 1
            self._done[some] = np.maximum(self._done[some], self._closed[some] - fence.groups_left)

    def begin_in_bulk(self, first: Ints, size: int, mbarrier: int) -> None:
        """A copy in bulk to these places, which the mbarrier at a place will be told of."""
        words = _words(first, size).reshape(-1)
        self._note(words, np.asarray(_NOBODY), np.asarray(_NOBODY))
        self._tell_of(mbarrier, words)

    def _begin(self, lanes: npt.NDArray[np.intp], first: Ints, size: int) -> None:
        self._note(_words(first, size), lanes[:, None], self._closed[lanes][:, None])

    def _note(self, words: Ints, lanes: Ints, groups: Ints) -> None:
        self._outstanding[words] = True
        self._copy[words] = self._copies
        self._lane[words] = lanes
        self._group[words] = groups
        self._copies += 1

    def _tell(self, lanes: npt.NDArray[np.intp], mbarriers: Ints) -> None:
        """An mbarrier is told of all that these threads have begun, by others told of or not."""
        for mbarrier in np.unique(mbarriers).tolist():
            mine = np.isin(self._lane, lanes[mbarriers == mbarrier]) & self._outstanding
            self._tell_of(mbarrier, np.flatnonzero(mine))

    def _tell_of(self, mbarrier: int, words: Ints) -> None:
        told = _Told(self._parity(mbarrier), words, self._copy[words])
        self._told.setdefault(mbarrier, []).append(told)

    def _look_at_told(self, load: Load, first: Ints) -> None:
        """Machine code before Hopper looks at an mbarrier by a load like any other."""
        if self._told and not load.is_part:
            mbarriers = first - first % _MBARRIER_BYTES
            self._look(mbarriers[np.isin(mbarriers, list(self._told))])

    def _look(self, mbarriers: Ints) -> None:
        """What was begun before a phase that is over has come."""
        for mbarrier in np.unique(mbarriers).tolist():
            told, parity = self._told.get(mbarrier, []), self._parity(mbarrier)
            over = [n for n, item in enumerate(told) if item.parity != parity]
            for item in told[: over[-1] + 1] if over else ():
                self._outstanding[item.words[self._copy[item.words] == item.copies]] = False
            del told[: over[-1] + 1 if over else 0]

    def _check(self, load: Load, lanes: npt.NDArray[np.intp], first: Ints, size: int) -> None:
        words = _words(first, size)
        outstanding = self._outstanding[words]
        if not outstanding.any():
            return
        owner = self._lane[words]
        waited = (owner != _NOBODY) & (self._group[words] < self._done[owner])
        late = (outstanding & ~waited).any(axis=1)
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

    def _parity(self, mbarrier: int) -> int:
        words = self._batch.shared.typed(np.dtype(np.uint64))
        return int(words[mbarrier >> 3]) >> PHASE_SHIFT & 1


def _words(first: Ints, size: int) -> Ints:
    """Numbers of the words; shape (places, words)."""
    words = first[:, None] // _WORD_BYTES
    return np.asarray(words + np.arange(max(1, size // _WORD_BYTES)))
