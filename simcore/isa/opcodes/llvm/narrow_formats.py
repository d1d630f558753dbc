"""Formats of at most 8 bits to and from `float` as LLVM IR: the twin of `narrow_formats`."""

from __future__ import annotations

from kernelcast.simcore.isa.numerics.lane_code import LLVM_TYPES, LaneCode
from kernelcast.simcore.isa.numerics.narrow_formats import NARROW, SCALE_NAN, NarrowFormat
from kernelcast.simcore.isa.opcodes.llvm.packed import shortened
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["from_narrow", "from_scale", "to_narrow", "to_narrow_at_random", "to_scale"]

_FRACTION_BITS = 23
_BIAS = 127
_HALF_FRACTION_BITS, _HALF_BIAS, _HALF_NAN, _HALF_SIGN = 10, 15, 0x7E00, 0x8000
_MAGNITUDE = 0x7FFFFFFF
_SMALLEST_SCALE = 0x00400000


class _Words:
    """Operations on i32 and constants."""

    def __init__(self, code: LaneCode, lane: str = "i32") -> None:
        self.code = code
        self.lane = lane

    def __call__(self, name: str, a: str, b: int | str) -> str:
        other = self.code.splat(self.lane, b) if isinstance(b, int) else b
        return self.code.binary(name, self.lane, a, other)

    def select(self, condition: str, a: int | str, b: int | str) -> str:
        values = (self.code.splat(self.lane, x) if isinstance(x, int) else x for x in (a, b))
        return self.code.select(self.lane, condition, *values)


def from_narrow(code: LaneCode, value: str, type_: ScalarType) -> str:
    """Emits the exact conversion to `float`: the code is placed in a `half`, whose bias is 15."""
    format_, op = NARROW[type_], _Words(code, "i16")
    wide = code.cast("zext", LLVM_TYPES[type_], value, "i16")
    magnitude = op("and", wide, format_.sign - 1)
    placed = op("shl", magnitude, _HALF_FRACTION_BITS - format_.fraction_bits)
    if type_ is ScalarType.E4M3:
        placed = op.select(op("icmp ugt", magnitude, format_.largest), _HALF_NAN, placed)
    sign = op("mul", op("and", wide, format_.sign), _HALF_SIGN // format_.sign)
    half = code.cast("bitcast", "i16", op("or", placed, sign), "half")
    number = code.cast("fpext", "half", half, "float")
    scale = code.real("float", 2.0 ** (_HALF_BIAS - format_.bias))
    return code.binary("fmul", "float", number, scale)


def to_narrow(code: LaneCode, value: str, type_: ScalarType) -> str:
    """Rounds normal numbers in place, and the subnormal ones of the target by adding 2**23."""
    format_, op = NARROW[type_], _Words(code)
    magnitude = _magnitude(code, value)
    dropped = _FRACTION_BITS - format_.fraction_bits
    near = op("lshr", shortened(code, magnitude, dropped, ""), dropped)
    scaled = code.binary("fmul", "float", magnitude, _unit(code, format_, "float"))
    shifted = code.binary("fadd", "float", scaled, code.real("float", 2.0**_FRACTION_BITS))
    steps = code.cast("bitcast", "float", shifted, "i32")
    subnormal = op("sub", steps, (_BIAS + _FRACTION_BITS) << _FRACTION_BITS)
    return _assembled(code, value, type_, near, subnormal)


def to_narrow_at_random(
    code: LaneCode, value: str, type_: ScalarType, random: str, width: int
) -> str:
    """Adds the lowest `width` bits of `random`, an i32, below the last place and cuts off."""
    format_, op = NARROW[type_], _Words(code)
    bits = op("and", code.cast("bitcast", "float", value, "i32"), _MAGNITUDE)
    dropped = _FRACTION_BITS - format_.fraction_bits
    chance = op("and", random, (1 << width) - 1)
    near = op("lshr", op("add", bits, op("shl", chance, dropped - width)), dropped)
    wide = code.cast("fpext", "float", _magnitude(code, value), "double")
    scaled = code.binary("fmul", "double", wide, _unit(code, format_, "double"))
    part = code.binary(
        "fmul",
        "double",
        code.cast("uitofp", "i32", chance, "double"),
        code.real("double", 2.0**-width),
    )
    total = code.binary("fadd", "double", scaled, part)
    suffix = f"{code.mangle('i32')}.{code.mangle('double')}"
    subnormal = code.intrinsic("fptoui.sat", "i32", [(code.type("double"), total)], suffix)
    return _assembled(code, value, type_, near, subnormal)


def _magnitude(code: LaneCode, value: str) -> str:
    bits = code.cast("bitcast", "float", value, "i32")
    magnitude = code.binary("and", "i32", bits, code.splat("i32", _MAGNITUDE))
    return code.cast("bitcast", "i32", magnitude, "float")


def _unit(code: LaneCode, format_: NarrowFormat, lane: str) -> str:
    """How many subnormal steps make one."""
    return code.real(lane, 2.0 ** (format_.fraction_bits + format_.bias - 1))


def _assembled(code: LaneCode, value: str, type_: ScalarType, near: str, subnormal: str) -> str:
    """The code from that of a normal number, with the bias of `float`, and of a subnormal one."""
    format_, op = NARROW[type_], _Words(code)
    normal = op("sub", near, (_BIAS - format_.bias) << format_.fraction_bits)
    smallest = code.real("float", 2.0 ** (1 - format_.bias))
    is_small = code.binary("fcmp olt", "float", _magnitude(code, value), smallest)
    chosen = op.select(is_small, subnormal, normal)
    most = code.splat("i32", format_.largest + (type_ is ScalarType.F16))
    kind = code.type("i32")
    chosen = code.intrinsic("umin", "i32", [(kind, chosen), (kind, most)])
    bits = code.cast("bitcast", "float", value, "i32")
    top = op("and", op("lshr", bits, 32 - format_.sign.bit_length()), format_.sign)
    is_nan = code.binary("fcmp uno", "float", value, value)
    chosen = op.select(is_nan, format_.nan, op("or", chosen, top))
    return code.cast("trunc", "i32", chosen, f"i{type_.bits}")


def from_scale(code: LaneCode, value: str) -> str:
    """ue8m0 as `float`."""
    op = _Words(code)
    wide = code.cast("zext", "i8", value, "i32")
    bits = op("shl", wide, _FRACTION_BITS)
    bits = op.select(op("icmp eq", wide, 0), _SMALLEST_SCALE, bits)
    bits = op.select(op("icmp eq", wide, SCALE_NAN), 0x7FC00000, bits)
    return code.cast("bitcast", "i32", bits, "float")


def to_scale(code: LaneCode, value: str, is_upward: bool, is_finite: bool) -> str:
    """The magnitude of a `float` as ue8m0."""
    op = _Words(code)
    bits = op("and", code.cast("bitcast", "float", value, "i32"), _MAGNITUDE)
    exponent = op("lshr", bits, _FRACTION_BITS)
    if is_upward:
        fraction = op("and", bits, (1 << _FRACTION_BITS) - 1)
        is_inside = op("icmp ne", fraction, 0)
        is_above = op("icmp ugt", bits, _SMALLEST_SCALE)
        is_between = code.binary("and", "i1", is_inside, is_above)
        exponent = op("add", exponent, code.cast("zext", "i1", is_between, "i32"))
    kind = code.type("i32")
    most = code.splat("i32", SCALE_NAN - is_finite)
    exponent = code.intrinsic("umin", "i32", [(kind, exponent), (kind, most)])
    is_nan = code.binary("fcmp uno", "float", value, value)
    return code.cast("trunc", "i32", op.select(is_nan, SCALE_NAN, exponent), "i8")
