"""What hardware does within one instruction, written as several: they count nowhere."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kernelcast.ptx_frontend.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.mnemonics import ComputeForm, compute_form
from kernelcast.ptx_frontend.operands import Site
from kernelcast.simcore.isa.kernel import (
    Address,
    Compute,
    Guard,
    Load,
    Operand,
    Register,
    Store,
    WarpOperation,
)
from kernelcast.simcore.isa.opcodes import OPCODES
from kernelcast.simcore.isa.types import ScalarType
from kernelcast.simcore.isa.warp_opcodes import WarpOpcode

__all__ = ["PartCode"]


@dataclass(slots=True)
class PartCode:
    """Writes the parts of one instruction. The first access is the one that counts."""

    site: Site
    builder: BasicBlockBuilder
    has_access: bool = False

    def compute(self, mnemonic: str, bits: int, *sources: Operand) -> Register:
        """What an instruction gives, in a new register of so many bits."""
        form = compute_form(mnemonic)
        assert isinstance(form, ComputeForm)
        return self._computed(form, mnemonic, (self.builder.temporary(bits),), sources)

    def move(self, destination: Register, source: Operand) -> None:
        form = compute_form(f"mov.b{destination.bits}")
        assert isinstance(form, ComputeForm)
        self._computed(form, f"mov.b{destination.bits}", (destination,), (source,))

    def pack(self, destination: Register, low: Operand, high: Operand) -> None:
        """Two halves side by side."""
        self._packing("mov.pack2", (destination,), (low, high))

    def unpack(self, source: Operand) -> tuple[Register, Register]:
        """The lower and the upper half of 32 bits."""
        halves = self.builder.temporary(16), self.builder.temporary(16)
        self._packing("mov.unpack2", halves, (source,))
        return halves

    def _packing(
        self, name: str, destinations: tuple[Register, ...], sources: tuple[Operand, ...]
    ) -> None:
        form = ComputeForm(OPCODES[name], ScalarType.B32, ScalarType.B32, frozenset(), (), ())
        self._computed(form, "mov.b32", destinations, sources)

    def _computed(
        self,
        form: ComputeForm,
        mnemonic: str,
        destinations: tuple[Register, ...],
        sources: tuple[Operand, ...],
    ) -> Register:
        self.builder.append(
            Compute(
                pc=self.builder.added_pc(),
                mnemonic=mnemonic,
                span=self.site.span,
                origin=self.site.origin,
                is_part=True,
                opcode=form.opcode,
                type=form.type,
                source_type=form.source_type,
                destinations=destinations,
                sources=sources,
                modifiers=form.modifiers,
            )
        )
        return destinations[0]

    def load(
        self,
        type_: ScalarType,
        address: Address,
        destinations: tuple[Register | None, ...],
        guard: Guard | None,
    ) -> None:
        site = self.site
        access = Load(
            pc=site.pc,
            mnemonic=site.mnemonic,
            span=site.span,
            origin=site.origin,
            guard=guard,
            type=type_,
            address=address,
            destinations=destinations,
        )
        self.builder.append(self._counted_once(access))

    def store(
        self,
        type_: ScalarType,
        address: Address,
        sources: tuple[Operand, ...],
        guard: Guard | None,
    ) -> None:
        site = self.site
        access = Store(
            pc=site.pc,
            mnemonic=site.mnemonic,
            span=site.span,
            origin=site.origin,
            guard=guard,
            type=type_,
            address=address,
            sources=sources,
        )
        self.builder.append(self._counted_once(access))

    def _counted_once(self, access: Load | Store) -> Load | Store:
        if not self.has_access:
            self.has_access = True
            return access
        return replace(access, pc=self.builder.added_pc(), is_part=True)

    def exchange(
        self,
        opcode: WarpOpcode,
        destinations: tuple[Register | None, ...],
        sources: tuple[Operand, ...],
        *,
        is_part: bool = True,
    ) -> None:
        site = self.site
        self.builder.append(
            WarpOperation(
                pc=self.builder.added_pc() if is_part else site.pc,
                mnemonic=site.mnemonic,
                span=site.span,
                origin=site.origin,
                guard=site.guard,
                is_part=is_part,
                opcode=opcode,
                type=ScalarType.B32,
                destinations=destinations,
                sources=sources,
                members=None,
            )
        )

    def in_register(self, address: Address) -> tuple[Register, int]:
        """The base of an address in a register, and the distance from it, bytes."""
        if isinstance(address.base, Register):
            return address.base, address.offset
        assert address.base is not None
        base = self.builder.temporary(64)
        self.move(base, address.base)
        return base, address.offset

    def only(self, condition: Register) -> Guard:
        """A guard for the lanes that the instruction's own lets through and the condition, too."""
        own = self.site.guard
        if own is None:
            return Guard(condition, negated=False)
        held: Operand = own.register
        if own.negated:
            held = self.compute("not.pred", 1, held)
        return Guard(self.compute("and.pred", 1, held, condition), negated=False)
