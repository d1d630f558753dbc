"""Operations across lanes in the warp function: who takes part, and what it gives."""

from __future__ import annotations

from typing import TypeAlias

from kernelcast.simcore.engine.jit.analysis.lane_variance import LaneVariance
from kernelcast.simcore.engine.jit.analysis.warp_analysis import Analysis
from kernelcast.simcore.engine.jit.codegen.control import ControlCode
from kernelcast.simcore.engine.jit.codegen.registers import Registers
from kernelcast.simcore.engine.jit.codegen.warp_code import FULL, WarpCode
from kernelcast.simcore.isa.analysis.control_flow import ending_blocks
from kernelcast.simcore.isa.ir.kernel import Kernel, Operand, WarpOperation
from kernelcast.simcore.isa.opcodes.llvm.warp import spread_words
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["FAULT_MEMBERS", "ExchangeCode"]

FAULT_MEMBERS = 5
_SCRATCH = "%staging"
Value: TypeAlias = tuple[str, ScalarType, LaneVariance]


class ExchangeCode:
    """Writes warp operations; lanes of their masks that wait elsewhere are a fault."""

    def __init__(
        self,
        warp: WarpCode,
        kernel: Kernel,
        analysis: Analysis,
        registers: Registers,
        control: ControlCode,
    ) -> None:
        self._warp = warp
        self._analysis = analysis
        self._registers = registers
        self._control = control
        self._ending = ending_blocks(kernel)

    def values(self, block: int, operation: WarpOperation, mask: str) -> list[Value]:
        """The results for the lanes of `mask`, in the order of the destinations."""
        code, opcode = self._warp.vector, operation.opcode
        participants = self._warp_mask(mask) if opcode.is_whole else self._words(mask)
        if operation.members is not None:
            members = self._registers.vector(operation.members, ScalarType.B32)
            self._check(block, operation, members, mask)
            participants = code.binary("and", "i32", participants, members)
        types = opcode.source_types(operation.type)
        operands = [
            self._operand(source, type_)
            for source, type_ in zip(operation.sources, types, strict=True)
        ]
        results = opcode.emit(code, operation.type, _SCRATCH, participants, *operands)
        variance = self._registers.exchange_variance(operation)
        return [
            (value if variance.is_varying else self._first(value, type_), type_, variance)
            for value, type_ in zip(results, opcode.result_types(operation.type), strict=True)
        ]

    def _operand(self, operand: Operand, type_: ScalarType) -> tuple[str, int | None]:
        variance = self._registers.variance(operand, type_)
        constant = variance.constant if variance.is_uniform else None
        return self._registers.vector(operand, type_), constant

    def _warp_mask(self, mask: str) -> str:
        """The mask of the warp as i64, in each lane."""
        return self._warp.broadcast(self._warp.wide_mask(mask), "i64")

    def _words(self, mask: str) -> str:
        """The mask of each lane's group, in each lane."""
        if mask == FULL:
            return self._warp.vector.splat("i32", -1)
        return spread_words(self._warp.vector, mask)

    def _first(self, value: str, type_: ScalarType) -> str:
        """What all active lanes got: participants are the same whether a lane is active or not."""
        kind = self._warp.vector.type(type_)
        return self._warp.scalar.op(f"extractelement {kind} {value}, i32 0")

    def _check(self, block: int, operation: WarpOperation, members: str, mask: str) -> None:
        """No lane that a member mask of an active lane names may wait at another place."""
        warp, code = self._warp, self._warp.scalar
        slots = [
            self._analysis.places.slot(place)
            for place in sorted(self._analysis.pending_with[block] - self._ending)
        ]
        if not slots:
            return
        elsewhere = "0"
        for slot in slots:
            elsewhere = code.op(f"or {warp.mask_type} {elsewhere}, {warp.load_mask(slot)}")
        named = warp.vector.binary("and", "i32", members, self._words(elsewhere))
        missed = warp.vector.binary("icmp ne", "i32", named, "zeroinitializer")
        lanes = code.op(f"bitcast <{warp.width} x i1> {missed} to {warp.mask_type}")
        lanes = warp.both_masks(lanes, mask)
        fine = warp.is_empty(lanes)
        good, bad = warp.labels("together", "apart")
        code.do(f"br i1 {fine}, label %{good}, label %{bad}, !prof !1")
        warp.label(bad)
        self._control.fault(FAULT_MEMBERS, operation.pc, lanes)
        warp.label(good)
