"""The function that runs one warp, as LLVM IR: basic blocks, counters, computation.

`i32 @warp(ptr w, ptr context, ptr held, i32 state, i32 warp, i32 x, i32 y, i32 z)` runs from state
(0: the entry) to the warp's end (-1), a fault (-2), a barrier or a yield: state 1 + n is barrier n
reached by the whole warp, then come all other ways to wait at barriers, and lanes that yielded.
Registers that are needed later are kept in `context`, counters in `held`.
"""

from __future__ import annotations

from collections.abc import Iterable

from kernelcast.simcore.engine.jit.analysis.check_groups import Step, Stretch, stretches
from kernelcast.simcore.engine.jit.analysis.warp_analysis import Analysis
from kernelcast.simcore.engine.jit.codegen.barrier_votes import BarrierVoteCode
from kernelcast.simcore.engine.jit.codegen.branch_digest import BranchDigest
from kernelcast.simcore.engine.jit.codegen.clocks import ClockCode
from kernelcast.simcore.engine.jit.codegen.cluster_calls import BulkCopyCode, ClusterCallCode
from kernelcast.simcore.engine.jit.codegen.clusters import write_arrival
from kernelcast.simcore.engine.jit.codegen.computations import ComputationCode
from kernelcast.simcore.engine.jit.codegen.control import FAULT_TRAP, ControlCode
from kernelcast.simcore.engine.jit.codegen.counted_barriers import CountedBarrierCode
from kernelcast.simcore.engine.jit.codegen.counters import CounterCode, loop_heads
from kernelcast.simcore.engine.jit.codegen.events import EventCode
from kernelcast.simcore.engine.jit.codegen.exchanges import ExchangeCode
from kernelcast.simcore.engine.jit.codegen.host_calls import HostCallCode
from kernelcast.simcore.engine.jit.codegen.memory.accesses import MemoryCode, Value
from kernelcast.simcore.engine.jit.codegen.memory.records import RecordCode
from kernelcast.simcore.engine.jit.codegen.memory.values import record_values
from kernelcast.simcore.engine.jit.codegen.registers import Registers
from kernelcast.simcore.engine.jit.codegen.spins import Meeting, SpinCode
from kernelcast.simcore.engine.jit.codegen.warp_code import FULL, WarpCode
from kernelcast.simcore.engine.jit.codegen.warp_context import WarpContext
from kernelcast.simcore.engine.jit.codegen.workspace import field_offset
from kernelcast.simcore.host.deadline import watched
from kernelcast.simcore.isa.analysis.control_flow import reads, writes
from kernelcast.simcore.isa.analysis.spin_loops import is_ordering, meeting_blocks, spin_loops
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    BarrierArrive,
    BarrierResult,
    BarrierVote,
    BasicBlock,
    BulkCopy,
    ClusterArrive,
    Compute,
    Fence,
    HostCall,
    Instruction,
    Kernel,
    Load,
    Register,
    Special,
    Store,
    TensorMemoryOperation,
    WarpOperation,
)
from kernelcast.simcore.isa.opcodes.warp import GROUP
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["FAULT_LIMIT", "FAULT_TRAP", "WarpFunction"]

FAULT_LIMIT = 1


class WarpFunction:
    """Writes the function; `guarded`: pcs of guarded instructions, which have counters."""

    def __init__(
        self,
        kernel: Kernel,
        analysis: Analysis,
        warp: WarpCode,
        specials: dict[Special, str],
        memory: MemoryCode,
        registers: Registers,
        record: RecordCode,
        watched: frozenset[int],
    ) -> None:
        self._kernel = kernel
        self._analysis = analysis
        self._warp = warp
        self._specials = specials
        self._memory = memory
        self._registers = registers
        self._record = record
        self.context = WarpContext(warp, kernel, analysis, registers)
        self._spin = SpinCode(warp, registers, spin_loops(kernel), self._meetings())
        self._counted = CountedBarrierCode(warp, registers, self.context)
        self._computation = ComputationCode(warp, registers)
        self.counters = CounterCode(warp, kernel, analysis)
        self._clock = ClockCode(warp)
        self._digest = BranchDigest(warp, self.context, watched)
        self._control = ControlCode(
            warp,
            analysis,
            registers,
            self.context,
            self._digest,
            self._spin,
            self._counted,
            self.counters,
        )
        self._host = HostCallCode(warp, registers, self._control)
        self._votes = BarrierVoteCode(warp, registers)
        calls = ClusterCallCode(warp, kernel, registers, self._control)
        self._bulk = BulkCopyCode(warp, calls, record)
        self._exchange = ExchangeCode(warp, kernel, analysis, registers, self._control)
        self._loop_heads = loop_heads(kernel.blocks)
        self._events = EventCode(warp, registers, record)

    def _meetings(self) -> dict[int, Meeting | None]:
        """The members that basic blocks with operations across lanes need, where they are known."""
        found: dict[int, Meeting | None] = {}
        for index in meeting_blocks(self._kernel):
            found[index] = self._members(self._kernel.blocks[index])
        return found

    def _members(self, block: BasicBlock) -> Meeting | None:
        """The members that one basic block needs; None where a mask is computed in it."""
        mask, held = 0, []
        written: set[int] = set()
        for instruction in block.body:
            if isinstance(instruction, WarpOperation) and instruction.members is not None:
                known = self._registers.variance(instruction.members, ScalarType.B32).constant
                if known is not None:
                    mask |= known
                elif (
                    isinstance(instruction.members, Register)
                    and instruction.members.index not in written
                ):
                    held.append(instruction.members)
                else:
                    return None
            written.update(register.index for register in writes(instruction))
        if held and self._warp.width != GROUP:
            return None
        return Meeting(mask, tuple(dict.fromkeys(held)))

    def write(self) -> None:
        """Appends the whole function to the code."""
        for block in watched(self._kernel.blocks, "writing compiled code"):
            self._basic_block(block)
        self._control.dispatch()
        self._finish()
        self._declare_slots()
        self._record.write_entry()
        self._control.resume()

    def _basic_block(self, block: BasicBlock) -> None:
        code, index = self._warp.scalar, block.index
        self._warp.label(f"B{index}")
        self._registers.begin()
        mask = self._block_mask(block)
        self._spin.enter(index, mask)
        issues = len(block.body) + bool(block.terminator.mnemonic)
        time = self._clock.advance(issues, mask)
        self._specials[Special.CLOCK64] = time
        self._specials[Special.CLOCK] = code.op(f"trunc i64 {time} to i32")
        if index in self._loop_heads:
            self._check_limit(time, mask, block)
        self.counters.count(index, mask)
        self._record.begin(block, time)
        pieces = stretches(block, self._memory.is_predicted)
        for number, stretch in enumerate(pieces, 1):
            following = (i for piece in pieces[number:] for _, i in piece.steps)
            self._stretch(block, stretch, mask, following)
        if self._record.is_watched:
            self._events.barrier(block, mask)
        self._control.terminator(block, mask)

    def _stretch(
        self, block: BasicBlock, stretch: Stretch, mask: str, following: Iterable[Instruction]
    ) -> None:
        """Emits the steps of a stretch of a basic block.

        With groups to check they are written twice: for accesses that pass and for others.
        `following`: what comes after it in the basic block.
        """
        if not stretch.groups:
            self._steps(block, stretch.steps, mask)
            return
        warp, registers = self._warp, self._registers
        cold, join = warp.labels("cold", "join")
        self._memory.begin_checked(stretch.groups, mask, cold)
        before = registers.at_hand()
        self._steps(block, stretch.steps, mask)
        hot_path = registers.at_hand(), warp.here()
        warp.scalar.do(f"br label %{join}")
        warp.label(cold)
        registers.restore(before)
        self._memory.begin_unchecked()
        self._steps(block, stretch.steps, mask)
        cold_path = registers.at_hand(), warp.here()
        warp.scalar.do(f"br label %{join}")
        self._memory.end_groups()
        warp.label(join)
        registers.rejoin(hot_path, cold_path, self._passed_on(block, stretch, following))

    def _steps(self, block: BasicBlock, steps: Iterable[Step], mask: str) -> None:
        for position, instruction in steps:
            self._instruction(block, instruction, mask, position)

    def _passed_on(
        self, block: BasicBlock, stretch: Stretch, following: Iterable[Instruction]
    ) -> list[Register]:
        """Registers that a stretch writes for the rest of its basic block only."""
        needed = {r.index for i in (*following, block.terminator) for r in reads(i)}
        written = {r.index: r for _, i in stretch.steps for r in writes(i)}
        return [
            register
            for index, register in written.items()
            if index in needed and index not in self._analysis.crossing
        ]

    def _block_mask(self, block: BasicBlock) -> str:
        if not self._analysis.is_dynamic[block.index]:
            return FULL
        return self._warp.load_mask("%mask")

    def _check_limit(self, time: str, mask: str, block: BasicBlock) -> None:
        warp, code = self._warp, self._warp.scalar
        where = self._field("limit")
        limit = code.op(f"load volatile i64, ptr {where}")
        over = code.op(f"icmp ugt i64 {time}, {limit}")
        asked, bad, good = warp.labels("asked", "over", "within")
        code.do(f"br i1 {over}, label %{asked}, label %{good}, !prof !0")
        warp.label(asked)
        self._ask(self._clock.latest(time, mask), limit, good, bad)
        warp.label(bad)
        self._control.fault(FAULT_LIMIT, (block.body or (block.terminator,))[0].pc, FULL)
        warp.label(good)
        self._record.end_warps(time)

    def _ask(self, time: str, limit: str, good: str, bad: str) -> None:
        """Asks whether a warp may go on whose time may be over the limit."""
        warp, code = self._warp, self._warp.scalar
        if warp.together > 1:
            over = code.op(f"icmp ugt i64 {time}, {limit}")
            (sure,) = warp.labels("sure")
            code.do(f"br i1 {over}, label %{sure}, label %{good}")
            warp.label(sure)
        goes_on = code.op(f"call i1 @may_go_on(ptr %w, i64 {time}) #1")
        code.do(f"br i1 {goes_on}, label %{good}, label %{bad}")

    # instructions

    def _instruction(
        self, block: BasicBlock, instruction: Instruction, mask: str, position: int
    ) -> None:
        warp, keep = self._warp, None
        if instruction.guard is not None:
            condition = self._control.condition(instruction.guard)
            mask = warp.both_masks(mask, condition)
            keep = self._control.uniform_condition(instruction.guard)
            if self.counters.counts_off(instruction.pc):
                off = warp.scalar.op(f"xor {warp.mask_type} {condition}, -1")
                off = warp.both_masks(off, self._block_mask(block))
                self.counters.count_off(instruction.pc, off)
        guess = self._computation.guess(instruction)
        registers, values = self._results(block, instruction, mask, position)
        self._spin.after(block.index, instruction, values, mask)
        for register, (value, written_as, variance) in zip(registers, values, strict=False):
            if register is not None:
                kept = self._keep(block, instruction, register, mask, keep)
                self._registers.write(register, value, written_as, variance, kept)
                if guess is not None and kept is None and written_as.bits == register.bits:
                    self._registers.note_guess(register, guess)
        record_values(instruction, mask, position, self._registers, self._record)

    def _results(
        self, block: BasicBlock, instruction: Instruction, mask: str, position: int
    ) -> tuple[tuple[Register | None, ...], list[Value]]:
        """What the lanes of the mask do; registers to write, and their values."""
        memory = self._memory
        if self._record.is_watched:
            self._events.instruction(instruction, mask, position)
        match instruction:
            case Compute() if instruction.destinations:
                return instruction.destinations, self._computation.values(instruction)
            case Load():
                values = memory.load(instruction, mask, position)
                self._order("acquire", instruction)
                return instruction.destinations, values
            case Store():
                self._order("release", instruction)
                memory.store(instruction, mask, position)
            case Atomic():
                values = memory.atomic(instruction, mask, position)
                return (instruction.destination,), values
            case BulkCopy():
                self._bulk.copy(instruction, mask, self._specials[Special.CLOCK64], position)
            case TensorMemoryOperation():
                time = self._specials[Special.CLOCK64]
                values = self._bulk.tensor_memory(instruction, mask, time, position)
                return instruction.destinations, values
            case _:
                return self._results_together(block, instruction, mask)
        return (), []

    def _results_together(
        self, block: BasicBlock, instruction: Instruction, mask: str
    ) -> tuple[tuple[Register | None, ...], list[Value]]:
        """Results of what concerns other lanes, other threads of the thread block or the host."""
        match instruction:
            case HostCall() if instruction.sources:
                return (instruction.destination,), self._host.values(instruction, mask)
            case BarrierVote():
                self._votes.contribute(instruction, mask)
            case BarrierResult() if instruction.destination is not None:
                return (instruction.destination,), [self._votes.result(instruction)]
            case BarrierArrive():
                self._counted.arrive(instruction, mask, self._control.fault)
            case ClusterArrive():
                write_arrival(self._warp, mask)
            case WarpOperation() if instruction.destinations or instruction.members is not None:
                values = self._exchange.values(block.index, instruction, mask)
                return instruction.destinations, values
            case Fence() if is_ordering(instruction):
                self._warp.scalar.do("fence seq_cst")
        return (), []

    def _order(self, how: str, access: Load | Store) -> None:
        """Volatile accesses to memory that other workers see keep their order."""
        if access.volatile and access.address.space in (AddressSpace.GLOBAL, AddressSpace.GENERIC):
            self._warp.scalar.do(f"fence {how}")

    def _keep(
        self,
        block: BasicBlock,
        instruction: Instruction,
        register: Register,
        mask: str,
        scalar: str | None,
    ) -> str | None:
        """Where a write counts: a scalar or vector of i1, None for everywhere."""
        guarded = instruction.guard is not None
        if not self._analysis.variance(register).is_varying:
            return scalar if guarded else None
        if mask == FULL:
            return None
        if guarded or (block.index, register.index) in self._analysis.blends:
            return self._warp.mask_vector(mask)
        return None

    # the function's end and its entry

    def _finish(self) -> None:
        """Keeps what the next call needs to know."""
        warp, code = self._warp, self._warp.scalar
        warp.label("done")
        code.do("store i32 -1, ptr %status")
        code.do("br label %leave")
        warp.label("leave")
        self._spin.write_end()
        self._clock.write_end()
        self._digest.write_end()
        status = code.op("load i32, ptr %status")
        code.do(f"ret i32 {status}")
        warp.label("fault")
        number = code.op("zext i32 %warp to i64")
        code.do(f"store i64 {number}, ptr {self._field('fault_warp')}")
        code.do("ret i32 -2")

    def _field(self, name: str) -> str:
        return self._warp.scalar.op(f"getelementptr i8, ptr %w, i64 {field_offset(name)}")

    def _declare_slots(self) -> None:
        """Registers, counters, masks and the time, at the entry."""
        entry, kind = self._warp.entry, self._warp.mask_type
        by_index = {r.index: r for r in self._kernel.registers}
        for index in sorted(self._analysis.crossing):
            slot = self._registers.slot_type(by_index[index])
            entry.do(f"%R{index} = alloca {slot}")
            entry.do(f"store {slot} zeroinitializer, ptr %R{index}")
        self.counters.write_entry()
        self._spin.write_entry()
        for name in self._control.mask_slots:
            entry.do(f"%{name} = alloca {kind}")
            entry.do(f"store {kind} 0, ptr %{name}")
        entry.do(f"%mask = alloca {kind}")
        entry.do(f"store {kind} %first.mask, ptr %mask")
        entry.do("%status = alloca i32")
        self._digest.write_entry()
        self._clock.write_entry()
