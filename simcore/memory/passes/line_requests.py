"""Accesses as the caches take them: which lines, which sectors of them, which bytes of sectors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.host.compiled import compiled

__all__ = [
    "HEAD_WORDS",
    "LINES_AT",
    "NOW",
    "PC_AND_SM",
    "SM_BITS",
    "SM_MASK",
    "STRETCH",
    "WORDS_PER_LINE",
    "Lines",
    "Requests",
    "both_masks",
    "new_requests",
    "pack_lines",
    "sector_masks",
    "unpack_lines",
]

STRETCH, NOW, PC_AND_SM, LINES_AT = range(4)
HEAD_WORDS = 4
WORDS_PER_LINE = 2
SM_BITS = 16
SM_MASK = (1 << SM_BITS) - 1
_HEADS = 1 << 14
_MASK_BITS = 32
_COUNT_BITS = 12  # 64 lanes of 64 bytes touch at most 4,096 sectors less one

Ints = npt.NDArray[np.int64]


class Requests(NamedTuple):
    """Accesses in their order, and the lines that they ask for.

    `heads`, HEAD_WORDS each: the STRETCH of memory that lines are numbered from, the stamp NOW, the
    PC_AND_SM, and where its LINES_AT are, `unpack_lines`. `words`: for each list the lines of L1,
    WORDS_PER_LINE each, those of L2 where these are not the same, and the byte masks of all sectors
    that are asked for. A line is its number and, as one word, two `sector_masks`: of the sectors
    asked for and of those asked for completely. All ascend; accesses may share a list.
    """

    heads: Ints
    words: Ints


class Lines(NamedTuple):
    """Where the lines of L1 and of L2 begin in `words`, how many they are, and the byte masks."""

    l1_at: int
    l1_lines: int
    l2_at: int
    l2_lines: int
    masks_at: int


def new_requests(words: int) -> Requests:
    """Room for as many accesses as are worth a pass, with `words` for lists of lines."""
    return Requests(np.empty(_HEADS * HEAD_WORDS, np.int64), np.empty(words, np.int64))


@compiled
def both_masks(touched: int, whole: int) -> int:
    """One word for the sectors of a line that are asked for, and those of them completely."""
    return (whole << _MASK_BITS) | touched


@compiled
def sector_masks(word: int) -> tuple[int, int]:
    """The masks of `both_masks`."""
    low = (1 << _MASK_BITS) - 1
    return word & low, (word >> _MASK_BITS) & low


@compiled
def pack_lines(at: int, l1_lines: int, l2_lines: int) -> int:
    """One word for where a list begins and how many lines of each level it has."""
    return (at << (2 * _COUNT_BITS)) | (l1_lines << _COUNT_BITS) | l2_lines


@compiled
def unpack_lines(word: int, levels: int) -> Lines:
    """Finds the parts of a list; with one level L1 and L2 share the lines."""
    at, l2_lines = word >> (2 * _COUNT_BITS), word & ((1 << _COUNT_BITS) - 1)
    l1_lines = (word >> _COUNT_BITS) & ((1 << _COUNT_BITS) - 1)
    l2_at = at if levels == 1 else at + l1_lines * WORDS_PER_LINE
    return Lines(at, l1_lines, l2_at, l2_lines, l2_at + l2_lines * WORDS_PER_LINE)
