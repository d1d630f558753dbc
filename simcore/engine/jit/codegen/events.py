"""Records of what orders threads, for somebody who watches: barriers, fences, operations of warps.

The number that goes with a record: of a barrier its number, and from bit 8 on the count of threads
that it asks for, 0 for all; of an operation across lanes the members that its lanes name, by lane
where they may differ.
"""

from __future__ import annotations

from kernelcast.simcore.engine.jit.codegen.memory.records import RecordCode
from kernelcast.simcore.engine.jit.codegen.registers import Registers
from kernelcast.simcore.engine.jit.codegen.warp_code import FULL, WarpCode
from kernelcast.simcore.isa.ir.kernel import (
    BarrierArrive,
    BarrierSync,
    BasicBlock,
    ClusterArrive,
    Fence,
    Instruction,
    Operand,
    WarpOperation,
)
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["COUNT_SHIFT", "EventCode"]

COUNT_SHIFT = 8


class EventCode:
    """Writes the records of one function."""

    def __init__(self, warp: WarpCode, registers: Registers, record: RecordCode) -> None:
        self._warp = warp
        self._registers = registers
        self._record = record

    def instruction(self, instruction: Instruction, mask: str, position: int) -> None:
        """Emits the record of an instruction that orders threads; others have none."""
        match instruction:
            case Fence() | ClusterArrive():
                self._record.event(instruction.pc, mask, position, "0")
            case WarpOperation() if instruction.members is not None:
                self._members(instruction.pc, instruction.members, mask, position)
            case BarrierArrive():
                number = self._barrier(0, instruction.number, instruction.count, mask)
                self._record.event(instruction.pc, mask, position, number)

    def barrier(self, block: BasicBlock, mask: str) -> None:
        """Emits the record of the barrier that ends a basic block, if one does."""
        end = block.terminator
        if isinstance(end, BarrierSync):
            number = self._barrier(max(0, end.barrier), end.number, end.count, mask)
            self._record.event(end.pc, mask, len(block.body), number)

    def _members(self, pc: int, operand: Operand, mask: str, position: int) -> None:
        if self._registers.variance(operand, ScalarType.U32).is_uniform:
            self._record.event(pc, mask, position, self._all(operand, mask, "or"))
            return
        vector = self._warp.vector
        members = self._registers.vector(operand, ScalarType.U32)
        wide = vector.cast("zext", "i32", members, "i64")
        self._record.event_by_lane(pc, mask, position, wide)

    def _barrier(
        self, number: int, operand: Operand | None, count: Operand | None, mask: str
    ) -> str:
        code = self._warp.scalar
        found = str(number) if operand is None else self._all(operand, mask, "umax")
        if count is None:
            return found
        high = code.op(f"shl i64 {self._all(count, mask, 'umax')}, {COUNT_SHIFT}")
        return code.op(f"or i64 {high}, {found}")

    def _all(self, operand: Operand, mask: str, operation: str) -> str:
        """What the lanes of a mask hold together, as i64."""
        warp, vector = self._warp, self._warp.vector
        value = self._registers.vector(operand, ScalarType.U32)
        if mask != FULL:
            zero = vector.splat("i32", 0)
            value = vector.select("i32", warp.mask_vector(mask), value, zero)
        name = f"vector.reduce.{operation}"
        pairs = [(vector.type("i32"), value)]
        found = warp.scalar.intrinsic(name, "i32", pairs, vector.mangle("i32"))
        return warp.scalar.op(f"zext i32 {found} to i64")
