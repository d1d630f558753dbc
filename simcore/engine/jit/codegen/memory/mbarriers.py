"""Changes of an mbarrier's word as LLVM IR."""

from __future__ import annotations

from kernelcast.simcore.isa.ir.mbarrier_words import (
    EXPECTED_SHIFT,
    MOST_ARRIVALS,
    PHASE_SHIFT,
    UNFINISHED_MASK,
)
from kernelcast.simcore.isa.numerics.lane_code import NativeCode

__all__ = ["advanced_word"]


def advanced_word(code: NativeCode, old: str, added: str) -> str:
    """What `mbarrier_words.advanced` gives for one word."""
    total = code.binary("add", "i64", old, added)
    expected = code.binary("lshr", "i64", total, str(EXPECTED_SHIFT))
    expected = code.binary("and", "i64", expected, str(MOST_ARRIVALS))
    other_phase = code.binary("xor", "i64", total, str(1 << PHASE_SHIFT))
    following = code.binary("or", "i64", other_phase, expected)
    unfinished = UNFINISHED_MASK - (1 << 64)
    left = code.binary("and", "i64", total, str(unfinished))
    is_over = code.binary("icmp eq", "i64", left, "0")
    return code.select("i64", is_over, following, total)
