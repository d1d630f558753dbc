"""New parts of instructions, and registers for what they give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kernelcast.ptx_frontend.ptx.text.mnemonics import ComputeForm, compute_form
from kernelcast.simcore.isa.ir.kernel import (
    BasicBlock,
    Compute,
    Instruction,
    Operand,
    Register,
)

__all__ = ["Parts"]


_ONE_EACH = 2


class Parts:
    """Makes parts; `registers` are those of the kernel, new ones at the end."""

    def __init__(self, blocks: Iterable[BasicBlock], registers: Sequence[Register]) -> None:
        self.registers = list(registers)
        self._pc = max(i.pc for block in blocks for i in (*block.body, block.terminator))

    def register(self, bits: int, name: str = "%added") -> Register:
        """A register of its own."""
        found = Register(len(self.registers), bits, name)
        self.registers.append(found)
        return found

    def of(
        self,
        instruction: Instruction,
        mnemonic: str,
        destinations: tuple[Register | None, ...],
        sources: tuple[Operand, ...],
    ) -> Compute:
        """A part of an instruction, without its guard."""
        shape = ""
        if mnemonic == "mov.b64" and len(destinations) + len(sources) > _ONE_EACH:
            shape = "pack2" if len(destinations) == 1 else "unpack2"
        form = compute_form(mnemonic, shape)
        assert isinstance(form, ComputeForm)
        self._pc += 1
        return Compute(
            pc=self._pc,
            mnemonic=mnemonic,
            span=instruction.span,
            origin=instruction.origin,
            is_part=True,
            opcode=form.opcode,
            type=form.type,
            source_type=form.source_type,
            modifiers=form.modifiers,
            destinations=destinations,
            sources=sources,
        )
