"""What descriptors name in shared memory, read as elements of matrices."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.reference.batch import Batch
from kernelcast.simcore.isa.matrix.descriptors import (
    CORE_ROWS,
    PIECE_BYTES,
    DescriptorKind,
    piece_addresses,
)
from kernelcast.simcore.isa.matrix.formats import ElementFormat
from kernelcast.simcore.isa.matrix.tensor_memory import TensorMemoryFault

__all__ = ["SharedPieces", "codes_of_bytes", "shared_codes"]

Array = npt.NDArray[Any]
_KNOWN_DESCRIPTORS = 512
"""How many of them are kept with the addresses that they stand for."""
_PIECE = np.dtype((np.void, PIECE_BYTES))
_PADDED = {ElementFormat.E2M1: 4, ElementFormat.E2M3: 6, ElementFormat.E3M2: 6}
"""Bits of formats that lie 16 to each 16 bytes of shared memory, with nothing behind them."""


class SharedPieces:
    """What descriptors name in the shared memory of a thread block."""

    def __init__(self, batch: Batch, owner: int) -> None:
        self._batch, self._owner = batch, owner

    def rows(self, descriptor: int, lines: int, pieces: int) -> Array:
        """Bytes of shape (lines, 16 pieces), the depth along the rows."""
        found = self._read(_rows_of_pieces(descriptor, lines, pieces))
        return found.reshape(lines, pieces * PIECE_BYTES)

    def transposed(self, descriptor: int, lines: int, depth: int, size: int) -> Array:
        """Bytes of shape (lines, depth, size) from rows along M or N."""
        per_piece = PIECE_BYTES // size
        found = self._read(_turned_pieces(descriptor, lines // per_piece, depth))
        elements = found.reshape(lines // per_piece, depth, per_piece, size)
        return elements.transpose(0, 2, 1, 3).reshape(lines, depth, size)

    def _read(self, address: Array) -> Array:
        """Bytes of pieces, shape (pieces, 16)."""
        shared = self._batch.shared
        places = shared.elements(address, self._owner, PIECE_BYTES, 1)
        found: Array = shared.bytes.view(_PIECE)[places].view(np.uint8)
        return found.reshape(-1, PIECE_BYTES)


@lru_cache(maxsize=_KNOWN_DESCRIPTORS)
def _rows_of_pieces(descriptor: int, lines: int, pieces: int) -> Array:
    """Addresses of the pieces of each line, flat."""
    line, piece = np.meshgrid(np.arange(lines), np.arange(pieces), indexing="ij")
    return _addresses(descriptor, line // CORE_ROWS, piece, line % CORE_ROWS, False)


@lru_cache(maxsize=_KNOWN_DESCRIPTORS)
def _turned_pieces(descriptor: int, pieces: int, depth: int) -> Array:
    """Addresses of the pieces of lines that go across the depth, flat."""
    piece, along = np.meshgrid(np.arange(pieces), np.arange(depth), indexing="ij")
    return _addresses(descriptor, piece, along // CORE_ROWS, along % CORE_ROWS, True)


def _addresses(descriptor: int, outer: Array, deep: Array, row: Array, transposed: bool) -> Array:
    word, kind = np.array(descriptor, np.uint64), DescriptorKind.TENSOR_MEMORY
    return piece_addresses(kind, word, outer, deep, row, transposed).reshape(-1)


def shared_codes(
    shared: SharedPieces,
    descriptor: int,
    format_: ElementFormat,
    lines: int,
    depth: int,
    transposed: bool,
) -> Array:
    """Codes of shape (lines, depth)."""
    if transposed:
        if format_.bits < 8 or format_ in _PADDED:
            raise TensorMemoryFault(f".{format_.ptx_name} lies along the depth only")
        found = shared.transposed(descriptor, lines, depth, format_.bits // 8)
        return np.ascontiguousarray(found).view(format_.code_type)[..., 0]
    if (bits := _PADDED.get(format_)) is not None:
        content = shared.rows(descriptor, lines, depth // PIECE_BYTES)
        packed = content.reshape(lines, -1, PIECE_BYTES)[..., : PIECE_BYTES * bits // 8]
        codes = codes_of_bytes(np.ascontiguousarray(packed), bits).reshape(lines, depth)
        return codes << np.uint8(format_.shift)
    pieces = depth * format_.bits // 8 // PIECE_BYTES
    return codes_of_bytes(shared.rows(descriptor, lines, pieces), format_.bits)


def codes_of_bytes(content: Array, bits: int) -> Array:
    """Codes of so many bits from bytes, along the last axis."""
    if bits >= 8:
        return content.view(np.dtype(f"u{bits // 8}"))
    flat = np.unpackbits(content, axis=-1, bitorder="little")
    parts = flat.reshape(*content.shape[:-1], -1, bits)
    codes: Array = (parts << np.arange(bits, dtype=np.uint8)).sum(axis=-1, dtype=np.uint8)
    return codes
