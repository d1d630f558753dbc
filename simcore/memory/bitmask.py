"""Bit masks in compiled code: 64-bit unsigned for lanes and bytes, signed for sectors of a line."""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.host.compiled import compiled

__all__ = ["ALL_BITS", "ONE", "ZERO", "count_bits", "count_groups", "low_bits"]

ZERO = np.uint64(0)
ONE = np.uint64(1)
ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)


@compiled
def low_bits(count: int) -> np.uint64:
    """A mask of the `count` lowest bits, 0 to 64."""
    if count >= 64:
        return ALL_BITS
    return np.uint64((ONE << np.uint64(count)) - ONE)


@compiled
def count_bits(mask: np.uint64) -> int:
    """How many bits are set (Warren, Hacker's Delight, section 5-1)."""
    mask = mask - ((mask >> ONE) & np.uint64(0x5555555555555555))
    mask = (mask & np.uint64(0x3333333333333333)) + (
        (mask >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    mask = (mask + (mask >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int(np.int64((mask * np.uint64(0x0101010101010101)) >> np.uint64(56)))


@compiled
def count_groups(mask: int, group: int) -> int:
    """How many aligned groups of `group` bits hold a set bit."""
    if group == 1:
        return count_bits(np.uint64(mask))
    found = 0
    wanted = (1 << group) - 1
    while mask:
        if mask & wanted:
            found += 1
        mask >>= group
    return found
