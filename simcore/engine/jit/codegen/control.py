"""Control flow of a warp as LLVM IR: branches, lanes that wait for others, barriers, resumption.

Lanes that go to a basic block later wait in its pending mask `%P`; the lowest pending basic block
always runs next. Lanes that wait at a mixed barrier are in its mask `%W`, lanes that yielded at the
head of a spin loop in its mask `%Y`.
"""

from __future__ import annotations

from kernelcast.simcore.engine.jit.analysis.waiting_places import ThreadBlockLayout
from kernelcast.simcore.engine.jit.analysis.warp_analysis import Analysis
from kernelcast.simcore.engine.jit.codegen.branch_digest import BranchDigest
from kernelcast.simcore.engine.jit.codegen.counted_barriers import CountedBarrierCode
from kernelcast.simcore.engine.jit.codegen.counters import CounterCode
from kernelcast.simcore.engine.jit.codegen.registers import Registers
from kernelcast.simcore.engine.jit.codegen.spins import SpinCode
from kernelcast.simcore.engine.jit.codegen.warp_code import FULL, WarpCode
from kernelcast.simcore.engine.jit.codegen.warp_context import WarpContext
from kernelcast.simcore.engine.jit.codegen.workspace import field_offset
from kernelcast.simcore.isa.ir.kernel import BarrierSync, BasicBlock, Branch, Exit, Guard
from kernelcast.simcore.isa.types import ScalarType

__all__ = [
    "FAULT_TRAP",
    "ControlCode",
    "same_barrier_function",
]

FAULT_TRAP = 2


class ControlCode:
    """Writes the ends of basic blocks, and what runs between them."""

    def __init__(
        self,
        warp: WarpCode,
        analysis: Analysis,
        registers: Registers,
        context: WarpContext,
        digest: BranchDigest,
        spin: SpinCode,
        counted: CountedBarrierCode,
        counters: CounterCode,
    ) -> None:
        self._warp = warp
        self._analysis = analysis
        self._registers = registers
        self._context = context
        self._digest = digest
        self._spin = spin
        self._counted = counted
        self._counters = counters
        count = len(analysis.pending_with)
        waiting = {y for places in analysis.pending_with for y in places if y < count}
        waiting.update((*context.waiting_targets, *context.yielding))
        self._pendable = sorted(waiting)

    @property
    def mask_slots(self) -> list[str]:
        """Names of the masks that must be there, empty, when the function starts."""
        context = self._context
        waiting = [f"W{b}" for b in context.mixed] + [f"Y{h}" for h in context.yielding]
        return [f"P{p}" for p in self._pendable] + waiting

    def condition(self, guard: Guard) -> str:
        """Lanes where the guard holds, as a mask of all lanes."""
        warp = self._warp
        value = self._registers.vector(guard.register, ScalarType.PRED)
        held = warp.scalar.op(f"bitcast <{warp.width} x i1> {value} to {warp.mask_type}")
        return warp.scalar.op(f"xor {warp.mask_type} {held}, -1") if guard.negated else held

    def uniform_condition(self, guard: Guard) -> str | None:
        """Whether the guard holds, as i1; None when lanes may differ."""
        if not self._analysis.variance(guard.register).is_uniform:
            return None
        value = self._registers.base(guard.register, ScalarType.PRED)
        return self._warp.scalar.op(f"xor i1 {value}, true") if guard.negated else value

    def fault(self, kind: int, pc: int, mask: str) -> None:
        """Leaves the function; the mask's first lane is to blame."""
        code, mask_type = self._warp.scalar, self._warp.mask_type
        name = f"@llvm.cttz.{mask_type}"
        lane = code.op(f"call {mask_type} {name}({mask_type} {mask}, i1 false)")
        wide = self._warp.as_i64(lane)
        for field, value in (
            ("fault_kind", str(kind)),
            ("fault_pc", str(pc)),
            ("fault_lane", wide),
        ):
            where = code.op(f"getelementptr i8, ptr %w, i64 {field_offset(field)}")
            code.do(f"store i64 {value}, ptr {where}")
        code.do("br label %fault")

    def terminator(self, block: BasicBlock, mask: str) -> None:
        """Emits the end of a basic block: branch, exit, trap or barrier."""
        end = block.terminator
        waiting = self._analysis.pending_with[block.index]
        match end:
            case Branch():
                self._branch(block, end, mask)
            case Exit():
                if end.trap:
                    self.fault(FAULT_TRAP, end.pc, mask)
                else:
                    self._warp.scalar.do(f"br label %{'dispatch' if waiting else 'done'}")
            case BarrierSync():
                self._barrier(block.index, end, mask)
            case _:
                self._goto(block, end.target, mask)

    def dispatch(self) -> None:
        """The lowest pending basic block runs next; without one the warp waits or is done."""
        warp, code, context = self._warp, self._warp.scalar, self._context
        warp.label("dispatch")
        for place in self._pendable:
            word = warp.load_mask(f"%P{place}")
            empty = warp.is_empty(word)
            run, following = warp.labels("run", "next")
            code.do(f"br i1 {empty}, label %{following}, label %{run}")
            warp.label(run)
            warp.store_mask("0", f"%P{place}")
            self._set_mask(place, word)
            code.do(f"br label %B{place}")
            warp.label(following)
        if context.mixed or context.yielding:
            self._wait()
        else:
            code.do("br label %done")

    def _wait(self) -> None:
        """No lane can run on: the function ends, with a state that says why."""
        warp, code, context = self._warp, self._warp.scalar, self._context
        waiting = self._keep_masks("W", [(b, context.wait_mask_offset(b)) for b in context.mixed])
        if context.yielding:
            offsets = [(h, context.yield_mask_offset(h)) for h in context.yielding]
            nobody = warp.is_empty(self._keep_masks("Y", offsets))
            code.do(f"br i1 {nobody}, label %no.yield, label %yielded")
            warp.label("yielded")
            context.save((*context.waiting_targets, *context.yielding))
            code.do(f"store i32 {context.yield_state}, ptr %status")
            code.do("br label %leave")
            warp.label("no.yield")
        nobody = warp.is_empty(waiting)
        code.do(f"br i1 {nobody}, label %done, label %wait")
        warp.label("wait")
        context.save(context.waiting_targets)
        code.do(f"store i32 {context.mixed_state}, ptr %status")
        code.do("br label %leave")

    def _keep_masks(self, kind: str, offsets: list[tuple[int, int]]) -> str:
        """Stores masks in the context; all their lanes."""
        warp, code = self._warp, self._warp.scalar
        lanes = code.op(f"or {warp.mask_type} 0, 0")
        for block, offset in offsets:
            word = warp.load_mask(f"%{kind}{block}")
            lanes = code.op(f"or {warp.mask_type} {lanes}, {word}")
            code.do(f"store i64 {warp.as_i64(word)}, ptr {self._context.place(offset)}")
        return lanes

    def resume(self) -> None:
        """The switch that ends the entry, and what each state brings back."""
        warp, context = self._warp, self._context
        states = {b: context.state_of(b) for b in context.whole}
        cases = " ".join(
            f"i32 {state}, label %{self._resumption(state)}" for state in states.values()
        )
        if context.mixed:
            cases += f" i32 {context.mixed_state}, label %resume.mixed"
        if context.yielding:
            cases += f" i32 {context.yield_state}, label %resume.yield"
        warp.entry.do(f"switch i32 %state, label %B0 [ {cases} ]")
        if context.is_kept_at_one_place:
            self._keep_at_one_place()
        for barrier in states:
            self._resume_whole(barrier)
        if context.mixed:
            self._resume_mixed()
        if context.yielding:
            self._resume_yield()

    def _resumption(self, state: int) -> str:
        """Where a warp that waited as a whole goes on."""
        return "bring.back" if self._context.is_kept_at_one_place else f"resume{state - 1}"

    def _resume_whole(self, barrier: int) -> None:
        """All lanes go on behind a barrier."""
        warp, context, target = self._warp, self._context, self._context.target(barrier)
        warp.label(f"resume{context.state_of(barrier) - 1}")
        if not context.is_kept_at_one_place:
            context.restore([target])
        if self._analysis.is_dynamic[target]:
            warp.store_mask(warp.load_mask(context.mask_place()), "%mask")
        warp.scalar.do(f"br label %B{target}")

    def _keep_at_one_place(self) -> None:
        """What is needed behind any barrier is kept, and comes back, in code for all of them."""
        warp, code, context = self._warp, self._warp.scalar, self._context
        targets = [context.target(barrier) for barrier in context.whole]
        warp.label("keep")
        context.save(targets)
        code.do("br label %leave")
        warp.label("bring.back")
        context.restore(targets)
        states = [context.state_of(barrier) for barrier in context.whole]
        cases = " ".join(f"i32 {state}, label %resume{state - 1}" for state in states)
        code.do(f"switch i32 %state, label %resume{states[0] - 1} [ {cases} ]")

    def _resume_mixed(self) -> None:
        """Barriers have opened."""
        warp, context = self._warp, self._context
        warp.label("resume.mixed")
        context.restore(context.waiting_targets)
        opened = self._counted.opened_lanes() if context.is_counted else FULL
        for barrier in context.mixed:
            mask = warp.load_mask(context.wait_mask_place(barrier))
            released = warp.both_masks(mask, opened)
            warp.add_mask(released, f"%P{context.target(barrier)}")
            if context.is_counted:
                rest = warp.scalar.op(f"xor {warp.mask_type} {mask}, {released}")
                warp.store_mask(rest, f"%W{barrier}")
        warp.scalar.do("br label %dispatch")

    def _resume_yield(self) -> None:
        """Other warps had their turn; barriers are as they were."""
        warp, context = self._warp, self._context
        warp.label("resume.yield")
        context.restore((*context.waiting_targets, *context.yielding))
        for barrier in context.mixed:
            mask = warp.load_mask(context.wait_mask_place(barrier))
            warp.store_mask(mask, f"%W{barrier}")
        for head in context.yielding:
            mask = warp.load_mask(context.yield_mask_place(head))
            warp.add_mask(mask, f"%P{head}")
        warp.scalar.do("br label %dispatch")

    def _branch(self, block: BasicBlock, end: Branch, mask: str) -> None:
        warp, code, kind = self._warp, self._warp.scalar, self._warp.mask_type
        uniform = self.uniform_condition(end.guard)
        taken, other = warp.labels("taken", "other")
        if uniform is not None:
            code.do(f"br i1 {uniform}, label %{taken}, label %{other}")
            self._go_one_way(taken, block, end.target, (mask, "0"))
            self._go_one_way(other, block, end.otherwise, ("0", mask))
            return
        there = warp.both_masks(self.condition(end.guard), mask)
        rest = code.op(f"xor {kind} {there}, {mask}")
        all_there = warp.is_empty(rest)
        not_all, both = warp.labels("notall", "both")
        code.do(f"br i1 {all_there}, label %{taken}, label %{not_all}")
        self._go_one_way(taken, block, end.target, (mask, "0"))
        warp.label(not_all)
        none_there = warp.is_empty(there)
        code.do(f"br i1 {none_there}, label %{other}, label %{both}")
        self._go_one_way(other, block, end.otherwise, ("0", mask))
        warp.label(both)
        self._digest.go(block.index, there, rest)
        if end.target == end.otherwise:
            self._goto(block, end.target, mask)
            return
        (low, low_mask), (high, high_mask) = sorted(
            ((end.target, there), (end.otherwise, rest)), key=lambda pair: pair[0]
        )
        self._spin.leave(block.index, high)
        self._wait_at(high, high_mask)
        self._goto(block, low, low_mask)

    def _wait_at(self, target: int, mask: str) -> None:
        self._counters.count_later(target, f"%P{target}")
        self._warp.add_mask(mask, f"%P{target}")

    def _go_one_way(
        self, label: str, block: BasicBlock, target: int, ways: tuple[str, str]
    ) -> None:
        """All lanes go the same way; `ways`: those that take the branch, and those that do not."""
        self._warp.label(label)
        self._digest.go(block.index, *ways)
        self._goto(block, target, next(mask for mask in ways if mask != "0"))

    def _goto(self, block: BasicBlock, target: int, mask: str) -> None:
        """Goes to `target` at once unless lanes wait at it or before it."""
        warp, code = self._warp, self._warp.scalar
        self._spin.leave(block.index, target)
        before = [y for y in self._analysis.pending_with[block.index] if y <= target]
        if not before:
            self._set_mask(target, mask)
            code.do(f"br label %B{target}")
            return
        now, later = warp.labels("now", "later")
        pending = [warp.load_mask(f"%P{y}") for y in before]
        any_pending = pending[0]
        for word in pending[1:]:
            any_pending = code.op(f"or {warp.mask_type} {any_pending}, {word}")
        clear = warp.is_empty(any_pending)
        code.do(f"br i1 {clear}, label %{now}, label %{later}")
        warp.label(now)
        self._set_mask(target, mask)
        code.do(f"br label %B{target}")
        warp.label(later)
        self._wait_at(target, mask)
        code.do("br label %dispatch")

    def _set_mask(self, target: int, mask: str) -> None:
        if self._analysis.is_dynamic[target]:
            self._warp.store_mask(mask, "%mask")

    def _barrier(self, index: int, end: BarrierSync, mask: str) -> None:
        warp, code, context = self._warp, self._warp.scalar, self._context
        self._spin.leave(index, end.target)
        if index in context.mixed:
            if context.is_counted:
                self._counted.wait(end, mask, self.fault)
            warp.add_mask(mask, f"%W{index}")
            code.do("br label %dispatch")
            return
        where = context.mask_place()
        code.do(f"store i64 {warp.as_i64(mask)}, ptr {where}")
        code.do(f"store i32 {context.state_of(index)}, ptr %status")
        if context.is_kept_at_one_place:
            code.do("br label %keep")
            return
        context.save([end.target])
        code.do("br label %leave")


def same_barrier_function(layout: ThreadBlockLayout) -> str:
    """IR of `i1 (ptr contexts)`: whether all warps wait at one barrier.

    True if all warps that are not done wait as `mixed_state` says, and all their lanes at one
    barrier. Where not, the rules of `BarrierCheck` decide.
    """
    places, found = "", "%seen"
    for number, offset in enumerate(layout.mixed_offsets):
        places += f"""  %at.{number} = getelementptr i8, ptr %context, i64 {offset}
  %mask.{number} = load i64, ptr %at.{number}
  %some.{number} = icmp ne i64 %mask.{number}, 0
  %bit.{number} = select i1 %some.{number}, i64 {1 << number}, i64 0
  %found.{number} = or i64 {found}, %bit.{number}
"""
        found = f"%found.{number}"
    return f"""define internal i1 @wait_at_one_barrier(ptr %contexts) noinline {{
entry:
  br label %warp
warp:
  %n = phi i64 [ 0, %entry ], [ %n1, %next ]
  %seen = phi i64 [ 0, %entry ], [ %after, %next ]
  %offset = mul i64 %n, {layout.context_bytes}
  %context = getelementptr i8, ptr %contexts, i64 %offset
  %state = load i32, ptr %context
  switch i32 %state, label %no [ i32 -1, label %next i32 {layout.mixed_state}, label %waits ]
waits:
{places}  br label %next
next:
  %after = phi i64 [ %seen, %warp ], [ {found}, %waits ]
  %n1 = add i64 %n, 1
  %last = icmp eq i64 %n1, {layout.warps}
  br i1 %last, label %end, label %warp
end:
  %less = sub i64 %after, 1
  %others = and i64 %after, %less
  %is.one = icmp eq i64 %others, 0
  ret i1 %is.one
no:
  ret i1 false
}}
"""
