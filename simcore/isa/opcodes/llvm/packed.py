"""Packed types and bf16 as LLVM IR: the twin of `packed`.

A vector of packed values is a vector of twice as many elements: one `bitcast` away.
"""

from __future__ import annotations

from functools import wraps

from kernelcast.simcore.isa.numerics.lane_code import LaneCode
from kernelcast.simcore.isa.numerics.packed import BF16_NAN, TO_ODD
from kernelcast.simcore.isa.opcodes.element_types import of_elements
from kernelcast.simcore.isa.opcodes.table import Context, Emission
from kernelcast.simcore.isa.types import ScalarType

__all__ = [
    "element_by_element",
    "elements",
    "every_second",
    "in_single_precision",
    "joined",
    "shortened",
    "single",
    "to_bf16",
    "twice",
]

_BYTE = 8
_DROPPED = 16


def elements(code: LaneCode, type_: ScalarType, value: str) -> str:
    """A packed value in twice the lanes."""
    wide = code.with_lanes(2 * code.lanes)
    if type_.element.bits < _BYTE:
        return wide.cast("trunc", "i8", _halves_of_bytes(code, value), type_.element)
    return code.op(f"bitcast {code.type(type_)} {value} to {wide.type(type_.element)}")


def joined(code: LaneCode, type_: ScalarType, value: str) -> str:
    """The inverse of `elements`."""
    wide = code.with_lanes(2 * code.lanes)
    if type_.element.bits < _BYTE:
        return _bytes_of_halves(code, wide.cast("zext", type_.element, value, "i8"))
    return code.op(f"bitcast {wide.type(type_.element)} {value} to {code.type(type_)}")


def _halves_of_bytes(code: LaneCode, value: str) -> str:
    """Four bits in each of twice the bytes; with a `bitcast` LLVM never ends on AArch64."""
    spread = code.cast("zext", "i8", value, "i16")
    upper = code.binary("shl", "i16", spread, code.splat("i16", _BYTE // 2))
    both = code.binary("or", "i16", spread, upper)
    kept = code.binary("and", "i16", both, code.splat("i16", 0x0F0F))
    wide = code.with_lanes(2 * code.lanes)
    return code.op(f"bitcast {code.type('i16')} {kept} to {wide.type('i8')}")


def _bytes_of_halves(code: LaneCode, value: str) -> str:
    wide = code.with_lanes(2 * code.lanes)
    spread = code.op(f"bitcast {wide.type('i8')} {value} to {code.type('i16')}")
    upper = code.binary("lshr", "i16", spread, code.splat("i16", _BYTE // 2))
    return code.cast("trunc", "i16", code.binary("or", "i16", spread, upper), "i8")


def twice(code: LaneCode, predicate: str) -> str:
    """A predicate for both elements of each lane."""
    kind = code.type("i1")
    if code.lanes == 1:
        return code.op(
            f"select i1 {predicate}, <2 x i1> splat (i1 true), <2 x i1> splat (i1 false)"
        )
    places = ", ".join(f"i32 {i // 2}" for i in range(2 * code.lanes))
    mask = f"<{2 * code.lanes} x i32> <{places}>"
    return code.op(f"shufflevector {kind} {predicate}, {kind} poison, {mask}")


def every_second(code: LaneCode, predicates: str, first: int) -> str:
    """Emits the choice of each lane's first or second predicate (`first` 0 or 1)."""
    kind = f"<{2 * code.lanes} x i1>"
    if code.lanes == 1:
        return code.op(f"extractelement {kind} {predicates}, i32 {first}")
    places = ", ".join(f"i32 {2 * i + first}" for i in range(code.lanes))
    mask = f"<{code.lanes} x i32> <{places}>"
    return code.op(f"shufflevector {kind} {predicates}, {kind} poison, {mask}")


def element_by_element(emit: Emission) -> Emission:
    """Makes an emission whose operands all have the instruction's type take packed types too."""

    @wraps(emit)
    def each(code: LaneCode, context: Context, *operands: str) -> str | tuple[str, ...]:
        if not context.type.is_packed:
            return emit(code, context, *operands)
        wide = code.with_lanes(2 * code.lanes)
        parts = [elements(code, context.type, operand) for operand in operands]
        result = emit(wide, of_elements(context), *parts)
        assert isinstance(result, str)
        return joined(code, context.type, result)

    return each


def single(code: LaneCode, value: str) -> str:
    """A bf16 number as a `float`."""
    wide = code.cast("zext", "i16", value, "i32")
    placed = code.binary("shl", "i32", wide, code.splat("i32", _DROPPED))
    return code.cast("bitcast", "i32", placed, "float")


def shortened(code: LaneCode, value: str, dropped: int, mode: str) -> str:
    """The bits of a `float`, rounded so that the lowest `dropped` ones are 0; not for NaN."""

    def op(name: str, a: str, b: int | str) -> str:
        return code.binary(name, "i32", a, code.splat("i32", b) if isinstance(b, int) else b)

    bits, ones = code.cast("bitcast", "float", value, "i32"), (1 << dropped) - 1
    match mode:
        case "rz":
            total = bits
        case "rna":
            total = op("add", bits, 1 << (dropped - 1))
        case "rm":
            total = op("add", bits, op("and", op("ashr", bits, 31), ones))
        case "rp":
            # all ones for a positive number
            is_positive = op("xor", op("ashr", bits, 31), -1)
            total = op("add", bits, op("and", is_positive, ones))
        case _:
            is_odd = op("and", op("lshr", bits, dropped), 1)
            total = op("add", op("add", bits, ones >> 1), is_odd)
    return op("and", total, ~ones)


def to_bf16(code: LaneCode, value: str, mode: str = "") -> str:
    """A `float` rounded to bf16; NaN becomes the canonical one."""
    bits = shortened(code, value, _DROPPED, mode)
    top = code.binary("lshr", "i32", bits, code.splat("i32", _DROPPED))
    is_nan = code.binary("fcmp uno", "float", value, value)
    nan = code.splat("i16", BF16_NAN)
    return code.select("i16", is_nan, nan, code.cast("trunc", "i32", top, "i16"))


def in_single_precision(emit: Emission) -> Emission:
    """Makes an emission of f32 take bf16 too."""

    @wraps(emit)
    def wide(code: LaneCode, context: Context, *operands: str) -> str | tuple[str, ...]:
        if context.type is not ScalarType.BF16:
            return emit(code, context, *operands)
        inner = Context(ScalarType.F32, ScalarType.F32, context.modifiers | {TO_ODD})
        result = emit(code, inner, *(single(code, operand) for operand in operands))
        assert isinstance(result, str)
        return to_bf16(code, result)

    return wide
