"""Random times that depend on what they are of, not on the order in which they are asked for.

So a launch has one time, whatever machine walks it and however its warps issue.
"""

from __future__ import annotations

import math

from kernelcast.simcore.host.compiled import inlined

__all__ = ["EULER", "gumbel", "latest_of"]

_WORD = 0xFFFFFFFF
EULER = 0.5772156649015329
"""Mean of Gumbel's distribution (Euler's constant)."""
_OF_DEVIATION = math.sqrt(6.0) / math.pi


@inlined
def latest_of(times: float, deviation: float, drawn: float) -> float:
    """How much later than their mean the latest of some random times is.

    They are from Gumbel's distribution with that standard deviation. So is the latest of them:
    the same `drawn` number of `gumbel`, later by the logarithm of how many they are.
    """
    return deviation * _OF_DEVIATION * (drawn - EULER + math.log(times))


@inlined
def gumbel(warp: int, row: int, turn: int) -> float:
    """A number from Gumbel's distribution of location 0 and scale 1, for a request of a warp.

    `row` and `turn` say which of its requests it is. Bits are mixed as by MurmurHash3 (Appleby).
    """
    bits = (warp * 0x9E3779B1 + row * 0x85EBCA77 + turn * 0xC2B2AE3D) & _WORD
    bits = ((bits ^ (bits >> 16)) * 0x85EBCA6B) & _WORD
    bits = ((bits ^ (bits >> 13)) * 0xC2B2AE35) & _WORD
    bits ^= bits >> 16
    return -math.log(-math.log((bits + 0.5) / (_WORD + 1.0)))
