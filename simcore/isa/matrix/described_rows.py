"""How a warp reads what a descriptor of `wgmma` names: row by row of its core matrices.

Eight lanes take the rows of a core matrix, so that an access of a warp brings four of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.matrix.descriptors import (
    CORE_ROWS,
    PIECE_BYTES,
    CoreMatrices,
    DescriptorKind,
    piece_addresses,
)
from kernelcast.simcore.isa.matrix.formats import ElementFormat
from kernelcast.simcore.isa.matrix.layouts import LANES, Fragment, Role
from kernelcast.simcore.isa.matrix.llvm.descriptors import emit_piece_addresses
from kernelcast.simcore.isa.numerics.lane_code import LaneCode
from kernelcast.simcore.isa.opcodes.llvm.warp import Operand
from kernelcast.simcore.isa.opcodes.warp import WarpOpcode
from kernelcast.simcore.isa.types import ScalarType, Unit

__all__ = ["RowsOpcode", "accesses", "core_matrices", "described_fragment", "rows_opcode"]

Array = npt.NDArray[Any]
_AT_ONCE = LANES // CORE_ROWS
_LANE = np.arange(LANES)


@dataclass(frozen=True, slots=True)
class RowsOpcode(WarpOpcode):
    """The addresses of an operand's rows; kept by its core matrices where modules are stored."""

    cores: CoreMatrices | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return rows_opcode, (self.cores,)


def core_matrices(format_: ElementFormat, outer: int, depth: int, transposed: bool) -> CoreMatrices:
    """The core matrices of a matrix of `outer` rows or columns; the depth of B1 counts words."""
    piece = PIECE_BYTES * 8 // format_.bits
    if transposed:
        return CoreMatrices(outer // piece, depth // CORE_ROWS, True)
    return CoreMatrices(outer // CORE_ROWS, depth // piece, False)


def accesses(cores: CoreMatrices) -> int:
    """How many accesses of a warp bring them all."""
    return -(-cores.count // _AT_ONCE)


def _places(cores: CoreMatrices) -> tuple[Array, Array]:
    """(outer, deep) of the core matrix that each lane reads with each access.

    The shape is (accesses, LANES); lanes beyond the last core matrix take the last one again.
    """
    core = np.arange(accesses(cores))[:, None] * _AT_ONCE + _LANE // CORE_ROWS
    return cores.split(np.minimum(core, cores.count - 1))


@cache
def rows_opcode(cores: CoreMatrices) -> RowsOpcode:
    """Results: an address for each access. Operands: descriptor, first core matrix along M or N."""
    outer, deep = _places(cores)
    row = _LANE % CORE_ROWS

    def compute(
        _type: ScalarType, _participants: Array, descriptor: Array, first: Array
    ) -> tuple[Array, ...]:
        return tuple(
            piece_addresses(
                DescriptorKind.WARPGROUP,
                descriptor,
                outer[number] + first.astype(np.int64),
                deep[number],
                row,
                cores.is_transposed,
            ).astype(np.uint32)
            for number in range(len(outer))
        )

    def emit(
        code: LaneCode, _type: ScalarType, _scratch: str, _participants: str, *operands: Operand
    ) -> tuple[str, ...]:
        descriptor, first = (operand[0] for operand in operands)
        return emit_piece_addresses(
            code, descriptor, first, outer, deep, row, transposed=cores.is_transposed
        )

    way = "outer" if cores.is_transposed else "deep"
    return RowsOpcode(
        name=f"wgmma.rows.{way}.{cores.outer}x{cores.deep}",
        results=(ScalarType.U32,) * len(outer),
        sources=(ScalarType.B64, ScalarType.U32),
        types=frozenset((ScalarType.B32,)),
        unit=Unit.LOAD_STORE,
        is_common=False,
        compute=compute,
        emit=emit,
        cores=cores,
    )


@cache
def described_fragment(
    role: Role, format_: ElementFormat, rows: int, columns: int, transposed: bool
) -> Fragment:
    """A (rows x depth) or B (depth x columns) as the accesses bring it, four words each."""
    lines, depth = (rows, columns) if role is Role.A else (columns, rows)
    cores = core_matrices(format_, lines, depth, transposed)
    outer, deep = (
        np.repeat(place, PIECE_BYTES * 8 // format_.bits, axis=0) for place in _places(cores)
    )
    piece = PIECE_BYTES * 8 // format_.bits
    within = np.tile(np.arange(piece), accesses(cores))[:, None]
    row = (_LANE % CORE_ROWS)[None, :]
    if transposed:
        line, along = outer * piece + within, deep * CORE_ROWS + row
    else:
        line, along = outer * CORE_ROWS + row, deep * piece + within
    places = line * columns + along if role is Role.A else along * columns + line
    return Fragment(format_, rows, columns, places, is_scattered=True)
