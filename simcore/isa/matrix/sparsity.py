"""Matrices A of which half is zero: what the metadata says about the places of the others.

Two of four elements (one of two for tf32, two of four pairs for four bits) are stored, and two bits
each tell their places (PTX ISA 9.0, 9.7.14.6.1). The lanes that bring metadata are chosen by the
selector; in which order they hold rows and columns is as CUTLASS reorders metadata for the
instructions (`reorder_meta` in its host utilities).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.matrix.formats import ElementFormat

__all__ = ["Sparsity", "dense_codes", "selector_count", "slots_per_element", "sparsity_of"]

Array = npt.NDArray[Any]
_CHUNK_BITS = 4
_SLOTS = 4
_WORD_BITS = 32


@dataclass(frozen=True, slots=True)
class Sparsity:
    """The 2:4 structured sparsity of A.

    `chunks`: places in a row that have four bits of metadata each; `selector`: of the lanes that
    bring them; `is_narrow`: elements of at most eight bits, whose lanes hold one row each.
    """

    rows: int
    chunks: int
    selector: int
    is_narrow: bool

    def bit_offsets(self) -> Array:
        """Where in the metadata of the 32 lanes each chunk's bits are, shape (rows, chunks)."""
        row = np.arange(self.rows)[:, None]
        chunk = np.arange(self.chunks)[None, :]
        group, half = row % 8, row // 8
        if self.is_narrow:
            per_lane = _WORD_BITS // _CHUNK_BITS
            lane = half + 2 * (chunk // per_lane)
            bit = chunk % per_lane * _CHUNK_BITS
            lanes_needed = 2 * -(-self.chunks // per_lane)
        else:
            per_lane = _WORD_BITS // 2 // _CHUNK_BITS
            lane = chunk // per_lane + 0 * row
            bit = half * (_WORD_BITS // 2) + chunk % per_lane * _CHUNK_BITS
            lanes_needed = -(-self.chunks // per_lane)
        lane = group * 4 + self.selector * lanes_needed + lane
        return np.asarray(lane * _WORD_BITS + bit, np.int64)

    def expanded(self, compact: Array, metadata: Array) -> Array:
        """Decompresses codes by the metadata, with zeros in between.

        Takes codes (groups, rows, depth / 2) and metadata (groups, 32 lanes), gives (groups, rows,
        depth).
        """
        offsets = self.bit_offsets()
        words = metadata[:, offsets // _WORD_BITS].astype(np.int64)
        bits = (words >> (offsets % _WORD_BITS)) & 15
        return dense_codes(compact, bits, compact.shape[-1] // self.chunks)


def dense_codes(compact: Array, bits: Array, per_chunk: int) -> Array:
    """Decompresses codes (..., depth / 2) into (..., depth), zeros in between.

    `bits` are the four bits of metadata of each chunk (..., chunks); `per_chunk`: codes that a
    chunk keeps.
    """
    stored = compact.reshape(*bits.shape, per_chunk)
    dense = np.zeros((*bits.shape, 2 * per_chunk), compact.dtype)
    for element in range(per_chunk):
        number = element * 2 // max(2, per_chunk)
        slot = (bits.astype(np.int64) >> (2 * number)) & 3
        place = slot * (2 * per_chunk) // _SLOTS + element % max(1, per_chunk // 2)
        np.put_along_axis(dense, place[..., None], stored[..., element, None], axis=-1)
    return dense.reshape(*bits.shape[:-1], -1)


def slots_per_element(format_: ElementFormat) -> int:
    """How many elements a chunk of four bits of metadata stands for."""
    if format_ is ElementFormat.TF32:
        return 2
    return 8 if format_.bits == 4 else 4


def sparsity_of(format_: ElementFormat, rows: int, depth: int, selector: int) -> Sparsity:
    """The sparsity of a `rows` x `depth` matrix A whose metadata the lanes `selector` bring."""
    return Sparsity(rows, depth // slots_per_element(format_), selector, format_.bits <= 8)


def selector_count(format_: ElementFormat, rows: int, depth: int) -> int:
    """How many selectors there are: 32 lanes bring metadata for so many instructions."""
    return LANE_BITS // (rows * (depth // slots_per_element(format_)) * _CHUNK_BITS)


LANE_BITS = 32 * _WORD_BITS
