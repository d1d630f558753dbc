"""What one instruction of the source becomes when hardware does several things for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kernelcast.ptx_frontend.instruction_writer import Counted, Fields, InstructionWriter
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import IMPLICIT_PC, BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Branch,
    Guard,
    Immediate,
    Operand,
    Register,
)
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["InstructionParts", "shared_address", "shifted"]


@dataclass(frozen=True, slots=True)
class InstructionParts(InstructionWriter):
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

    def pack(self, destination: Register, low: Operand, high: Operand) -> None:
        """Packs two halves into a register of twice their width."""
        self.assign_all("mov.b32", (destination,), low, high, shape="pack2")

    def unpack(self, source: Operand) -> tuple[Register, Register]:
        """The lower and the upper half of 32 bits."""
        halves = self.register(16), self.register(16)
        self.assign_all("mov.b32", halves, source, shape="unpack2")
        return halves

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

    def counted(self, mnemonic: str, *, is_main: bool = False) -> Counted:
        """What all instructions have, for the next one: a part, or the statement itself."""
        return Counted(
            pc=self.site.pc if is_main else self.builder.added_pc(),
            mnemonic=self.site.mnemonic if is_main else mnemonic,
            span=self.site.span,
            origin=self.site.origin,
            is_added=False,
            is_part=not is_main,
        )

    def fields(self, mnemonic: str, *, is_main: bool = False) -> Fields:
        """What the next instruction has, under the guard of the statement."""
        return Fields(**self.counted(mnemonic, is_main=is_main), guard=self.guard)

    def spelled(self, mnemonic: str) -> str:
        """Accesses of the parts have the name of the whole."""
        return self.site.mnemonic


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
