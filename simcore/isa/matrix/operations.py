"""Products of fragments as operations across the lanes of a warp."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.matrix import layouts
from kernelcast.simcore.isa.matrix.block_scales import (
    SCALE_SOURCES,
    BlockScales,
    block_scales_of,
    scale_powers,
    scale_values,
)
from kernelcast.simcore.isa.matrix.described_rows import described_fragment
from kernelcast.simcore.isa.matrix.formats import ElementFormat
from kernelcast.simcore.isa.matrix.layouts import Fragment, Order, Role
from kernelcast.simcore.isa.matrix.llvm.product import product_emission
from kernelcast.simcore.isa.matrix.products import Combination, Factors, MatrixProduct, multiply
from kernelcast.simcore.isa.matrix.sparsity import Sparsity
from kernelcast.simcore.isa.opcodes.warp import WarpOpcode
from kernelcast.simcore.isa.types import ScalarType, Unit

__all__ = ["WARPGROUP_WARPS", "LayoutFamily", "MatrixOpcode", "MatrixOperation", "matrix_opcode"]

Array = npt.NDArray[Any]
_LANES = 32
WARPGROUP_WARPS = 4


class LayoutFamily(Enum):
    """Which instructions' fragments."""

    MMA = "mma"
    QUAD_PAIRS = "mma.m8n8k4"
    WMMA = "wmma"
    WARPGROUP = "wgmma"
    """A quarter of the rows; A in registers, B as accesses by a descriptor bring it."""
    WARPGROUP_SHARED = "wgmma, A in shared memory"

    @property
    def is_warpgroup(self) -> bool:
        """Whether four warps carry out the product together (`wgmma`)."""
        return self in (LayoutFamily.WARPGROUP, LayoutFamily.WARPGROUP_SHARED)


@dataclass(frozen=True, slots=True)
class MatrixOperation:
    """What one instruction computes; `wmma_registers`: of A and B with their copies.

    `steps`: so many instructions share the product, of which each gives some registers of D.
    """

    product: MatrixProduct
    family: LayoutFamily
    a_order: Order = Order.ROW
    b_order: Order = Order.COLUMN
    sparsity: Sparsity | None = None
    wmma_registers: tuple[int, int] = (0, 0)
    scales: BlockScales | None = None
    steps: int = 1

    @property
    def name(self) -> str:
        """The mnemonic as profiles show it: shape, then the formats of D, A, B and C."""
        p = self.product
        depth = p.depth * (32 if p.a is ElementFormat.B1 else 1)
        root = "wmma" if self.family is LayoutFamily.WMMA else "mma"
        rows = p.rows
        if self.family.is_warpgroup:
            root, rows = "wgmma", WARPGROUP_WARPS * p.rows
        sparse = ".sp" if self.sparsity else ""
        formats = ".".join(f.ptx_name for f in (p.result, p.a, p.b, p.accumulator))
        bits = "" if p.combination is Combination.PRODUCT else f".{p.combination.value}"
        if self.scales:
            bits = f".{self.scales.format.value}.{self.scales.blocks}x"
        return f"{root}{sparse}.m{rows}n{p.columns}k{depth}.{formats}{bits}"

    @property
    def flops_per_lane(self) -> int:
        """Floating-point operations of the product per lane of a warp; 0 for integers."""
        if not self.product.a.is_float:
            return 0
        return 2 * self.product.multiply_adds // _LANES // self.steps

    def fragments(self) -> tuple[Fragment, Fragment, Fragment, Fragment]:
        """The layouts of A (as stored), B, C and D."""
        p = self.product
        depth = p.depth // 2 if self.sparsity else p.depth
        sides = (p.accumulator, p.result)
        match self.family:
            case LayoutFamily.MMA:
                a = layouts.multiplicand(Role.A, p.a, p.rows, depth)
                b = layouts.multiplicand(Role.B, p.b, p.depth, p.columns)
                c, d = (layouts.accumulator(f, p.rows, p.columns) for f in sides)
            case LayoutFamily.QUAD_PAIRS:
                a = layouts.quad_pairs(Role.A, p.a, self.a_order)
                b = layouts.quad_pairs(Role.B, p.b, self.b_order)
                c, d = (layouts.quad_pairs(Role.ACCUMULATOR, f, Order.ROW) for f in sides)
            case LayoutFamily.WMMA:
                in_a, in_b = self.wmma_registers
                a = layouts.contiguous(p.a, p.rows, p.depth, self.a_order, in_a)
                b = layouts.contiguous(p.b, p.depth, p.columns, self.b_order, in_b)
                c, d = (wmma_accumulator(f, p.rows, p.columns) for f in sides)
            case LayoutFamily.WARPGROUP | LayoutFamily.WARPGROUP_SHARED:
                b_is_turned = self.b_order is Order.ROW
                a = layouts.multiplicand(Role.A, p.a, p.rows, depth)
                if self.family is LayoutFamily.WARPGROUP_SHARED:
                    a_is_turned = self.a_order is Order.COLUMN
                    a = described_fragment(Role.A, p.a, p.rows, depth, a_is_turned)
                b = described_fragment(Role.B, p.b, p.depth, p.columns, b_is_turned)
                c, d = (layouts.wide_accumulator(f, p.rows, p.columns) for f in sides)
        return a, b, c, d


def wmma_accumulator(format_: ElementFormat, rows: int, columns: int) -> Fragment:
    """The fragment of an accumulator of `wmma`, which fills its registers without copies."""
    registers = rows * columns // _LANES // format_.elements_per_word
    return layouts.contiguous(format_, rows, columns, Order.ROW, registers)


@dataclass(frozen=True, slots=True)
class MatrixOpcode(WarpOpcode):
    """The opcode of a product; kept by its operation where modules are stored."""

    operation: MatrixOperation | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return matrix_opcode, (self.operation,)


@cache
def matrix_opcode(operation: MatrixOperation) -> MatrixOpcode:
    """The opcode of a product: registers of A, B, C, metadata of a sparse A, scales."""
    a, b, c, d = operation.fragments()
    sources = [*_types(a), *_types(b), *_types(c)]
    if operation.sparsity:
        sources.append(ScalarType.B32)
    if operation.scales:
        sources.extend(SCALE_SOURCES)

    def compute(_type: ScalarType, _participants: Array, *operands: Array) -> tuple[Array, ...]:
        return tuple(_multiplied(operation, operands))

    return MatrixOpcode(
        name=operation.name,
        results=tuple(_types(d)),
        sources=tuple(sources),
        types=frozenset((ScalarType.B32,)),
        unit=Unit.TENSOR,
        is_common=False,
        compute=compute,
        emit=product_emission(
            operation.product, operation.fragments(), operation.sparsity, operation.scales
        ),
        flops=operation.flops_per_lane,
        operation=operation,
        warps=WARPGROUP_WARPS if operation.family.is_warpgroup else 1,
    )


def _types(fragment: Fragment) -> list[ScalarType]:
    wide = fragment.format.register_bits == 64
    return [ScalarType.B64 if wide else ScalarType.B32] * fragment.registers


def _multiplied(operation: MatrixOperation, operands: tuple[Array, ...]) -> list[Array]:
    """The registers of D from rows of lanes, each operand of shape (groups, 32)."""
    a, b, c, d = operation.fragments()
    taken = []
    first = 0
    for fragment in (a, b, c):
        registers = np.stack(operands[first : first + fragment.registers], axis=1)
        taken.append(fragment.codes(registers))
        first += fragment.registers
    left = taken[0]
    if operation.sparsity:
        left = operation.sparsity.expanded(left[:, 0], operands[first])[:, None]
        first += 1
    factors = _factors(operation, operands[first:]) if operation.scales else None
    codes = multiply(operation.product, left, taken[1], taken[2], factors)
    registers = d.registers_of(codes)
    words = np.uint64 if d.format.register_bits == 64 else np.uint32
    return [registers[:, index].astype(words) for index in range(d.registers)]


def _factors(operation: MatrixOperation, operands: tuple[Array, ...]) -> Factors:
    """The scale of each element."""
    scales, product = operation.scales, operation.product
    assert scales is not None
    codes = block_scales_of(scales, operands, product.rows, product.columns)
    length = product.depth // scales.blocks
    a, b = (np.repeat(c, length, axis)[:, None] for c, axis in zip(codes, (2, 1), strict=True))
    values, powers = scale_values(scales.format), scale_powers(scales.format)
    return Factors(values[a], values[b], powers[a], powers[b])
