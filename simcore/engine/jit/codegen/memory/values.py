"""Records of what loads read and stores write, for somebody who watches them (`Watch.values`)."""

from __future__ import annotations

from kernelcast.simcore.engine.jit.codegen.memory.records import RecordCode
from kernelcast.simcore.engine.jit.codegen.registers import Registers
from kernelcast.simcore.isa.ir.kernel import Instruction, Load, Operand, Store
from kernelcast.simcore.isa.ir.mbarrier_words import is_mbarrier_look
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["record_values"]


def record_values(
    instruction: Instruction, mask: str, position: int, registers: Registers, record: RecordCode
) -> None:
    """Records the elements of an access once they are in its registers; atomics do it apart.

    Whoever follows accesses is told what looks at mbarriers see, too.
    """
    if not isinstance(instruction, Load | Store):
        return
    is_look = record.is_watched and is_mbarrier_look(instruction) and not record.follows_values
    if not is_look and not record.wants_values(instruction.pc):
        return
    operands: tuple[Operand | None, ...] = (
        instruction.destinations if isinstance(instruction, Load) else instruction.sources
    )
    bits = ScalarType.named(f"b{instruction.type.bits}")
    for number, operand in enumerate(operands):
        if operand is not None:
            vector = registers.vector(operand, bits)
            record.value(instruction.pc, number, vector, bits.bits, mask, position)
