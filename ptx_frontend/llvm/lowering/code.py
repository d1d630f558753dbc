"""Writes the instructions that one instruction of LLVM IR becomes."""

from __future__ import annotations

from typing import Any

from kernelcast.errors import SourceSpan, UnsupportedInstruction
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import IMPLICIT_PC, BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.text.mnemonics import ComputeForm, compute_form
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Atomic,
    BarrierResult,
    BarrierSync,
    BarrierVote,
    Branch,
    Compute,
    Exit,
    Fence,
    Guard,
    HostCall,
    HostFunction,
    Immediate,
    Jump,
    Load,
    Operand,
    Register,
    SpecialRegister,
    Store,
    SymbolAddress,
    WarpOperation,
)
from kernelcast.simcore.isa.opcodes.warp import WarpOpcode
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["Code"]


class Code:
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
        """The place of what follows, which is added until `begin`."""
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

    def register(self, bits: int) -> Register:
        """A new register of 1, 16, 32 or 64 bits."""
        return self.builder.temporary(bits)

    def compute(self, mnemonic: str, destination: Register, *sources: Operand) -> None:
        """Appends a computing instruction with one result."""
        self.compute_all(mnemonic, (destination,), *sources)

    def compute_all(
        self, mnemonic: str, destinations: tuple[Register | None, ...], *sources: Operand
    ) -> None:
        """Appends a computing instruction with several results; None for one that is not wanted."""
        form = compute_form(mnemonic)
        if not isinstance(form, ComputeForm):
            raise UnsupportedInstruction(form.reason, self.span)
        self.builder.append(
            Compute(
                **self._shared(mnemonic),
                opcode=form.opcode,
                type=form.type,
                source_type=form.source_type,
                destinations=destinations,
                sources=sources,
                modifiers=form.modifiers,
            )
        )

    def result(self, mnemonic: str, bits: int, *sources: Operand) -> Register:
        """What `mnemonic` gives, in a new register."""
        destination = self.register(bits)
        self.compute(mnemonic, destination, *sources)
        return destination

    def move(self, destination: Register, source: Operand) -> None:
        """A copy; that of a special register has 32 bits."""
        kind = "pred" if destination.bits == 1 else f"b{destination.bits}"
        if isinstance(source, SpecialRegister):
            kind = "u32"
        self.compute(f"mov.{kind}", destination, source)

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

    def load(
        self,
        type_: ScalarType,
        address: Address,
        destinations: tuple[Register | None, ...],
        volatile: bool = False,
        cache: str = "",
        guard: Guard | None = None,
    ) -> None:
        """Neighbouring elements, at most 4; the address must be a multiple of their total size."""
        self.builder.append(
            Load(
                **self._shared(f"ld.{address.space.value}.{type_.ptx_name}"),
                type=type_,
                address=address,
                destinations=destinations,
                volatile=volatile,
                cache=cache,
                guard=guard,
            )
        )

    def store(
        self,
        type_: ScalarType,
        address: Address,
        sources: tuple[Operand, ...],
        volatile: bool = False,
    ) -> None:
        """Appends a store of one value or of several neighbours."""
        self.builder.append(
            Store(
                **self._shared(f"st.{address.space.value}.{type_.ptx_name}"),
                type=type_,
                address=address,
                sources=sources,
                volatile=volatile,
            )
        )

    def atomic(
        self,
        operation: str,
        type_: ScalarType,
        address: Address,
        destination: Register | None,
        *sources: Operand,
    ) -> None:
        """`operation` as PTX's atom has it: add, min, max, and, or, xor, exch, cas."""
        self.builder.append(
            Atomic(
                **self._shared(f"atom.{operation}.{type_.ptx_name}"),
                operation=operation,
                type=type_,
                address=address,
                destination=destination,
                sources=sources,
            )
        )

    def fence(self) -> None:
        """Appends a memory fence."""
        self.builder.append(Fence(**self._shared("fence")))

    def warp_operation(
        self,
        opcode: WarpOpcode,
        type_: ScalarType,
        destinations: tuple[Register | None, ...],
        *sources: Operand,
        members: Operand | None = None,
    ) -> None:
        """Appends an operation across the lanes of a warp."""
        self.builder.append(
            WarpOperation(
                **self._shared(opcode.name),
                opcode=opcode,
                type=type_,
                destinations=destinations,
                sources=sources,
                members=members,
            )
        )

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
                **self._shared(function.value),
                function=function,
                destination=destination,
                sources=sources,
                types=types,
            )
        )

    def barrier(self) -> None:
        """Waits for every thread of the thread block; what follows is a new basic block."""
        following = self.builder.new()
        sync = BarrierSync(**self._shared("bar.sync"), barrier=0, target=following)
        self.builder.end_and_continue(sync, following)

    def vote(self, predicate: Register, reduction: str) -> Register:
        """A barrier, and in a new register `and` or `or` of the predicates of all threads."""
        found = self.register(1)
        self.builder.append(
            BarrierVote(**self._shared("bar.red"), predicate=predicate, negated=False)
        )
        self.barrier()
        self.builder.append(
            BarrierResult(**self._shared("bar.red"), reduction=reduction, destination=found)
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
        self.builder.end(Jump(**self._shared("bra"), target=target))

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
            Branch(**self._shared("bra"), guard=guard, target=target, otherwise=otherwise)
        )

    def exit(self) -> None:
        """The thread is done."""
        self.builder.end(Exit(**self._shared("exit")))

    def trap(self, reason: str) -> None:
        """The thread fails."""
        self.builder.end(Exit(**self._shared("trap"), trap=True, reason=reason))

    def _shared(self, mnemonic: str) -> dict[str, Any]:
        """The fields that all instructions have."""
        place = {"span": self.span, "origin": self.origin}
        if not self._mnemonic:
            return {
                **place,
                "pc": self.builder.added_pc(),
                "mnemonic": mnemonic,
                "is_added": not self._writes_parts,
                "is_part": self._writes_parts,
            }
        counted, self._mnemonic = self._mnemonic, ""
        self._pc += 1
        return {**place, "pc": self._pc - 1, "mnemonic": counted}
