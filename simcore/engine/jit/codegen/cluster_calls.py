"""Calls into Python by what hardware does for threads on its own: copies in bulk, tensor memory."""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.simcore.engine.jit.analysis.lane_variance import VARYING
from kernelcast.simcore.engine.jit.codegen.control import ControlCode
from kernelcast.simcore.engine.jit.codegen.host_calls import FAULT_HOST
from kernelcast.simcore.engine.jit.codegen.memory.accesses import Value
from kernelcast.simcore.engine.jit.codegen.memory.records import RecordCode
from kernelcast.simcore.engine.jit.codegen.registers import Registers
from kernelcast.simcore.engine.jit.codegen.warp_code import FULL, WarpCode
from kernelcast.simcore.engine.jit.codegen.workspace import field_offset
from kernelcast.simcore.engine.rules.bulk_requests import operand_type
from kernelcast.simcore.isa.ir.bulk_operations import BulkSide
from kernelcast.simcore.isa.ir.kernel import BulkCopy, Kernel, Operand, TensorMemoryOperation
from kernelcast.simcore.isa.types import ScalarType

__all__ = [
    "BulkCopyCode",
    "ClusterCallCode",
]


class ClusterCallCode:
    """Writes calls: the operands, 64 bits a lane, one row after the other, then the warp's time.
    Results take the places of the operands."""

    def __init__(
        self, warp: WarpCode, kernel: Kernel, registers: Registers, control: ControlCode
    ) -> None:
        self._warp = warp
        self._registers = registers
        self._control = control
        self._rows = max(map(_rows, kernel.instructions), default=0)
        self._has_room = False

    def call(
        self,
        instruction: BulkCopy | TensorMemoryOperation,
        types: Sequence[ScalarType],
        mask: str,
        time: str,
    ) -> None:
        """Emits a call by the lanes of the mask; `types`: how sources are read."""
        warp, code = self._warp, self._warp.scalar
        self._make_room()
        self._store_operands(instruction.sources, types)  # what they need is at hand later on
        does, done = warp.labels("calls", "called")
        if mask == FULL:
            code.do(f"br label %{does}")
        else:
            code.do(f"br i1 {warp.is_empty(mask)}, label %{done}, label %{does}")
        warp.label(does)
        code.do(f"store i64 {time}, ptr {self._row(len(instruction.sources))}, align 8")
        field = code.op(f"getelementptr i8, ptr %w, i64 {field_offset('cluster_call')}")
        function = code.op(f"load ptr, ptr {field}")
        number = code.op("zext i32 %warp to i64")
        failed = code.op(
            f"call i64 {function}(ptr %w, i64 {instruction.pc}, i64 {number}, "
            f"i64 {warp.wide_mask(mask)}, ptr %cluster.operands)"
        )
        fine = code.op(f"icmp eq i64 {failed}, 0")
        bad = warp.labels("refused")[0]
        code.do(f"br i1 {fine}, label %{done}, label %{bad}, !prof !1")
        warp.label(bad)
        self._control.fault(FAULT_HOST, instruction.pc, mask)
        warp.label(done)

    def results(self, types: Sequence[ScalarType]) -> list[str]:
        """Vectors with the results of the last call; only lanes of its mask have a meaning."""
        vector, code = self._warp.vector, self._warp.scalar
        found = []
        for row, type_ in enumerate(types):
            wide = code.op(f"load {vector.type('i64')}, ptr {self._row(row)}, align 64")
            found.append(vector.cast("trunc", "i64", wide, type_))
        return found

    def _store_operands(self, sources: Sequence[Operand], types: Sequence[ScalarType]) -> None:
        vector, code = self._warp.vector, self._warp.scalar
        for row, (source, type_) in enumerate(zip(sources, types, strict=True)):
            value = self._registers.vector(source, type_)
            wide = vector.cast("sext" if type_.is_signed else "zext", type_, value, "i64")
            code.do(f"store {vector.type('i64')} {wide}, ptr {self._row(row)}, align 64")

    def _row(self, row: int) -> str:
        first = row * self._warp.width
        return self._warp.scalar.op(f"getelementptr i64, ptr %cluster.operands, i64 {first}")

    def _make_room(self) -> None:
        if not self._has_room:
            words = self._warp.width * self._rows + 1
            self._warp.entry.do(f"%cluster.operands = alloca [{words} x i64], align 64")
            self._has_room = True


def _rows(instruction: object) -> int:
    if isinstance(instruction, TensorMemoryOperation):
        return max(len(instruction.sources), len(instruction.destinations))
    return len(instruction.sources) if isinstance(instruction, BulkCopy) else 0


class BulkCopyCode:
    """Writes what the copy engine and tensor memory are asked for."""

    def __init__(self, warp: WarpCode, calls: ClusterCallCode, record: RecordCode) -> None:
        self._warp = warp
        self._calls = calls
        self._record = record

    def copy(self, instruction: BulkCopy, mask: str, time: str, position: int) -> None:
        """Emits a bulk copy by the lanes of the mask; the arrival side only makes records."""
        if instruction.side is BulkSide.ARRIVAL and not self._record.is_enabled:
            return
        if self._record.is_watched:
            self._record.flush()
        types = [operand_type(operand) for operand in instruction.operands]
        self._calls.call(instruction, types, mask, self._when(time, position))

    def tensor_memory(
        self, instruction: TensorMemoryOperation, mask: str, time: str, position: int
    ) -> list[Value]:
        """The results; nothing happens where a slice left nothing of the instruction."""
        if not instruction.sources:
            return []
        self._calls.call(instruction, instruction.types, mask, self._when(time, position))
        types = [ScalarType.B32] * len(instruction.destinations)
        return [(value, ScalarType.B32, VARYING) for value in self._calls.results(types)]

    def _when(self, time: str, position: int) -> str:
        return self._warp.scalar.op(f"add i64 {time}, {position}")
