"""Counted loops whose iterations native code has four times in turn.

ptxas 13.0 unrolls innermost counted loops of up to 50 instructions, loads counting twice, for
sm_75 to sm_120 alike: by four, then what is left by two, then one. It leaves loops alone that ask
for it (`.pragma "nounroll"`), that can end elsewhere, and that hold an exchange between lanes (but
on sm_90 and later) or what becomes instructions with branches, such as divisions.
"""

from __future__ import annotations

from kernelcast.simcore.isa.analysis.counting_rules import native_counting
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    BasicBlock,
    Branch,
    Compute,
    Instruction,
    Kernel,
    Load,
    Register,
    Store,
)
from kernelcast.simcore.isa.opcodes.columns import Algebra
from kernelcast.simcore.isa.schedule.fold_addresses import added_constant, folded_addresses
from kernelcast.simcore.isa.schedule.predicate_branches import (
    is_branching,
    predecessors,
    predicated_edges,
)
from kernelcast.simcore.isa.schedule.register_facts import register_facts

__all__ = ["UnrolledLoop", "loop_bodies", "unrolled_loops"]

_MOST_WEIGHT = 50

UnrolledLoop = tuple[int, ...]
"""The basic blocks of a loop, its header first, with what branches skip between them."""


@once_per_kernel
def unrolled_loops(kernel: Kernel) -> dict[int, frozenset[int]]:
    """Loops that are unrolled, by header, each with the pcs that only its last iteration keeps."""
    found = {}
    for header, body in loop_bodies(kernel).items():
        blocks = [kernel.blocks[index] for index in body]
        counted = _counted(kernel, blocks)
        if counted is not None and _is_small(kernel, blocks):
            found[header] = counted
    return found


def loop_bodies(kernel: Kernel) -> dict[int, UnrolledLoop]:
    """Loops whose iterations native code has in one piece, by header."""
    glued, before = predicated_edges(kernel), predecessors(kernel)
    found = {}
    for latch in kernel.blocks:
        for header in latch.successors:
            if header > latch.index or not isinstance(latch.terminator, Branch):
                continue
            body = tuple(range(header, latch.index + 1))
            if all(
                all((source, block) in glued for source in before[block]) for block in body[1:]
            ) and all(
                all((block, target) in glued for target in kernel.blocks[block].successors)
                for block in body[:-1]
            ):
                found[header] = body
    return found


def _is_small(kernel: Kernel, blocks: list[BasicBlock]) -> bool:
    folded = native_counting(kernel).folded | folded_addresses(kernel)
    merged = native_counting(kernel).merged_into
    instructions = [item for block in blocks for item in block.body if item.pc not in folded]
    if blocks[0].is_kept_rolled or not all(map(_may_repeat, instructions)):
        return False
    weight = sum(
        2 if isinstance(item, Load) else 1
        for item in instructions
        if merged.get(item.pc, item.pc) == item.pc
    )
    return weight + 1 <= _MOST_WEIGHT


def _may_repeat(instruction: Instruction) -> bool:
    if isinstance(instruction, Compute):
        return not is_branching(instruction)
    return isinstance(instruction, Load | Store | Atomic)


def _counted(kernel: Kernel, blocks: list[BasicBlock]) -> frozenset[int] | None:
    """What counts the iterations: the branch back, its comparison, and sums that only these need.

    None where the loop is not counted.
    """
    end = blocks[-1].terminator
    assert isinstance(end, Branch)
    inside = {item.pc: item for block in blocks for item in (*block.body, block.terminator)}
    counters = _counters(list(inside.values()))
    test = next(
        (
            item
            for item in reversed(blocks[-1].body)
            if isinstance(item, Compute) and end.guard.register in item.destinations
        ),
        None,
    )
    if test is None or test.opcode.algebra is not Algebra.COMPARISON or not test.type.is_integer:
        return None
    read = [item for item in test.sources if isinstance(item, Register)]
    changed = {
        target.index
        for item in inside.values()
        if isinstance(item, Compute | Load)
        for target in item.destinations
        if target is not None
    }
    counted = [item for item in read if item.index in counters]
    if len(counted) != 1 or any(x.index in changed for x in read if x not in counted):
        return None
    needed = {end.pc, test.pc}
    facts, folded = register_facts(kernel), folded_addresses(kernel)
    for register, pc in counters.items():
        users = [user for user in facts.users.get(register, ()) if user.pc in inside]
        if all(
            user.pc in needed or user.pc == pc or user.pc in folded or _is_address(user, register)
            for user in users
        ):
            needed.add(pc)
    return frozenset(needed)


def _counters(inside: list[Instruction]) -> dict[int, int]:
    """Registers to which the loop does nothing but add a constant once, with the pc of that."""
    written: dict[int, list[Instruction]] = {}
    for item in inside:
        if isinstance(item, Compute | Load):
            for target in item.destinations:
                if target is not None:
                    written.setdefault(target.index, []).append(item)
    found = {}
    for register, items in written.items():
        added = added_constant(items[0]) if len(items) == 1 else None
        if added is not None and items[0].guard is None and added[0].index == register:
            found[register] = items[0].pc
    return found


def _is_address(user: Instruction, register: int) -> bool:
    if not isinstance(user, Load | Store | Atomic):
        return False
    sources = () if isinstance(user, Load) else user.sources
    return not any(isinstance(item, Register) and item.index == register for item in sources)
