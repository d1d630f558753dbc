"""`atom.exch.b128` and `atom.cas.b128` (PTX ISA 8.3).

Engines change at most 64 bits at once: threads take turns by a lock in global memory that the
source does not declare. Lanes that do not get it try again; the load of the old value is the
instruction that counts, the store and the lock are part of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.guards import go_round
from kernelcast.ptx_frontend.ptx.lowering.instruction_parts import InstructionParts
from kernelcast.ptx_frontend.ptx.lowering.memory import changed
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.lowering.wide_registers import WIDE, halves
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Immediate,
    Operand,
    Register,
    SymbolAddress,
)
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["is_wide_atomic", "lower_wide_atomic"]

_LOCK = "%lock"
_DECLARATION = syntax.VariableDeclaration(0, "global", "b32", _LOCK, 1, 4)
_HALF, _WORD = ScalarType.B64, ScalarType.B32
_BYTES = 16
_VALUES = {"exch": 1, "cas": 2}

Pair = tuple[Operand, Operand]


def is_wide_atomic(mnemonic: str) -> bool:
    """Whether the mnemonic is that of an atomic of 128 bits."""
    return mnemonic.startswith("atom.") and mnemonic.endswith(f".{WIDE}")


def lower_wide_atomic(site: Site, builder: BasicBlockBuilder) -> None:
    """Guarded, it becomes a branch around the turns."""
    operation = next((part for part in site.mnemonic.split(".") if part in _VALUES), "")
    if not operation:
        raise site.refused()
    narrow = site.statement._replace(mnemonic=site.mnemonic.removesuffix(WIDE) + "b64")
    access = changed(replace(site, statement=narrow))
    site.expect_operands(2 + _VALUES[operation] + access.has_hint_operand)
    following = builder.new()
    go_round(site, builder, following)
    address = site.address(1, access.space, _BYTES)
    given = [_pair(site, 2 + n) for n in range(_VALUES[operation])]
    turn = _Turn(InstructionParts(site, builder, None), operation, address, given)
    old = turn.write()
    if site.operands[0] != syntax.NameOperand("_"):
        for half, value in zip(halves(site, 0), old, strict=True):
            target = site.destination(half, 0, _HALF)
            if target is not None:
                turn.code.assign("mov.b64", target, value)
    builder.place(following)


def _pair(site: Site, index: int) -> Pair:
    low, high = (site.source(half, index, _HALF) for half in halves(site, index))
    return low, high


@dataclass(frozen=True, slots=True)
class _Turn:
    """`given`: the new value, or what is compared and then the new value."""

    code: InstructionParts
    operation: str
    address: Address
    given: list[Pair]

    def write(self) -> tuple[Register, Register]:
        """The loop; gives the old value."""
        code = self.code
        builder = code.builder
        code.site.names.used.setdefault(_LOCK, _DECLARATION)
        old = builder.temporary(64), builder.temporary(64)
        head, after = builder.new(), builder.new()
        builder.place(head)
        mine = self._locked()
        here = code.under(mine)
        here.load(_HALF, self.address, old, is_main=True, volatile=True)
        here.store(_HALF, self.address, self._new(old))
        here.atomic("exch", _WORD, _lock(), Immediate(0))
        code.branch(mine, after, head)
        builder.place(after)
        return old

    def _locked(self) -> Register:
        """Whether the lock was free: of a warp, one lane finds it so."""
        code, free = self.code, Immediate(0)
        found = code.builder.temporary(32)
        code.atomic("cas", _WORD, _lock(), free, Immediate(1), destination=found)
        return code.compute("setp.eq.u32", 1, found, free)

    def _new(self, old: tuple[Register, Register]) -> Pair:
        if self.operation == "exch":
            return self.given[0]
        code, (compared, value) = self.code, self.given
        same = [code.compute("setp.eq.u64", 1, a, b) for a, b in zip(old, compared, strict=True)]
        is_same = code.compute("and.pred", 1, *same)
        low, high = (
            code.compute("selp.b64", 64, new, kept, is_same)
            for new, kept in zip(value, old, strict=True)
        )
        return low, high


def _lock() -> Address:
    return Address(AddressSpace.GLOBAL, SymbolAddress(_LOCK), 0)
