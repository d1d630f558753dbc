"""Values as operands of LLVM IR."""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.ptx_frontend.spirv.module.types import SpirvType

__all__ = ["Value"]


@dataclass(frozen=True, slots=True)
class Value:
    """An operand: a name or a constant. `bits` is the value of an integer or Boolean constant."""

    type: SpirvType
    text: str
    bits: int | None = None

    @property
    def typed(self) -> str:
        """The operand with its type, as LLVM writes it."""
        return f"{self.type.text} {self.text}"
