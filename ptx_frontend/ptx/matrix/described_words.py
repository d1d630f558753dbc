"""What a warp brings of matrices in shared memory to a product of a warpgroup.

The rows of core matrices are read by the addresses that a descriptor of `wgmma` names.
"""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.ptx_frontend.instruction_writer import InstructionWriter
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Immediate,
    Operand,
    Register,
    Special,
    SpecialRegister,
)
from kernelcast.simcore.isa.matrix.described_rows import core_matrices, rows_opcode
from kernelcast.simcore.isa.matrix.descriptors import CORE_ROWS, PIECE_BYTES, CoreMatrices
from kernelcast.simcore.isa.matrix.formats import ElementFormat
from kernelcast.simcore.isa.matrix.layouts import Order
from kernelcast.simcore.isa.matrix.operations import WARPGROUP_WARPS, MatrixOperation
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["left_words", "right_words", "with_other_sign"]

_WORD = ScalarType.B32
_WORDS = PIECE_BYTES // _WORD.bytes


def left_words(
    code: InstructionWriter, operation: MatrixOperation, descriptor: Operand
) -> list[Register]:
    """A of a warp's 16 rows, in the order of the accesses."""
    product, is_turned = operation.product, operation.a_order is Order.COLUMN
    warp = code.compute(
        "and.b32", 32, SpecialRegister(Special.WARPID), Immediate(WARPGROUP_WARPS - 1)
    )
    piece = PIECE_BYTES * 8 // product.a.bits
    of_warp = product.rows // (piece if is_turned else CORE_ROWS)
    first = code.compute("mul.lo.u32", 32, warp, Immediate(of_warp))
    depth = product.depth // 2 if operation.sparsity else product.depth
    cores = core_matrices(product.a, product.rows, depth, is_turned)
    return _rows(code, cores, descriptor, first)


def right_words(
    code: InstructionWriter, operation: MatrixOperation, descriptor: Operand
) -> list[Register]:
    """B, which is the same for all warps."""
    product, is_turned = operation.product, operation.b_order is Order.ROW
    cores = core_matrices(product.b, product.columns, product.depth, is_turned)
    return _rows(code, cores, descriptor, Immediate(0))


def with_other_sign(
    code: InstructionWriter, words: Sequence[Operand], format_: ElementFormat
) -> list[Operand]:
    """Words whose elements have the other sign."""
    mask = Immediate(sum(1 << (at + format_.bits - 1) for at in range(0, _WORD.bits, format_.bits)))
    return [code.compute("xor.b32", 32, word, mask) for word in words]


def _rows(
    code: InstructionWriter, cores: CoreMatrices, descriptor: Operand, first: Operand
) -> list[Register]:
    opcode = rows_opcode(cores)
    addresses = [code.register(32) for _ in opcode.results]
    code.exchange(opcode, addresses, (descriptor, first))
    words: list[Register] = []
    for address in addresses:
        row = [code.register(32) for _ in range(_WORDS)]
        code.load(_WORD, Address(AddressSpace.SHARED, address, 0), row)
        words += row
    return words
