"""Sums in double precision to the formats of accumulators, as LLVM IR: the twin of `products`."""

from __future__ import annotations

from kernelcast.simcore.isa.matrix.formats import ElementFormat
from kernelcast.simcore.isa.matrix.llvm.function import FunctionCode
from kernelcast.simcore.isa.numerics.lane_code import LaneCode

__all__ = ["cut_code", "nearest_code", "two_sum"]

_NAN32, _NAN16 = 0x7FFFFFFF, 0x7FFF
_SINGLE_OVERFLOW = 2.0**128


def _absolute(vector: LaneCode, value: str) -> str:
    return vector.intrinsic("fabs", "double", [(vector.type("double"), value)])


def cut_code(code: FunctionCode, format_: ElementFormat, value: str, lanes: int) -> str:
    """Codes: single precision towards zero, half precision to nearest."""
    bits, is_inexact = _cut(code, value, lanes)
    return _finished(code, format_, value, bits, is_inexact, lanes)


def nearest_code(
    code: FunctionCode, format_: ElementFormat, value: str, rest: str, lanes: int
) -> str:
    """Codes of value + rest, rounded to nearest once."""
    vector = code.lanes(lanes)
    nudged = _odd(vector, value, rest)
    if format_ is ElementFormat.F16:
        bits, is_inexact = _cut(code, nudged, lanes)
        return _finished(code, format_, value, bits, is_inexact, lanes)
    single = vector.cast("fptrunc", "double", nudged, "float")
    bits = vector.cast("bitcast", "float", single, "i32")
    is_nan = vector.binary("fcmp uno", "double", value, value)
    return vector.select("i32", is_nan, vector.splat("i32", _NAN32), bits)


def _cut(code: FunctionCode, value: str, lanes: int) -> tuple[str, str]:
    """The bits of single precision towards zero, and whether something was lost."""
    vector = code.lanes(lanes)
    nearest = vector.cast("fptrunc", "double", value, "float")
    back = vector.cast("fpext", "float", nearest, "double")
    size, size_back = _absolute(vector, value), _absolute(vector, back)
    is_past = vector.binary("fcmp ogt", "double", size_back, size)
    fits = vector.binary("fcmp olt", "double", size, vector.real("double", _SINGLE_OVERFLOW))
    step = vector.cast("zext", "i1", vector.binary("and", "i1", is_past, fits), "i32")
    bits = vector.cast("bitcast", "float", nearest, "i32")
    is_inexact = vector.binary("and", "i1", vector.binary("fcmp one", "double", back, value), fits)
    return vector.binary("sub", "i32", bits, step), is_inexact


def _finished(
    code: FunctionCode, format_: ElementFormat, value: str, bits: str, is_inexact: str, lanes: int
) -> str:
    vector = code.lanes(lanes)
    is_nan = vector.binary("fcmp uno", "double", value, value)
    if format_ is not ElementFormat.F16:
        return vector.select("i32", is_nan, vector.splat("i32", _NAN32), bits)
    # an odd last place says that something was cut off: the second rounding sees it
    odd = vector.binary("or", "i32", bits, vector.cast("zext", "i1", is_inexact, "i32"))
    single = vector.cast("bitcast", "i32", odd, "float")
    half = vector.cast("fptrunc", "float", single, "half")
    short = vector.cast("bitcast", "half", half, "i16")
    return vector.select("i16", is_nan, vector.splat("i16", _NAN16), short)


def two_sum(vector: LaneCode, a: str, b: str) -> tuple[str, str]:
    """The sum of two doubles and what its rounding lost (Knuth)."""

    def do(name: str, one: str, other: str) -> str:
        return vector.binary(name, "double", one, other)

    total = do("fadd", a, b)
    before = do("fsub", total, a)
    lost_a = do("fsub", a, do("fsub", total, before))
    return total, do("fadd", lost_a, do("fsub", b, before))


def _odd(vector: LaneCode, value: str, rest: str) -> str:
    """Emits rounding to odd: the value with an odd last place where there is a rest."""
    one = vector.splat("i64", 1)
    bits = vector.cast("bitcast", "double", value, "i64")
    other = vector.cast("bitcast", "double", rest, "i64")
    has_rest = vector.binary("fcmp one", "double", rest, "zeroinitializer")
    parity = vector.binary("and", "i64", bits, one)
    is_even = vector.binary("icmp eq", "i64", parity, "zeroinitializer")
    signs = vector.binary("xor", "i64", bits, other)
    is_away = vector.binary("icmp sge", "i64", signs, "zeroinitializer")
    up, down = vector.binary("add", "i64", bits, one), vector.binary("sub", "i64", bits, one)
    odd = vector.select("i64", is_away, up, down)
    chosen = vector.select("i64", vector.binary("and", "i1", has_rest, is_even), odd, bits)
    return vector.cast("bitcast", "i64", chosen, "double")
