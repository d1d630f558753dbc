"""What other rooms ask about an opcode: columns of the table that have a usual value.

A column names a rule and computes nothing. A room that needs it has one table from each rule to
what follows from it there: alignment and halves in `isa.analysis`, shapes in
`engine.jit.analysis`, addresses in `address.extraction`, pipelines in `timing.kernel`, modifiers
in `ptx_frontend.ptx.legal`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

__all__ = ["Algebra", "Columns", "ComparisonRule", "Detour", "Expansion", "Order", "PtxForms"]


class Algebra(Enum):
    """What an opcode is on integers, as far as addresses are made of it; on predicates, too."""

    OTHER = "other"
    """Nothing that is followed: usual."""
    SUM = "sum"
    DIFFERENCE = "difference"
    NEGATION = "negation"
    MAGNITUDE = "magnitude"
    PRODUCT = "product"
    PRODUCT_SUM = "product sum"
    """The product of the first two operands plus the third."""
    SHORT_PRODUCT = "short product"
    """The product of the lower 24 bits."""
    SHORT_PRODUCT_SUM = "short product sum"
    WIDE_PRODUCT = "wide product"
    """The product in twice the bits of the operands."""
    WIDE_PRODUCT_SUM = "wide product sum"
    QUOTIENT = "quotient"
    REMAINDER = "remainder"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    AND = "and"
    OR = "or"
    XOR = "xor"
    NOT = "not"
    SHIFT_LEFT = "shift left"
    SHIFT_RIGHT = "shift right"
    COPY = "copy"
    CONVERSION = "conversion"
    WINDOW = "window"
    """An address, moved into the window of an address space or out of it."""
    COMPARISON = "comparison"
    """Predicates by the column `comparison`."""
    CHOICE = "choice"
    """One of the first two operands, chosen by the third."""


class Order(Enum):
    """How a comparison orders numbers that are all comparable."""

    EQUAL = "equal"
    UNEQUAL = "unequal"
    LESS = "less"
    LESS_OR_EQUAL = "less or equal"
    GREATER = "greater"
    GREATER_OR_EQUAL = "greater or equal"


@dataclass(frozen=True, slots=True)
class ComparisonRule:
    """Whether two operands stand in an order, which a third may be combined with.

    `order`: None for comparisons of floating-point numbers alone; `boolean`: `AND`, `OR` or `XOR`.
    """

    order: Order | None
    boolean: Algebra | None


class Expansion(Enum):
    """What native code makes of one instruction (docs/counting.md)."""

    ONE = "one"
    """An instruction: usual."""
    OPERAND = "operand"
    """Nothing, in debugging code neither: native instructions take such operands."""
    RENAMING = "renaming"
    """Nothing, unless it reads a special register: another name for the same registers."""
    ROUNDED = "rounded"
    """Several, which round to nearest where the modifiers ask for no less."""
    APPROXIMATED = "approximated"
    """Several, which approximate."""


class Detour(Enum):
    """What takes instructions to another pipeline than that of their unit."""

    NONE = "none"
    PRODUCT = "product"
    QUOTIENT = "quotient"
    BIT_SEARCH = "bit search"
    EXCHANGE = "exchange"
    """An exchange of values between lanes."""


@dataclass(frozen=True, slots=True, eq=False)
class PtxForms:
    """Which modifiers PTX has for the types of an opcode, where the table executes more.

    `modifiers`: types -> groups of modifiers of which one or none may stand; of those after `!` one
    must. `+` joins modifiers that stand together. Other types have none. `apart`: by types, the
    modifiers that do not stand together. `of_both_types`: types are those of the result and the
    source, `int` for all integers and `held` for integers of which the former holds all the latter.
    """

    modifiers: Mapping[str, str]
    apart: Mapping[str, str] = field(default_factory=dict)
    of_both_types: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What an entry says besides what it is; the usual values are those of most opcodes.

    `flops` are counted per lane and element when the instruction type is a floating-point one.
    """

    flops: int = 0
    algebra: Algebra = Algebra.OTHER
    comparison: ComparisonRule | None = None
    expansion: Expansion = Expansion.ONE
    detour: Detour = Detour.NONE
    forms: PtxForms | None = None
    """None: no modifiers of PTX but those that the entry honours, and rounding is none."""
