"""Waits of AMD's machine code: which accesses an `s_waitcnt` is for, as registers.

A wavefront counts what it began and is not done: one counter for vector memory, one for scalar and
local memory, and on RDNA one for stores to vector memory. Accesses of a counter are done in their
order, and a wait says how many of the latest may go on (AMD Instinct MI200 Instruction Set
Architecture, 4.4). Scalar loads are not in order; compilers wait for all of them, which is the
same. Which accesses a wait is for differs from one execution to the next; so paths have numbers of
instructions with registers of their own, as they do for asynchronous copies (`asynchronous`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from kernelcast.simcore.timing.kernel.asynchronous import GroupedPaths, with_numbers
from kernelcast.simcore.timing.kernel.machine_schedule import owners
from kernelcast.simcore.timing.kernel.timed_kernel import TimedKernel
from kernelcast.traces.trace import InstructionRow

__all__ = ["with_counters"]

_COUNTERS = 4
Registers = tuple[int, ...]


def with_counters(kernel: TimedKernel) -> TimedKernel:
    """The kernel with its waits; itself where no instruction counts in counters."""
    roles = _roles(kernel.instructions)
    if not any(role.counters for role in roles.values()):
        return kernel
    first = int(max(kernel.reads.max(initial=-1), kernel.writes.max(initial=-1))) + 1
    numbers = _Numbers(len(kernel.pipeline), first)
    paths = kernel.paths
    is_relevant = np.zeros(len(kernel.pipeline), np.bool_)
    is_relevant[list(roles)] = True
    pc = paths.pc.copy()
    known: dict[bytes, list[int]] = {}
    for begin, end in pairwise(paths.start.tolist()):
        events = begin + np.flatnonzero(is_relevant[paths.pc[begin:end]])
        path = paths.pc[events]
        found = known.get(path.tobytes())
        if found is None:
            found = known[path.tobytes()] = _numbered(path.tolist(), roles, numbers)
        pc[events] = found
    return with_numbers(kernel, numbers.grouped(pc))


@dataclass(frozen=True, slots=True)
class _Role:
    """What an instruction counts in, what a wait leaves, and whether it is the end of another."""

    counters: tuple[int, ...] = ()
    left: tuple[int, ...] = ()
    is_end: bool = False


def _roles(rows: Sequence[InstructionRow]) -> dict[int, _Role]:
    roles: dict[int, _Role] = {}
    for row, owner in zip(rows, owners(rows), strict=True):
        control = owner.control
        if control is None:
            continue
        if row is not owner and control.counters and row.merged_into == row.pc and row.kind:
            roles[row.pc] = _Role(is_end=True)
        elif row is owner and (control.counters or control.left):
            roles[row.pc] = _Role(control.counters, control.left)
    return roles


def _numbered(path: list[int], roles: dict[int, _Role], numbers: _Numbers) -> list[int]:
    """The numbers of the events of one warp that have a role."""
    counters: list[list[int]] = [[] for _ in range(_COUNTERS)]
    found: list[int] = []
    latest: int | None = None
    for pc in path:
        role = roles[pc]
        if role.counters:
            latest = numbers.free(counters)
            for counter in role.counters:
                counters[counter].append(latest)
            found.append(numbers.of(pc, (), (latest,)))
        elif role.is_end:
            found.append(pc if latest is None else numbers.of(pc, (), (latest,)))
        else:
            done = _done(counters, role.left)
            found.append(numbers.of(pc, done, ()))
    return found


def _done(counters: list[list[int]], left: tuple[int, ...]) -> Registers:
    """Takes out what a wait is for."""
    done: set[int] = set()
    for counter, most in zip(counters, left, strict=False):
        end = max(0, len(counter) - most)
        done.update(counter[:end])
        del counter[:end]
    return tuple(sorted(done))


@dataclass
class _Numbers:
    """Instructions told apart by registers, which are numbered from `first` on."""

    instructions: int
    first: int
    source: list[int] = field(default_factory=list)
    reads: list[Registers] = field(default_factory=list)
    writes: list[Registers] = field(default_factory=list)
    known: dict[tuple[int, Registers, Registers], int] = field(default_factory=dict)

    def free(self, counters: list[list[int]]) -> int:
        """The first register that nothing on its way has."""
        taken = {register for counter in counters for register in counter}
        register = self.first
        while register in taken:
            register += 1
        return register

    def of(self, pc: int, reads: Registers, writes: Registers) -> int:
        """The number of an instruction with these registers."""
        key = pc, reads, writes
        number = self.known.get(key)
        if number is None:
            number = self.known[key] = self.instructions + len(self.source)
            self.source.append(pc)
            self.reads.append(reads)
            self.writes.append(writes)
        return number

    def grouped(self, pc: np.ndarray[tuple[int], np.dtype[np.int32]]) -> GroupedPaths:
        """The paths `pc` with the instructions' own numbers before these."""
        own: list[Registers] = [()] * self.instructions
        source = np.array([*range(self.instructions), *self.source], np.intp)
        return GroupedPaths(pc, source, (*own, *self.reads), (*own, *self.writes))
