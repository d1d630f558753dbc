"""Where a value lies in memory."""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.ptx_frontend.llvm.lowering.code import Code
from kernelcast.simcore.isa.ir.kernel import Address, Operand
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["MemoryPlace"]


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """pointer + offset in `space`, a multiple of `align` bytes."""

    space: AddressSpace
    pointer: Operand
    align: int
    offset: int = 0
    is_volatile: bool = False

    def address(self, code: Code, distance: int) -> Address:
        """The address so many bytes further."""
        return code.address(self.space, self.pointer, self.offset + distance)
