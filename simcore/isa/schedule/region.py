"""Basic blocks that native code has in one piece, as steps over values that are written once.

A register that is written again is another value, as in any assembler, so that only dependences
are left: on values, and through memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kernelcast.simcore.isa.analysis.control_flow import reads, writes
from kernelcast.simcore.isa.analysis.counting_rules import native_counting
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.ir.kernel import (
    Address,
    Atomic,
    Branch,
    Compute,
    Instruction,
    Jump,
    Kernel,
    Load,
    Register,
    Store,
)
from kernelcast.simcore.isa.schedule.fold_addresses import added_constant, folded_addresses
from kernelcast.simcore.isa.schedule.register_facts import RegisterFacts, register_facts
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["Region", "Step", "Value", "address_of", "is_slow_load", "region_of"]

_AT_ONCE = (AddressSpace.PARAM, AddressSpace.CONST)


@dataclass(slots=True, eq=False)
class Value:
    """What a register holds from one definition on.

    `words`: 32-bit registers that it takes; none where it is an operand of native code or `root`,
    the value that it is another name of, plus `offset`. `reader`, `writer`: positions of steps.
    """

    register: int
    words: int
    writer: int = -1
    readers: list[int] = field(default_factory=list)
    root: Value | None = None
    offset: int = 0

    @property
    def holder(self) -> Value:
        """The value whose registers hold this one."""
        found = self
        while found.root is not None:
            found = found.root
        return found

    @property
    def place(self) -> tuple[Value, int]:
        """The holder and what is added to it."""
        found, offset = self, 0
        while found.root is not None:
            offset += found.offset
            found = found.root
        return found, offset


@dataclass(slots=True, eq=False)
class Step:
    """One instruction of a region at its position; `is_folded`: native code has none for it.

    `reads`, `writes`: values. `kept`: old values that a guarded instruction may leave.
    """

    position: int
    instruction: Instruction
    is_folded: bool
    reads: tuple[Value, ...]
    writes: tuple[Value, ...]
    kept: tuple[Value, ...] = ()
    _holders: tuple[Value, ...] | None = None

    @property
    def holders(self) -> tuple[Value, ...]:
        """Values whose registers it reads, each once; the region must be complete."""
        if self._holders is None:
            self._holders = tuple(
                dict.fromkeys(value.holder for value in (*self.reads, *self.kept))
            )
        return self._holders


@dataclass(frozen=True, slots=True)
class Region:
    """Steps in the order of the source; `before`, `after`: values by register at both ends.

    `after` has what the region writes only.
    """

    steps: tuple[Step, ...]
    before: dict[int, Value]
    after: dict[int, Value]


def region_of(kernel: Kernel, pcs: Sequence[int], dropped: frozenset[int]) -> Region:
    """The region of the instructions `pcs`; `dropped`: positions of those that unrolling drops."""
    static = _static(kernel)
    builder = _Builder(static)
    for position, pc in enumerate(pcs):
        is_inner = position < len(pcs) - 1 and isinstance(kernel.instructions[pc], Branch | Jump)
        builder.add(position, pc, is_inner or position in dropped)
    return Region(tuple(builder.steps), builder.before, builder.now)


@dataclass(frozen=True, slots=True)
class _Static:
    """What instructions read and write, by pc, once wide accesses have swallowed others."""

    instructions: tuple[Instruction, ...]
    reads: tuple[tuple[int, ...], ...]
    writes: tuple[tuple[int, ...], ...]
    folded: frozenset[int]
    swallowed: frozenset[int]
    facts: RegisterFacts


@once_per_kernel
def _static(kernel: Kernel) -> _Static:
    native = native_counting(kernel)
    read = [list(_numbers(reads(item))) for item in kernel.instructions]
    written = [list(_numbers(writes(item))) for item in kernel.instructions]
    swallowed = {pc for pc, into in native.merged_into.items() if into != pc}
    for pc in sorted(swallowed):
        into = native.merged_into[pc]
        read[into] += [item for item in read[pc] if item not in read[into]]
        written[into] += written[pc]
        written[pc] = []
    return _Static(
        kernel.instructions,
        tuple(map(tuple, read)),
        tuple(map(tuple, written)),
        native.folded | folded_addresses(kernel),
        frozenset(swallowed),
        register_facts(kernel),
    )


def _numbers(registers: Iterable[Register]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(item.index for item in registers))


class _Builder:
    def __init__(self, static: _Static) -> None:
        self._static = static
        self.steps: list[Step] = []
        self.before: dict[int, Value] = {}
        self.now: dict[int, Value] = {}

    def add(self, position: int, pc: int, is_dropped: bool) -> None:
        static = self._static
        instruction = static.instructions[pc]
        read = tuple(map(self._value, static.reads[pc]))
        kept: tuple[Value, ...] = ()
        if instruction.guard is not None:
            kept = tuple(map(self._value, static.writes[pc]))
        written = tuple(self._new(register, position) for register in static.writes[pc])
        is_folded = pc in static.folded or pc in static.swallowed or is_dropped
        if is_folded and instruction.guard is None and len(written) == 1:
            _rename(instruction, read, written[0])
        for value in dict.fromkeys((*read, *kept)):
            value.readers.append(position)
        step = Step(position, instruction, is_folded, read, written, kept)
        self.steps.append(step)
        for value in written:
            self.now[value.register] = value

    def _value(self, register: int) -> Value:
        found = self.now.get(register) or self.before.get(register)
        if found is None:
            found = self.before[register] = Value(register, self._words(register))
        return found

    def _words(self, register: int) -> int:
        facts = self._static.facts
        return 0 if register in facts.constants else facts.words[register]

    def _new(self, register: int, position: int) -> Value:
        return Value(register, self._words(register), position)


def _rename(instruction: Instruction, read: tuple[Value, ...], written: Value) -> None:
    """Makes the result another name of what a folded instruction reads, if that is one value."""
    added = added_constant(instruction)
    sources = [item for item in read if item.words or item.root is not None]
    if len(sources) != 1 or not written.words:
        return
    is_move = isinstance(instruction, Compute) and len(instruction.sources) == 1
    if added is not None or is_move or len(read) == len(sources):
        written.root = sources[0]
        written.words = 0
        written.offset = added[1] if added is not None else 0


def address_of(step: Step) -> tuple[object, int] | None:
    """What an access is relative to, and how far; None for what is no plain access."""
    instruction = step.instruction
    if not isinstance(instruction, Load | Store | Atomic):
        return None
    address: Address = instruction.address
    if not isinstance(address.base, Register):
        symbol = getattr(address.base, "symbol", None)
        return symbol, address.offset + getattr(address.base, "offset", 0)
    for value in step.reads:
        if value.register == address.base.index:
            holder, offset = value.place
            return holder, offset + address.offset
    return None


def is_slow_load(step: Step) -> bool:
    """Whether the results of a step come from memory that takes its time."""
    instruction = step.instruction
    return (
        isinstance(instruction, Load)
        and not step.is_folded
        and instruction.address.space not in _AT_ONCE
    )
