"""Writes instructions of the intermediate representation into basic blocks, for all front ends.

A writer knows where in the source they belong and what each counts as: `counted` says so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypedDict

from kernelcast.errors import SourceSpan, UnsupportedInstruction
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.text.mnemonics import ComputeForm, compute_form
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Atomic,
    Compute,
    Fence,
    Guard,
    Load,
    Operand,
    Register,
    Store,
    WarpOperation,
)
from kernelcast.simcore.isa.opcodes.warp import WarpOpcode
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["Counted", "Fields", "GuardedPlace", "InstructionWriter", "Place"]


class Place(TypedDict):
    """What every instruction has."""

    pc: int
    mnemonic: str
    span: SourceSpan
    origin: SourceSpan | None


class GuardedPlace(Place):
    """What every instruction under a guard has."""

    guard: Guard | None


class Counted(Place):
    """What every instruction has, and what it counts as."""

    is_added: bool
    is_part: bool


class Fields(Counted):
    """What every instruction has, what it counts as, and its guard."""

    guard: Guard | None


class InstructionWriter(ABC):
    """Writes instructions; mnemonics are ours, for instance `add.f32` (`mnemonics.compute_form`).

    What it writes is added, part of another instruction or, with `is_main`, that of the source.
    """

    __slots__ = ()

    builder: BasicBlockBuilder

    @abstractmethod
    def counted(self, mnemonic: str, *, is_main: bool = False) -> Counted:
        """What all instructions have, for the next one."""

    def fields(self, mnemonic: str, *, is_main: bool = False) -> Fields:
        """What the next instruction has, under the writer's guard; most writers have none."""
        return Fields(**self.counted(mnemonic, is_main=is_main), guard=None)

    def spelled(self, mnemonic: str) -> str:
        """How an access or an exchange is called: as we do, unless the writer has a name."""
        return mnemonic

    def register(self, bits: int) -> Register:
        """A new register of 1, 16, 32 or 64 bits."""
        return self.builder.temporary(bits)

    def compute(self, mnemonic: str, bits: int, *sources: Operand) -> Register:
        """What the instruction gives, in a new register of so many bits."""
        destination = self.register(bits)
        self.assign(mnemonic, destination, *sources)
        return destination

    def assign(
        self, mnemonic: str, destination: Register, *sources: Operand, is_main: bool = False
    ) -> None:
        """Writes what the instruction gives into a register that is there already."""
        self.assign_all(mnemonic, (destination,), *sources, is_main=is_main)

    def assign_all(
        self,
        mnemonic: str,
        destinations: tuple[Register | None, ...],
        *sources: Operand,
        shape: str = "",
        is_main: bool = False,
    ) -> None:
        """Writes an instruction of several results, None for one that is not wanted.

        `shape` is a part of the opcode that operands add.
        """
        computed = self.computed(mnemonic, destinations, *sources, shape=shape, is_main=is_main)
        self.builder.append(computed)

    def computed(
        self,
        mnemonic: str,
        destinations: tuple[Register | None, ...],
        *sources: Operand,
        shape: str = "",
        is_main: bool = False,
    ) -> Compute:
        """An instruction of several results as `assign_all` makes it, not written yet."""
        form = compute_form(mnemonic, shape)
        fields = self.fields(mnemonic, is_main=is_main)
        if not isinstance(form, ComputeForm):
            raise UnsupportedInstruction(form.reason, fields["span"])
        return Compute(
            **fields,
            opcode=form.opcode,
            type=form.type,
            source_type=form.source_type,
            destinations=destinations,
            sources=sources,
            modifiers=form.modifiers,
        )

    def load(
        self,
        type_: ScalarType,
        address: Address,
        destinations: Sequence[Register | None],
        *,
        volatile: bool = False,
        cache: str = "",
        guard: Guard | None = None,
        is_main: bool = False,
    ) -> None:
        """Neighbouring elements, at most 4; the address must be a multiple of their total size.
        `guard` in place of the writer's."""
        name = self.spelled(f"ld.{address.space.value}.{type_.ptx_name}")
        fields = self.fields(name, is_main=is_main)
        if guard is not None:
            fields["guard"] = guard
        self.builder.append(
            Load(
                **fields,
                type=type_,
                address=address,
                destinations=tuple(destinations),
                volatile=volatile,
                cache=cache,
            )
        )

    def store(
        self,
        type_: ScalarType,
        address: Address,
        sources: Sequence[Operand],
        *,
        volatile: bool = False,
        is_main: bool = False,
    ) -> None:
        """Stores neighbouring elements, at most 4; what `load` says of the address holds."""
        name = self.spelled(f"st.{address.space.value}.{type_.ptx_name}")
        self.builder.append(
            Store(
                **self.fields(name, is_main=is_main),
                type=type_,
                address=address,
                sources=tuple(sources),
                volatile=volatile,
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
        """`operation` as PTX's atom has it: add, min, max, and, or, xor, exch, cas."""
        name = self.spelled(f"atom.{operation}.{type_.ptx_name}")
        self.builder.append(
            Atomic(
                **self.fields(name, is_main=is_main),
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
        type_: ScalarType = ScalarType.B32,
        members: Operand | None = None,
        is_main: bool = False,
    ) -> None:
        """All lanes that the guard lets through, or `members`, give and take values at once."""
        self.builder.append(
            WarpOperation(
                **self.fields(self.spelled(opcode.name), is_main=is_main),
                opcode=opcode,
                type=type_,
                destinations=tuple(destinations),
                sources=tuple(sources),
                members=members,
            )
        )

    def fence(self, groups_left: int | None = None) -> None:
        """Writes the instruction itself as a fence; `groups_left` groups need not be waited for."""
        self.builder.append(Fence(**self.fields("fence", is_main=True), groups_left=groups_left))
