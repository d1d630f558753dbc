"""Spin loops in the warp function: lanes that wait for others give way to them.

Each loop counts its passes in which nothing happened: no lane left it, none changed memory. After
`patience` of them, or after many passes of any kind, lanes that come to its head yield: they wait
in the mask `%Y` of the loop until no other lane of the warp can run, then the function returns and
other warps have their turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kernelcast.simcore.engine.jit.codegen.memory.accesses import Value
from kernelcast.simcore.engine.jit.codegen.registers import Registers
from kernelcast.simcore.engine.jit.codegen.warp_code import FULL, WarpCode
from kernelcast.simcore.engine.jit.codegen.workspace import field_offset
from kernelcast.simcore.isa.analysis.spin_loops import SpinLoop, patience
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    BulkCopy,
    HostCall,
    Instruction,
    Register,
    Store,
    TensorMemoryOperation,
)
from kernelcast.simcore.isa.opcodes.warp import GROUP
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["Meeting", "SpinCode"]

_MOST_PASSES = 4096
_SUSPENDED_PATIENCE = 1


@dataclass(frozen=True, slots=True)
class Meeting:
    """The lanes that a basic block needs: a mask of 32, and registers that hold more."""

    mask: int
    registers: tuple[Register, ...] = ()


class SpinCode:
    """Writes nothing at all for kernels without spin loops."""

    def __init__(
        self,
        warp: WarpCode,
        registers: Registers,
        loops: tuple[SpinLoop, ...],
        meetings: Mapping[int, Meeting | None],
    ) -> None:
        """Prepares the code for the kernel's spin loops.

        `meetings`: the members that a basic block needs; None if that is not known.
        """
        self._warp = warp
        self._registers = registers
        self._loops = loops
        self._meetings = meetings
        self._patience = patience(waits_for_members=None not in meetings.values())
        self._heads = frozenset(loop.head for loop in loops)
        self._suspended = frozenset(loop.head for loop in loops if loop.is_suspended)

    @property
    def heads(self) -> tuple[int, ...]:
        """The heads of the spin loops, as basic block indices."""
        return tuple(loop.head for loop in self._loops)

    def write_entry(self) -> None:
        """The counters: passes in which nothing happened, all passes, and what happened at all."""
        entry = self._warp.entry
        for head in self.heads:
            for name in (f"%idle{head}", f"%passes{head}"):
                entry.do(f"{name} = alloca i32")
                entry.do(f"store i32 0, ptr {name}")
        if self._loops:
            entry.do("%progress = alloca i1")
            entry.do("store i1 false, ptr %progress")

    def enter(self, block: int, mask: str) -> None:
        """Emits what begins a basic block: one more pass, or the end of the lanes' turn."""
        if block in self._heads:
            self._pass(block, mask)
        members = self._meetings.get(block)
        if members is not None:
            self._wait_for(block, members, mask)

    def _pass(self, block: int, mask: str) -> None:
        warp, code = self._warp, self._warp.scalar
        idle = self._one_more(f"%idle{block}")
        passes = self._one_more(f"%passes{block}")
        most = _SUSPENDED_PATIENCE if block in self._suspended else self._patience
        tired = code.op(f"icmp ugt i32 {idle}, {most}")
        long = code.op(f"icmp ugt i32 {passes}, {_MOST_PASSES}")
        ends = code.op(f"or i1 {tired}, {long}")
        gives_way, goes_on = warp.labels("yield", "pass")
        code.do(f"br i1 {ends}, label %{gives_way}, label %{goes_on}, !prof !0")
        self._yield(block, mask, gives_way)
        warp.label(goes_on)

    def _wait_for(self, block: int, members: Meeting, mask: str) -> None:
        """Lanes yield, too, when members spin that an operation of the basic block needs."""
        warp, code = self._warp, self._warp.scalar
        spinning = "0"
        for head in self.heads:
            spinning = code.op(f"or {warp.mask_type} {spinning}, {warp.load_mask(f'%Y{head}')}")
        missing = code.op(f"and {warp.mask_type} {spinning}, {self._needed(members, mask)}")
        waits, goes_on = warp.labels("gather", "together")
        is_complete = warp.is_empty(missing)
        code.do(f"br i1 {is_complete}, label %{goes_on}, label %{waits}, !prof !1")
        self._yield(block, mask, waits)
        warp.label(goes_on)

    def _needed(self, members: Meeting, mask: str) -> str:
        """The members as a mask of the warp, which is one group where registers hold some."""
        warp, vector = self._warp, self._warp.vector
        groups = sum(members.mask << first for first in range(0, max(warp.width, GROUP), GROUP))
        needed = str(groups & (1 << warp.width) - 1)
        lanes = warp.mask_vector(mask)
        for register in members.registers:
            held = self._registers.vector(register, ScalarType.B32)
            active = vector.select("i32", lanes, held, vector.splat("i32", 0))
            pairs = [(vector.type("i32"), active)]
            word = warp.scalar.intrinsic("vector.reduce.or", "i32", pairs, vector.mangle("i32"))
            needed = warp.scalar.op(f"or {warp.mask_type} {needed}, {word}")
        return needed

    def _yield(self, block: int, mask: str, label: str) -> None:
        warp = self._warp
        warp.label(label)
        warp.add_mask(mask, f"%Y{block}")
        warp.scalar.do("br label %dispatch")

    def leave(self, source: int, target: int) -> None:
        """Lanes go from one basic block to another: maybe out of a loop."""
        for loop in self._loops:
            if source in loop.body and target not in loop.body:
                self._note("true", loop.head)

    def after(self, block: int, instruction: Instruction, old: list[Value], mask: str) -> None:
        """Emits whether an instruction by the lanes of `mask` changed memory that others see."""
        heads = [loop.head for loop in self._loops if block in loop.body]
        if not heads:
            return
        warp, code = self._warp, self._warp.scalar
        match instruction:
            case Atomic():
                lanes = warp.both_masks(self._changing(instruction, old), mask)
            case Store() if instruction.address.space is not AddressSpace.LOCAL:
                lanes = mask
            case HostCall() | BulkCopy() | TensorMemoryOperation():
                lanes = mask
            case _:
                return
        changed = "true" if lanes == FULL else code.op(f"icmp ne {warp.mask_type} {lanes}, 0")
        for head in heads:
            self._note(changed, head, resets_passes=False)

    def write_end(self) -> None:
        """Tells the loop over warps whether anything happened."""
        if not self._loops:
            return
        code = self._warp.scalar
        happened = code.op("load i1, ptr %progress")
        where = code.op(f"getelementptr i8, ptr %w, i64 {field_offset('progress')}")
        known = code.op(f"load i64, ptr {where}")
        wide = code.op(f"zext i1 {happened} to i64")
        code.do(f"store i64 {code.op(f'or i64 {known}, {wide}')}, ptr {where}")

    def _one_more(self, slot: str) -> str:
        code = self._warp.scalar
        more = code.op(f"add i32 {code.op(f'load i32, ptr {slot}')}, 1")
        code.do(f"store i32 {more}, ptr {slot}")
        return more

    def _note(self, happened: str, head: int, *, resets_passes: bool = True) -> None:
        """Something happened in a loop if the i1 holds."""
        code = self._warp.scalar
        slots = (f"%idle{head}", f"%passes{head}") if resets_passes else (f"%idle{head}",)
        for slot in slots:
            known = code.op(f"load i32, ptr {slot}")
            code.do(f"store i32 {code.op(f'select i1 {happened}, i32 0, i32 {known}')}, ptr {slot}")
        before = code.op("load i1, ptr %progress")
        code.do(f"store i1 {code.op(f'or i1 {before}, {happened}')}, ptr %progress")

    def _changing(self, atomic: Atomic, old: list[Value]) -> str:
        """Lanes whose atomic left something else than was there."""
        warp, vector = self._warp, self._warp.vector
        bits = ScalarType.named(f"b{atomic.type.bits}")
        lane = f"i{bits.bits}"
        operands = [self._registers.vector(source, bits) for source in atomic.sources]
        if not operands:
            return "0"
        first, zero = operands[0], vector.splat(lane, 0)
        if atomic.operation in ("add", "xor"):
            changes = vector.binary("icmp ne", lane, first, zero)
        elif not old or atomic.operation not in ("cas", "exch", "or", "and", "min", "max"):
            return FULL
        else:
            changes = self._differs(atomic, old[0][0], operands, lane)
        return warp.scalar.op(f"bitcast <{warp.width} x i1> {changes} to {warp.mask_type}")

    def _differs(self, atomic: Atomic, old: str, operands: list[str], lane: str) -> str:
        """Emits, by lane as i1, whether an atomic changes what was there."""
        vector, first = self._warp.vector, operands[0]
        match atomic.operation:
            case "cas":
                matched = vector.binary("icmp eq", lane, old, first)
                other = vector.binary("icmp ne", lane, old, operands[1])
                return vector.binary("and", "i1", matched, other)
            case "or":
                return vector.binary("icmp ne", lane, vector.binary("or", lane, old, first), old)
            case "and":
                return vector.binary("icmp ne", lane, vector.binary("and", lane, old, first), old)
            case "min" | "max" if atomic.type.is_integer:
                relation = ("s" if atomic.type.is_signed else "u") + (
                    "lt" if atomic.operation == "min" else "gt"
                )
                return vector.binary(f"icmp {relation}", lane, first, old)
        return vector.binary("icmp ne", lane, old, first)
