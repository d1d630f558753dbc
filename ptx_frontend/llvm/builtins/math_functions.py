"""Mathematical functions (OpenCL 1.2, 6.12.2), of float, double and, in float, of half.

`half_` and `native_` functions are as accurate as the plain ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall, Handler, Pointer
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["MATH_FUNCTIONS", "computed", "narrowed", "store_elements", "widened"]

_INSTRUCTIONS: dict[str, str] = {
    "ceil": "cvt.rpi.{t}.{t}",
    "fabs": "abs.{t}",
    "floor": "cvt.rmi.{t}.{t}",
    "fma": "fma.rn.{t}",
    "fmax": "max.{t}",
    "fmin": "min.{t}",
    "mad": "fma.rn.{t}",
    "rint": "cvt.rni.{t}.{t}",
    "rsqrt": "rsqrt.approx.{t}",
    "trunc": "cvt.rzi.{t}.{t}",
}
_OF_FLOAT: dict[str, str] = {
    "cos": "cos.approx.f32",
    "divide": "div.full.f32",
    "exp2": "ex2.approx.f32",
    "log2": "lg2.approx.f32",
    "recip": "rcp.approx.f32",
    "sin": "sin.approx.f32",
    "sqrt": "sqrt.approx.f32",
    "tanh": "tanh.approx.f32",
}
"""What `float` has an instruction of its own for; their results are rounded correctly."""
_OF_DOUBLE: dict[str, str] = {"sqrt": "sqrt.rn.f64"}
_TABLE_ONE_TYPE = (
    *("acos", "acosh", "acospi", "asin", "asinh", "asinpi", "atan", "atan2", "atan2pi", "atanh"),
    *("atanpi", "cbrt", "cos", "cosh", "cospi", "erf", "erfc", "exp", "exp10", "exp2", "expm1"),
    *("fdim", "fmod", "hypot", "lgamma", "log", "log10", "log1p", "log2", "logb", "maxmag"),
    *("minmag", "nextafter", "pow", "powr", "remainder", "round", "sin", "sinh", "sinpi", "tan"),
    *("tanh", "tanpi", "tgamma"),
)
"""Entries `opencl.*` of the table whose operands and result have one type."""
_WITH_INTEGER = ("ldexp", "pown", "rootn")
_APPROXIMATE = (
    *("cos", "divide", "exp", "exp2", "exp10", "log", "log2", "log10", "powr", "recip", "rsqrt"),
    *("sin", "sqrt", "tan"),
)
"""What has `half_` and `native_` versions, of float only."""
_PAYLOAD = {ScalarType.F32: (1 << 22) - 1, ScalarType.F64: (1 << 51) - 1}
_QUIET_NAN = {ScalarType.F32: 0x7FC00000, ScalarType.F64: 0x7FF8000000000000}


def _instruction(name: str, type_: ScalarType) -> str:
    own = (_OF_FLOAT if type_ is ScalarType.F32 else _OF_DOUBLE).get(name)
    if own is not None:
        return own
    pattern = _INSTRUCTIONS.get(name, f"opencl.{name}.{{t}}")
    return pattern.format(t=type_.ptx_name)


def computed(call: BuiltinCall, name: str, type_: ScalarType, *operands: Operand) -> Operand:
    """The function `name` of numbers of one floating-point type."""
    if type_ is not ScalarType.F16:
        return call.compute(_instruction(name, type_), type_.bits, *operands)
    wide = [widened(call, operand) for operand in operands]
    result = call.compute(_instruction(name, ScalarType.F32), 32, *wide)
    return narrowed(call, result)


def widened(call: BuiltinCall, half: Operand) -> Operand:
    """Converts half to single precision."""
    return call.compute("cvt.f32.f16", 32, half)


def narrowed(call: BuiltinCall, number: Operand) -> Operand:
    """Converts single to half precision, rounded to nearest."""
    return call.compute("cvt.rn.f16.f32", 16, number)


def _plain(name: str) -> Handler:
    def lower(call: BuiltinCall) -> Value:
        _expect_float(call)
        return call.each(lambda call, type_, *operands: computed(call, name, type_, *operands))

    return lower


def _copysign(call: BuiltinCall) -> Value:
    """The instruction takes the sign first, and the bits of half have one too."""
    call.expect(2)

    def lane(call: BuiltinCall, type_: ScalarType, x: Operand, y: Operand) -> Operand:
        if type_ is not ScalarType.F16:
            return call.compute(f"copysign.{type_.ptx_name}", type_.bits, y, x)
        magnitude = call.compute("and.b16", 16, x, Immediate(0x7FFF))
        sign = call.compute("and.b16", 16, y, Immediate(0x8000))
        return call.compute("or.b16", 16, magnitude, sign)

    return call.each(lane)


def _with_integer(name: str) -> Handler:
    def lower(call: BuiltinCall) -> Value:
        call.expect(2)
        if call.element(1) is not ScalarType.S32:
            raise call.refused("its second argument is no int")
        return call.each(lambda call, type_, *operands: computed(call, name, type_, *operands))

    return lower


def _ilogb(call: BuiltinCall) -> Value:
    def lane(call: BuiltinCall, type_: ScalarType, x: Operand) -> Operand:
        if type_ is ScalarType.F16:
            x, type_ = widened(call, x), ScalarType.F32
        return call.compute(f"opencl.ilogb.{type_.ptx_name}", 32, x)

    _expect_float(call)
    return call.each(lane)


def _nan(call: BuiltinCall) -> Value:
    """A quiet NaN with these bits of its own."""

    def lane(call: BuiltinCall, type_: ScalarType, code: Operand) -> Operand:
        of = ScalarType.F64 if type_.bits == 64 else ScalarType.F32
        low = call.compute(f"and.b{of.bits}", of.bits, code, Immediate(_PAYLOAD[of]))
        return call.compute(f"or.b{of.bits}", of.bits, low, Immediate(_QUIET_NAN[of]))

    if call.element().bits not in (32, 64):
        raise call.refused("of half")
    return call.each(lane)


def _second_through_pointer(name: str, operand_count: int, bits: int) -> Handler:
    """The second result goes to the last argument's memory; `bits` 0 for the width of the type."""

    def lower(call: BuiltinCall) -> Value:
        call.expect(operand_count + 1)
        type_ = call.element()
        if type_ is ScalarType.F16:
            raise call.refused("of half")
        firsts: list[Operand] = []
        seconds: list[Operand] = []
        for operands in call.lanes(call.width, call.site.arguments[:operand_count]):
            first, second = _two_results(call, name, type_, bits or type_.bits, operands)
            firsts.append(first)
            seconds.append(second)
        stored = ScalarType.named(f"b{bits or type_.bits}")
        store_elements(call, call.pointer(operand_count), stored, seconds)
        return call.value(*firsts)

    return lower


def _two_results(
    call: BuiltinCall, name: str, type_: ScalarType, bits: int, operands: list[Operand]
) -> tuple[Operand, Operand]:
    if name == "sincos" and type_ is ScalarType.F32:
        return computed(call, "sin", type_, *operands), computed(call, "cos", type_, *operands)
    results = call.code.register(type_.bits), call.code.register(bits)
    call.code.assign_all(f"opencl.{name}.{type_.ptx_name}", results, *operands)
    return results


def store_elements(
    call: BuiltinCall, place: Pointer, type_: ScalarType, values: Sequence[Operand]
) -> None:
    """Neighbouring elements, one by one: built-ins promise the alignment of one element only."""
    for index, value in enumerate(values):
        address = call.code.address(place.space, place.address, index * type_.bytes)
        call.code.store(type_, address, (value,))


def _approximate(name: str) -> Handler:
    plain = _plain(name)

    def lower(call: BuiltinCall) -> Value:
        if call.element() is not ScalarType.F32:
            raise call.refused("it is for float only")
        found = plain(call)
        assert found is not None
        return found

    return lower


def _expect_float(call: BuiltinCall) -> None:
    if not call.element().is_float:
        raise call.refused("its first argument is no floating-point number")


MATH_FUNCTIONS: Mapping[str, Handler] = {
    **{name: _plain(name) for name in (*_INSTRUCTIONS, "sqrt", *_TABLE_ONE_TYPE)},
    **{name: _with_integer(name) for name in _WITH_INTEGER},
    **{f"half_{name}": _approximate(name) for name in _APPROXIMATE},
    **{f"native_{name}": _approximate(name) for name in _APPROXIMATE},
    "copysign": _copysign,
    "ilogb": _ilogb,
    "nan": _nan,
    "fract": _second_through_pointer("fract", 1, 0),
    "modf": _second_through_pointer("modf", 1, 0),
    "sincos": _second_through_pointer("sincos", 1, 0),
    "frexp": _second_through_pointer("frexp", 1, 32),
    "lgamma_r": _second_through_pointer("lgamma_r", 1, 32),
    "remquo": _second_through_pointer("remquo", 2, 32),
}
