"""Integer functions (OpenCL 1.2, 6.12.3).

8-bit integers are computed in 32 bits: no instruction has their width.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kernelcast.ptx_frontend.llvm.builtins.call import BuiltinCall, Handler
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["INTEGER_FUNCTIONS", "extremum", "narrowed_integer", "register_width", "widened_integer"]

_Computation = Callable[..., Operand]
"""(call, type, *operands) -> result of the same type."""


def register_width(type_: ScalarType) -> int:
    """The bits of the register that holds such a value."""
    return max(type_.bits, 16)


def _sign(type_: ScalarType) -> str:
    return "s" if type_.is_signed else "u"


def widened_integer(call: BuiltinCall, type_: ScalarType, bits: int, value: Operand) -> Operand:
    """Extended as its type says."""
    sign = _sign(type_)
    return call.compute(f"cvt.{sign}{bits}.{type_.ptx_name}", bits, value)


def narrowed_integer(call: BuiltinCall, bits: int, value: Operand, from_bits: int) -> Operand:
    """The low bits; those of a byte with zeros above."""
    if bits == from_bits:
        return value
    low = call.compute(f"cvt.u{max(bits, 16)}.u{from_bits}", max(bits, 16), value)
    return call.compute("and.b16", 16, low, Immediate(0xFF)) if bits == 8 else low


def _within(function: _Computation) -> _Computation:
    """Bytes in 32 bits, others as they are; the result is cut to the type."""

    def lane(call: BuiltinCall, type_: ScalarType, *operands: Operand) -> Operand:
        if type_.bits > 8:
            return function(call, type_, *operands)
        wide = ScalarType.named(f"{_sign(type_)}32")
        values = [widened_integer(call, type_, 32, operand) for operand in operands]
        return narrowed_integer(call, 8, function(call, wide, *values), 32)

    return lane


def _one(mnemonic: str) -> _Computation:
    def compute(call: BuiltinCall, type_: ScalarType, *operands: Operand) -> Operand:
        form = mnemonic.format(t=type_.ptx_name, b=f"b{type_.bits}")
        return call.compute(form, type_.bits, *operands)

    return compute


def extremum(call: BuiltinCall, name: str, type_: ScalarType, *operands: Operand) -> Operand:
    """`min` or `max` of integers."""
    return _within(_one(f"{name}.{{t}}"))(call, type_, *operands)


def _abs(call: BuiltinCall, type_: ScalarType, x: Operand) -> Operand:
    return x if not type_.is_signed else call.compute(f"abs.{type_.ptx_name}", type_.bits, x)


def _abs_diff(call: BuiltinCall, type_: ScalarType, x: Operand, y: Operand) -> Operand:
    return call.compute(f"sad.{type_.ptx_name}", type_.bits, x, y, Immediate(0))


def _half_sum(carry: str, operation: str) -> _Computation:
    """(x + y) / 2 without a wider type: what both share, and half of what they do not."""

    def compute(call: BuiltinCall, type_: ScalarType, x: Operand, y: Operand) -> Operand:
        bits = type_.bits
        shared = call.compute(f"{carry}.b{bits}", bits, x, y)
        rest = call.compute(f"xor.b{bits}", bits, x, y)
        half = call.compute(f"shr.{type_.ptx_name}", bits, rest, Immediate(1))
        return call.compute(f"{operation}.{type_.ptx_name}", bits, shared, half)

    return compute


def _saturated(function: _Computation) -> Callable[[_Computation], _Computation]:
    """Decorates the 64-bit version of a saturating function.

    Up to 32 bits the exact result of `function` in twice the width is clamped; the decorated
    function does 64 bits.
    """

    def decorate(widest: _Computation) -> _Computation:
        def lane(call: BuiltinCall, type_: ScalarType, *operands: Operand) -> Operand:
            if type_.bits == 64:
                return widest(call, type_, *operands)
            # u32 has no negative differences: 64 bits are signed unless a product needs all
            bits = 64 if type_.bits == 32 else 32
            values = [widened_integer(call, type_, bits, operand) for operand in operands]
            signed = type_.is_signed or len(operands) == 2
            wide = ScalarType.named(f"{'s' if signed else 'u'}{bits}")
            exact = function(call, wide, *values)
            form = f"cvt.sat.{type_.ptx_name}.{wide.ptx_name}"
            found = call.compute(form, register_width(type_), exact)
            if type_.bits == 8:
                return call.compute("and.b16", 16, found, Immediate(0xFF))
            return found

        return lane

    return decorate


def _limit(call: BuiltinCall, negative: Operand) -> Operand:
    """The smallest s64 where the operand is negative, else the largest."""
    sign = call.compute("shr.s64", 64, negative, Immediate(63))
    return call.compute("xor.b64", 64, sign, Immediate((1 << 63) - 1))


@_saturated(_one("add.{t}"))
def _add_sat(call: BuiltinCall, type_: ScalarType, x: Operand, y: Operand) -> Operand:
    total = call.compute("add.u64", 64, x, y)
    if not type_.is_signed:
        wraps = call.compute("setp.lt.u64", 1, total, x)
        return call.select(64, wraps, Immediate((1 << 64) - 1), total)
    changed = [call.compute("xor.b64", 64, operand, total) for operand in (x, y)]
    both = call.compute("and.b64", 64, *changed)
    overflows = call.compute("setp.lt.s64", 1, both, Immediate(0))
    return call.select(64, overflows, _limit(call, x), total)


@_saturated(_one("sub.{t}"))
def _sub_sat(call: BuiltinCall, type_: ScalarType, x: Operand, y: Operand) -> Operand:
    difference = call.compute("sub.u64", 64, x, y)
    if not type_.is_signed:
        wraps = call.compute("setp.lt.u64", 1, x, y)
        return call.select(64, wraps, Immediate(0), difference)
    changed = [call.compute("xor.b64", 64, x, operand) for operand in (y, difference)]
    both = call.compute("and.b64", 64, *changed)
    overflows = call.compute("setp.lt.s64", 1, both, Immediate(0))
    return call.select(64, overflows, _limit(call, x), difference)


@_saturated(_one("mad.lo.{t}"))
def _mad_sat(call: BuiltinCall, type_: ScalarType, x: Operand, y: Operand, z: Operand) -> Operand:
    """The product's two halves, the addend with its sign, and a carry between them."""
    form = type_.ptx_name
    low = call.compute("mul.lo.u64", 64, x, y)
    high = call.compute(f"mul.hi.{form}", 64, x, y)
    total = call.compute("add.u64", 64, low, z)
    carries = call.compute("setp.lt.u64", 1, total, low)
    carry = call.select(64, carries, Immediate(1), Immediate(0))
    high = call.compute("add.u64", 64, high, carry)
    if not type_.is_signed:
        overflows = call.compute("setp.ne.u64", 1, high, Immediate(0))
        return call.select(64, overflows, Immediate((1 << 64) - 1), total)
    sign = call.compute("shr.s64", 64, z, Immediate(63))
    high = call.compute("add.u64", 64, high, sign)
    extended = call.compute("shr.s64", 64, total, Immediate(63))
    overflows = call.compute("setp.ne.u64", 1, high, extended)
    return call.select(64, overflows, _limit(call, high), total)


def _mul_hi(call: BuiltinCall, type_: ScalarType, x: Operand, y: Operand) -> Operand:
    if type_.bits > 8:
        return call.compute(f"mul.hi.{type_.ptx_name}", type_.bits, x, y)
    values = [widened_integer(call, type_, 32, operand) for operand in (x, y)]
    product = call.compute("mul.lo.s32", 32, *values)
    upper = call.compute("shr.s32", 32, product, Immediate(8))
    return narrowed_integer(call, 8, upper, 32)


def _mad_hi(call: BuiltinCall, type_: ScalarType, x: Operand, y: Operand, z: Operand) -> Operand:
    if type_.bits > 8:
        return call.compute(f"mad.hi.{type_.ptx_name}", type_.bits, x, y, z)
    high = _mul_hi(call, type_, x, y)
    total = call.compute("add.u16", 16, high, z)
    return call.compute("and.b16", 16, total, Immediate(0xFF))


def _clamp(
    call: BuiltinCall, type_: ScalarType, x: Operand, low: Operand, high: Operand
) -> Operand:
    raised = call.compute(f"max.{type_.ptx_name}", type_.bits, x, low)
    return call.compute(f"min.{type_.ptx_name}", type_.bits, raised, high)


def _zero_extended(call: BuiltinCall, type_: ScalarType, x: Operand) -> Operand:
    """Zero-extends to at least 32 bits."""
    if type_.bits >= 32:
        return x
    return call.compute(f"cvt.u32.u{type_.bits}", 32, x)


def _count(call: BuiltinCall, type_: ScalarType, number: Operand) -> Operand:
    """A count of 32 bits in the type of the function."""
    if type_.bits == 64:
        return call.compute("cvt.u64.u32", 64, number)
    return narrowed_integer(call, type_.bits, number, 32)


def _clz(call: BuiltinCall, type_: ScalarType, x: Operand) -> Operand:
    bits = max(type_.bits, 32)
    zeros = call.compute(f"clz.b{bits}", 32, _zero_extended(call, type_, x))
    if type_.bits < 32:
        zeros = call.compute("sub.u32", 32, zeros, Immediate(32 - type_.bits))
    return _count(call, type_, zeros)


def _ctz(call: BuiltinCall, type_: ScalarType, x: Operand) -> Operand:
    bits, value = max(type_.bits, 32), _zero_extended(call, type_, x)
    if type_.bits < 32:
        value = call.compute("or.b32", 32, value, Immediate(1 << type_.bits))
    reversed_value = call.compute(f"brev.b{bits}", bits, value)
    return _count(call, type_, call.compute(f"clz.b{bits}", 32, reversed_value))


def _popcount(call: BuiltinCall, type_: ScalarType, x: Operand) -> Operand:
    bits = max(type_.bits, 32)
    ones = call.compute(f"popc.b{bits}", 32, _zero_extended(call, type_, x))
    return _count(call, type_, ones)


def _rotate(call: BuiltinCall, type_: ScalarType, x: Operand, amount: Operand) -> Operand:
    """Rotates to the left; short values are repeated until they fill a word."""
    if type_.bits == 64:
        return _rotate_long(call, x, amount)
    word, places = _zero_extended(call, type_, x), _zero_extended(call, type_, amount)
    if type_.bits < 32:
        copies = ((1 << 32) - 1) // ((1 << type_.bits) - 1)
        word = call.compute("mul.lo.u32", 32, word, Immediate(copies))
    turned = call.compute("shf.l.wrap.b32", 32, word, word, places)
    return narrowed_integer(call, type_.bits, turned, 32)


def _rotate_long(call: BuiltinCall, x: Operand, amount: Operand) -> Operand:
    low = call.compute("cvt.u32.u64", 32, amount)
    left = call.compute("and.b32", 32, low, Immediate(63))
    back = call.compute("sub.u32", 32, Immediate(64), left)
    risen = call.compute("shl.b64", 64, x, left)
    fallen = call.compute("shr.u64", 64, x, back)
    return call.compute("or.b64", 64, risen, fallen)


def _upsample(call: BuiltinCall, type_: ScalarType, high: Operand, low: Operand) -> Operand:
    bits = 2 * type_.bits
    wide = [call.compute(f"cvt.u{bits}.u{type_.bits}", bits, x) for x in (high, low)]
    risen = call.compute(f"shl.b{bits}", bits, wide[0], Immediate(type_.bits))
    return call.compute(f"or.b{bits}", bits, risen, wide[1])


def _lanes(count: int, function: _Computation) -> Handler:
    def lower(call: BuiltinCall) -> Value:
        call.expect(count)
        if not call.element().is_integer:
            raise call.refused("its first argument is no integer")
        return call.each(function)

    return lower


INTEGER_FUNCTIONS: Mapping[str, Handler] = {
    "abs": _lanes(1, _within(_abs)),
    "abs_diff": _lanes(2, _within(_abs_diff)),
    "add_sat": _lanes(2, _add_sat),
    "sub_sat": _lanes(2, _sub_sat),
    "mad_sat": _lanes(3, _mad_sat),
    "hadd": _lanes(2, _within(_half_sum("and", "add"))),
    "rhadd": _lanes(2, _within(_half_sum("or", "sub"))),
    "clamp": _lanes(3, _within(_clamp)),
    "clz": _lanes(1, _clz),
    "ctz": _lanes(1, _ctz),
    "popcount": _lanes(1, _popcount),
    "mad_hi": _lanes(3, _mad_hi),
    "mul_hi": _lanes(2, _mul_hi),
    "max": _lanes(2, _within(_one("max.{t}"))),
    "min": _lanes(2, _within(_one("min.{t}"))),
    "rotate": _lanes(2, _rotate),
    "upsample": _lanes(2, _upsample),
    "mad24": _lanes(3, _one("mad24.lo.{t}")),
    "mul24": _lanes(2, _one("mul24.lo.{t}")),
}
