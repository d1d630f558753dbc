"""Arithmetic with the carry flag as LLVM IR: the twin of `extended_precision`."""

from __future__ import annotations

from kernelcast.simcore.isa.numerics.lane_code import LaneCode
from kernelcast.simcore.isa.opcodes.llvm.multiplication import emit_mul_hi, emit_mul_lo
from kernelcast.simcore.isa.opcodes.table import Context, Emission

__all__ = ["EMISSIONS", "first_of"]


def _sum(code: LaneCode, context: Context, a: str, b: str, *carry: str) -> tuple[str, str]:
    type_ = context.type
    total = code.binary("add", type_, a, b)
    wrapped = code.binary("icmp ult", type_, total, a)
    if not carry:
        return total, wrapped
    full = code.binary("add", type_, total, code.cast("zext", "i1", carry[0], type_))
    also = code.binary("icmp ult", type_, full, total)
    return full, code.binary("or", "i1", wrapped, also)


def _difference(code: LaneCode, context: Context, a: str, b: str, *borrow: str) -> tuple[str, str]:
    type_ = context.type
    total = code.binary("sub", type_, a, b)
    wrapped = code.binary("icmp ult", type_, a, b)
    if not borrow:
        return total, wrapped
    taken = code.cast("zext", "i1", borrow[0], type_)
    also = code.binary("icmp ult", type_, total, taken)
    return code.binary("sub", type_, total, taken), code.binary("or", "i1", wrapped, also)


def _multiplied(product: Emission) -> Emission:
    def emit(
        code: LaneCode, context: Context, a: str, b: str, c: str, *carry: str
    ) -> tuple[str, str]:
        word = product(code, context, a, b)
        assert isinstance(word, str)
        return _sum(code, context, word, c, *carry)

    return emit


def first_of(emission: Emission) -> Emission:
    """The result without the flag."""

    def emit(code: LaneCode, context: Context, *operands: str) -> str:
        return emission(code, context, *operands)[0]

    return emit


EMISSIONS: dict[str, Emission] = {
    "add": _sum,
    "sub": _difference,
    "mad.lo": _multiplied(emit_mul_lo),
    "mad.hi": _multiplied(emit_mul_hi),
}
"""Emissions by opcode without `.cc`: (code, context, operands[, carry]) -> (result, carry)."""
