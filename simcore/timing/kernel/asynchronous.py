"""Asynchronous copies and products in groups: who waits for what, as registers.

A copy (`cp.async`) or product (`wgmma`, `tcgen05`) writes a register of its own that only the wait
for its group reads, or the commit that tells an mbarrier of it. Which of them a wait is for, and
how many may stay behind, differs from one execution of an instruction to the next; so instructions
are told apart by the register that they write or the registers that they wait for, and paths name
those numbers in the place of pcs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.timing.kernel.pipelines import COMMITS
from kernelcast.simcore.timing.kernel.timed_kernel import TimedKernel
from kernelcast.traces.trace import InstructionRow
from kernelcast.traces.warp_paths import WarpPaths

__all__ = ["GroupedPaths", "grouped_paths", "joins_group", "with_groups", "with_numbers"]

_COMMIT, _WAIT = "commit_group", "wait_group"
_FAMILIES = _COPY, _PRODUCT, _TENSOR_MEMORY = "cp.async", "wgmma", "tcgen05"
_PRODUCTS = ("HGMMA", "IGMMA", "QGMMA", "BGMMA")
_OF_WARPGROUP = "WARPGROUP"
_IN_TENSOR_MEMORY_OF_SASS = ("UTCHMMA", "UTCIMMA", "UTCQMMA", "UTCOMMA", "UTCCP", "UTCSHIFT")
_OF_SASS = {
    **dict.fromkeys(("LDGSTS", "LDGDEPBAR", "DEPBAR", "ARRIVES"), _COPY),
    **dict.fromkeys((*_PRODUCTS, _OF_WARPGROUP), _PRODUCT),
    **dict.fromkeys((*_IN_TENSOR_MEMORY_OF_SASS, "UTCBAR"), _TENSOR_MEMORY),
}
"""Families of SASS opcodes."""
_IN_TENSOR_MEMORY = (
    *("tcgen05.mma", "tcgen05.cp", "tcgen05.shift"),
    *_IN_TENSOR_MEMORY_OF_SASS,
)
_COPIES = ("cp.async.c", "LDGSTS")
_FEWEST_GROUPS = 8
_MOST_IN_A_GROUP = 64
"""Executions of one instruction; more of them share registers."""

Registers = tuple[int, ...]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True)
class GroupedPaths:
    """Paths with numbers for instructions that are waited for by groups.

    `source`: the pc that each number stands for, shape (numbers,), the first ones for themselves;
    `reads` and `writes`: registers beside the instruction's own, by number.
    """

    pc: Ints
    source: npt.NDArray[np.intp]
    reads: tuple[Registers, ...]
    writes: tuple[Registers, ...]


def with_groups(kernel: TimedKernel) -> TimedKernel:
    """The kernel with its instructions told apart; itself where there are no groups."""
    first = int(max(kernel.reads.max(initial=-1), kernel.writes.max(initial=-1))) + 1
    grouped = grouped_paths(kernel.instructions, kernel.paths, first)
    if len(grouped.source) == len(kernel.pipeline):
        return kernel
    return with_numbers(kernel, grouped)


def with_numbers(kernel: TimedKernel, grouped: GroupedPaths) -> TimedKernel:
    """The kernel with the numbers and registers of `grouped`."""
    numbered = kernel.of(grouped.source)
    return replace(
        numbered,
        paths=replace(kernel.paths, pc=grouped.pc),
        reads=_joined(numbered.reads, grouped.reads),
        writes=_joined(numbered.writes, grouped.writes),
    )


def _joined(own: Ints, more: Sequence[Registers]) -> Ints:
    """Registers by number, padded with -1."""
    width = max((len(registers) for registers in more), default=0)
    table = np.full((len(own), own.shape[1] + width), -1, np.int32)
    table[:, : own.shape[1]] = own
    for row, registers in zip(table, more, strict=True):
        row[own.shape[1] : own.shape[1] + len(registers)] = registers
    return table


def grouped_paths(
    instructions: Sequence[InstructionRow], paths: WarpPaths, first_register: int
) -> GroupedPaths:
    """Registers are numbered from `first_register` on. Without groups nothing changes."""
    roles = dict(_roles(instructions))
    numbers = _Numbers(len(instructions), first_register)
    pc = paths.pc.copy()
    is_machine_code = any(row.control is not None for row in instructions)
    lefts = [left for role, _, left in roles.values() if role is _Role.WAIT]
    if lefts or any(role is _Role.TELL for role, _, _ in roles.values()):
        ring = max(_FEWEST_GROUPS, *(left + 2 for left in (0, *lefts)))
        relevant = np.zeros(len(instructions), np.bool_)
        relevant[list(roles)] = True
        events = np.flatnonzero(relevant[paths.pc])
        warps = np.searchsorted(paths.start, events, side="right")
        flows: dict[str, _Flow] = {}
        warp = -1
        for event, own, found in zip(
            events.tolist(), warps.tolist(), paths.pc[events].tolist(), strict=True
        ):
            if own != warp:
                warp, flows = own, {name: _Flow(ring) for name in _FAMILIES}
            role, family, left = roles[found]
            flow = flows[family]
            match role:
                case _Role.MEMBER:
                    pc[event] = numbers.member(found, flow.place(found))
                case _Role.COMMIT:
                    flow.commit()
                case _Role.CLOSE:
                    flow.close()
                case _Role.WAIT:
                    if family == _PRODUCT and is_machine_code:
                        flow.close()
                    pc[event] = numbers.wait(found, numbers.registers(flow.wait(left)))
                case _Role.TELL:
                    pc[event] = numbers.wait(found, numbers.registers(flow.tell()))
    return GroupedPaths(pc, np.array(numbers.source), tuple(numbers.reads), tuple(numbers.writes))


def _roles(
    instructions: Sequence[InstructionRow],
) -> Iterator[tuple[int, tuple[_Role, str, int]]]:
    """The pcs with a part in asynchronous groups: role, family, and groups that a wait leaves.

    Copies in bulk have groups of their own, which nobody follows here. Machine code does not say
    with an instruction of its own where a group of products ends: it does before the next group
    begins, or is waited for.
    """
    for row in instructions:
        family = _family(row)
        if not family or row.is_part or row.mnemonic.startswith("cp.async.bulk"):
            continue
        if joins_group(row):
            yield row.pc, (_Role.MEMBER, family, 0)
        elif row.mnemonic.startswith(f"{_OF_WARPGROUP}.ARRIVE"):
            yield row.pc, (_Role.CLOSE, family, 0)
        elif row.mnemonic.startswith(COMMITS):
            yield row.pc, (_Role.TELL, family, 0)
        elif row.opcode == _COMMIT:
            yield row.pc, (_Role.COMMIT, family, 0)
        elif row.opcode.startswith(_WAIT):
            yield row.pc, (_Role.WAIT, family, int(row.opcode.rpartition(".")[2]))


def _family(row: InstructionRow) -> str:
    """The family of PTX whose groups the instruction works on; empty where there are none."""
    found = next((name for name in _FAMILIES if row.mnemonic.startswith(f"{name}.")), "")
    return found or _OF_SASS.get(row.mnemonic.partition(".")[0], "")


def joins_group(row: InstructionRow) -> bool:
    """Whether an instruction completes asynchronously.

    Its warp goes on before what it brings is there, and waits for it by its group, or has an
    mbarrier told of it.
    """
    if row.is_part:
        return False
    is_copy = row.mnemonic.startswith(_COPIES) and row.kind == "load"
    return is_copy or row.opcode.startswith((_PRODUCT, *_PRODUCTS, *_IN_TENSOR_MEMORY))


Place = tuple[int, int, int]
"""An instruction, how often it ran in its group before, and the group's place in a ring."""


@dataclass
class _Flow:
    """Groups of one warp and kind."""

    ring: int
    group: int = 0
    count: dict[int, int] = field(default_factory=dict)
    open: list[Place] = field(default_factory=list)
    closed: list[list[Place]] = field(default_factory=list)
    untold: list[Place] = field(default_factory=list)
    told: list[Place] = field(default_factory=list)

    def place(self, pc: int) -> Place:
        seen = self.count.get(pc, 0)
        self.count[pc] = seen + 1
        place = pc, seen % _MOST_IN_A_GROUP, self.group % self.ring
        self.open.append(place)
        self.untold.append(place)
        return place

    def tell(self) -> list[Place]:
        """The places that an mbarrier is told of.

        These are all that was begun since the last time, or else the same again; of what came
        before that more is done by then.
        """
        if self.untold:
            self.told, self.untold = self.untold, []
        return self.told

    def commit(self) -> None:
        self.closed.append(self.open)
        self.group += 1
        self.open, self.count = [], {}

    def close(self) -> None:
        """Ends a group, if something was begun that is in none."""
        if self.open:
            self.commit()

    def wait(self, left: int) -> list[Place]:
        """What must be done; nothing of it is waited for again."""
        if left == 0:
            self.commit()
        end = max(0, len(self.closed) - left)
        done, self.closed = self.closed[:end], self.closed[end:]
        return [place for group in done for place in group]


class _Role(Enum):
    """What an instruction does to the groups of its family."""

    MEMBER = "member"
    COMMIT = "commit"
    WAIT = "wait"
    TELL = "tell"
    CLOSE = "close"


class _Numbers:
    """Instructions told apart by registers."""

    def __init__(self, instructions: int, first_register: int) -> None:
        self.source = list(range(instructions))
        self.reads: list[Registers] = [()] * instructions
        self.writes: list[Registers] = [()] * instructions
        self._next = first_register
        self._register: dict[Place, int] = {}
        self._member: dict[Place, int] = {}
        self._wait: dict[tuple[int, Registers], int] = {}

    def member(self, pc: int, place: Place) -> int:
        number = self._member.get(place)
        if number is None:
            self._register[place] = self._next
            number = self._member[place] = self._add(pc, (), (self._next,))
            self._next += 1
        return number

    def registers(self, places: Sequence[Place]) -> Registers:
        return tuple(sorted({self._register[place] for place in places}))

    def wait(self, pc: int, registers: Registers) -> int:
        number = self._wait.get((pc, registers))
        if number is None:
            number = self._wait[pc, registers] = self._add(pc, registers, ())
        return number

    def _add(self, pc: int, reads: Registers, writes: Registers) -> int:
        self.source.append(pc)
        self.reads.append(reads)
        self.writes.append(writes)
        return len(self.source) - 1
