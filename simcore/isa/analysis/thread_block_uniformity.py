"""Which registers hold the same in all threads of a thread block whenever threads come by.

They may change: counters of loops that all threads go round equally often are such. What is
computed where threads have parted is none of them (Karrenberg and Hack, "Whole-function
vectorization", CGO 2011, call it divergence).
"""

from __future__ import annotations

from collections.abc import Iterable

from kernelcast.simcore.host.deadline import check_time
from kernelcast.simcore.isa.analysis.control_flow import post_dominators, reads, writes
from kernelcast.simcore.isa.analysis.uniformity import is_thread_block_constant
from kernelcast.simcore.isa.ir.kernel import Branch, Instruction, Kernel

__all__ = ["thread_block_values"]


def thread_block_values(kernel: Kernel) -> frozenset[int]:
    """Indices of registers that differ between threads in no way."""
    differing = _Differing(kernel)
    return frozenset(r.index for r in kernel.registers if r.index not in differing.registers)


class _Differing:
    """Registers that may differ; grows until nothing is added."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self.registers: set[int] = set()
        self._readers: dict[int, list[Instruction]] = {}
        self._branches: dict[int, list[int]] = {}
        for block in kernel.blocks:
            end = block.terminator
            for instruction in (*block.body, end):
                for register in reads(instruction):
                    self._readers.setdefault(register.index, []).append(instruction)
            if isinstance(end, Branch):
                self._branches.setdefault(end.guard.register.index, []).append(block.index)
        self._meetings = post_dominators([block.successors for block in kernel.blocks])
        self._pending: list[int] = []
        for block in kernel.blocks:
            for instruction in block.body:
                if not is_thread_block_constant(instruction):
                    self._add(writes(instruction))
        self._spread()

    def _add(self, registers: Iterable[object]) -> None:
        for register in registers:
            index = getattr(register, "index", -1)
            if index not in self.registers:
                self.registers.add(index)
                self._pending.append(index)

    def _spread(self) -> None:
        parted: set[int] = set()
        while self._pending:
            check_time("looking for values of thread blocks")
            index = self._pending.pop()
            for instruction in self._readers.get(index, ()):
                self._add(writes(instruction))
            for place in self._branches.get(index, ()):
                for block in self._apart(place) - parted:
                    parted.add(block)
                    for instruction in self._kernel.blocks[block].body:
                        self._add(writes(instruction))

    def _apart(self, place: int) -> set[int]:
        """Basic blocks between a branch and the place where all its ways meet."""
        meeting = self._meetings[place]
        found: set[int] = set()
        pending = list(self._kernel.blocks[place].successors)
        while pending:
            block = pending.pop()
            if block != meeting and block not in found:
                found.add(block)
                pending.extend(self._kernel.blocks[block].successors)
        return found
