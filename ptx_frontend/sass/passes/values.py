"""Registers that hold one value wherever they are read, and what gives it.

A register with one write that reaches all its readers is a value (static single assignment).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kernelcast.ptx_frontend.sass.passes.decided_branches import constant_of
from kernelcast.ptx_frontend.sass.passes.renaming import renamed
from kernelcast.simcore.isa.analysis.control_flow import writes
from kernelcast.simcore.isa.ir.kernel import (
    BasicBlock,
    Compute,
    Guard,
    Immediate,
    Instruction,
    Operand,
    Register,
    Straight,
    Terminator,
)

__all__ = ["Condition", "Values"]

Condition = tuple[Operand, bool]
"""A predicate, and whether it is negated."""
_WORD = 0xFFFFFFFF


class Values:
    """What is known of each value at the place in the tree of dominators that is looked at.

    `guarded`: registers whose one reader takes them only where the guard of their write holds.
    """

    def __init__(
        self, blocks: Sequence[BasicBlock], unset: frozenset[int], guarded: frozenset[int]
    ) -> None:
        writers: dict[int, Instruction | None] = {}
        self._under: dict[int, Compute] = {}
        self._guarded = guarded
        for block in blocks:
            for instruction in block.body:
                for register in writes(instruction):
                    is_first = register.index not in writers and instruction.guard is None
                    writers[register.index] = instruction if is_first else None
        self._writers = {
            index: writer
            for index, writer in writers.items()
            if writer is not None and index not in unset
        }
        self._same: dict[int, Register] = {}
        self._numbers: dict[int, int] = {}

    def renamed(self, instruction: Straight) -> Straight:
        """The instruction over the registers that values were first held by."""
        return renamed(instruction, self._same)

    def renamed_end(self, end: Terminator) -> Terminator:
        """The end of a basic block, likewise."""
        return renamed(end, self._same)

    def note(self, instruction: Straight) -> None:
        """Takes note of what an instruction gives, over renamed registers."""
        if not isinstance(instruction, Compute):
            return
        for target in instruction.destinations:
            if target is None:
                continue
            if target.index in self._guarded:
                self._under[target.index] = instruction
            elif target.index in self._writers:
                self._writers[target.index] = instruction
        number = constant_of(instruction, self._numbers)
        (target, *others) = instruction.destinations or (None,)
        if number is not None and not others and target is not None and self.is_value(target):
            self._numbers[target.index] = number

    def add(self, instruction: Compute) -> None:
        """A new instruction, whose results are values."""
        for target in instruction.destinations:
            if target is not None:
                self._writers[target.index] = instruction

    def merge(self, target: Register, source: Register) -> None:
        """One value is another one."""
        self._same[target.index] = source

    def is_value(self, operand: Operand) -> bool:
        """Whether an operand stays what it is."""
        return isinstance(operand, Immediate) or (
            isinstance(operand, Register) and operand.index in self._writers
        )

    def are_values(self, operands: Iterable[Operand]) -> bool:
        """Whether all operands stay what they are."""
        return all(self.is_value(operand) for operand in operands)

    def first(self, operand: Operand) -> Operand:
        """The number that an operand is, or the register that first held its value."""
        if isinstance(operand, Register):
            operand = self._same.get(operand.index, operand)
            number = self._numbers.get(operand.index)
            return operand if number is None else Immediate(number)
        return operand

    def number(self, operand: Operand) -> int | None:
        """The bits of an operand where they are known."""
        found = self.first(operand)
        return found.bits & _WORD if isinstance(found, Immediate) else None

    def writer(self, operand: Operand, under: Condition | None = None) -> Compute | None:
        """What computes a value; where `under` holds, what is written under that guard only."""
        operand = self.first(operand)
        if not isinstance(operand, Register):
            return None
        found = self._writers.get(operand.index)
        if found is None and under is not None:
            found = self._under.get(operand.index)
            guard = None if found is None else found.guard
            if guard is None or self.condition(guard) != under:
                return None
        return found if isinstance(found, Compute) else None

    def condition(self, predicate: Operand | Guard) -> Condition:
        """A predicate behind all its negations."""
        negated = False
        if isinstance(predicate, Guard):
            found, negated = self.first(predicate.register), predicate.negated
        else:
            found = self.first(predicate)
        writer = self.writer(found)
        while writer is not None and writer.opcode.name == "not":
            found, negated = self.first(writer.sources[0]), not negated
            writer = self.writer(found)
        return found, negated
