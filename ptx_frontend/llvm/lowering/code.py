"""Writes the instructions that one instruction of LLVM IR becomes."""

from __future__ import annotations

from kernelcast.errors import SourceSpan
from kernelcast.ptx_frontend.instruction_writer import Counted, InstructionWriter
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import IMPLICIT_PC, BasicBlockBuilder
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    BarrierResult,
    BarrierSync,
    BarrierVote,
    Branch,
    Exit,
    Guard,
    HostCall,
    HostFunction,
    Immediate,
    Jump,
    Operand,
    Register,
    SpecialRegister,
    SymbolAddress,
)
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["Code"]


class Code(InstructionWriter):
    """The writer of a kernel's instructions.

    Between `begin` and `finish` the first instruction that is written counts as that of the source,
    under its name; all others are added. `compute` and its kin take our mnemonics, for instance
    `add.f32`; see `mnemonics.compute_form`.
    """

    def __init__(self, builder: BasicBlockBuilder) -> None:
        self.builder = builder
        self.span = builder.start
        self.origin: SourceSpan | None = None
        self._pc = 0
        self._mnemonic = ""
        """Of the instruction of the source that is not written yet; empty when it is."""
        self._writes_parts = False

    def locate(self, span: SourceSpan, origin: SourceSpan | None) -> None:
        """Sets the source place of the instructions that are added from here until `begin`."""
        self._mnemonic, self.span, self.origin = "", span, origin
        self._writes_parts = False

    def begin(self, mnemonic: str) -> None:
        """Starts an instruction of the source."""
        self._mnemonic = mnemonic

    def begin_parts(self) -> None:
        """What follows is part of the instruction that was just written, until `locate`."""
        self._writes_parts = True

    def finish(self) -> None:
        """Ends it; one that wrote nothing becomes a move, which native code does not have."""
        if self._mnemonic:
            self.move(self.register(32), Immediate(0))
            self._mnemonic = ""

    def move(self, destination: Register, source: Operand) -> None:
        """A copy."""
        kind = "pred" if destination.bits == 1 else f"b{destination.bits}"
        if isinstance(source, SpecialRegister):
            kind = f"u{destination.bits}"
        self.assign(f"mov.{kind}", destination, source)

    def in_register(self, operand: Operand, bits: int) -> Register:
        """The operand itself, or a copy of a constant."""
        if isinstance(operand, Register):
            return operand
        copy = self.register(bits)
        self.move(copy, operand)
        return copy

    def address(self, space: AddressSpace, pointer: Operand, offset: int = 0) -> Address:
        """[pointer + offset] of `space`, bytes."""
        if isinstance(pointer, Register):
            return Address(space, pointer, offset)
        if isinstance(pointer, SymbolAddress) and space is not AddressSpace.GENERIC:
            return Address(space, pointer, offset)
        if isinstance(pointer, Immediate) and space is AddressSpace.PARAM:
            return Address(space, None, pointer.bits + offset)
        return Address(space, self.in_register(pointer, 64), offset)

    def host_call(
        self,
        function: HostFunction,
        destination: Register | None,
        sources: tuple[Operand, ...],
        types: tuple[ScalarType, ...],
    ) -> None:
        """Appends a call of the host's runtime library."""
        self.builder.append(
            HostCall(
                **self.counted(function.value),
                function=function,
                destination=destination,
                sources=sources,
                types=types,
            )
        )

    def barrier(self) -> None:
        """Waits for every thread of the thread block; what follows is a new basic block."""
        following = self.builder.new()
        sync = BarrierSync(**self.counted("bar.sync"), barrier=0, target=following)
        self.builder.end_and_continue(sync, following)

    def vote(self, predicate: Register, reduction: str) -> Register:
        """A barrier, and in a new register `and` or `or` of the predicates of all threads."""
        found = self.register(1)
        self.builder.append(
            BarrierVote(**self.counted("bar.red"), predicate=predicate, negated=False)
        )
        self.barrier()
        self.builder.append(
            BarrierResult(**self.counted("bar.red"), reduction=reduction, destination=found)
        )
        return found

    def new_block(self, label: str = "") -> int:
        """A basic block that `place` puts somewhere later."""
        return self.builder.new(label)

    def place(self, block: int) -> None:
        """Begins the basic block with that number."""
        self.builder.place(block)

    def jump(self, target: int) -> None:
        """Ends the basic block with a jump."""
        self.builder.end(Jump(**self.counted("bra"), target=target))

    def go(self, target: int) -> None:
        """A jump that neither the source nor native code has: a way of the lowering alone."""
        self.builder.end(
            Jump(
                pc=IMPLICIT_PC,
                mnemonic="",
                span=self.span,
                is_part=self._writes_parts,
                target=target,
            )
        )

    def branch(self, predicate: Register, target: int, otherwise: int) -> None:
        """Ends the basic block: to `target` where the predicate is true, else to `otherwise`."""
        guard = Guard(predicate, negated=False)
        self.builder.end(
            Branch(**self.counted("bra"), guard=guard, target=target, otherwise=otherwise)
        )

    def exit(self) -> None:
        """The thread is done."""
        self.builder.end(Exit(**self.counted("exit")))

    def trap(self, reason: str) -> None:
        """The thread fails."""
        self.builder.end(Exit(**self.counted("trap"), trap=True, reason=reason))

    def counted(self, mnemonic: str, *, is_main: bool = False) -> Counted:
        """The first after `begin` is that of the source, without a word."""
        counted, self._mnemonic = self._mnemonic, ""
        if counted:
            self._pc += 1
        return Counted(
            pc=self._pc - 1 if counted else self.builder.added_pc(),
            mnemonic=counted or mnemonic,
            span=self.span,
            origin=self.origin,
            is_added=not counted and not self._writes_parts,
            is_part=not counted and self._writes_parts,
        )
