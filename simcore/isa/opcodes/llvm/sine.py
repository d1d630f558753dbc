"""Sine and cosine of every f32, in `double` and without tables, as LLVM IR.

Reduction by multiples of pi/2: three parts of pi/2 subtracted with `fma` below 2**50 (Cody and
Waite), above it the product with 216 bits of 2/pi in parts that make every product exact, whole
turns dropped from each (Payne and Hanek). No f32 comes closer to a multiple of pi/2 than 2**-32,
so that the reduced angle keeps more than 45 bits.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

from kernelcast.simcore.isa.numerics.lane_code import LaneCode

__all__ = ["cosine", "polynomial", "sine"]

_LARGE = 2.0**50
_ROUNDER = 1.5 * 2.0**52
_PART_BITS = 27
_PARTS = 8
_SINE_SERIES = [(-1) ** k / math.factorial(2 * k + 1) for k in range(8)]
_COSINE_SERIES = [(-1) ** k / math.factorial(2 * k) for k in range(8)]


def _arctangent_of_inverse(n: int, bits: int) -> int:
    """atan(1/n) in units of 2**-bits."""
    power, total = (1 << bits) // n, 0
    for k in itertools.count():
        if not power:
            return total
        total += (-1) ** k * (power // (2 * k + 1))
        power //= n * n
    raise AssertionError


def _half_pi() -> Fraction:
    """Half of pi to more than 300 bits (Machin 1706)."""
    bits = 320
    quarter = 4 * _arctangent_of_inverse(5, bits) - _arctangent_of_inverse(239, bits)
    return Fraction(2 * quarter, 1 << bits)


def _half_pi_parts() -> list[float]:
    """Three positive numbers of 53 bits, from the largest, whose sum is pi/2."""
    rest, parts = _half_pi(), []
    for _ in range(3):
        scale = Fraction(2) ** (52 - (math.frexp(float(rest))[1] - 1))
        part = Fraction(math.floor(rest * scale)) / scale
        parts.append(float(part))
        rest -= part
    return parts


def _inverse_parts() -> list[float]:
    """2/pi in parts of 27 bits."""
    digits = math.floor((1 << (_PART_BITS * _PARTS)) / _half_pi())
    places = range(_PARTS - 1, -1, -1)
    chunks = [digits >> (_PART_BITS * place) & ((1 << _PART_BITS) - 1) for place in places]
    return [math.ldexp(chunk, -_PART_BITS * (i + 1)) for i, chunk in enumerate(chunks)]


_HALF_PI = _half_pi_parts()
_TWO_OVER_PI = _inverse_parts()


def polynomial(code: LaneCode, x: str, coefficients: Sequence[float]) -> str:
    """Emits a polynomial in x; the coefficients are those of the powers 0, 1, 2, ..."""
    kind = code.type("double")
    result = code.real("double", coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        addend = code.real("double", coefficient)
        result = code.intrinsic("fma", "double", [(kind, result), (kind, x), (kind, addend)])
    return result


def sine(code: LaneCode, a: str) -> str:
    """Emits the sine of f32 values."""
    return _wave(code, a, 0)


def cosine(code: LaneCode, a: str) -> str:
    """The sine a quarter turn on."""
    return _wave(code, a, 1)


def _wave(code: LaneCode, a: str, quarters: int) -> str:
    angle, turns = _reduced(code, a)

    def op(name: str, x: str, y: int | str) -> str:
        return code.binary(name, "i64", x, code.splat("i64", y) if isinstance(y, int) else y)

    quadrant = op("add", turns, quarters)
    square = code.binary("fmul", "double", angle, angle)
    rising = code.binary("fmul", "double", angle, polynomial(code, square, _SINE_SERIES))
    falling = polynomial(code, square, _COSINE_SERIES)
    is_odd = op("icmp ne", op("and", quadrant, 1), 0)
    bits = code.cast("bitcast", "double", code.select("double", is_odd, falling, rising), "i64")
    sign = op("shl", op("and", quadrant, 2), 62)
    return code.cast("bitcast", "i64", op("xor", bits, sign), "double")


def _reduced(code: LaneCode, a: str) -> tuple[str, str]:
    """(rest, n) with a = n*pi/2 + rest; the low two bits of n, an i64, count.

    Calls a function that takes the long way only when some lane needs it.
    """
    kind = code.type("double")
    result, name = f"{{ {kind}, {code.type('i64')} }}", f"@reduced_angle.{code.mangle('double')}"
    if name not in code.declarations:
        code.declarations[name] = _reduction(code.lanes, name, result, code.declarations)
    pair = code.op(f"call {result} {name}({kind} {a})")
    rest, turns = (code.op(f"extractvalue {result} {pair}, {i}") for i in (0, 1))
    return rest, turns


def _reduction(lanes: int, name: str, result: str, declarations: dict[str, str]) -> str:
    numbers = itertools.count()
    body = LaneCode(lanes, [], declarations, lambda: f"%v{next(numbers)}")
    kind = body.type("double")
    a = body.op(f"freeze {kind} %a")
    near = _small_reduction(body, a)
    magnitude = body.intrinsic("fabs", "double", [(kind, a)])
    is_large = body.binary("fcmp oge", "double", magnitude, body.real("double", _LARGE))
    some = body.cast("bitcast", "i1", is_large, "i1")
    if lanes > 1:
        mask = body.op(f"bitcast {body.type('i1')} {is_large} to i{lanes}")
        some = body.op(f"icmp ne i{lanes} {mask}, 0")
    body.do(f"br i1 {some}, label %long_way, label %short_way")
    body.lines.append("short_way:")
    _return_pair(body, result, *near)
    body.lines.append("long_way:")
    far = _large_reduction(body, a)
    rest = body.select("double", is_large, far[0], near[0])
    _return_pair(body, result, rest, body.select("i64", is_large, far[1], near[1]))
    header = f"define internal {result} {name}({kind} %a) memory(none) nounwind willreturn {{"
    return "\n".join([header, *body.lines, "}"])


def _return_pair(code: LaneCode, result: str, rest: str, turns: str) -> None:
    first = code.op(f"insertvalue {result} poison, {code.type('double')} {rest}, 0")
    both = code.op(f"insertvalue {result} {first}, {code.type('i64')} {turns}, 1")
    code.do(f"ret {result} {both}")


def _small_reduction(code: LaneCode, a: str) -> tuple[str, str]:
    kind, rounder = code.type("double"), code.real("double", _ROUNDER)
    scaled = code.binary("fmul", "double", a, code.real("double", float(1 / _half_pi())))
    shifted = code.binary("fadd", "double", scaled, rounder)
    count = code.binary("fsub", "double", shifted, rounder)
    rest = a
    for part in _HALF_PI:
        operands = [(kind, count), (kind, code.real("double", -part)), (kind, rest)]
        rest = code.intrinsic("fma", "double", operands)
    return rest, code.cast("bitcast", "double", shifted, "i64")


def _large_reduction(code: LaneCode, a: str) -> tuple[str, str]:
    def op(name: str, x: str, y: str) -> str:
        return code.binary(name, "double", x, y)

    kind, zero = code.type("double"), code.real("double", 0.0)
    total, error = zero, zero
    for part in _TWO_OVER_PI:
        product = op("fmul", a, code.real("double", part))
        turns = op("fmul", product, code.real("double", 0.25))
        whole = code.intrinsic("roundeven", "double", [(kind, turns)])
        operands = [(kind, whole), (kind, code.real("double", -4.0)), (kind, product)]
        term = code.intrinsic("fma", "double", operands)
        # two-sum (Knuth): what the sum loses adds up in `error`
        grown = op("fadd", total, term)
        back = op("fsub", grown, total)
        lost = op("fadd", op("fsub", total, op("fsub", grown, back)), op("fsub", term, back))
        total, error = grown, op("fadd", error, lost)
    shifted = op("fadd", total, code.real("double", _ROUNDER))
    count = op("fsub", shifted, code.real("double", _ROUNDER))
    quarter = op("fadd", op("fsub", total, count), error)
    rest = op("fmul", quarter, code.real("double", float(_half_pi())))
    return rest, code.cast("bitcast", "double", shifted, "i64")
