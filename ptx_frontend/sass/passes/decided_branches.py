"""Branches that always go the same way, and the code that nobody reaches then.

The assembler asks a word of the driver's whether a launch has clusters, before each of their
barriers: here every launch has, and the barrier of the thread block beside it is never reached.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from kernelcast.simcore.isa.analysis.control_flow import writes
from kernelcast.simcore.isa.ir.changed_instructions import changed
from kernelcast.simcore.isa.ir.kernel import (
    BarrierSync,
    BasicBlock,
    Branch,
    Compute,
    Immediate,
    Jump,
    Operand,
    Register,
    Terminator,
)

__all__ = ["constant_of", "with_decided_branches"]

_WORD = 0xFFFFFFFF
_WIDTHS = (1, 32)
_MEANINGS: dict[str, Callable[..., int]] = {
    "mov": lambda a: a,
    "not": lambda a: a ^ 1,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "setp.eq": lambda a, b: int(a == b),
    "setp.ne": lambda a, b: int(a != b),
}
"""What is computed of predicates, and of words where the bits say it; `not` of predicates only."""
_Values = dict[int, int]


def with_decided_branches(blocks: tuple[BasicBlock, ...]) -> tuple[BasicBlock, ...]:
    """The basic blocks that are reached; registers must have one value each."""
    values = _constants(blocks)
    if not values:
        return blocks
    ends = [_decided(block.terminator, values) for block in blocks]
    if all(end is block.terminator for end, block in zip(ends, blocks, strict=True)):
        return blocks
    blocks = tuple(replace(b, terminator=end) for b, end in zip(blocks, ends, strict=True))
    return _reached(blocks)


def _constants(blocks: Sequence[BasicBlock]) -> _Values:
    """Registers that hold the same bits always, by their index."""
    written: dict[int, int] = {}
    computed: list[Compute] = []
    for block in blocks:
        for instruction in (*block.body, block.terminator):
            for register in writes(instruction):
                written[register.index] = written.get(register.index, 0) + 1
            if isinstance(instruction, Compute) and _is_simple(instruction):
                computed.append(instruction)
    values: _Values = {}
    is_new = True
    while is_new:
        is_new = False
        for instruction in computed:
            (target,) = instruction.destinations
            assert target is not None
            if target.index in values or written[target.index] > 1:
                continue
            found = _value(instruction, values)
            if found is not None:
                values[target.index] = found
                is_new = True
    return values


def _is_simple(instruction: Compute) -> bool:
    if instruction.guard is not None or instruction.modifiers:
        return False
    if len(instruction.destinations) != 1 or instruction.destinations[0] is None:
        return False
    if instruction.opcode.name == "not" and instruction.destinations[0].bits != 1:
        return False
    kind = instruction.type
    return instruction.opcode.name in _MEANINGS and kind.bits in _WIDTHS and not kind.is_float


def constant_of(instruction: Compute, values: Mapping[int, int]) -> int | None:
    """The number that an instruction always gives; None where that is not known.

    `values`: registers whose numbers are known, by their index.
    """
    return _value(instruction, values) if _is_simple(instruction) else None


def _value(instruction: Compute, values: Mapping[int, int]) -> int | None:
    sources = [_bits(operand, values) for operand in instruction.sources]
    known = [value for value in sources if value is not None]
    if len(known) < len(sources):
        return None
    return _MEANINGS[instruction.opcode.name](*known)


def _bits(operand: Operand, values: Mapping[int, int]) -> int | None:
    if isinstance(operand, Immediate):
        return operand.bits & _WORD
    return values.get(operand.index) if isinstance(operand, Register) else None


def _decided(end: Terminator, values: Mapping[int, int]) -> Terminator:
    if not isinstance(end, Branch) or end.guard.register.index not in values:
        return end
    holds = bool(values[end.guard.register.index]) != end.guard.negated
    return Jump(
        pc=end.pc,
        mnemonic=end.mnemonic,
        span=end.span,
        origin=end.origin,
        is_added=end.is_added,
        is_part=end.is_part,
        target=end.target if holds else end.otherwise,
    )


def _reached(blocks: tuple[BasicBlock, ...]) -> tuple[BasicBlock, ...]:
    """Basic blocks that some way leads to; indices are positions again."""
    seen, pending = {0}, [0]
    while pending:
        for target in blocks[pending.pop()].successors:
            if target not in seen:
                seen.add(target)
                pending.append(target)
    kept = [block for block in blocks if block.index in seen]
    new = {block.index: position for position, block in enumerate(kept)}
    return tuple(
        replace(block, index=new[block.index], terminator=_moved(block.terminator, new))
        for block in kept
    )


def _moved(end: Terminator, new: Mapping[int, int]) -> Terminator:
    match end:
        case Branch():
            return changed(end, target=new[end.target], otherwise=new[end.otherwise])
        case Jump() | BarrierSync():
            return changed(end, target=new[end.target])
    return end
