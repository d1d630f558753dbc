"""What comparisons, predicates and choices make of address expressions."""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.simcore.address.expression import AddressExpression, constant
from kernelcast.simcore.address.extraction.launch import LaunchValues, place
from kernelcast.simcore.address.extraction.values import (
    Comparison,
    Condition,
    Opaque,
    Relation,
    Value,
    all_of,
    any_of,
    below,
    negated,
    truth,
)
from kernelcast.simcore.isa.ir.kernel import Compute
from kernelcast.simcore.isa.opcodes.columns import Algebra, Order
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["compared", "logical", "refused"]


def refused(instruction: Compute) -> Opaque:
    """The reason why its result has no form here."""
    return Opaque(f"{instruction.mnemonic} at {place(instruction)}, which is not affine")


def _bits_of(value: AddressExpression, of: ScalarType) -> AddressExpression:
    """An unsigned operand: a negative number stands for a large one."""
    number = value.as_constant
    if number is None or of.is_signed or number >= 0:
        return value
    return constant(number + (1 << of.bits))


def compared(instruction: Compute, sources: Sequence[Value], launch: LaunchValues) -> Condition:
    """The first destination of `setp`."""
    rule = instruction.opcode.comparison
    assert rule is not None
    opaque = next((value for value in sources if isinstance(value, Opaque)), None)
    if opaque is not None and rule.boolean is None:
        return opaque.plain()
    a, b, *others = sources
    if not isinstance(a, AddressExpression) or not isinstance(b, AddressExpression):
        return opaque or refused(instruction)
    if not instruction.type.is_integer or rule.order is None:
        return refused(instruction)
    holds = _relation(rule.order, a, b, instruction.type, launch)
    if rule.boolean is not None and not isinstance(others[0], AddressExpression):
        return _combined(rule.boolean, holds, others[0])
    return holds


_OPPOSITE = {Order.GREATER: Order.LESS_OR_EQUAL, Order.GREATER_OR_EQUAL: Order.LESS}


def _relation(
    order: Order, a: AddressExpression, b: AddressExpression, of: ScalarType, launch: LaunchValues
) -> Condition:
    if order in (Order.EQUAL, Order.UNEQUAL):
        kind = Relation.EQUAL if order is Order.EQUAL else Relation.UNEQUAL
        return _decided(Comparison(a - b, kind), launch)
    if order in _OPPOSITE:  # a > b is not a <= b
        return negated(_relation(_OPPOSITE[order], a, b, of, launch))
    is_unsigned = not of.is_signed
    if is_unsigned:
        a, b = _bits_of(a, of), _bits_of(b, of)
    holds: Condition = below(a, b) if order is Order.LESS else below(a, b + 1)
    if is_unsigned:  # 0 <= a too, where a may be negative as a signed number
        negative = below(a, constant(0))
        if launch.truth(negative) is not False:
            holds = all_of((_decided(negated(negative), launch), holds))
    return _decided(holds, launch)


def _decided(condition: Condition, launch: LaunchValues) -> Condition:
    """A truth value where all variables are known, the same in all threads."""
    if isinstance(condition, Comparison):
        number = launch.number(condition.expression)
        if number is not None:
            return bool(truth(Comparison(constant(number), condition.relation), {}))
        is_of_threads = any(
            name.startswith(("tid.", "ctaid.")) for name in condition.expression.variables
        )
        if not is_of_threads:
            found = launch.truth(condition)
            return condition if found is None else found
    return condition


def _combined(boolean: Algebra, a: Condition, b: Condition) -> Condition:
    if boolean is Algebra.AND:
        return all_of((a, b))
    if boolean is Algebra.OR:
        return any_of((a, b))
    return any_of((all_of((a, negated(b))), all_of((negated(a), b))))


def logical(instruction: Compute, sources: Sequence[Value], launch: LaunchValues) -> Value:
    """The result of logic on predicates, or of the choice of a value by one."""
    conditions = [value for value in sources if not isinstance(value, AddressExpression)]
    match instruction.opcode.algebra:
        case Algebra.CHOICE:
            return _chosen(instruction, sources, launch)
        case Algebra.AND | Algebra.OR | Algebra.XOR as boolean if len(conditions) == 2:
            return _combined(boolean, *conditions)
        case Algebra.NOT if conditions:
            return negated(conditions[0])
        case Algebra.COPY if conditions:
            return conditions[0]
    return refused(instruction)


def _chosen(instruction: Compute, sources: Sequence[Value], launch: LaunchValues) -> Value:
    yes, no, condition = sources
    if yes == no:
        return yes
    if isinstance(condition, AddressExpression):
        return refused(instruction)
    if not isinstance(yes, AddressExpression) and not isinstance(no, AddressExpression):
        return any_of((all_of((condition, yes)), all_of((negated(condition), no))))
    holds = launch.truth(condition)
    if holds is not None:
        return yes if holds else no
    if isinstance(condition, Opaque):
        return condition.plain()
    return Opaque(
        f"{instruction.mnemonic} at {place(instruction)}, which chooses between two values"
    )
