"""Instructions that the source does not have and native code does: around calls that stay calls."""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.errors import SourceSpan
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import IMPLICIT_PC, BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.text.mnemonics import ComputeForm, compute_form
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Branch,
    Compute,
    Exit,
    Guard,
    Immediate,
    Jump,
    Load,
    Operand,
    Register,
    Store,
)
from kernelcast.simcore.isa.opcodes.table import OPCODES
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["AddedCode"]


@dataclass(frozen=True, slots=True)
class AddedCode:
    """Writes into the builder, as if at one place of the source."""

    builder: BasicBlockBuilder
    span: SourceSpan
    origin: SourceSpan | None

    def computed(self, mnemonic: str, destination: Register, *sources: Operand) -> Compute:
        """An instruction, not written yet; `mnemonic` as PTX spells it."""
        form = compute_form(mnemonic)
        assert isinstance(form, ComputeForm)
        return Compute(
            pc=self.builder.added_pc(),
            mnemonic=mnemonic,
            span=self.span,
            origin=self.origin,
            is_added=True,
            opcode=form.opcode,
            type=form.type,
            source_type=form.source_type,
            destinations=(destination,),
            sources=sources,
            modifiers=form.modifiers,
        )

    def compute(self, mnemonic: str, destination: Register, *sources: Operand) -> None:
        """Appends a computation that native code adds."""
        self.builder.append(self.computed(mnemonic, destination, *sources))

    def move(self, destination: Register, source: Operand) -> None:
        """Appends a move between registers of that width."""
        self.compute(_typed("mov", destination), destination, source)

    def pack(self, destination: Register, sources: tuple[Operand, ...]) -> None:
        """The sources side by side, the first in the lowest bits."""
        whole = ScalarType.named(f"b{destination.bits}")
        self.builder.append(
            Compute(
                pc=self.builder.added_pc(),
                mnemonic=f"mov.b{destination.bits}",
                span=self.span,
                origin=self.origin,
                is_added=True,
                opcode=OPCODES[f"mov.pack{len(sources)}"],
                type=whole,
                source_type=whole,
                destinations=(destination,),
                sources=sources,
            )
        )

    def push(self, register: Register, stack: Register, offset: int) -> None:
        """Stores a register at a distance from the stack's pointer; a predicate as a number."""
        if register.bits == 1:
            number = self.builder.temporary(32)
            self.compute("selp.b32", number, Immediate(1), Immediate(0), register)
            register = number
        self.builder.append(
            Store(
                pc=self.builder.added_pc(),
                mnemonic=f"st.local.b{register.bits}",
                span=self.span,
                origin=self.origin,
                is_added=True,
                type=ScalarType.named(f"b{register.bits}"),
                address=Address(AddressSpace.LOCAL, stack, offset),
                sources=(register,),
            )
        )

    def pop(self, register: Register, stack: Register, offset: int) -> None:
        """Loads what `push` stored."""
        loaded = self.builder.temporary(32) if register.bits == 1 else register
        self.builder.append(
            Load(
                pc=self.builder.added_pc(),
                mnemonic=f"ld.local.b{loaded.bits}",
                span=self.span,
                origin=self.origin,
                is_added=True,
                type=ScalarType.named(f"b{loaded.bits}"),
                address=Address(AddressSpace.LOCAL, stack, offset),
                destinations=(loaded,),
            )
        )
        if register.bits == 1:
            self.compute("setp.ne.u32", register, loaded, Immediate(0))

    def branch_if_equal(
        self, value: Register, number: int, target: int, site: Site | None = None
    ) -> None:
        """Branches to `target` where the value is `number`; what follows is the other way.

        With `site`, the branch counts as that instruction of the source.
        """
        is_equal, otherwise = self.builder.temporary(1), self.builder.new()
        self.compute(f"setp.eq.u{value.bits}", is_equal, value, Immediate(number))
        self.builder.end_and_continue(
            Branch(
                pc=self.builder.added_pc() if site is None else site.pc,
                mnemonic="bra" if site is None else site.mnemonic,
                span=self.span,
                origin=self.origin,
                is_added=site is None,
                guard=Guard(is_equal, negated=False),
                target=target,
                otherwise=otherwise,
            ),
            otherwise,
        )

    def jump(self, target: int) -> None:
        """Goes on at `target`: the call or the return itself, so that nothing more is counted."""
        self.builder.end(Jump(pc=IMPLICIT_PC, mnemonic="", span=self.span, target=target))

    def trap(self, reason: str) -> None:
        """The threads that come here fail."""
        self.builder.end(
            Exit(
                pc=self.builder.added_pc(),
                mnemonic="trap",
                span=self.span,
                origin=self.origin,
                is_added=True,
                trap=True,
                reason=reason,
            )
        )


def _typed(opcode: str, register: Register) -> str:
    return f"{opcode}.pred" if register.bits == 1 else f"{opcode}.b{register.bits}"
