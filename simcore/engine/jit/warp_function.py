"""The function that runs one warp, as LLVM IR: control flow, masks, counters, computation.

`i32 @warp(ptr w, ptr context, i32 state, i32 warp, i32 x, i32 y, i32 z)` runs from `state` (0: the
entry) to the warp's end (-1), a fault (-2) or a barrier: state 1 + n is barrier n reached by the
whole warp, `mixed` the rest. Registers live across a barrier are kept in `context`.
"""

from __future__ import annotations

from collections.abc import Iterable

from kernelcast.simcore.engine.jit.analysis import Analysis, Facts
from kernelcast.simcore.engine.jit.memory_code import MemoryCode
from kernelcast.simcore.engine.jit.registers import Registers
from kernelcast.simcore.engine.jit.workspace import field_offset
from kernelcast.simcore.isa.kernel import (
    Atomic,
    BarrierSync,
    BasicBlock,
    Branch,
    Compute,
    Exit,
    Fence,
    Guard,
    Instruction,
    Kernel,
    Load,
    Register,
    Special,
    Store,
)
from kernelcast.simcore.isa.native_code import NativeCode
from kernelcast.simcore.isa.opcodes import Context
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["FAULT_LIMIT", "FAULT_TRAP", "WarpFunction"]

FAULT_LIMIT, FAULT_TRAP = 1, 2


class WarpFunction:
    """Writes the function; `text()` is its IR, `context_bytes` what a waiting warp needs."""

    def __init__(
        self,
        kernel: Kernel,
        analysis: Analysis,
        facts: Facts,
        scalar: NativeCode,
        entry: NativeCode,
        specials: dict[Special, str],
        memory: MemoryCode,
        registers: Registers,
    ) -> None:
        self._kernel = kernel
        self._analysis = analysis
        self._width = facts.width
        self._code = scalar
        self._entry = entry
        self._vector = scalar.with_lanes(facts.width)
        self._specials = specials
        self._memory = memory
        self._registers = registers
        self._mask_type = f"i{facts.width}"
        self._by_index = {r.index: r for r in kernel.registers}
        count = len(kernel.blocks)
        self._barriers = [b.index for b in kernel.blocks if isinstance(b.terminator, BarrierSync)]
        self._mixed_barriers = [b for b in self._barriers if self._is_mixed(b)]
        waiting = {y for places in analysis.pending_with for y in places if y < count}
        waiting.update(kernel.blocks[b].successors[0] for b in self._mixed_barriers)
        self._pendable = sorted(waiting)
        self._bit = {place: bit for bit, place in enumerate(self._pendable)}
        self.guarded = [i.pc for b in kernel.blocks for i in b.body if i.guard is not None]
        self.context_bytes = 0
        self._context_offsets: dict[int, int] = {}
        self._blocks_counted = range(count)

    def _is_mixed(self, barrier: int) -> bool:
        """Whether other lanes of the warp may be elsewhere when some reach the barrier."""
        places = self._analysis.pending_with
        own = len(self._kernel.blocks) + barrier
        return bool(places[barrier]) or any(own in waiting for waiting in places)

    @property
    def counters(self) -> int:
        """Words a stage: issues and lanes by basic block, then lanes off by guarded instruction."""
        return 2 * len(self._kernel.blocks) + len(self.guarded)

    @property
    def mixed_state(self) -> int:
        return 1 + len(self._barriers)

    @property
    def barrier_of_state(self) -> list[int]:
        return self._barriers

    @property
    def mixed_barriers(self) -> list[int]:
        return self._mixed_barriers

    def wait_mask_offset(self, barrier: int) -> int:
        """Where a waiting warp's context keeps the lanes that wait at a mixed barrier."""
        return 16 + 8 * self._mixed_barriers.index(barrier)

    def write(self) -> None:
        """Appends the whole body to the code."""
        self._lay_out_context()
        for block in self._kernel.blocks:
            self._basic_block(block)
        self._dispatch()
        self._finish()
        self._declare_slots()
        self._resume()

    # context: status (by the caller), mask, wait masks, registers

    def _lay_out_context(self) -> None:
        offset = 16 + 8 * len(self._mixed_barriers)
        for index in sorted(self._saved(self._barriers)):
            register = self._by_index[index]
            varying = self._analysis.shape(register).is_varying
            size = max(1, register.bits * (self._width if varying else 1) // 8)
            align = 64 if size >= 64 else 8
            offset = -(-offset // align) * align
            self._context_offsets[index] = offset
            offset += size
        self.context_bytes = -(-offset // 64) * 64

    def _saved(self, barriers: Iterable[int]) -> set[int]:
        live = self._analysis.live_in
        return {i for b in barriers for i in live[self._kernel.blocks[b].successors[0]]}

    def _save(self, indices: Iterable[int]) -> None:
        for index in sorted(indices):
            kind, value, where = self._transfer(index)
            self._code.do(f"store {kind} {value}, ptr {where}, align 8")

    def _transfer(self, index: int) -> tuple[str, str, str]:
        """(memory type, value, address in the context) of a register to be saved."""
        register = self._by_index[index]
        value = self._code.op(f"load {self._registers.slot_type(register)}, ptr %R{index}")
        where = self._code.op(f"getelementptr i8, ptr %context, i64 {self._context_offsets[index]}")
        kind = self._registers.slot_type(register)
        if register.bits == 1:
            memory = self._mask_type if kind != "i1" else "i8"
            name = "bitcast" if kind != "i1" else "zext"
            value = self._code.op(f"{name} {kind} {value} to {memory}")
            return memory, value, where
        return kind, value, where

    def _restore(self, indices: Iterable[int]) -> None:
        for index in sorted(indices):
            register = self._by_index[index]
            kind = self._registers.slot_type(register)
            where = self._code.op(
                f"getelementptr i8, ptr %context, i64 {self._context_offsets[index]}"
            )
            if register.bits == 1:
                memory = self._mask_type if kind != "i1" else "i8"
                raw = self._code.op(f"load {memory}, ptr {where}, align 8")
                name = "bitcast" if kind != "i1" else "trunc"
                value = self._code.op(f"{name} {memory} {raw} to {kind}")
            else:
                value = self._code.op(f"load {kind}, ptr {where}, align 8")
            self._code.do(f"store {kind} {value}, ptr %R{index}")

    # basic blocks

    def _basic_block(self, block: BasicBlock) -> None:
        code, index = self._code, block.index
        self._label(f"B{index}")
        self._registers.begin()
        mask = self._full()
        if self._analysis.is_dynamic[index]:
            mask = code.op(f"load {self._mask_type}, ptr %mask")
        issues = len(block.body) + bool(block.terminator.mnemonic)
        time = code.op("load i64, ptr %time")
        code.do(f"store i64 {code.op(f'add i64 {time}, {issues}')}, ptr %time")
        self._specials[Special.CLOCK64] = time
        self._specials[Special.CLOCK] = code.op(f"trunc i64 {time} to i32")
        if self._is_loop_target(index):
            self._check_limit(time, block)
        self._count(index, mask)
        self._memory.begin(block, mask, time)
        for position, instruction in enumerate(block.body):
            self._instruction(block, instruction, mask, position)
        self._terminator(block, mask)

    def _is_loop_target(self, index: int) -> bool:
        return any(index in b.successors for b in self._kernel.blocks if b.index >= index)

    def _check_limit(self, time: str, block: BasicBlock) -> None:
        code = self._code
        where = code.op(f"getelementptr i8, ptr %w, i64 {field_offset('limit')}")
        limit = code.op(f"load volatile i64, ptr {where}")
        over = code.op(f"icmp ugt i64 {time}, {limit}")
        bad, good = self._labels("over", "within")
        code.do(f"br i1 {over}, label %{bad}, label %{good}, !prof !0")
        self._label(bad)
        self._fault(FAULT_LIMIT, (block.body or (block.terminator,))[0].pc, self._full())
        self._label(good)

    def _fault(self, kind: int, pc: int, mask: str) -> None:
        code = self._code
        lane = code.op(
            f"call {self._mask_type} @llvm.cttz.{self._mask_type}({self._mask_type} {mask}, i1 false)"
        )
        wide = self._as_i64(lane)
        for name, value in (("fault_kind", str(kind)), ("fault_pc", str(pc)), ("fault_lane", wide)):
            where = code.op(f"getelementptr i8, ptr %w, i64 {field_offset(name)}")
            code.do(f"store i64 {value}, ptr {where}")
        code.do("br label %fault")

    def _count(self, index: int, mask: str) -> None:
        issues = self._code.op(f"load i64, ptr %N{index}")
        self._code.do(f"store i64 {self._code.op(f'add i64 {issues}, 1')}, ptr %N{index}")
        if self._analysis.is_dynamic[index]:
            self._add_lanes(f"%L{index}", mask)

    def _add_lanes(self, slot: str, mask: str) -> None:
        code, kind = self._code, self._mask_type
        lanes = self._as_i64(code.op(f"call {kind} @llvm.ctpop.{kind}({kind} {mask})"))
        known = code.op(f"load i64, ptr {slot}")
        code.do(f"store i64 {code.op(f'add i64 {known}, {lanes}')}, ptr {slot}")

    def _as_i64(self, value: str) -> str:
        if self._width == 64:
            return value
        return self._code.op(f"zext {self._mask_type} {value} to i64")

    def _instruction(
        self, block: BasicBlock, instruction: Instruction, mask: str, position: int
    ) -> None:
        keep_vector = keep_scalar = None
        if instruction.guard is not None:
            condition = self._condition(instruction.guard)
            mask = self._and(mask, condition)
            keep_scalar = self._uniform_condition(instruction.guard)
            on = self._code.op(f"xor {self._mask_type} {condition}, -1")
            off = self._and(on, self._block_mask(block))
            self._add_lanes(f"%G{instruction.pc}", off)
        if mask != self._full():
            keep_vector = mask
        match instruction:
            case Compute():
                self._compute(block, instruction, keep_vector, keep_scalar)
            case Load():
                values = self._memory.load(instruction, mask, position)
                for register, (value, written_as, shape) in zip(
                    instruction.destinations, values, strict=True
                ):
                    if register is not None:
                        keep = self._keep(block, instruction, register, keep_vector, keep_scalar)
                        self._registers.write(register, value, written_as, shape, keep)
            case Store():
                self._memory.store(instruction, mask, position)
            case Atomic():
                old = self._memory.atomic(instruction, mask, position)
                register = instruction.destination
                if register is not None and old is not None:
                    keep = self._keep(block, instruction, register, keep_vector, keep_scalar)
                    value, written_as, shape = old
                    self._registers.write(register, value, written_as, shape, keep)
            case Fence():
                pass

    def _block_mask(self, block: BasicBlock) -> str:
        if not self._analysis.is_dynamic[block.index]:
            return self._full()
        return self._code.op(f"load {self._mask_type}, ptr %mask")

    def _keep(
        self,
        block: BasicBlock,
        instruction: Instruction,
        register: Register,
        mask: str | None,
        scalar: str | None,
    ) -> str | None:
        """Where a write counts: a scalar or vector of i1, None for everywhere."""
        guarded = instruction.guard is not None
        if not self._analysis.shape(register).is_varying:
            return scalar if guarded else None
        if mask is None:
            return None
        if guarded or (block.index, register.index) in self._analysis.blends:
            return self._as_vector(mask)
        return None

    def _compute(
        self, block: BasicBlock, instruction: Compute, mask: str | None, scalar: str | None
    ) -> None:
        context = Context(instruction.type, instruction.source_type, instruction.modifiers)
        opcode = instruction.opcode
        types = opcode.operand_types(context)
        shape = self._memory.result_shape(instruction)
        pairs = list(zip(instruction.sources, types, strict=True))
        if shape.is_varying:
            operands = [self._registers.vector(s, t) for s, t in pairs]
            code = self._vector
        else:
            operands = [self._registers.base(s, t) for s, t in pairs]
            code = self._code
        assert opcode.emit is not None
        result = opcode.emit(code, context, *operands)
        results = result if isinstance(result, tuple) else (result,)
        written = opcode.result_types(context)
        for register, value, type_ in zip(instruction.destinations, results, written, strict=False):
            if register is not None:
                keep = self._keep(block, instruction, register, mask, scalar)
                self._registers.write(register, value, type_, shape, keep)

    # control flow

    def _condition(self, guard: Guard) -> str:
        """Lanes where the guard holds, as a mask of all lanes."""
        held = self._code.op(
            f"bitcast <{self._width} x i1> "
            f"{self._registers.vector(guard.register, ScalarType.PRED)} to {self._mask_type}"
        )
        return self._code.op(f"xor {self._mask_type} {held}, -1") if guard.negated else held

    def _uniform_condition(self, guard: Guard) -> str | None:
        if not self._analysis.shape(guard.register).is_uniform:
            return None
        value = self._registers.base(guard.register, ScalarType.PRED)
        return self._code.op(f"xor i1 {value}, true") if guard.negated else value

    def _terminator(self, block: BasicBlock, mask: str) -> None:
        end, code = block.terminator, self._code
        waiting = self._analysis.pending_with[block.index]
        match end:
            case Branch():
                self._branch(block, end, mask)
            case Exit():
                if end.trap:
                    self._fault(FAULT_TRAP, end.pc, mask)
                else:
                    code.do(f"br label %{'dispatch' if waiting else 'done'}")
            case BarrierSync():
                self._barrier(block, mask)
            case _:
                self._goto(block, end.target, mask)

    def _branch(self, block: BasicBlock, end: Branch, mask: str) -> None:
        code, kind = self._code, self._mask_type
        uniform = self._uniform_condition(end.guard)
        taken, other = self._labels("taken", "other")
        if uniform is not None:
            code.do(f"br i1 {uniform}, label %{taken}, label %{other}")
            self._jump_from(taken, block, end.target, mask)
            self._jump_from(other, block, end.otherwise, mask)
            return
        there = self._and(self._condition(end.guard), mask)
        rest = code.op(f"xor {kind} {there}, {mask}")
        all_there = code.op(f"icmp eq {kind} {rest}, 0")
        not_all, both = self._labels("notall", "both")
        code.do(f"br i1 {all_there}, label %{taken}, label %{not_all}")
        self._jump_from(taken, block, end.target, mask)
        self._label(not_all)
        none_there = code.op(f"icmp eq {kind} {there}, 0")
        code.do(f"br i1 {none_there}, label %{other}, label %{both}")
        self._jump_from(other, block, end.otherwise, mask)
        self._label(both)
        if end.target == end.otherwise:
            self._goto(block, end.target, mask)
            return
        (low, low_mask), (high, high_mask) = sorted(
            ((end.target, there), (end.otherwise, rest)), key=lambda pair: pair[0]
        )
        self._push(high, high_mask)
        self._goto(block, low, low_mask)

    def _jump_from(self, label: str, block: BasicBlock, target: int, mask: str) -> None:
        self._label(label)
        self._goto(block, target, mask)

    def _goto(self, block: BasicBlock, target: int, mask: str) -> None:
        """Goes to `target` at once unless lanes wait at it or before it."""
        code = self._code
        places = self._analysis.pending_with[block.index]
        before = [y for y in places if y <= target]
        if not before:
            self._set_mask(target, mask)
            code.do(f"br label %B{target}")
            return
        now, later = self._labels("now", "later")
        pending = [self._pending_word(y) for y in before]
        any_pending = pending[0]
        for word in pending[1:]:
            any_pending = code.op(f"or {self._mask_type} {any_pending}, {word}")
        clear = code.op(f"icmp eq {self._mask_type} {any_pending}, 0")
        code.do(f"br i1 {clear}, label %{now}, label %{later}")
        self._label(now)
        self._set_mask(target, mask)
        code.do(f"br label %B{target}")
        self._label(later)
        self._push(target, mask)
        code.do("br label %dispatch")

    def _pending_word(self, place: int) -> str:
        return self._code.op(f"load {self._mask_type}, ptr %P{place}")

    def _set_mask(self, target: int, mask: str) -> None:
        if self._analysis.is_dynamic[target]:
            self._code.do(f"store {self._mask_type} {mask}, ptr %mask")

    def _push(self, target: int, mask: str) -> None:
        known = self._pending_word(target)
        both = self._code.op(f"or {self._mask_type} {known}, {mask}")
        self._code.do(f"store {self._mask_type} {both}, ptr %P{target}")

    def _barrier(self, block: BasicBlock, mask: str) -> None:
        code, index = self._code, block.index
        if index in self._mixed_barriers:
            known = code.op(f"load {self._mask_type}, ptr %W{index}")
            both = code.op(f"or {self._mask_type} {known}, {mask}")
            code.do(f"store {self._mask_type} {both}, ptr %W{index}")
            code.do("br label %dispatch")
            return
        where = code.op("getelementptr i8, ptr %context, i64 8")
        code.do(f"store i64 {self._as_i64(mask)}, ptr {where}")
        self._save(self._saved([index]))
        code.do(f"store i32 {1 + self._barriers.index(index)}, ptr %status")
        code.do("br label %leave")

    def _dispatch(self) -> None:
        """The lowest pending basic block runs next; without one the warp waits or is done."""
        code, kind = self._code, self._mask_type
        self._label("dispatch")
        for place in self._pendable:
            word = self._pending_word(place)
            empty = code.op(f"icmp eq {kind} {word}, 0")
            run, following = self._labels("run", "next")
            code.do(f"br i1 {empty}, label %{following}, label %{run}")
            self._label(run)
            code.do(f"store {kind} 0, ptr %P{place}")
            self._set_mask(place, word)
            code.do(f"br label %B{place}")
            self._label(following)
        if not self._mixed_barriers:
            code.do("br label %done")
            return
        waiting = "0"
        for barrier in self._mixed_barriers:
            word = code.op(f"load {kind}, ptr %W{barrier}")
            waiting = code.op(f"or {kind} {waiting}, {word}")
            where = code.op(f"getelementptr i8, ptr %context, i64 {self.wait_mask_offset(barrier)}")
            code.do(f"store i64 {self._as_i64(word)}, ptr {where}")
        nobody = code.op(f"icmp eq {kind} {waiting}, 0")
        code.do(f"br i1 {nobody}, label %done, label %wait")
        self._label("wait")
        self._save(self._saved(self._mixed_barriers))
        code.do(f"store i32 {self.mixed_state}, ptr %status")
        code.do("br label %leave")

    def _finish(self) -> None:
        """Adds the counters to the stage of the thread block, the time to the warp's."""
        code = self._code
        self._label("done")
        code.do("store i32 -1, ptr %status")
        code.do("br label %leave")
        self._label("leave")
        rows = code.op(f"load ptr, ptr {self._field('stage_counts')}")
        stage = code.op(f"load i64, ptr {self._field('stage')}")
        first = code.op(f"mul i64 {stage}, {self.counters}")
        row = code.op(f"getelementptr i64, ptr {rows}, i64 {first}")
        for block in self._kernel.blocks:
            index = block.index
            issues = code.op(f"load i64, ptr %N{index}")
            self._add_to(row, 2 * index, issues)
            if self._analysis.is_dynamic[index]:
                lanes = code.op(f"load i64, ptr %L{index}")
            else:
                lanes = code.op(f"mul i64 {issues}, {self._width}")
            self._add_to(row, 2 * index + 1, lanes)
        for position, pc in enumerate(self.guarded):
            off = code.op(f"load i64, ptr %G{pc}")
            self._add_to(row, 2 * len(self._kernel.blocks) + position, off)
        time = code.op("load i64, ptr %time")
        code.do(f"store i64 {time}, ptr %time.place")
        status = code.op("load i32, ptr %status")
        code.do(f"ret i32 {status}")
        self._label("fault")
        warp = code.op("zext i32 %warp to i64")
        code.do(f"store i64 {warp}, ptr {self._field('fault_warp')}")
        code.do("ret i32 -2")

    def _field(self, name: str) -> str:
        return self._code.op(f"getelementptr i8, ptr %w, i64 {field_offset(name)}")

    def _add_to(self, row: str, position: int, value: str) -> None:
        where = self._code.op(f"getelementptr i64, ptr {row}, i64 {position}")
        known = self._code.op(f"load i64, ptr {where}")
        self._code.do(f"store i64 {self._code.op(f'add i64 {known}, {value}')}, ptr {where}")

    def _declare_slots(self) -> None:
        entry, kind = self._entry, self._mask_type
        for index in sorted(self._analysis.crossing):
            slot = self._registers.slot_type(self._by_index[index])
            entry.do(f"%R{index} = alloca {slot}")
            entry.do(f"store {slot} zeroinitializer, ptr %R{index}")
        names = [f"N{b.index}" for b in self._kernel.blocks]
        names += [f"L{b.index}" for b in self._kernel.blocks]
        names += [f"G{pc}" for pc in self.guarded]
        for name in names:
            entry.do(f"%{name} = alloca i64")
            entry.do(f"store i64 0, ptr %{name}")
        for name in [f"P{p}" for p in self._pendable] + [f"W{b}" for b in self._mixed_barriers]:
            entry.do(f"%{name} = alloca {kind}")
            entry.do(f"store {kind} 0, ptr %{name}")
        entry.do(f"%mask = alloca {kind}")
        entry.do(f"store {kind} %first.mask, ptr %mask")
        entry.do("%status = alloca i32")
        entry.do("%time = alloca i64")
        times = entry.op(f"getelementptr i8, ptr %w, i64 {field_offset('warp_times')}")
        table = entry.op(f"load ptr, ptr {times}")
        entry.do(f"%time.place = getelementptr i64, ptr {table}, i32 %warp")
        entry.do(f"store i64 {entry.op('load i64, ptr %time.place')}, ptr %time")

    def _resume(self) -> None:
        """The switch that ends the entry, and what each state brings back."""
        cases = " ".join(
            f"i32 {1 + n}, label %resume{n}"
            for n, b in enumerate(self._barriers)
            if b not in self._mixed_barriers
        )
        if self._mixed_barriers:
            cases += f" i32 {self.mixed_state}, label %resume.mixed"
        self._entry.do(f"switch i32 %state, label %B0 [ {cases} ]")
        code = self._code
        for number, barrier in enumerate(self._barriers):
            if barrier in self._mixed_barriers:
                continue
            self._label(f"resume{number}")
            self._restore(self._saved([barrier]))
            target = self._kernel.blocks[barrier].successors[0]
            if self._analysis.is_dynamic[target]:
                where = code.op("getelementptr i8, ptr %context, i64 8")
                mask = code.op(f"load {self._mask_type}, ptr {where}")
                code.do(f"store {self._mask_type} {mask}, ptr %mask")
            code.do(f"br label %B{target}")
        if not self._mixed_barriers:
            return
        self._label("resume.mixed")
        self._restore(self._saved(self._mixed_barriers))
        for barrier in self._mixed_barriers:
            where = code.op(f"getelementptr i8, ptr %context, i64 {self.wait_mask_offset(barrier)}")
            mask = code.op(f"load {self._mask_type}, ptr {where}")
            self._push(self._kernel.blocks[barrier].successors[0], mask)
        code.do("br label %dispatch")

    # names and masks

    def _full(self) -> str:
        return "-1"

    def _and(self, one: str, other: str) -> str:
        if other == self._full():
            return one
        if one == self._full():
            return other
        return self._code.op(f"and {self._mask_type} {one}, {other}")

    def _as_vector(self, mask: str) -> str:
        return self._code.op(f"bitcast {self._mask_type} {mask} to <{self._width} x i1>")

    def _label(self, name: str) -> None:
        self._code.lines.append(f"{name}:")

    def _labels(self, *stems: str) -> tuple[str, ...]:
        return tuple(f"{stem}{self._code.fresh()[1:]}" for stem in stems)
