"""Elements of fragments to arrays of values and back, as LLVM IR: the twin of `formats`."""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.simcore.isa.matrix.formats import ElementFormat, small_values
from kernelcast.simcore.isa.matrix.layouts import Fragment
from kernelcast.simcore.isa.matrix.llvm.function import FunctionCode
from kernelcast.simcore.isa.matrix.products import ZERO_EXPONENT

__all__ = ["Values", "decoded", "larger", "powers_of", "read_codes"]

_RUN = 8
_EXPONENT_MASK = 0x7FF0000000000000
_TF32_MASK = -8192


@dataclass(frozen=True, slots=True)
class Values:
    """Arrays in matrix order: `values` of `kind` (double or i32), `powers` those of exponents."""

    kind: str
    values: str
    powers: str = ""


def read_codes(code: FunctionCode, fragment: Fragment, registers: str, name: str) -> str:
    """The codes in matrix order, from the registers' words in memory."""
    offsets = fragment.bit_offsets()
    kind = _code_kind(fragment.format)
    size = max(8, fragment.format.bits)
    table = code.table(name, "i32", (offsets // size).tolist())
    codes = code.array(fragment.elements, kind)
    shifts = ""
    if fragment.format.bits < 8:
        shifts = code.table(f"{name}.shift", "i8", (offsets % 8).tolist())
    with code.loop(fragment.elements) as index:
        place = code.op(f"zext i32 {code.load('i32', table, index, 4)} to i64")
        value = code.load(kind, registers, place, size // 8)
        if shifts:
            moved = code.op(f"lshr i8 {value}, {code.load('i8', shifts, index)}")
            value = code.op(f"and i8 {moved}, {(1 << fragment.format.bits) - 1}")
        code.do(f"store {kind} {value}, ptr {code.place(kind, codes, index)}")
    return codes


def decoded(
    code: FunctionCode, format_: ElementFormat, codes: str, count: int, *, powers: bool
) -> Values:
    """The values of codes; with `powers` those of their exponents, too."""
    kind = "double" if format_.is_float else "i32"
    values = code.array(count, kind)
    if format_.is_float and format_.bits <= 8:
        _looked_up(code, format_, codes, count, values)
    else:
        with code.loop(count, _RUN) as index:
            code.store_run(kind, _RUN, _run_of(code, format_, codes, index), values, index)
    if not powers:
        return Values(kind, values)
    held = code.array(count, "double")
    with code.loop(count, _RUN) as index:
        value = code.load_run("double", _RUN, values, index)
        code.store_run("double", _RUN, powers_of(code, value, _RUN, format_), held, index)
    return Values(kind, values, held)


def powers_of(code: FunctionCode, value: str, lanes: int, format_: ElementFormat) -> str:
    """The power of two of each value's exponent; what a zero counts as for zeros."""
    vector = code.lanes(lanes)
    bits = vector.cast("bitcast", "double", value, "i64")
    masked = vector.binary("and", "i64", bits, vector.splat("i64", _EXPONENT_MASK))
    power = vector.cast("bitcast", "i64", masked, "double")
    least = vector.real("double", 2.0**format_.least_exponent)
    power = larger(code, power, least, lanes)
    is_zero = vector.binary("fcmp oeq", "double", value, "zeroinitializer")
    return vector.select("double", is_zero, vector.real("double", 2.0**ZERO_EXPONENT), power)


def larger(code: FunctionCode, a: str, b: str, lanes: int) -> str:
    """The larger of two numbers, neither of them NaN."""
    vector = code.lanes(lanes)
    return vector.select("double", vector.binary("fcmp ogt", "double", a, b), a, b)


def _code_kind(format_: ElementFormat) -> str:
    return f"i{max(8, format_.bits)}"


def _looked_up(
    code: FunctionCode, format_: ElementFormat, codes: str, count: int, values: str
) -> None:
    table = code.doubles(f"values.{format_.ptx_name}", small_values(format_))
    with code.loop(count) as index:
        place = code.op(f"zext i8 {code.load('i8', codes, index)} to i64")
        value = code.load("double", table, place, 8)
        code.do(f"store double {value}, ptr {code.place('double', values, index)}, align 8")


def _run_of(code: FunctionCode, format_: ElementFormat, codes: str, index: str) -> str:
    """Eight values that follow one another."""
    vector = code.lanes(_RUN)
    match format_:
        case ElementFormat.F64:
            return code.load_run("double", _RUN, codes, index)
        case ElementFormat.F32:
            return vector.cast(
                "fpext", "float", code.load_run("float", _RUN, codes, index), "double"
            )
        case ElementFormat.F16:
            half = code.load_run("half", _RUN, codes, index)
            single = vector.cast("fpext", "half", half, "float")
            return vector.cast("fpext", "float", single, "double")
        case ElementFormat.BF16 | ElementFormat.TF32:
            bits = code.load_run(f"i{format_.bits}", _RUN, codes, index)
            if format_ is ElementFormat.BF16:
                wide = vector.cast("zext", "i16", bits, "i32")
                bits = vector.binary("shl", "i32", wide, vector.splat("i32", 16))
            else:
                bits = vector.binary("and", "i32", bits, vector.splat("i32", _TF32_MASK))
            single = vector.cast("bitcast", "i32", bits, "float")
            return vector.cast("fpext", "float", single, "double")
    if format_.bits == 32:
        return code.load_run("i32", _RUN, codes, index)
    narrow = code.load_run("i8", _RUN, codes, index)
    if format_ is ElementFormat.S4:
        up = vector.binary("shl", "i8", narrow, vector.splat("i8", 4))
        narrow = vector.binary("ashr", "i8", up, vector.splat("i8", 4))
    return vector.cast("sext" if format_.is_signed else "zext", "i8", narrow, "i32")
