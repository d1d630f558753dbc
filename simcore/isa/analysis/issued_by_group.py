"""Instructions of machine code that a GPU issues for each group of lanes that comes to them."""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.ir.kernel import BasicBlock, Jump, Kernel

__all__ = ["issued_by_group"]

_OPCODES = ("BSYNC", "EXIT")


@once_per_kernel
def issued_by_group(kernel: Kernel) -> Mapping[int, int]:
    """The pc of the instruction that a basic block begins with, by the block's index.

    Basic blocks that do nothing but go there are among them, because lanes may wait at those.
    Engines bring the lanes of a warp together where their ways meet, and run on with all of them. A
    GPU has each group that comes execute `BSYNC`, which makes it wait for the others, or `EXIT`.
    """
    known: dict[int, int] = {}
    for block in kernel.blocks:
        pc = _first(kernel, block)
        if pc is not None:
            known[block.index] = pc
    ahead = [block for block in kernel.blocks if _only_jumps(block)]
    for _ in ahead:
        known |= {b.index: known[t] for b in ahead for t in b.successors if t in known}
    return known


def _first(kernel: Kernel, block: BasicBlock) -> int | None:
    if kernel.machine is None:
        return None
    for instruction in (*block.body, block.terminator):
        facts = kernel.machine.instructions.get(instruction.pc) if instruction.mnemonic else None
        if facts is not None and not instruction.is_part:
            return instruction.pc if facts.opcode in _OPCODES else None
    return None


def _only_jumps(block: BasicBlock) -> bool:
    is_idle = all(instruction.is_part for instruction in block.body)
    return is_idle and isinstance(block.terminator, Jump) and not block.terminator.mnemonic
