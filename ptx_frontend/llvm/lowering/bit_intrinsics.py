"""LLVM's functions on bits: counting, reversing, shifting two words, saturating sums."""

from __future__ import annotations

from collections.abc import Callable

from kernelcast.ptx_frontend.llvm.lowering.arithmetic import masked, signed_operand
from kernelcast.ptx_frontend.llvm.lowering.code import Code
from kernelcast.ptx_frontend.llvm.text.types import ScalarIrType
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__ = ["BITS"]

_Part = Callable[[Code, ScalarIrType, tuple[Operand, ...]], Operand]


def _wide(code: Code, type_: ScalarIrType, part: Operand) -> tuple[int, Operand]:
    """The width that counting instructions have, and the number zero-extended to it."""
    if type_.bits >= 32:
        return type_.bits, part
    return 32, code.compute("cvt.u32.u16", 32, part)


def _narrow(code: Code, type_: ScalarIrType, number: Register) -> Register:
    """A small number as the type wants it."""
    bits = type_.register_bits
    if number.bits == bits:
        return number
    return code.compute(f"cvt.u{bits}.u{number.bits}", bits, number)


def _population(code: Code, type_: ScalarIrType, operands: tuple[Operand, ...]) -> Register:
    bits, part = _wide(code, type_, operands[0])
    return _narrow(code, type_, code.compute(f"popc.b{bits}", 32, part))


def _leading(code: Code, type_: ScalarIrType, operands: tuple[Operand, ...]) -> Register:
    bits, part = _wide(code, type_, operands[0])
    count = code.compute(f"clz.b{bits}", 32, part)
    if bits != type_.bits:
        count = code.compute("sub.u32", 32, count, Immediate(bits - type_.bits))
    return _narrow(code, type_, count)


def _trailing(code: Code, type_: ScalarIrType, operands: tuple[Operand, ...]) -> Register:
    """A bit above the number ends the count of a narrow one that is zero."""
    bits, part = _wide(code, type_, operands[0])
    if bits != type_.bits:
        part = code.compute("or.b32", 32, part, Immediate(1 << type_.bits))
    turned = code.compute(f"brev.b{bits}", bits, part)
    return _narrow(code, type_, code.compute(f"clz.b{bits}", 32, turned))


def _reversed(code: Code, type_: ScalarIrType, operands: tuple[Operand, ...]) -> Register:
    bits, part = _wide(code, type_, operands[0])
    turned = code.compute(f"brev.b{bits}", bits, part)
    if bits != type_.bits:
        turned = code.compute("shr.u32", 32, turned, Immediate(bits - type_.bits))
    return _narrow(code, type_, turned)


def _bytes_reversed(code: Code, type_: ScalarIrType, operands: tuple[Operand, ...]) -> Register:
    bits, (part, *_) = type_.bits, operands
    result: Register | None = None
    for index in range(bits // 8):
        byte = part
        if index:
            byte = code.compute(f"shr.u{bits}", bits, byte, Immediate(8 * index))
        byte = code.compute(f"and.b{bits}", bits, byte, Immediate(0xFF))
        shift = bits - 8 - 8 * index
        moved = code.compute(f"shl.b{bits}", bits, byte, Immediate(shift))
        result = moved if result is None else code.compute(f"or.b{bits}", bits, result, moved)
    assert result is not None
    return result


def _funnel(to_left: bool) -> _Part:
    """A funnel shift: of two words side by side, shifted, the upper or the lower one."""

    def lower(code: Code, type_: ScalarIrType, operands: tuple[Operand, ...]) -> Register:
        upper, under, amount = operands
        bits, width = type_.register_bits, type_.bits
        shift = code.compute(f"and.b{bits}", bits, amount, Immediate(width - 1))
        if bits != 32:
            shift = code.compute(f"cvt.u32.u{bits}", 32, shift)
        rest = code.compute("sub.u32", 32, Immediate(width), shift)
        left, right = (shift, rest) if to_left else (rest, shift)
        high = code.compute(f"shl.b{bits}", bits, upper, left)
        low = code.compute(f"shr.u{bits}", bits, under, right)
        return masked(code, code.compute(f"or.b{bits}", bits, high, low), type_)

    return lower


def _saturating(operation: str, is_signed: bool) -> _Part:
    def lower(code: Code, type_: ScalarIrType, operands: tuple[Operand, ...]) -> Register:
        bits = type_.register_bits
        if is_signed:
            return _saturated_signed(code, operation, type_, operands)
        first, second = operands
        if operation == "sub":
            larger = code.compute(f"max.u{bits}", bits, first, second)
            return code.compute(f"sub.u{bits}", bits, larger, second)
        room = code.compute(f"sub.u{bits}", bits, Immediate((1 << type_.bits) - 1), first)
        least = code.compute(f"min.u{bits}", bits, room, second)
        return code.compute(f"add.u{bits}", bits, first, least)

    return lower


def _saturated_signed(
    code: Code, operation: str, type_: ScalarIrType, operands: tuple[Operand, ...]
) -> Register:
    """Clamps the second operand so that the sum or difference stays in the range."""
    bits = type_.register_bits
    top = (1 << (type_.bits - 1)) - 1
    bottom = (1 << bits) - top - 1
    first, second = (signed_operand(code, x, type_) for x in operands)
    zero = Immediate(0)
    least = code.compute(f"min.s{bits}", bits, first, zero)
    most = code.compute(f"max.s{bits}", bits, first, zero)
    if operation == "add":
        low = code.compute(f"sub.s{bits}", bits, Immediate(bottom), least)
        high = code.compute(f"sub.s{bits}", bits, Immediate(top), most)
    else:
        # first - second <= top with second >= first - top; the other bound alike
        ones = Immediate((1 << bits) - 1)
        raised = code.compute(f"max.s{bits}", bits, first, ones)
        lowered = code.compute(f"min.s{bits}", bits, first, ones)
        low = code.compute(f"sub.s{bits}", bits, raised, Immediate(top))
        high = code.compute(f"sub.s{bits}", bits, lowered, Immediate(bottom))
    clamped = code.compute(f"max.s{bits}", bits, second, low)
    clamped = code.compute(f"min.s{bits}", bits, clamped, high)
    made = code.compute(f"{operation}.s{bits}", bits, first, clamped)
    return masked(code, made, type_)


BITS: dict[str, _Part] = {
    "ctpop": _population,
    "ctlz": _leading,
    "cttz": _trailing,
    "bitreverse": _reversed,
    "bswap": _bytes_reversed,
    "fshl": _funnel(True),
    "fshr": _funnel(False),
    "uadd.sat": _saturating("add", False),
    "usub.sat": _saturating("sub", False),
    "sadd.sat": _saturating("add", True),
    "ssub.sat": _saturating("sub", True),
}
"""How intrinsics on bits are lowered for one element, by the name without the types."""
