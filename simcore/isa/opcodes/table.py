"""The table of computing opcodes: one entry is the definition of an opcode for everybody.

An entry says what an opcode is called, what its operands are, which unit executes it, how many
floating-point operations it counts and what it computes. The reference engine calls `compute` on
NumPy arrays; compilers, mixes and models read the other columns, those of `columns` among them. The
entries live in the files of their families (`arithmetic`, `logic`, `conversion`, ...), imported by
`simcore.isa`.

Loads, stores, atomics, barriers and branches are no entries: they are a closed set that the
engines handle (`simcore.isa.ir.kernel`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from kernelcast.simcore.isa.opcodes.columns import Columns
from kernelcast.simcore.isa.types import ScalarType, Unit

__all__ = ["OPCODES", "Context", "Emission", "Meaning", "Opcode", "opcode", "unit_of"]


@dataclass(frozen=True, slots=True)
class Context:
    """What an opcode's meaning may depend on besides its operands."""

    type: ScalarType
    source_type: ScalarType
    modifiers: frozenset[str]


Meaning = Callable[..., Any]
"""(context, *operands) -> result or tuple of results.

Operands are NumPy arrays of the dtype that the signature gives, shape (lanes,) or () when the
value is the same in all lanes; results have the dtype of the signature and the broadcast shape.
"""

Emission = Callable[..., str | tuple[str, ...]]
"""(code: LaneCode, context, *operands) -> value or tuple of values, as LLVM IR.

The same as the entry's `Meaning`, bit for bit except for the stated errors of approximations.
Operands and results are values of the LLVM types of the signature, with `code.lanes` lanes. No
operand may lead to undefined behaviour or poison: lanes that do not take part hold anything.
"""


@dataclass(frozen=True, slots=True)
class Opcode(Columns):
    """One entry of the table.

    `signature` is "results=operands", a letter each: `t` the instruction type, `s` the source type
    (of `cvt`, `set`, ...), `w` the doubled type, `p` a predicate, `u` u32, `b` the bits of t, `h`
    and `q` bits of half and a quarter of its width, `c` the carry flag, which the source does not
    write. `types` are the instruction types that the entry takes. `modifiers` lists the
    value-changing modifiers that it honours.
    """

    name: str
    signature: str
    types: frozenset[ScalarType]
    unit: Callable[[Context], Unit]
    compute: Meaning
    modifiers: frozenset[str]
    emit: Emission
    sources: frozenset[ScalarType]
    """The source types that the entry takes, where the signature has one."""

    def flops_of(self, context: Context) -> int:
        """Floating-point operations per lane: `add` counts one as f32 and none as s32."""
        if not context.type.holds_floats:
            return 0
        return self.flops * (2 if context.type.is_packed else 1)

    def operand_types(self, context: Context) -> tuple[ScalarType, ...]:
        """The types of the operands that the signature gives an instruction of these types."""
        return tuple(_letter(x, context) for x in self.signature.split("=")[1])

    def result_types(self, context: Context) -> tuple[ScalarType, ...]:
        """The types of the results that the signature gives an instruction of these types."""
        return tuple(_letter(x, context) for x in self.signature.split("=")[0])


def _letter(letter: str, context: Context) -> ScalarType:
    match letter:
        case "t":
            return context.type
        case "s":
            return context.source_type
        case "w":
            return context.type.doubled
        case "p" | "c":
            return ScalarType.PRED
        case "u":
            return ScalarType.U32
        case "b":
            return ScalarType.named(f"b{context.type.bits}")
        case "h":
            return ScalarType.named(f"b{context.type.bits // 2}")
        case "q":
            return ScalarType.named(f"b{context.type.bits // 4}")
    raise ValueError(f"no operand letter {letter!r}")


_TABLE: dict[str, Opcode] = {}
OPCODES: Mapping[str, Opcode] = MappingProxyType(_TABLE)
"""Every opcode by name, for instance `add`, `mul.wide`, `setp.lt`."""


def unit_of(context: Context) -> Unit:
    """The unit of an arithmetic instruction of that type."""
    if context.type.holds_floats:
        return {16: Unit.FP16, 32: Unit.FP32, 64: Unit.FP64}[context.type.element.bits]
    return Unit.INTEGER


_USUAL = Columns()


def opcode(
    name: str,
    signature: str,
    types: Iterable[ScalarType],
    *,
    unit: Unit | Callable[[Context], Unit] = unit_of,
    modifiers: Iterable[str] = (),
    sources: Iterable[ScalarType] = (),
    columns: Columns = _USUAL,
    llvm: Emission,
) -> Callable[[Meaning], Meaning]:
    """Registers an entry; a second one of the same name is an error at import."""

    def register(compute: Meaning) -> Meaning:
        if name in _TABLE:
            raise ValueError(f"opcode {name} is registered twice")
        chosen = unit if callable(unit) else (lambda _context, fixed=unit: fixed)
        _TABLE[name] = Opcode(
            name,
            signature,
            frozenset(types),
            chosen,
            compute,
            frozenset(modifiers),
            llvm,
            frozenset(sources),
            **{column.name: getattr(columns, column.name) for column in fields(Columns)},
        )
        return compute

    return register
