"""Words of two parts, which compare as their first part does: a cycle and what goes with it.

A comparison of two such words is one of two cycles; nothing but these functions knows the layout.
"""

from __future__ import annotations

from kernelcast.simcore.host.compiled import inlined
from kernelcast.simcore.timing.kernel.stall_reasons import REASON_BITS, REASON_MASK

__all__ = ["cycle_of", "entry_cycle", "entry_warp", "pack", "reason_of", "ring_entry"]

_WARP_BITS = 12
_WARP_MASK = (1 << _WARP_BITS) - 1


@inlined
def pack(cycle: int, reason: int) -> int:
    """A cycle and what is waited for until then."""
    return (cycle << REASON_BITS) | reason


@inlined
def cycle_of(packed: int) -> int:
    """The cycle of a word that `pack` made."""
    return packed >> REASON_BITS


@inlined
def reason_of(packed: int) -> int:
    """What is waited for, of a word that `pack` made."""
    return packed & REASON_MASK


@inlined
def ring_entry(ready: int, warp: int) -> int:
    """A pending warp in the ring, by the cycle in which its operands are there."""
    return (ready << _WARP_BITS) | warp


@inlined
def entry_cycle(entry: int) -> int:
    """The cycle in which the operands of a ring's entry are there."""
    return entry >> _WARP_BITS


@inlined
def entry_warp(entry: int) -> int:
    """The warp of an entry of the ring."""
    return entry & _WARP_MASK
