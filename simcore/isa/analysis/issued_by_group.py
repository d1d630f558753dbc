"""Instructions of machine code that a GPU issues for each group of lanes that comes to them."""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.ir.kernel import BasicBlock, Kernel

__all__ = ["issued_by_group"]

_OPCODES = ("BSYNC", "EXIT")


@once_per_kernel
def issued_by_group(kernel: Kernel) -> Mapping[int, int]:
    """The pc of the instruction that a basic block begins with, by the block's index.

    Engines bring the lanes of a warp together where their ways meet, and run on with all of them. A
    GPU has each group that comes execute `BSYNC`, which makes it wait for the others, or `EXIT`.
    """
    found = {block.index: _first(kernel, block) for block in kernel.blocks}
    return {index: pc for index, pc in found.items() if pc is not None}


def _first(kernel: Kernel, block: BasicBlock) -> int | None:
    if kernel.machine is None:
        return None
    for instruction in (*block.body, block.terminator):
        facts = kernel.machine.instructions.get(instruction.pc) if instruction.mnemonic else None
        if facts is not None and not instruction.is_part:
            return instruction.pc if facts.opcode in _OPCODES else None
    return None
