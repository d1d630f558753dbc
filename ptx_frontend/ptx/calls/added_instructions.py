"""Instructions that the source does not have and native code does: around calls that stay calls."""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.errors import SourceSpan
from kernelcast.ptx_frontend.instruction_writer import Counted, InstructionWriter
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import IMPLICIT_PC, BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Branch,
    Exit,
    Guard,
    Immediate,
    Jump,
    Operand,
    Register,
)
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["AddedCode"]


@dataclass(frozen=True, slots=True)
class AddedCode(InstructionWriter):
    """Writes into the builder, as if at one place of the source."""

    builder: BasicBlockBuilder
    span: SourceSpan
    origin: SourceSpan | None

    def counted(self, mnemonic: str, *, is_main: bool = False) -> Counted:
        """What all instructions have, for the next one, which is added."""
        return Counted(
            pc=self.builder.added_pc(),
            mnemonic=mnemonic,
            span=self.span,
            origin=self.origin,
            is_added=True,
            is_part=False,
        )

    def move(self, destination: Register, source: Operand) -> None:
        """Appends a move between registers of that width."""
        self.assign(_typed("mov", destination), destination, source)

    def pack(self, destination: Register, sources: tuple[Operand, ...]) -> None:
        """The sources side by side, the first in the lowest bits."""
        self.assign_all(
            f"mov.b{destination.bits}", (destination,), *sources, shape=f"pack{len(sources)}"
        )

    def push(self, register: Register, stack: Register, offset: int) -> None:
        """Stores a register at a distance from the stack's pointer; a predicate as a number."""
        if register.bits == 1:
            number = self.builder.temporary(32)
            self.assign("selp.b32", number, Immediate(1), Immediate(0), register)
            register = number
        self.store(_bits(register), Address(AddressSpace.LOCAL, stack, offset), (register,))

    def pop(self, register: Register, stack: Register, offset: int) -> None:
        """Loads what `push` stored."""
        loaded = self.builder.temporary(32) if register.bits == 1 else register
        self.load(_bits(loaded), Address(AddressSpace.LOCAL, stack, offset), (loaded,))
        if register.bits == 1:
            self.assign("setp.ne.u32", register, loaded, Immediate(0))

    def branch_if_equal(
        self, value: Register, number: int, target: int, site: Site | None = None
    ) -> None:
        """Branches to `target` where the value is `number`; what follows is the other way.

        With `site`, the branch counts as that instruction of the source.
        """
        is_equal, otherwise = self.builder.temporary(1), self.builder.new()
        self.assign(f"setp.eq.u{value.bits}", is_equal, value, Immediate(number))
        place = self.counted("bra") if site is None else site.place()
        guard = Guard(is_equal, negated=False)
        branch = Branch(**place, guard=guard, target=target, otherwise=otherwise)
        self.builder.end_and_continue(branch, otherwise)

    def jump(self, target: int) -> None:
        """Goes on at `target` without a count: the jump is the call or the return itself."""
        self.builder.end(Jump(pc=IMPLICIT_PC, mnemonic="", span=self.span, target=target))

    def trap(self, reason: str) -> None:
        """The threads that come here fail."""
        self.builder.end(Exit(**self.counted("trap"), trap=True, reason=reason))


def _bits(register: Register) -> ScalarType:
    return ScalarType.named(f"b{register.bits}")


def _typed(opcode: str, register: Register) -> str:
    return f"{opcode}.pred" if register.bits == 1 else f"{opcode}.b{register.bits}"
