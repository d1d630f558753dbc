"""Copies in bulk in the warp function: operands by lane, then over to Python for the bytes."""

from __future__ import annotations

from kernelcast.simcore.engine.bulk_requests import operand_type
from kernelcast.simcore.engine.jit.control_code import ControlCode
from kernelcast.simcore.engine.jit.host_call_code import FAULT_HOST
from kernelcast.simcore.engine.jit.registers import Registers
from kernelcast.simcore.engine.jit.warp_code import FULL, WarpCode
from kernelcast.simcore.engine.jit.workspace import field_offset
from kernelcast.simcore.isa.bulk_operations import BulkSide
from kernelcast.simcore.isa.kernel import BulkCopy, Kernel

__all__ = ["BulkCopyCode"]


class BulkCopyCode:
    """Writes calls: the operands, 64 bits a lane, one row after the other, then the warp's time."""

    def __init__(
        self,
        warp: WarpCode,
        kernel: Kernel,
        registers: Registers,
        control: ControlCode,
        *,
        records: bool,
    ) -> None:
        self._warp = warp
        self._registers = registers
        self._control = control
        self._records = records
        copies = [i for i in kernel.instructions if isinstance(i, BulkCopy)]
        self._words = warp.width * max((len(c.sources) for c in copies), default=0) + 1
        self._has_room = False

    def copy(self, instruction: BulkCopy, mask: str, time: str, position: int) -> None:
        """By the lanes of the mask, if there are any. The second side only makes records."""
        if instruction.side is BulkSide.ARRIVAL and not self._records:
            return
        warp, code = self._warp, self._warp.scalar
        self._make_room()
        self._store_operands(instruction)  # here: what it reads of registers is at hand later on
        does, done = warp.labels("copies", "copied")
        if mask == FULL:
            code.do(f"br label %{does}")
        else:
            code.do(f"br i1 {warp.is_empty(mask)}, label %{done}, label %{does}")
        warp.label(does)
        when = code.op(f"add i64 {time}, {position}")
        place = self._row(len(instruction.sources))
        code.do(f"store i64 {when}, ptr {place}, align 8")
        field = code.op(f"getelementptr i8, ptr %w, i64 {field_offset('bulk_copy')}")
        function = code.op(f"load ptr, ptr {field}")
        number = code.op("zext i32 %warp to i64")
        failed = code.op(
            f"call i64 {function}(ptr %w, i64 {instruction.pc}, i64 {number}, "
            f"i64 {warp.wide_mask(mask)}, ptr %bulk.operands)"
        )
        fine = code.op(f"icmp eq i64 {failed}, 0")
        bad = warp.labels("refused")[0]
        code.do(f"br i1 {fine}, label %{done}, label %{bad}, !prof !1")
        warp.label(bad)
        self._control.fault(FAULT_HOST, instruction.pc, mask)
        warp.label(done)

    def _store_operands(self, instruction: BulkCopy) -> None:
        vector, code = self._warp.vector, self._warp.scalar
        pairs = zip(instruction.sources, instruction.operands, strict=True)
        for row, (source, operand) in enumerate(pairs):
            type_ = operand_type(operand)
            value = self._registers.vector(source, type_)
            wide = vector.cast("sext" if type_.is_signed else "zext", type_, value, "i64")
            code.do(f"store {vector.type('i64')} {wide}, ptr {self._row(row)}, align 64")

    def _row(self, row: int) -> str:
        first = row * self._warp.width
        return self._warp.scalar.op(f"getelementptr i64, ptr %bulk.operands, i64 {first}")

    def _make_room(self) -> None:
        if not self._has_room:
            self._warp.entry.do(f"%bulk.operands = alloca [{self._words} x i64], align 64")
            self._has_room = True
