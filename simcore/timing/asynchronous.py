"""Asynchronous copies and products in groups: who waits for what, as registers.

A copy (`cp.async`) or product (`wgmma`) writes a register of its own that only the wait for its
group reads, a copy in bulk one that its warp's own wait for the mbarrier reads. Which of them a
wait is for, and how many may stay behind, differs from one execution of an instruction to the next;
so instructions are told apart by the register that they write or the registers that they wait for,
and paths name those numbers in the place of pcs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.timing.bulk_waits import bulk_waits
from kernelcast.simcore.timing.timed_kernel import MemoryLevels, TimedKernel
from kernelcast.traces.trace import InstructionRow
from kernelcast.traces.warp_paths import WarpPaths

__all__ = ["GroupedPaths", "grouped_paths", "joins_group", "with_groups"]

_COMMIT, _WAIT = "commit_group", "wait_group"
_COPY, _PRODUCT = "cp", "wgmma"
_FEWEST_GROUPS = 8
_MOST_IN_A_GROUP = 64
"""Executions of one instruction; more of them share registers."""

Registers = tuple[int, ...]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True)
class GroupedPaths:
    """`source`: the pc that each number stands for, shape (numbers,), the first ones for
    themselves; `reads` and `writes`: registers beside the instruction's own, by number."""

    pc: Ints
    source: npt.NDArray[np.intp]
    reads: tuple[Registers, ...]
    writes: tuple[Registers, ...]

    def rows(self, instructions: Sequence[InstructionRow]) -> tuple[InstructionRow, ...]:
        """The instructions by number."""
        return tuple(
            replace(instructions[pc], pc=number) for number, pc in enumerate(self.source.tolist())
        )


def with_groups(kernel: TimedKernel) -> TimedKernel:
    """The kernel with its instructions told apart; itself where there are no groups."""
    first = int(max(kernel.reads.max(initial=-1), kernel.writes.max(initial=-1))) + 1
    grouped = grouped_paths(kernel.instructions, kernel.paths, first)
    if len(grouped.source) == len(kernel.pipeline):
        return kernel
    source, levels = grouped.source, kernel.levels
    latency = kernel.tensor_latency
    return replace(
        kernel,
        paths=replace(kernel.paths, pc=grouped.pc),
        pipeline=tuple(kernel.pipeline[pc] for pc in source.tolist()),
        is_store=kernel.is_store[source],
        reads=_joined(kernel.reads[source], grouped.reads),
        writes=_joined(kernel.writes[source], grouped.writes),
        levels=MemoryLevels(
            sectors=levels.sectors[source],
            l1_hits=levels.l1_hits[source],
            l2_hits=levels.l2_hits[source],
            bytes_per_lane=levels.bytes_per_lane[source],
        ),
        tensor_latency=None if latency is None else latency[source],
        instructions=grouped.rows(kernel.instructions),
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
    members = {row.pc: _family(row) for row in instructions if joins_group(row)}
    commits = {row.pc: _family(row) for row in instructions if row.opcode == _COMMIT}
    waits = {
        row.pc: (_family(row), int(row.opcode.rpartition(".")[2]))
        for row in instructions
        if row.opcode.startswith(_WAIT)
    }
    numbers = _Numbers(len(instructions), first_register)
    pc = paths.pc.copy()
    if waits:
        ring = max(_FEWEST_GROUPS, *(left + 2 for _, left in waits.values()))
        relevant = np.zeros(len(instructions), np.bool_)
        relevant[[*members, *commits, *waits]] = True
        events = np.flatnonzero(relevant[paths.pc])
        warps = np.searchsorted(paths.start, events, side="right")
        flows: dict[str, _Flow] = {}
        warp = -1
        for event, own, found in zip(
            events.tolist(), warps.tolist(), paths.pc[events].tolist(), strict=True
        ):
            if own != warp:
                warp, flows = own, {name: _Flow(ring) for name in (_COPY, _PRODUCT)}
            if found in members:
                pc[event] = numbers.member(found, flows[members[found]].place(found))
            elif found in commits:
                flows[commits[found]].commit()
            else:
                family, left = waits[found]
                pc[event] = numbers.wait(found, numbers.registers(flows[family].wait(left)))
    _tell_bulk_apart(instructions, paths, numbers, pc)
    return GroupedPaths(pc, np.array(numbers.source), tuple(numbers.reads), tuple(numbers.writes))


def _tell_bulk_apart(
    instructions: Sequence[InstructionRow], paths: WarpPaths, numbers: _Numbers, pc: Ints
) -> None:
    """Renames the copies in bulk and the waits for them in `pc`."""
    for wait in bulk_waits(instructions, paths):
        mbarrier = int(paths.address[wait.look])
        count: dict[int, int] = {}
        places = []
        for event in wait.copies:
            found = int(paths.pc[event])
            count[found] = count.get(found, -1) + 1
            place = found, count[found] % _MOST_IN_A_GROUP, mbarrier
            pc[event] = numbers.member(found, place)
            places.append(place)
        registers = numbers.registers(places)
        pc[wait.look] = numbers.wait(int(paths.pc[wait.look]), registers)


def joins_group(row: InstructionRow) -> bool:
    """Whether its warp goes on before what it brings is there, and waits for it by its group."""
    is_copy = row.mnemonic.startswith("cp.async.c") and row.kind == "load" and not row.is_part
    return is_copy or row.opcode.startswith(_PRODUCT)


def _family(row: InstructionRow) -> str:
    """Copies in bulk have groups of their own, which nobody follows here."""
    if row.mnemonic.startswith("cp.async.bulk"):
        return ""
    return _PRODUCT if row.mnemonic.startswith(_PRODUCT) else _COPY


Place = tuple[int, int, int]
"""An instruction, how often it ran in its group before, and the group's place in a ring, or the
mbarrier."""


@dataclass
class _Flow:
    """Groups of one warp and kind."""

    ring: int
    group: int = 0
    count: dict[int, int] = field(default_factory=dict)
    open: list[Place] = field(default_factory=list)
    closed: list[list[Place]] = field(default_factory=list)

    def place(self, pc: int) -> Place:
        seen = self.count.get(pc, 0)
        self.count[pc] = seen + 1
        place = pc, seen % _MOST_IN_A_GROUP, self.group % self.ring
        self.open.append(place)
        return place

    def commit(self) -> None:
        self.closed.append(self.open)
        self.group += 1
        self.open, self.count = [], {}

    def wait(self, left: int) -> list[Place]:
        """What must be done; nothing of it is waited for again."""
        if left == 0:
            self.commit()
        end = max(0, len(self.closed) - left)
        done, self.closed = self.closed[:end], self.closed[end:]
        return [place for group in done for place in group]


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
