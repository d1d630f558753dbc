"""Comparison and selection as LLVM IR: the twin of `comparison`."""

from __future__ import annotations

from kernelcast.simcore.isa.native_code import LLVM_TYPES, NativeCode
from kernelcast.simcore.isa.native_rounding import flushed, widened
from kernelcast.simcore.isa.opcodes import Context, Emission
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
_UNSIGNED_NAMES = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def _compared(
    code: NativeCode, context: Context, type_: ScalarType, name: str, a: str, b: str
) -> str:
    """An i1 of two values of `type_`, which `.ftz` flushes first."""
    if type_.is_float:
        a, b = (_selector(code, context, type_, x) for x in (a, b))
        lane = "float" if type_ is ScalarType.F16 else LLVM_TYPES[type_]
        return code.binary(f"fcmp {_FLOAT_PREDICATES[name]}", lane, a, b)
    name = _UNSIGNED_NAMES.get(name, name)
    sign = "" if name in ("eq", "ne") else "s" if type_.is_signed else "u"
    return code.binary(f"icmp {sign}{name}", type_, a, b)


def _selector(code: NativeCode, context: Context, type_: ScalarType, value: str) -> str:
    value = flushed(code, type_, value) if "ftz" in context.modifiers else value
    return widened(code, type_, value)


def setp_emission(name: str, boolean: str = "") -> Emission:
    """The comparison and its opposite, each combined with c when there is a `boolean`."""

    def emit(code: NativeCode, context: Context, a: str, b: str, *c: str) -> tuple[str, str]:
        holds = _compared(code, context, context.type, name, a, b)
        fails = code.binary("xor", "i1", holds, code.splat("i1", "true"))
        if not boolean:
            return holds, fails
        return code.binary(boolean, "i1", holds, *c), code.binary(boolean, "i1", fails, *c)

    return emit


def set_emission(name: str, boolean: str = "") -> Emission:
    """1.0 for a floating-point result, all ones for an integer one."""

    def emit(code: NativeCode, context: Context, a: str, b: str, *c: str) -> str:
        holds = _compared(code, context, context.source_type, name, a, b)
        if boolean:
            holds = code.binary(boolean, "i1", holds, *c)
        if not context.type.is_float:
            return code.cast("sext", "i1", holds, context.type)
        one, zero = (code.real(context.type, value) for value in (1.0, 0.0))
        return code.select(context.type, holds, one, zero)

    return emit


def emit_selp(code: NativeCode, context: Context, a: str, b: str, chooses_a: str) -> str:
    return code.select(context.type, chooses_a, a, b)


def emit_slct(code: NativeCode, context: Context, a: str, b: str, c: str) -> str:
    source = context.source_type
    zero = code.real(source, 0.0) if source.is_float else code.splat(source, 0)
    return code.select(context.type, _compared(code, context, source, "ge", c, zero), a, b)


def _infinity(type_: ScalarType) -> int:
    return {32: 0x7F800000, 64: 0x7FF0000000000000}[type_.bits]


def _smallest_normal(type_: ScalarType) -> int:
    return {32: 0x00800000, 64: 0x0010000000000000}[type_.bits]


def testp_emission(name: str) -> Emission:
    """A class of floating-point numbers is a range of their bits without the sign."""

    def emit(code: NativeCode, context: Context, a: str) -> str:
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
        return code.binary(f"icmp {comparison}", lane, position, code.splat(lane, limit))

    return emit
