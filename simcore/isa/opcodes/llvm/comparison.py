"""Comparison and selection as LLVM IR: the twin of `comparison`."""

from __future__ import annotations

from kernelcast.simcore.isa.numerics.lane_code import LLVM_TYPES, LaneCode
from kernelcast.simcore.isa.opcodes.element_types import of_elements
from kernelcast.simcore.isa.opcodes.llvm.packed import elements, every_second, joined, single, twice
from kernelcast.simcore.isa.opcodes.llvm.rounding import flushed, widened
from kernelcast.simcore.isa.opcodes.table import Context, Emission
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["emit_selp", "emit_slct", "set_emission", "setp_emission", "testp_emission"]

_FLOAT_PREDICATES = {
    "eq": "oeq",
    "ne": "one",
    "lt": "olt",
    "le": "ole",
    "gt": "ogt",
    "ge": "oge",
    "equ": "ueq",
    "neu": "une",
    "ltu": "ult",
    "leu": "ule",
    "gtu": "ugt",
    "geu": "uge",
    "num": "ord",
    "nan": "uno",
}
_BF16_ONE = 0x3F80
_UNSIGNED_NAMES = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def _compared(
    code: LaneCode, context: Context, type_: ScalarType, name: str, a: str, b: str
) -> str:
    """An i1 of two values of `type_`, which `.ftz` flushes first."""
    if type_ is ScalarType.BF16:
        type_, a, b = ScalarType.F32, single(code, a), single(code, b)
    if type_.is_float:
        a, b = (_selector(code, context, type_, x) for x in (a, b))
        lane = "float" if type_ is ScalarType.F16 else LLVM_TYPES[type_]
        return code.binary(f"fcmp {_FLOAT_PREDICATES[name]}", lane, a, b)
    name = _UNSIGNED_NAMES.get(name, name)
    sign = "" if name in ("eq", "ne") else "s" if type_.is_signed else "u"
    return code.binary(f"icmp {sign}{name}", type_, a, b)


def _selector(code: LaneCode, context: Context, type_: ScalarType, value: str) -> str:
    value = flushed(code, type_, value) if "ftz" in context.modifiers else value
    return widened(code, type_, value)


def setp_emission(name: str, boolean: str = "") -> Emission:
    """The comparison and its opposite, or those of both elements, combined with c."""

    def emit(code: LaneCode, context: Context, a: str, b: str, *c: str) -> tuple[str, str]:
        type_ = context.type
        if type_.is_packed:
            wide, inner = code.with_lanes(2 * code.lanes), of_elements(context)
            parts = [elements(code, type_, x) for x in (a, b)]
            both = _compared(wide, inner, type_.element, name, *parts)
            found = (every_second(code, both, 0), every_second(code, both, 1))
        else:
            holds = _compared(code, context, type_, name, a, b)
            found = (holds, code.binary("xor", "i1", holds, code.splat("i1", "true")))
        if not boolean:
            return found
        first, second = (code.binary(boolean, "i1", predicate, *c) for predicate in found)
        return first, second

    return emit


def set_emission(name: str, boolean: str = "") -> Emission:
    """1.0 for a floating-point result, all ones for an integer one."""

    def truth(code: LaneCode, context: Context, a: str, b: str, *c: str) -> str:
        holds = _compared(code, context, context.source_type, name, a, b)
        if boolean:
            holds = code.binary(boolean, "i1", holds, *c)
        type_ = context.type
        if type_ is ScalarType.BF16:
            return code.select("i16", holds, code.splat("i16", _BF16_ONE), code.splat("i16", 0))
        if not type_.is_float:
            return code.cast("sext", "i1", holds, type_)
        one, zero = (code.real(type_, value) for value in (1.0, 0.0))
        return code.select(type_, holds, one, zero)

    def emit(code: LaneCode, context: Context, a: str, b: str, *c: str) -> str:
        source = context.source_type
        if not source.is_packed:
            return truth(code, context, a, b, *c)
        result = context.type if context.type.is_packed else ScalarType.U16X2
        inner = Context(result.element, source.element, context.modifiers)
        parts = [elements(code, source, x) for x in (a, b)]
        both = [twice(code, x) for x in c]
        found = truth(code.with_lanes(2 * code.lanes), inner, *parts, *both)
        return joined(code, result, found)

    return emit


def emit_selp(code: LaneCode, context: Context, a: str, b: str, chooses_a: str) -> str:
    """Emits `selp`: `a` where the predicate holds, else `b`."""
    return code.select(context.type, chooses_a, a, b)


def emit_slct(code: LaneCode, context: Context, a: str, b: str, c: str) -> str:
    """Emits `slct`: `a` where `c` >= 0, else `b`."""
    source = context.source_type
    zero = code.real(source, 0.0) if source.is_float else code.splat(source, 0)
    return code.select(context.type, _compared(code, context, source, "ge", c, zero), a, b)


def _infinity(type_: ScalarType) -> int:
    return {32: 0x7F800000, 64: 0x7FF0000000000000}[type_.bits]


def _smallest_normal(type_: ScalarType) -> int:
    return {32: 0x00800000, 64: 0x0010000000000000}[type_.bits]


def testp_emission(name: str) -> Emission:
    """A class of floating-point numbers is a range of their bits without the sign."""

    def emit(code: LaneCode, context: Context, a: str) -> str:
        lane, infinity = f"i{context.type.bits}", _infinity(context.type)
        tiny = _smallest_normal(context.type)
        bits = code.cast("bitcast", context.type, a, lane)
        magnitude = code.binary(
            "and", lane, bits, code.splat(lane, (1 << (context.type.bits - 1)) - 1)
        )
        comparison, offset, limit = {
            "finite": ("ult", 0, infinity),
            "infinite": ("eq", 0, infinity),
            "number": ("ule", 0, infinity),
            "notanumber": ("ugt", 0, infinity),
            "normal": ("ult", tiny, infinity - tiny),
            "subnormal": ("ult", 1, tiny - 1),
        }[name]
        position = code.binary("sub", lane, magnitude, code.splat(lane, offset))
        found = code.binary(f"icmp {comparison}", lane, position, code.splat(lane, limit))
        if name != "normal":
            return found
        is_zero = code.binary("icmp eq", lane, magnitude, code.splat(lane, 0))
        return code.binary("or", "i1", found, is_zero)

    return emit
