"""What is known of a register before it runs: the same in all lanes, a fixed pattern, or anything.

A value of known variance is a scalar base, the same for the warp, plus constant offsets by lane,
all modulo 2**bits. Offsets are all zero for uniform values, `(0, 1, 2, ...)` for a lane's number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from kernelcast.simcore.isa.ir.kernel import Compute, Immediate
from kernelcast.simcore.isa.opcodes.columns import Algebra

__all__ = [
    "SHAPE_RULES",
    "LaneVariance",
    "apply_rule",
    "constant_variance",
    "joined",
    "resized",
    "uniform",
]

Bounds: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class LaneVariance:
    """`offsets` by lane, signed; None for a value that varies without a pattern.

    `constant`: the base itself when it is known (unsigned). `bounds`: numbers, negative ones too,
    between which every lane's value lies modulo 2**bits. `power`: 2**power divides the base.
    `is_guess`: a value that is kept by lane, as one that varies, since an index may wrap around or
    lanes may be written apart; it has the offsets if none does.
    """

    offsets: tuple[int, ...] | None
    constant: int | None = None
    bounds: Bounds | None = None
    power: int = 0
    is_guess: bool = False

    @property
    def is_uniform(self) -> bool:
        """Whether the register is known to be the same in all lanes."""
        return not self.is_varying and not any(self.offsets or ())

    @property
    def is_varying(self) -> bool:
        """Whether the code must hold one value per lane: no pattern is known, or only guessed."""
        return self.offsets is None or self.is_guess

    def guessed(self) -> LaneVariance:
        """The variance as a guess, which code must not rely on."""
        return LaneVariance(self.offsets, is_guess=self.offsets is not None)


VARYING = LaneVariance(None)
_ANYTHING = 64


def uniform(width: int, bounds: Bounds | None = None, power: int = 0) -> LaneVariance:
    """The variance of a value that is the same in all lanes, within bounds where they are known."""
    return LaneVariance((0,) * width, None, bounds, power)


def constant_variance(width: int, value: int) -> LaneVariance:
    """The variance of a known unsigned value that is the same in every lane."""
    power = (value & -value).bit_length() - 1 if value else _ANYTHING
    return LaneVariance((0,) * width, value, (value, value), power)


def joined(one: LaneVariance | None, other: LaneVariance) -> LaneVariance:
    """What holds of a register that has either variance; None is a register not yet seen."""
    if one is None or one == other:
        return other
    if one.offsets is None or one.offsets != other.offsets:
        return VARYING
    constant = one.constant if one.constant == other.constant else None
    bounds = one.bounds if one.bounds == other.bounds else None
    power, is_guess = min(one.power, other.power), one.is_guess or other.is_guess
    return LaneVariance(one.offsets, constant, bounds, power, is_guess)


def resized(variance: LaneVariance, bits: int, to: int, signed: bool = False) -> LaneVariance:
    """The variance of a value cut or extended to `to` bits; a guess when lanes may wrap."""
    if variance.offsets is None or bits == to:
        return variance
    if to < bits:
        return _wrapped(variance, to, variance)
    if variance.is_uniform:
        constant = variance.constant
        if constant is not None and signed:
            constant = _signed(constant, bits) & ((1 << to) - 1)
        if constant is not None:
            return constant_variance(len(variance.offsets), constant)
        return replace(variance, bounds=variance.bounds if _fits(variance, bits, signed) else None)
    if _fits(variance, bits, signed):
        return replace(variance, constant=None)
    return variance.guessed()


def _fits(variance: LaneVariance, bits: int, signed: bool) -> bool:
    """Whether the bounds are those of the value as it is read, and offsets are whole distances."""
    if variance.bounds is None:
        return False
    low, high = variance.bounds
    least = -(1 << (bits - 1)) if signed else 0
    limit = 1 << (bits - 1 if signed else bits)
    return least <= low and high < limit and high - low < 1 << (bits - 1)


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _wrapped(variance: LaneVariance, bits: int, *sources: LaneVariance) -> LaneVariance:
    """Offsets in range of the width; bounds dropped when no one reading of the bits has them."""
    if variance.offsets is None:
        return variance
    bounds = variance.bounds
    if bounds is not None and not -(1 << (bits - 1)) <= bounds[0] <= bounds[1] < 1 << bits:
        bounds = None
    constant = None if variance.constant is None else variance.constant & ((1 << bits) - 1)
    offsets = tuple(_signed(offset, bits) for offset in variance.offsets)
    is_guess = any(source.is_guess for source in sources)
    return LaneVariance(offsets, constant, bounds, min(variance.power, _ANYTHING), is_guess)


def _near(variance: LaneVariance, bits: int) -> Bounds | None:
    """Bounds, of constants those nearest to zero."""
    if variance.constant is None or not variance.is_uniform:
        return variance.bounds
    return (_signed(variance.constant, bits),) * 2


def _add(a: LaneVariance, b: LaneVariance, bits: int, sign: int = 1) -> LaneVariance:
    if a.offsets is None or b.offsets is None:
        return VARYING
    offsets = tuple(x + sign * y for x, y in zip(a.offsets, b.offsets, strict=True))
    known = a.constant is not None and b.constant is not None
    constant = (a.constant or 0) + sign * (b.constant or 0) if known else None
    bounds, one, other = None, _near(a, bits), _near(b, bits)
    if one is not None and other is not None:
        low, high = other if sign > 0 else (-other[1], -other[0])
        bounds = (one[0] + low, one[1] + high)
    return _wrapped(LaneVariance(offsets, constant, bounds, min(a.power, b.power)), bits, a, b)


def _multiply(a: LaneVariance, b: LaneVariance, bits: int) -> LaneVariance:
    if a.constant is not None and a.is_uniform:
        a, b = b, a
    if a.offsets is None or b.offsets is None:
        return VARYING
    bounds, power = _bounds_of_product(_near(a, bits), _near(b, bits)), a.power + b.power
    if b.constant is None or not b.is_uniform:
        if any(a.offsets) or any(b.offsets):
            return VARYING
        return _wrapped(LaneVariance(a.offsets, None, bounds, power), bits, a, b)
    factor = _signed(b.constant, bits)
    constant = None if a.constant is None else a.constant * factor
    offsets = tuple(x * factor for x in a.offsets)
    return _wrapped(LaneVariance(offsets, constant, bounds, power), bits, a)


def _bounds_of_product(a: Bounds | None, b: Bounds | None) -> Bounds | None:
    if a is None or b is None:
        return None
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _shift_left(a: LaneVariance, amount: LaneVariance, bits: int) -> LaneVariance:
    if amount.constant is None or not amount.is_uniform or amount.constant >= bits:
        return VARYING
    return _multiply(a, constant_variance(_width(amount), 1 << amount.constant), bits)


def _shift_right(a: LaneVariance, amount: LaneVariance) -> LaneVariance:
    """Exact lane by lane when the base has only zeros below the bits that the offsets fill."""
    if a.offsets is None or amount.constant is None or not amount.is_uniform:
        return VARYING
    low = amount.constant
    if low > a.power or min(a.offsets) < 0 or max(a.offsets) >= 1 << min(a.power, 32):
        return VARYING
    bounds = None
    if a.bounds is not None and a.bounds[0] >= 0:
        bounds = (a.bounds[0] >> low, a.bounds[1] >> low)
    constant = None if a.constant is None else a.constant >> low
    return LaneVariance(tuple(x >> low for x in a.offsets), constant, bounds, a.power - low)


def _mask(a: LaneVariance, b: LaneVariance) -> LaneVariance:
    """`and` with a constant below the base's lowest one leaves bits of the offsets alone."""
    if a.constant is not None and a.is_uniform:
        a, b = b, a
    if a.offsets is None or b.constant is None or not b.is_uniform:
        return VARYING
    limit = 1 << min(a.power, 32)
    if b.constant >= limit or min(a.offsets) < 0 or max(a.offsets) >= limit:
        return VARYING
    offsets = tuple(x & b.constant for x in a.offsets)
    return LaneVariance(offsets, 0, (min(offsets), max(offsets)), _ANYTHING)


def _width(variance: LaneVariance) -> int:
    return len(variance.offsets or ())


Rule = Callable[[Compute, list[LaneVariance]], LaneVariance]


def _bits(instruction: Compute) -> int:
    return instruction.type.bits


def _wide_operand(instruction: Compute, variance: LaneVariance) -> LaneVariance:
    bits = _bits(instruction)
    return resized(variance, bits, 2 * bits, instruction.type.is_signed)


def _multiply_wide(instruction: Compute, s: list[LaneVariance]) -> LaneVariance:
    a, b = (_wide_operand(instruction, variance) for variance in s[:2])
    return _multiply(a, b, 2 * _bits(instruction))


def _convert(instruction: Compute, s: list[LaneVariance]) -> LaneVariance:
    if instruction.modifiers:
        return VARYING
    source = instruction.source_type
    return resized(s[0], source.bits, instruction.type.bits, source.is_signed)


def _shift_amount_is_fixed(instruction: Compute, s: list[LaneVariance]) -> LaneVariance:
    bounds = s[0].bounds
    if instruction.type.is_signed and (
        bounds is None or bounds[0] < 0 or bounds[1] >> (_bits(instruction) - 1)
    ):
        return VARYING
    return _shift_right(s[0], s[1])


def _product(instruction: Compute, s: list[LaneVariance]) -> LaneVariance:
    return _multiply(s[0], s[1], _bits(instruction))


SHAPE_RULES: Mapping[Algebra, Rule | None] = {
    Algebra.SUM: lambda i, s: VARYING if i.modifiers else _add(s[0], s[1], _bits(i)),
    Algebra.DIFFERENCE: lambda i, s: VARYING if i.modifiers else _add(s[0], s[1], _bits(i), -1),
    Algebra.NEGATION: None,
    Algebra.MAGNITUDE: None,
    Algebra.PRODUCT: _product,
    Algebra.PRODUCT_SUM: lambda i, s: _add(_product(i, s), s[2], _bits(i)),
    Algebra.SHORT_PRODUCT: None,
    Algebra.SHORT_PRODUCT_SUM: None,
    Algebra.WIDE_PRODUCT: _multiply_wide,
    Algebra.WIDE_PRODUCT_SUM: lambda i, s: _add(_multiply_wide(i, s), s[2], 2 * _bits(i)),
    Algebra.QUOTIENT: None,
    Algebra.REMAINDER: None,
    Algebra.MINIMUM: None,
    Algebra.MAXIMUM: None,
    Algebra.AND: lambda i, s: _mask(s[0], s[1]),
    Algebra.OR: None,
    Algebra.XOR: None,
    Algebra.NOT: None,
    Algebra.SHIFT_LEFT: lambda i, s: _shift_left(s[0], s[1], _bits(i)),
    Algebra.SHIFT_RIGHT: _shift_amount_is_fixed,
    Algebra.COPY: lambda _, s: s[0],
    Algebra.CONVERSION: _convert,
    Algebra.WINDOW: lambda _, s: replace(s[0], constant=None, bounds=None, power=0),
    Algebra.COMPARISON: None,
    Algebra.CHOICE: None,
    Algebra.OTHER: None,
}
"""None: uniform where all operands are, else varying."""


def apply_rule(instruction: Compute, sources: list[LaneVariance], width: int) -> LaneVariance:
    """The variance of a one-result instruction's result, in the width of its result type."""
    is_integer = instruction.type.is_integer and instruction.source_type.is_integer
    rule = SHAPE_RULES[instruction.opcode.algebra] if is_integer else None
    if rule is not None:
        found = rule(instruction, sources)
        if any(variance.is_guess for variance in sources):
            found = found.guessed()
        if found.offsets is not None:
            return found
    if all(variance.is_uniform for variance in sources):
        return uniform(width)
    return VARYING


def immediate_variance(operand: Immediate, bits: int, width: int) -> LaneVariance:
    """The variance of an immediate operand, cut to `bits`."""
    return constant_variance(width, operand.bits & ((1 << bits) - 1))
