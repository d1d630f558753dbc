"""What the lowering of a built-in function sees of a call, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kernelcast.errors import SourceSpan, UnsupportedInstruction
from kernelcast.ptx_frontend.llvm.lowering.code import Code
from kernelcast.ptx_frontend.llvm.text.types import (
    IrType,
    PointerType,
    ScalarIrType,
    parts_of,
)
from kernelcast.simcore.isa.ir.kernel import Operand, Register, SymbolAddress

__all__ = ["CallSite", "Value", "register_bits"]


@dataclass(frozen=True, slots=True)
class Value:
    """A value of the IR: one part for a scalar or a pointer, one per element for a vector.

    A byte is a register of 16 bits whose upper half is zero; lowering keeps it so. A constant is
    an `Immediate`, or a `SymbolAddress` for the address of a variable within its own space.
    """

    type: IrType
    parts: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class CallSite:
    """One call of a function without a body.

    `code` writes the instructions; the first one counts as the call, all others are added. Where
    nothing is written the caller writes a move that counts. `result` None: the call has no value.
    """

    name: str
    """The function's name in the IR: `_Z13get_global_idj`, `llvm.fmuladd.f32`."""
    arguments: tuple[Value, ...]
    result: IrType | None
    code: Code
    constant_strings: dict[str, bytes]
    """Contents of the module's constant variables, by the name that a `SymbolAddress` has."""
    alignments: tuple[int, ...] = ()
    """What the call promises of pointer arguments, bytes; 1 for nothing."""
    required_threads: tuple[int, int, int] | None = None
    share: Callable[[str, int, int], SymbolAddress] | None = None
    """(name, size, alignment in bytes) -> a variable of the thread block, the same for a name."""

    @property
    def span(self) -> SourceSpan:
        """The call's place in the IR."""
        return self.code.span

    @property
    def origin(self) -> SourceSpan | None:
        """The call's place in the source that the IR was compiled from, where known."""
        return self.code.origin

    def unsupported(self, reason: str) -> UnsupportedInstruction:
        """The error to raise: `reason` is a sentence that names the function."""
        return UnsupportedInstruction(reason, self.span)

    def fresh(self, type_: IrType) -> tuple[Register, ...]:
        """New registers for a value of that type, a part each."""
        return tuple(self.code.register(register_bits(part)) for part in parts_of(type_))


def register_bits(part: ScalarIrType | PointerType) -> int:
    """The width of the register that holds a part of a value."""
    return part.register_bits if isinstance(part, ScalarIrType) else 64
