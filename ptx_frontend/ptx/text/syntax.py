"""The syntax tree of a PTX file, as written: nothing is resolved and nothing is checked.

`at` is an offset into the text. Operands carry none, so that equal ones are shared: an instruction
knows where each of its operands begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

__all__ = [
    "AddressOperand",
    "Alias",
    "BracketOperand",
    "FileDirective",
    "Float",
    "Function",
    "GroupOperand",
    "Initial",
    "InstructionStatement",
    "Integer",
    "LabelStatement",
    "LabelledList",
    "LocationStatement",
    "ModuleSyntax",
    "NameOperand",
    "NegatedOperand",
    "Number",
    "Operand",
    "OppositeOperand",
    "PairOperand",
    "Performance",
    "PragmaStatement",
    "Prototype",
    "RegisterDeclaration",
    "SamplerField",
    "Scope",
    "Statement",
    "SumOperand",
    "SymbolReference",
    "VariableDeclaration",
    "VectorOperand",
]


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer constant."""

    value: int


@dataclass(frozen=True, slots=True)
class Float:
    """A floating constant; `bits` is its width as written: 32 (`0f`), 64 (`0d`), 0 (decimal)."""

    value: float
    bits: int
    raw: int = 0


Number: TypeAlias = Integer | Float


@dataclass(frozen=True, slots=True)
class NameOperand:
    """A register, special register, variable, label or function."""

    name: str


@dataclass(frozen=True, slots=True)
class NegatedOperand:
    """`!%p`."""

    name: str


@dataclass(frozen=True, slots=True)
class OppositeOperand:
    """`-%r`, which video instructions take."""

    name: str


@dataclass(frozen=True, slots=True)
class SumOperand:
    """`variable + constant`."""

    name: str
    offset: int


@dataclass(frozen=True, slots=True)
class AddressOperand:
    """`[base + offset]`; `base` is a register or variable, or None for an absolute address."""

    base: str | None
    offset: int


@dataclass(frozen=True, slots=True)
class VectorOperand:
    """`{a, b}`, with a second destination `{a, b}|predicate`."""

    items: tuple[Operand, ...]
    predicate: str = ""


@dataclass(frozen=True, slots=True)
class PairOperand:
    """`%p|%q`: two destinations."""

    first: str
    second: str


@dataclass(frozen=True, slots=True)
class GroupOperand:
    """`(a, b)`: what a call passes or returns."""

    items: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class BracketOperand:
    """`[a, {b, c}]`: what is accessed, and the coordinates."""

    items: tuple[Operand, ...]


Operand: TypeAlias = (
    Integer
    | Float
    | NameOperand
    | NegatedOperand
    | OppositeOperand
    | SumOperand
    | AddressOperand
    | VectorOperand
    | PairOperand
    | GroupOperand
    | BracketOperand
)


class InstructionStatement(NamedTuple):
    """`@guard mnemonic operands;` where `positions` has the offset of every operand.

    A tuple because files hold millions of them: it is made in a third of the time.
    """

    at: int
    mnemonic: str
    operands: tuple[Operand, ...]
    positions: tuple[int, ...]
    guard: str | None = None
    guard_negated: bool = False


@dataclass(frozen=True, slots=True)
class LabelStatement:
    """A label; `at` is its offset in the text."""

    at: int
    name: str


@dataclass(frozen=True, slots=True)
class PragmaStatement:
    """`.pragma "nounroll";`: what the assembler is asked for."""

    at: int
    text: str


@dataclass(frozen=True, slots=True)
class LocationStatement:
    """`.loc file line column`: where the following instructions come from."""

    at: int
    file: int
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class RegisterDeclaration:
    """`.reg .type name, name<count>;`; a name without a count has count None."""

    at: int
    type: str
    names: tuple[tuple[str, int | None], ...]
    vector: str = ""


@dataclass(frozen=True, slots=True)
class SymbolReference:
    """`variable + addend` in an initialiser; `generic` when written `generic(variable)`.

    `mask` is that of `0xFF00(variable)`: the byte of the address that this element holds.
    """

    at: int
    name: str
    addend: int
    generic: bool
    mask: int | None = None


@dataclass(frozen=True, slots=True)
class SamplerField:
    """`name = value` in the initialiser of a sampler."""

    at: int
    name: str
    value: str


Initial: TypeAlias = Number | SymbolReference | SamplerField


@dataclass(frozen=True, slots=True)
class VariableDeclaration:
    """`.space .align n .type name[count] = {...};`; count None is a scalar, 0 an open array.

    `pointee` of a parameter is the space that `.ptr` names, empty for any; None without `.ptr`.
    """

    at: int
    space: str
    type: str
    name: str
    count: int | None
    align: int | None
    initial: tuple[Initial, ...] = ()
    linkage: str = ""
    pointee: str | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """`{ ... }` inside of a body: its registers, variables and labels are its own."""

    at: int
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Prototype:
    """`name: .callprototype (results) _ (parameters);`: what an indirect call looks like."""

    at: int
    name: str
    results: tuple[VariableDeclaration, ...]
    parameters: tuple[VariableDeclaration, ...]


@dataclass(frozen=True, slots=True)
class LabelledList:
    """`name: .branchtargets a, b;` or `name: .calltargets f, g;` (then `is_calls`)."""

    at: int
    name: str
    targets: tuple[str, ...]
    is_calls: bool


Statement: TypeAlias = (
    InstructionStatement
    | LabelStatement
    | LabelledList
    | LocationStatement
    | PragmaStatement
    | Prototype
    | RegisterDeclaration
    | VariableDeclaration
    | Scope
)


@dataclass(frozen=True, slots=True)
class Performance:
    """The performance-tuning directives of an entry that change how it may be launched."""

    max_threads: tuple[int, int, int] | None = None
    required_threads: tuple[int, int, int] | None = None
    max_registers: int | None = None
    required_cluster: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """`.entry` or `.func`; `body` is None for a declaration. Only a `.func` has `results`."""

    at: int
    name: str
    is_entry: bool
    parameters: tuple[VariableDeclaration, ...]
    performance: Performance
    body: tuple[Statement, ...] | None
    results: tuple[VariableDeclaration, ...] = ()
    linkage: str = ""


@dataclass(frozen=True, slots=True)
class Alias:
    """`.alias name, function;`: another name of a function."""

    at: int
    name: str
    function: str


@dataclass(frozen=True, slots=True)
class FileDirective:
    """A `.file` directive: a number that `.loc` uses, and its path."""

    index: int
    path: str


@dataclass(frozen=True, slots=True)
class ModuleSyntax:
    """The syntax tree of a whole file."""

    version: str
    target: str
    address_size: int
    variables: tuple[VariableDeclaration, ...] = ()
    functions: tuple[Function, ...] = ()
    files: tuple[FileDirective, ...] = ()
    aliases: tuple[Alias, ...] = ()
    is_for_debugging: bool = False
