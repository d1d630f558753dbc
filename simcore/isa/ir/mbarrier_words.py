"""The 64 bits of an mbarrier, which PTX leaves open.

They are those of the machine: `mbarrier.init` of n is a store of m = 2**20 - n in two fields, a
wait for a parity gives it in the highest bit, and the pending count of a state is taken from
another field (compiled for sm_90 and sm_100, and read back). From the lowest bit on: a bit that is
not used here; a whole phase's arrivals as m (20 bits); bytes that are still to come (22, two's
complement, the place is ours); the arrivals that the phase still lacks, from 2**20 too (20); the
parity of the phase (1). What happens to an mbarrier is one addition, field by field, after which a
phase with nothing left ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.ir.kernel import Instruction, Load

__all__ = [
    "EXPECTED_SHIFT",
    "FIELD",
    "MBARRIER_WAIT",
    "MOST_ARRIVALS",
    "OPERATION",
    "PENDING_SHIFT",
    "PHASE_SHIFT",
    "TRANSACTION_BITS",
    "TRANSACTION_SHIFT",
    "advanced",
    "change",
    "initial_word",
    "is_mbarrier_look",
    "is_of_mbarrier",
]

OPERATION = "mbarrier"
"""The name of the atomic operation that adds a change and ends the phase when nothing is left."""
MBARRIER_WAIT = "mbarrier.wait"
"""What rows of a trace call a look at an mbarrier: threads wait for its phase there."""
_FIELD_BITS = 20
FIELD = 1 << _FIELD_BITS
"""What arrivals are counted up to."""
MOST_ARRIVALS = FIELD - 1
EXPECTED_SHIFT = 1
TRANSACTION_SHIFT, TRANSACTION_BITS = EXPECTED_SHIFT + _FIELD_BITS, 22
PENDING_SHIFT = TRANSACTION_SHIFT + TRANSACTION_BITS
PHASE_SHIFT = PENDING_SHIFT + _FIELD_BITS
_NAMES, _LOOKS = ("mbarrier.", "SYNCS."), ("mbarrier.", "SYNCS.PHASECHK.")
"""How instructions on mbarriers are called, and loads that look at them, by PTX and by SASS."""
_WORD = (1 << 64) - 1
_EXPECTED = MOST_ARRIVALS << EXPECTED_SHIFT
_TRANSACTIONS = ((1 << TRANSACTION_BITS) - 1) << TRANSACTION_SHIFT
_PENDING = MOST_ARRIVALS << PENDING_SHIFT
_PHASE = 1 << PHASE_SHIFT


def initial_word(count: int) -> int:
    """An mbarrier for so many arrivals, in its first phase."""
    return (FIELD - count) * (1 << EXPECTED_SHIFT | 1 << PENDING_SHIFT)


def change(*, arrivals: int = 0, transactions: int = 0, dropped: int = 0) -> int:
    """What is added to an mbarrier's word for arrivals and transactions.

    `transactions`: bytes that are expected or, negative, have come; `dropped`: arrivals that all
    later phases do without. Changes may be added and multiplied as numbers of 64 bits.
    """
    total = arrivals << PENDING_SHIFT
    total += (transactions << TRANSACTION_SHIFT) + (dropped << EXPECTED_SHIFT)
    return total & _WORD


def advanced(old: npt.NDArray[Any], added: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The words after a change, uint64."""
    word, more = old.view(np.uint64), added.view(np.uint64)
    room = np.uint64(64 - TRANSACTION_SHIFT - TRANSACTION_BITS)
    signed = (more << room).view(np.int64) >> room.view(np.int64)
    moved = signed.view(np.uint64) & np.uint64(_WORD << TRANSACTION_SHIFT & _WORD)
    counts = more - moved
    transactions = (word + moved) & np.uint64(_TRANSACTIONS)
    expected = (word + counts) & np.uint64(_EXPECTED)
    arrived = counts & np.uint64(_PENDING)
    pending = ((word & np.uint64(_PENDING)) + arrived) & np.uint64(_PENDING)
    phase = word & np.uint64(_PHASE)
    is_over = (transactions | pending) == 0
    following = expected << np.uint64(PENDING_SHIFT - EXPECTED_SHIFT)
    pending = np.where(is_over, following, pending)
    phase = np.where(is_over, phase ^ np.uint64(_PHASE), phase)
    changed: npt.NDArray[Any] = (expected | transactions | pending | phase).view(old.dtype)
    return changed


def is_mbarrier_look(instruction: Instruction) -> bool:
    """Whether the instruction asks an mbarrier if a phase is over (`test_wait`, `try_wait`)."""
    return isinstance(instruction, Load) and instruction.mnemonic.startswith(_LOOKS)


def is_of_mbarrier(instruction: Instruction) -> bool:
    """Whether an instruction is called as those are that work on an mbarrier."""
    return instruction.mnemonic.startswith(_NAMES)
