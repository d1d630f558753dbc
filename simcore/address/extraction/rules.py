"""What integer instructions make of address expressions.

Sums and products are exact; the ranges of the indices decide the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.address.expression import AddressExpression, constant
from kernelcast.simcore.address.extraction.answers import bits_of, lies_within
from kernelcast.simcore.address.extraction.conditions import compared, logical, refused
from kernelcast.simcore.address.extraction.launch import LaunchValues, place, signed
from kernelcast.simcore.address.extraction.values import (
    Opaque,
    Value,
    below,
    negated,
)
from kernelcast.simcore.isa.ir.kernel import Compute
from kernelcast.simcore.isa.opcodes.columns import Algebra
from kernelcast.simcore.isa.opcodes.table import Context
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["ADDRESS_RULES", "computed", "in_numbers"]

Expressions: TypeAlias = Sequence[AddressExpression]
Rule = Callable[[Compute, Expressions, LaunchValues], Value | None]

_FEWEST_INDEX_BITS = 32
"""An index of unknown range is taken to fit into that many bits."""
_WIDE = (Algebra.WIDE_PRODUCT, Algebra.WIDE_PRODUCT_SUM)


def computed(instruction: Compute, sources: Sequence[Value], launch: LaunchValues) -> list[Value]:
    """The values of the destinations, in their order."""
    count = len(instruction.destinations)
    algebra = instruction.opcode.algebra
    if algebra is Algebra.COMPARISON:
        holds = compared(instruction, sources, launch)
        both: list[Value] = [holds, negated(holds) if len(sources) < 3 else holds]
        return both[:count]
    if instruction.type is ScalarType.PRED or algebra is Algebra.CHOICE:
        return [logical(instruction, sources, launch)] * count
    opaque = next((value for value in sources if isinstance(value, Opaque)), None)
    if opaque is not None:
        return [opaque.plain()] * count
    expressions = [value for value in sources if isinstance(value, AddressExpression)]
    is_integer = instruction.type.is_integer and instruction.source_type.is_integer
    if len(expressions) < len(sources) or not is_integer:
        return [refused(instruction)] * count
    rule = ADDRESS_RULES[algebra]
    found = rule(instruction, expressions, launch) if rule and not instruction.modifiers else None
    if found is not None:
        return [_in_range(instruction, found)]
    numbers = [launch.number(expression) for expression in expressions]
    known = [number for number in numbers if number is not None]
    if len(known) == len(numbers):
        return _of_numbers(instruction, known)
    derived = launch.derive(instruction, expressions, (None, None)) if count == 1 else None
    return [refused(instruction) if derived is None else derived] * count


def _of_numbers(instruction: Compute, numbers: Sequence[int]) -> list[Value]:
    results = in_numbers(instruction, [np.array([number]) for number in numbers])
    return [
        bool(value[0]) if value.dtype == np.bool_ else constant(int(value[0])) for value in results
    ]


def in_numbers(
    instruction: Compute, numbers: Sequence[npt.NDArray[np.int64]]
) -> list[npt.NDArray[Any]]:
    """The results by the opcode's own meaning: truth values, or signed numbers."""
    context = Context(instruction.type, instruction.source_type, instruction.modifiers)
    types = instruction.opcode.operand_types(context)
    operands = [
        number.astype(np.int64).view(np.uint64).astype(of.storage).view(of.dtype)
        for number, of in zip(numbers, types, strict=True)
    ]
    results = instruction.opcode.compute(context, *operands)
    parts = results if isinstance(results, tuple) else (results,)
    return [
        np.asarray(part) if of is ScalarType.PRED else _signed_array(np.asarray(part), of.bits)
        for part, of in zip(parts, instruction.opcode.result_types(context), strict=False)
    ]


def _signed_array(values: npt.NDArray[Any], bits: int) -> npt.NDArray[np.int64]:
    return values.view(np.dtype(f"i{bits // 8}")).astype(np.int64)


def _in_range(instruction: Compute, value: Value) -> Value:
    """Numbers as signed ones of their width; coefficients beyond it stand for no address."""
    if not isinstance(value, AddressExpression):
        return value
    bits = instruction.type.bits * (2 if instruction.opcode.algebra in _WIDE else 1)
    number = value.as_constant
    if number is not None:
        return constant(signed(number, bits))
    if any(abs(factor) >> bits for _, factor in value.terms):
        return Opaque(f"{instruction.mnemonic} at {place(instruction)}, which wraps around")
    return value


def _wide(value: AddressExpression, of: ScalarType, launch: LaunchValues) -> AddressExpression:
    """The value extended to more bits; what is negative in some threads only counts as unused."""
    if of.is_signed:
        return value
    is_negative = launch.truth(below(value, constant(0)))
    return value + (1 << of.bits) if is_negative else value


def _multiply(_: Compute, s: Expressions, __: LaunchValues) -> AddressExpression:
    return s[0] * s[1]


def _multiply_add(_: Compute, s: Expressions, __: LaunchValues) -> AddressExpression:
    return s[0] * s[1] + s[2]


def _multiply_wide(i: Compute, s: Expressions, launch: LaunchValues) -> AddressExpression:
    return _wide(s[0], i.type, launch) * _wide(s[1], i.type, launch)


def _convert(i: Compute, s: Expressions, launch: LaunchValues) -> Value | None:
    source, target = i.source_type, i.type
    if target.bits > source.bits:
        return _wide(s[0], source, launch)
    fits = launch.ask(lies_within, s[0], -(1 << (target.bits - 1)), 1 << target.bits)
    if fits is None:
        fits = target.bits >= _FEWEST_INDEX_BITS
    return s[0] if fits else None


def _shift_left(_: Compute, s: Expressions, launch: LaunchValues) -> Value | None:
    amount = launch.number(s[1])
    return None if amount is None or not 0 <= amount < 64 else s[0] * (1 << amount)


def _shift_right(_: Compute, s: Expressions, launch: LaunchValues) -> Value | None:
    amount = launch.number(s[1])
    if amount is None or not 0 <= amount < 64:
        return None
    parts = _divided(s[0], 1 << amount, launch)
    return None if parts is None else parts[0]


def _divide(_: Compute, s: Expressions, launch: LaunchValues) -> Value | None:
    divisor = launch.number(s[1])
    parts = None if not divisor else _divided(s[0], divisor, launch)
    return None if parts is None else parts[0]


def _remainder(_: Compute, s: Expressions, launch: LaunchValues) -> Value | None:
    divisor = launch.number(s[1])
    parts = None if not divisor else _divided(s[0], divisor, launch)
    return None if parts is None else parts[1]


def _and(_: Compute, s: Expressions, launch: LaunchValues) -> Value | None:
    """Bitwise and with 2**n - 1, or with -(2**n)."""
    for value, mask in ((s[0], launch.number(s[1])), (s[1], launch.number(s[0]))):
        if mask is None:
            continue
        unit = mask + 1 if mask >= 0 else -mask
        parts = None if unit & (unit - 1) else _divided(value, unit, launch)
        if parts is not None:
            return parts[1] if mask >= 0 else parts[0] * unit
    return None


def _or(_: Compute, s: Expressions, launch: LaunchValues) -> Value | None:
    """A sum, where the operands have no bit in common."""
    for high, low in ((s[0], s[1]), (s[1], s[0])):
        bits = launch.ask(bits_of, low)
        if bits is None:
            continue
        parts = _divided(high, 1 << bits, launch)
        if parts is not None and parts[1].as_constant == 0:
            launch.rely_on_ranges(low)
            return high + low
    return None


def _divided(
    value: AddressExpression, divisor: int, launch: LaunchValues
) -> tuple[AddressExpression, AddressExpression] | None:
    """Quotient and remainder of a division by an integer, or None.

    They are known where the terms that the divisor does not divide stay below it and the value is
    not negative.
    """
    if divisor <= 0 or value.as_constant is not None:
        return None
    found = _split(value, divisor, launch)
    return _split(launch.numeric(value), divisor, launch) if found is None else found


def _split(
    value: AddressExpression, divisor: int, launch: LaunchValues
) -> tuple[AddressExpression, AddressExpression] | None:
    whole = {m: f // divisor for m, f in value.terms if f % divisor == 0 or not m}
    rest = AddressExpression.of(
        {m: f % divisor if not m else f for m, f in value.terms if f % divisor or not m}
    )
    if not launch.ask(lies_within, rest, 0, divisor):
        return None
    launch.rely_on_ranges(rest)
    return AddressExpression.of(whole), rest


def _extreme(i: Compute, s: Expressions, launch: LaunchValues) -> Value | None:
    """The least or the greatest of two, where the ranges of the indices say which one it is."""
    is_less = launch.truth(below(s[0], s[1]))
    if is_less is None:
        is_less = launch.truth(below(launch.numeric(s[0]), launch.numeric(s[1])))
    if is_less is None:
        return None
    launch.rely_on_ranges(s[0] - s[1])
    return s[0] if is_less == (i.opcode.algebra is Algebra.MINIMUM) else s[1]


ADDRESS_RULES: Mapping[Algebra, Rule | None] = {
    Algebra.SUM: lambda _, s, __: s[0] + s[1],
    Algebra.DIFFERENCE: lambda _, s, __: s[0] - s[1],
    Algebra.NEGATION: lambda _, s, __: -s[0],
    Algebra.MAGNITUDE: None,
    Algebra.PRODUCT: _multiply,
    Algebra.PRODUCT_SUM: _multiply_add,
    Algebra.SHORT_PRODUCT: _multiply,
    Algebra.SHORT_PRODUCT_SUM: _multiply_add,
    Algebra.WIDE_PRODUCT: _multiply_wide,
    Algebra.WIDE_PRODUCT_SUM: lambda i, s, launch: _multiply_wide(i, s, launch) + s[2],
    Algebra.QUOTIENT: _divide,
    Algebra.REMAINDER: _remainder,
    Algebra.MINIMUM: _extreme,
    Algebra.MAXIMUM: _extreme,
    Algebra.AND: _and,
    Algebra.OR: _or,
    Algebra.XOR: None,
    Algebra.NOT: lambda _, s, __: -s[0] - 1,
    Algebra.SHIFT_LEFT: _shift_left,
    Algebra.SHIFT_RIGHT: _shift_right,
    Algebra.COPY: lambda _, s, __: s[0],
    Algebra.CONVERSION: _convert,
    Algebra.WINDOW: lambda _, s, __: s[0],
    Algebra.COMPARISON: None,
    Algebra.CHOICE: None,
    Algebra.OTHER: None,
}
"""None: by the opcode's own meaning where all operands are numbers. Comparisons and choices have
their rules in `conditions`."""
