"""What one instruction of the source becomes when hardware does several things for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from kernelcast.errors import SourceSpan
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import IMPLICIT_PC, BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.text.mnemonics import ComputeForm, compute_form
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Atomic,
    Branch,
    Compute,
    Fence,
    Guard,
    Immediate,
    Load,
    Operand,
    Register,
    Store,
    WarpOperation,
)
from kernelcast.simcore.isa.opcodes.table import OPCODES
from kernelcast.simcore.isa.opcodes.warp import WarpOpcode
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["InstructionParts", "shared_address", "shifted"]


class _Shared(TypedDict):
    """Fields of every instruction."""

    pc: int
    mnemonic: str
    span: SourceSpan
    origin: SourceSpan | None
    guard: Guard | None
    is_part: bool


@dataclass(frozen=True, slots=True)
class InstructionParts:
    """Writes the parts of one instruction into the builder.

    With `is_main` an access is the instruction itself, which counts; all else is part of it.
    `guard` is that of the source, unless something went round before.
    """

    site: Site
    builder: BasicBlockBuilder
    guard: Guard | None

    @classmethod
    def guarded(cls, site: Site, builder: BasicBlockBuilder) -> InstructionParts:
        """The parts of an instruction under its own guard."""
        return cls(site, builder, site.guard)

    def under(self, predicate: Register, *, negated: bool = False) -> InstructionParts:
        """A writer for the lanes where a predicate holds, in code without a guard."""
        assert self.guard is None
        return replace(self, guard=Guard(predicate, negated))

    def guarded_also_by(self, condition: Register) -> InstructionParts:
        """A writer for the lanes that the source's guard lets through and the condition, too."""
        own = self.site.guard
        if own is None:
            return replace(self, guard=Guard(condition, negated=False))
        held: Operand = own.register
        if own.negated:
            held = self.compute("not.pred", 1, held)
        return replace(self, guard=Guard(self.compute("and.pred", 1, held, condition), False))

    def compute(self, mnemonic: str, bits: int, *sources: Operand) -> Register:
        """What the instruction gives, in a new register of so many bits."""
        destination = self.builder.temporary(bits)
        self.assign(destination, mnemonic, *sources)
        return destination

    def assign(self, destination: Register, mnemonic: str, *sources: Operand) -> None:
        """Computes into a register that is there already."""
        self._compute(self.builder.added_pc(), mnemonic, _form(mnemonic), (destination,), sources)

    def compute_main(self, mnemonic: str, destination: Register, *sources: Operand) -> None:
        """The instruction itself, which does what `mnemonic` says."""
        self._compute(self.site.pc, self.site.mnemonic, _form(mnemonic), (destination,), sources)

    def pack(self, destination: Register, low: Operand, high: Operand) -> None:
        """Two halves side by side."""
        self._compute(
            self.builder.added_pc(), "mov.b32", _packing("mov.pack2"), (destination,), (low, high)
        )

    def unpack(self, source: Operand) -> tuple[Register, Register]:
        """The lower and the upper half of 32 bits."""
        halves = self.builder.temporary(16), self.builder.temporary(16)
        self._compute(
            self.builder.added_pc(), "mov.b32", _packing("mov.unpack2"), halves, (source,)
        )
        return halves

    def _compute(
        self,
        pc: int,
        shown: str,
        form: ComputeForm,
        destinations: tuple[Register, ...],
        sources: tuple[Operand, ...],
    ) -> None:
        self.builder.append(
            Compute(
                pc=pc,
                mnemonic=shown,
                span=self.site.span,
                origin=self.site.origin,
                guard=self.guard,
                is_part=pc != self.site.pc,
                opcode=form.opcode,
                type=form.type,
                source_type=form.source_type,
                destinations=destinations,
                sources=sources,
                modifiers=form.modifiers,
            )
        )

    def load(
        self,
        type_: ScalarType,
        address: Address,
        destinations: Sequence[Register | None],
        *,
        is_main: bool = False,
        cache: str = "",
        volatile: bool = False,
    ) -> None:
        """Appends a load, as the instruction itself or as a part of it."""
        self.builder.append(
            Load(
                **self._shared(is_main),
                type=type_,
                address=address,
                destinations=tuple(destinations),
                cache=cache,
                volatile=volatile,
            )
        )

    def store(
        self,
        type_: ScalarType,
        address: Address,
        sources: Sequence[Operand],
        *,
        is_main: bool = False,
    ) -> None:
        """Appends a store, as the instruction itself or as a part of it."""
        self.builder.append(
            Store(
                **self._shared(is_main),
                type=type_,
                address=address,
                sources=tuple(sources),
            )
        )

    def atomic(
        self,
        operation: str,
        type_: ScalarType,
        address: Address,
        *sources: Operand,
        destination: Register | None = None,
        is_main: bool = False,
    ) -> None:
        """Appends an atomic, as the instruction itself or as a part of it."""
        self.builder.append(
            Atomic(
                **self._shared(is_main),
                operation=operation,
                type=type_,
                address=address,
                destination=destination,
                sources=sources,
            )
        )

    def exchange(
        self,
        opcode: WarpOpcode,
        destinations: Sequence[Register | None],
        sources: Sequence[Operand],
        *,
        is_main: bool = False,
    ) -> None:
        """All lanes of the source's guard give and take 32 bits at once."""
        self.builder.append(
            WarpOperation(
                **self._shared(is_main),
                opcode=opcode,
                type=ScalarType.B32,
                destinations=tuple(destinations),
                sources=tuple(sources),
                members=None,
            )
        )

    def fence(self, groups_left: int | None = None) -> None:
        """The instruction itself, where nothing happens that a thread could see."""
        self.builder.append(
            Fence(
                pc=self.site.pc,
                mnemonic=self.site.mnemonic,
                span=self.site.span,
                origin=self.site.origin,
                guard=self.guard,
                groups_left=groups_left,
            )
        )

    def skip_unless(self, predicate: Register, following: int) -> None:
        """Lanes where the predicate does not hold go on at the basic block `following`."""
        inside = self.builder.new()
        self.branch(predicate, inside, following)
        self.builder.place(inside)

    def branch(self, predicate: Register, target: int, otherwise: int) -> None:
        """Ends the basic block: to `target` where the predicate holds."""
        self.builder.end(
            Branch(
                pc=IMPLICIT_PC,
                mnemonic="",
                span=self.site.span,
                guard=Guard(predicate, negated=False),
                target=target,
                otherwise=otherwise,
            )
        )

    def address_register(self, address: Address) -> Register:
        """An address within its space as a number of 64 bits."""
        base = address.base
        if isinstance(base, Register) and base.bits == ScalarType.U32.bits:
            moved = self.compute("add.u32", 32, base, _number(address.offset, 32))
            return self.compute("cvt.u64.u32", 64, moved)
        if base is None:
            return self.compute("mov.b64", 64, _number(address.offset, 64))
        return self.compute("add.u64", 64, base, _number(address.offset, 64))

    def _shared(self, is_main: bool) -> _Shared:
        return _Shared(
            pc=self.site.pc if is_main else self.builder.added_pc(),
            mnemonic=self.site.mnemonic,
            span=self.site.span,
            origin=self.site.origin,
            guard=self.guard,
            is_part=not is_main,
        )


def _form(mnemonic: str) -> ComputeForm:
    form = compute_form(mnemonic)
    assert isinstance(form, ComputeForm)
    return form


def _packing(name: str) -> ComputeForm:
    return ComputeForm(OPCODES[name], ScalarType.B32, ScalarType.B32, frozenset(), (), ())


def shifted(address: Address, distance: int) -> Address:
    """The address so many bytes further on."""
    return replace(address, offset=address.offset + distance)


def shared_address(site: Site, index: int, width: int) -> Address:
    """The address that operand `index` gives in shared memory, or a generic one."""
    spaces = site.mnemonic.split(".")
    is_shared = any(part in ("shared", "shared::cta", "shared::cluster") for part in spaces)
    return site.address(index, AddressSpace.SHARED if is_shared else AddressSpace.GENERIC, width)


def _number(value: int, bits: int) -> Operand:
    return Immediate(value & (1 << bits) - 1)
