"""Counters of basic blocks and guards as LLVM IR, in the row of the thread block's stage.

Counters are held in registers until all warps of the thread block have come to the end of a stage.
Each one held makes a phi at every place where paths join, so only so many are, those of the
innermost loops first; all others are added to memory at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kernelcast.simcore.engine.jit.analysis.waiting_places import HeldCounters
from kernelcast.simcore.engine.jit.analysis.warp_analysis import Analysis
from kernelcast.simcore.engine.jit.codegen.warp_code import WarpCode
from kernelcast.simcore.engine.jit.codegen.workspace import field_offset
from kernelcast.simcore.isa.analysis.control_flow import writes
from kernelcast.simcore.isa.analysis.issued_by_group import issued_by_group
from kernelcast.simcore.isa.ir.kernel import BasicBlock, Instruction, Kernel

__all__ = ["COUNTERS_AT_ONCE", "CounterCode", "CounterColumns", "loop_heads"]

COUNTERS_AT_ONCE = 8
_MOST_HELD = 24
"""Basic blocks whose counters are held."""


@dataclass(frozen=True, slots=True)
class CounterColumns:
    """Instructions with words of their own, as pairs of pc and word.

    `guarded`: words that count lanes off; `later`: of what a GPU issues for each group of lanes,
    words that count groups that come where others of the warp wait.
    """

    guarded: tuple[tuple[int, int], ...]
    later: tuple[tuple[int, int], ...]


class CounterCode:
    """Counters of basic blocks and guards in a thread block's row.

    Words of a row: issues and lanes by basic block, then lanes off by guard, groups that come
    later, then as many unused ones as make it a multiple of COUNTERS_AT_ONCE. Instructions of a
    basic block whose guards hold in the same lanes share a counter.
    """

    def __init__(self, warp: WarpCode, kernel: Kernel, analysis: Analysis) -> None:
        self._warp = warp
        self._analysis = analysis
        self._blocks = len(kernel.blocks)
        leaders = {i.pc: found for block in kernel.blocks for i, found in _same_guards(block)}
        self._position = {
            leader: 2 * self._blocks + n for n, leader in enumerate(dict.fromkeys(leaders.values()))
        }
        first = 2 * self._blocks + len(self._position)
        by_group = issued_by_group(kernel)
        self._later = {index: first + n for n, index in enumerate(by_group)}
        self.columns = CounterColumns(
            tuple((pc, self._position[leader]) for pc, leader in leaders.items()),
            tuple((pc, self._later[index]) for index, pc in by_group.items()),
        )
        self._held = _held(kernel)
        self._held_guards = [
            i.pc
            for b in kernel.blocks
            for i in b.body
            if i.pc in self._position and b.index in self._held
        ]
        dynamic = analysis.is_dynamic
        names = [f"N{index}" for index in self._held]
        names += [f"L{index}" for index in self._held if dynamic[index]]
        names += [f"G{pc}" for pc in self._held_guards]
        self._slots = {name: number for number, name in enumerate(names)}

    @property
    def words(self) -> int:
        """Words of a row, padded to a multiple of COUNTERS_AT_ONCE."""
        used = 2 * self._blocks + len(self._position) + len(self._later)
        return -(-used // COUNTERS_AT_ONCE) * COUNTERS_AT_ONCE

    @property
    def held(self) -> HeldCounters:
        """What the words of the row get of what is held."""
        parts: list[tuple[int, int, int]] = []
        lanes_of_one = self._warp.width // self._warp.together
        for index in self._held:
            issues = self._slots[f"N{index}"]
            lanes = self._slots.get(f"L{index}", issues)
            factor = lanes_of_one if lanes == issues else 1
            parts += [(2 * index, issues, 1), (2 * index + 1, lanes, factor)]
        parts += [(self._position[pc], self._slots[f"G{pc}"], 1) for pc in self._held_guards]
        used = 2 * self._blocks + len(self._position) + len(self._later)
        return HeldCounters(tuple(sorted(parts)), len(self._slots), len(parts) == used)

    def write_entry(self) -> None:
        """The row, and the counters that are held, at the function's entry."""
        entry = self._warp.entry
        rows = entry.op(f"getelementptr i8, ptr %w, i64 {field_offset('stage_counts')}")
        table = entry.op(f"load ptr, ptr {rows}")
        where = entry.op(f"getelementptr i8, ptr %w, i64 {field_offset('stage')}")
        stage = entry.op(f"load i64, ptr {where}")
        first = entry.op(f"mul i64 {stage}, {self.words}")
        entry.do(f"%row = getelementptr i64, ptr {table}, i64 {first}")
        for name, number in self._slots.items():
            entry.do(f"%{name} = getelementptr i64, ptr %held, i64 {number}")

    def count(self, index: int, mask: str) -> None:
        """One more issue of a basic block by the lanes of `mask`."""
        code, is_dynamic = self._warp.scalar, self._analysis.is_dynamic[index]
        lanes = self._lanes(mask) if is_dynamic else str(self._warp.width)
        issues = self._issues(mask) if is_dynamic else str(self._warp.together)
        if index in self._held:
            self._add(f"%N{index}", issues)
            if is_dynamic:
                self._add(f"%L{index}", lanes)
            return
        where = code.op(f"getelementptr i64, ptr %row, i64 {2 * index}")
        more = f"<i64 {issues}, i64 {lanes}>"
        if is_dynamic:
            more = code.op(f"insertelement <2 x i64> poison, i64 {issues}, i64 0")
            more = code.op(f"insertelement <2 x i64> {more}, i64 {lanes}, i64 1")
        known = code.op(f"load <2 x i64>, ptr {where}, align 8")
        both = code.op(f"add <2 x i64> {known}, {more}")
        code.do(f"store <2 x i64> {both}, ptr {where}, align 8")

    def counts_off(self, pc: int) -> bool:
        """Whether an instruction is the one that counts for all those with its guard."""
        return pc in self._position

    def count_off(self, pc: int, mask: str) -> None:
        """Lanes that the guard of an instruction turned off."""
        lanes = self._lanes(mask)
        if pc in self._held_guards:
            self._add(f"%G{pc}", lanes)
        else:
            self._add(self._place(self._position[pc]), lanes)

    def count_later(self, index: int, waiting: str) -> None:
        """Lanes come to a basic block, where those in the slot `waiting` wait, if there are any."""
        if index in self._later:
            code = self._warp.scalar
            nobody = self._warp.is_empty(self._warp.load_mask(waiting))
            some = code.op(f"xor i1 {nobody}, true")
            self._add(self._place(self._later[index]), code.op(f"zext i1 {some} to i64"))

    def _place(self, position: int) -> str:
        return self._warp.scalar.op(f"getelementptr i64, ptr %row, i64 {position}")

    def _issues(self, mask: str) -> str:
        """How many warps issue what the lanes of a mask, which is not empty, execute."""
        if self._warp.together == 1:
            return "1"
        first, *others = (
            self._warp.scalar.op(f"zext i1 {i} to i64") for i in self._warp.warps_in(mask)
        )
        for other in others:
            first = self._warp.scalar.op(f"add i64 {first}, {other}")
        return first

    def _lanes(self, mask: str) -> str:
        kind = self._warp.mask_type
        count = self._warp.scalar.op(f"call {kind} @llvm.ctpop.{kind}({kind} {mask})")
        return self._warp.as_i64(count)

    def _add(self, place: str, value: str) -> None:
        code = self._warp.scalar
        known = code.op(f"load i64, ptr {place}")
        code.do(f"store i64 {code.op(f'add i64 {known}, {value}')}, ptr {place}")


def _same_guards(block: BasicBlock) -> Iterator[tuple[Instruction, int]]:
    """Guarded instructions, and the pc of the first one whose guard holds in the same lanes."""
    first: dict[tuple[int, bool], int] = {}
    for instruction in block.body:
        if instruction.guard is not None:
            key = instruction.guard.register.index, instruction.guard.negated
            yield instruction, first.setdefault(key, instruction.pc)
        for register in writes(instruction):
            for negated in (False, True):
                first.pop((register.index, negated), None)


def _held(kernel: Kernel) -> tuple[int, ...]:
    """Basic blocks, those of the innermost loops first, as many as may be held."""
    depth = [0] * len(kernel.blocks)
    for block in kernel.blocks:
        for target in block.successors:
            for index in range(target, block.index + 1):
                depth[index] += 1
    inner = sorted(range(len(depth)), key=lambda i: -depth[i])
    return tuple(sorted(inner[:_MOST_HELD]))


def loop_heads(blocks: tuple[BasicBlock, ...]) -> frozenset[int]:
    """Basic blocks that a jump goes back to."""
    return frozenset(t for block in blocks for t in block.successors if t <= block.index)
