"""Copies in bulk and tensor memory in the warp function: operands by lane, then over to Python."""

from __future__ import annotations

from kernelcast.simcore.engine.jit.analysis.shapes import VARYING
from kernelcast.simcore.engine.jit.codegen.cluster_calls import ClusterCallCode
from kernelcast.simcore.engine.jit.codegen.memory.accesses import Value
from kernelcast.simcore.engine.jit.codegen.warp_code import WarpCode
from kernelcast.simcore.engine.rules.bulk_requests import operand_type
from kernelcast.simcore.isa.ir.bulk_operations import BulkSide
from kernelcast.simcore.isa.ir.kernel import BulkCopy, TensorMemoryOperation
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["BulkCopyCode"]


class BulkCopyCode:
    """Writes what the copy engine and tensor memory are asked for."""

    def __init__(self, warp: WarpCode, calls: ClusterCallCode, *, records: bool) -> None:
        self._warp = warp
        self._calls = calls
        self._records = records

    def copy(self, instruction: BulkCopy, mask: str, time: str, position: int) -> None:
        """Emits a bulk copy by the lanes of the mask; the arrival side only makes records."""
        if instruction.side is BulkSide.ARRIVAL and not self._records:
            return
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
