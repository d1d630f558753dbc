"""Random times that depend on what they are of, not on the order in which they are asked for.

So a launch has one time, whatever machine walks it and however its warps issue.
"""

from __future__ import annotations

import math

from kernelcast.simcore.host.compiled import inlined

__all__ = ["exponential"]

_WORD = 0xFFFFFFFF


@inlined
def exponential(warp: int, row: int, turn: int) -> float:
    """A number from an exponential distribution of mean 1, for a request of a warp.

    `row` and `turn` say which of its requests it is. Bits are mixed as by MurmurHash3 (Appleby).
    """
    bits = (warp * 0x9E3779B1 + row * 0x85EBCA77 + turn * 0xC2B2AE3D) & _WORD
    bits = ((bits ^ (bits >> 16)) * 0x85EBCA6B) & _WORD
    bits = ((bits ^ (bits >> 13)) * 0xC2B2AE35) & _WORD
    bits ^= bits >> 16
    return -math.log((bits + 0.5) / (_WORD + 1.0))
