"""Basic blocks behind those that dominate them: the specification's rule, which not all keep."""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.ptx_frontend.spirv.module.binary import Instruction
from kernelcast.simcore.isa.analysis.flow_graph import immediate_dominators

__all__ = ["in_order_of_dominance"]

_FIRST_TARGET = {"OpBranch": 0, "OpBranchConditional": 1, "OpSwitch": 1}
_ENDS = (*_FIRST_TARGET, "OpReturn", "OpReturnValue", "OpKill", "OpUnreachable")


def in_order_of_dominance(body: Sequence[Instruction]) -> list[Instruction]:
    """The body of a function; a basic block moves only if one that dominates it comes later.

    What is malformed stays as it is and is told where it is read.
    """
    blocks = _blocks(body)
    numbers = {
        instruction.result: number
        for number, block in enumerate(blocks)
        for instruction in block
        if instruction.name == "OpLabel"
    }
    if len(numbers) != len(blocks):
        return list(body)
    successors = [[numbers[x] for x in _targets(block[-1]) if x in numbers] for block in blocks]
    dominators = immediate_dominators(successors, 0) if blocks else {}
    ordered: list[Instruction] = []
    done: set[int] = set()
    for number in range(len(blocks)):
        waiting: list[int] = []
        above: int | None = number
        while above is not None and above not in done:
            done.add(above)
            waiting.append(above)
            above = dominators.get(above)
        for late in reversed(waiting):
            ordered += blocks[late]
    return ordered


def _blocks(body: Sequence[Instruction]) -> list[list[Instruction]]:
    """Each up to its last instruction, with what stands before its label."""
    found: list[list[Instruction]] = []
    is_new = True
    for instruction in body:
        if is_new:
            found.append([])
        found[-1].append(instruction)
        is_new = instruction.name in _ENDS
    return found


def _targets(last: Instruction) -> tuple[int, ...]:
    """Where a basic block leads; literals of a switch may be among them."""
    first = _FIRST_TARGET.get(last.name)
    return () if first is None else last.operands[first:]
