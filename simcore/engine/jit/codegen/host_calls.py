"""Calls of the runtime library in the warp function: arguments by lane, and back into Python."""

from __future__ import annotations

from typing import TypeAlias

from kernelcast.simcore.engine.jit.analysis.lane_variance import VARYING, LaneVariance
from kernelcast.simcore.engine.jit.codegen.control import ControlCode
from kernelcast.simcore.engine.jit.codegen.registers import Registers
from kernelcast.simcore.engine.jit.codegen.warp_code import WarpCode
from kernelcast.simcore.engine.jit.codegen.workspace import field_offset
from kernelcast.simcore.isa.ir.kernel import HostCall
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["FAULT_HOST", "HostCallCode"]

FAULT_HOST = 6
_MOST_ARGUMENTS = 5
Value: TypeAlias = tuple[str, ScalarType, LaneVariance]


class HostCallCode:
    """Writes calls. Arguments are 64 bits a lane, one row after the other."""

    def __init__(self, warp: WarpCode, registers: Registers, control: ControlCode) -> None:
        self._warp = warp
        self._registers = registers
        self._control = control
        self._has_room = False

    def values(self, call: HostCall, mask: str) -> list[Value]:
        """The results; a fault when the host says so."""
        warp, code, vector = self._warp, self._warp.scalar, self._warp.vector
        self._make_room()
        kind = vector.type("i64")
        for row, (source, type_) in enumerate(zip(call.sources, call.types, strict=True)):
            value = self._registers.vector(source, type_)
            wide = vector.cast("zext", type_, value, "i64")
            place = code.op(f"getelementptr i64, ptr %host.arguments, i64 {row * warp.width}")
            code.do(f"store {kind} {wide}, ptr {place}, align 64")
        field = code.op(f"getelementptr i8, ptr %w, i64 {field_offset('host_call')}")
        function = code.op(f"load ptr, ptr {field}")
        number = code.op("zext i32 %warp to i64")
        failed = code.op(
            f"call i64 {function}(i64 {call.pc}, i64 {number}, i64 {warp.wide_mask(mask)}, "
            "ptr %host.arguments)"
        )
        fine = code.op(f"icmp eq i64 {failed}, 0")
        good, bad = warp.labels("called", "refused")
        code.do(f"br i1 {fine}, label %{good}, label %{bad}, !prof !1")
        warp.label(bad)
        self._control.fault(FAULT_HOST, call.pc, mask)
        warp.label(good)
        if call.destination is None:
            return []
        result = code.op(f"load {kind}, ptr %host.arguments, align 64")
        type_ = ScalarType.named(f"b{call.destination.bits}")
        return [(vector.cast("trunc", "i64", result, type_), type_, VARYING)]

    def _make_room(self) -> None:
        if not self._has_room:
            words = _MOST_ARGUMENTS * self._warp.width
            self._warp.entry.do(f"%host.arguments = alloca [{words} x i64], align 64")
            self._has_room = True
