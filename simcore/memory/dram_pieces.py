"""Which accesses make DRAM begin a new piece: 256 aligned bytes that nobody has asked of it lately.

An H100 and an H200 read random 64 bytes at 55 to 65 % of their bandwidth, and random 128 bytes at
all of it; where 64 bytes of every 128 are read it is all of it, too, where it is 64 of every 256 it
is as little as at random places (`validation/microkernels/scattered.cu`). So it is the number of
pieces of 256 bytes that is limited, however little of each is moved.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.timing_facts import DRAM_PIECE_BYTES
from kernelcast.simcore.host.compiled import compiled

__all__ = ["READ", "WRITTEN", "begins", "none_begun"]

READ, WRITTEN = 0, 1
_REMEMBERED = 4096
"""Pieces that stay begun, a power of two.

Thread blocks of 16 x 16 threads, of which four neighbours share a piece, reach 94 % of the
bandwidth of reads one after the other, and 65 % where neighbours begin 33,000 pieces later.
"""
Ints = npt.NDArray[np.int64]


def none_begun() -> Ints:
    """What is remembered of the pieces that were read, and behind it of those written."""
    return np.full(2 * _REMEMBERED, -1, np.int64)


@compiled
def begins(begun: Ints, line: int, line_bytes: int, which: int) -> int:
    """1 where reading or writing (`which`) from a line begins a piece, else 0."""
    piece = line * line_bytes // DRAM_PIECE_BYTES
    at = np.uint64(which * _REMEMBERED + (piece & (_REMEMBERED - 1)))
    if begun[at] == piece:
        return 0
    begun[at] = piece
    return 1
