"""The 64 bits of an mbarrier, which PTX leaves open.

From the lowest bit on: arrivals that the phase still lacks (20 bits), arrivals of a whole phase
(20), the parity of the phase (1), bytes that are still to come (21, two's complement). Everything
that happens to an mbarrier then is one addition, after which a phase with nothing left ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.ir.kernel import Instruction, Load

__all__ = [
    "EXPECTED_SHIFT",
    "MBARRIER_WAIT",
    "MOST_ARRIVALS",
    "OPERATION",
    "PENDING_MASK",
    "PHASE_SHIFT",
    "TRANSACTION_SHIFT",
    "UNFINISHED_MASK",
    "advanced",
    "change",
    "initial_word",
    "is_mbarrier_look",
]

OPERATION = "mbarrier"
"""The name of the atomic operation that adds a change and ends the phase when nothing is left."""
MBARRIER_WAIT = "mbarrier.wait"
"""What rows of a trace call a look at an mbarrier: threads wait for its phase there."""
_FIELD_BITS = 20
EXPECTED_SHIFT = _FIELD_BITS
PHASE_SHIFT = 2 * _FIELD_BITS
TRANSACTION_SHIFT = PHASE_SHIFT + 1
MOST_ARRIVALS = (1 << _FIELD_BITS) - 1
PENDING_MASK = MOST_ARRIVALS
_WORD = (1 << 64) - 1
UNFINISHED_MASK = PENDING_MASK | _WORD & -(1 << TRANSACTION_SHIFT)


def initial_word(count: int) -> int:
    """An mbarrier for so many arrivals, in its first phase."""
    return count << EXPECTED_SHIFT | count


def change(*, arrivals: int = 0, transactions: int = 0, dropped: int = 0) -> int:
    """What is added to an mbarrier's word for arrivals and transactions.

    `transactions`: bytes that are expected or, negative, have come; `dropped`: arrivals that all
    later phases do without.
    """
    total = (transactions << TRANSACTION_SHIFT) - (dropped << EXPECTED_SHIFT) - arrivals
    return total & _WORD


def advanced(old: npt.NDArray[Any], added: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The words after a change, uint64."""
    total = old.view(np.uint64) + added.view(np.uint64)
    expected = (total >> np.uint64(EXPECTED_SHIFT)) & np.uint64(MOST_ARRIVALS)
    following = (total ^ np.uint64(1 << PHASE_SHIFT)) | expected
    is_over = (total & np.uint64(UNFINISHED_MASK)) == 0
    return np.where(is_over, following, total).view(old.dtype)


def is_mbarrier_look(instruction: Instruction) -> bool:
    """Whether the instruction asks an mbarrier if a phase is over (`test_wait`, `try_wait`)."""
    return isinstance(instruction, Load) and instruction.mnemonic.startswith("mbarrier.")
