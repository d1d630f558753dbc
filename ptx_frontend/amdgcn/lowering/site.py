"""One machine instruction as the functions see it that lower it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from kernelcast.ptx_frontend.amdgcn.lowering.writer import Writer
from kernelcast.ptx_frontend.amdgcn.text import AsmInstruction
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__ = ["SELECTED", "WHOLE", "Lowering", "Site"]

_PARTS = {"BYTE_0": (0, 0xFF), "BYTE_1": (8, 0xFF), "BYTE_2": (16, 0xFF), "BYTE_3": (24, 0xFF)}
_HALVES = {"WORD_0": (0, 0xFFFF), "WORD_1": (16, 0xFFFF)}
SELECTED = {**_PARTS, **_HALVES}
"""What SDWA encodings select of a register: how far it is up, and its mask."""
_EXTENDED = "sext("
WHOLE = "DWORD"
"""The selection of a whole register."""
_BITS = 32


@dataclass(frozen=True, slots=True)
class Site:
    """`is_scc_read`: whether the condition that the instruction sets is of use to another one."""

    code: Writer
    instruction: AsmInstruction
    is_scc_read: bool

    @property
    def opcode(self) -> str:
        """The opcode without the name of its encoding."""
        return self.instruction.opcode

    @property
    def operands(self) -> tuple[str, ...]:
        """The operands as text, the destination first."""
        return self.instruction.operands

    def integer(self, index: int) -> Operand:
        """Operand `index` as 32 bits, or the part of it that an SDWA encoding selects."""
        code, text = self.code, self.operands[index]
        selected = self.selected(index)
        is_signed = text.startswith(_EXTENDED)
        value = code.single(text.removeprefix(_EXTENDED).removesuffix(")") if is_signed else text)
        if selected == WHOLE:
            return value
        shift, mask = SELECTED[selected]
        if is_signed:
            above = Immediate(_BITS - shift - mask.bit_length())
            top = code.compute("shl.b32", 32, value, above)
            return code.compute("shr.s32", 32, top, Immediate(_BITS - mask.bit_length()))
        moved = code.compute("shr.u32", 32, value, Immediate(shift))
        return code.compute("and.b32", 32, moved, Immediate(mask))

    def selected(self, index: int) -> str:
        """The part of operand `index` that is read: `DWORD` for all of it."""
        return self.instruction.modifiers.get(f"src{index - 1}_sel", WHOLE)

    def short_constant(self, index: int, *, is_signed: bool = True) -> Immediate:
        """Operand `index`, 16 bits of the instruction, extended."""
        value = int(self.operands[index], 0) & 0xFFFF
        return Immediate(value | 0xFFFF0000 if is_signed and value >> 15 else value)

    def number(self, index: int) -> Operand:
        """Operand `index` as a number of single precision."""
        if self.selected(index) != WHOLE:
            raise self.code.refused("a number of single precision in a part of a register")
        return self.code.number(self.operands[index])

    def amount(self, index: int, bits: int = 32) -> Operand:
        """Operand `index` as a distance to shift by."""
        value = self.integer(index)
        if isinstance(value, Immediate):
            return Immediate(value.bits & (bits - 1))
        return self.code.compute("and.b32", 32, value, Immediate(bits - 1))

    def check_modifiers(self) -> None:
        """Raises UnsupportedInstruction for what changes a result in a way that is not executed."""
        modifiers = self.instruction.modifiers
        if "clamp" in modifiers or "mul" in modifiers or "div" in modifiers:
            raise self.code.refused("output modifiers")

    def scc(self, predicate: Callable[[], Operand]) -> None:
        """Sets the condition code where somebody reads it."""
        if self.is_scc_read:
            self.code.unguarded("mov.pred", self.code.scc, predicate())

    def main(self, mnemonic: str, bits: int, *sources: Operand) -> Register:
        """What the instruction computes; it counts."""
        return self.code.main(mnemonic, bits, *sources)


Lowering: TypeAlias = Callable[[Site], None]
