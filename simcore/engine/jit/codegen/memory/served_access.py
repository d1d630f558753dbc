"""Accesses lane by lane by the runtime, which knows all regions and reports faults."""

from __future__ import annotations

from kernelcast.simcore.engine.jit.analysis.lane_variance import LaneVariance
from kernelcast.simcore.engine.jit.codegen.memory.access_checks import AccessChecks, Lanes
from kernelcast.simcore.engine.jit.codegen.memory.vector_access import VectorAccess, lane_type
from kernelcast.simcore.engine.jit.codegen.runtime_functions import SPACES
from kernelcast.simcore.engine.jit.codegen.warp_code import WarpCode
from kernelcast.simcore.isa.ir.kernel import Atomic, Load, Store

__all__ = ["ServedAccess"]


class ServedAccess:
    """Writes the calls, and takes values out of what they leave in %staging."""

    def __init__(self, warp: WarpCode, checks: AccessChecks, fast: VectorAccess) -> None:
        self._warp = warp
        self._checks = checks
        self._fast = fast

    def serve(
        self, name: str, instruction: Load | Store | Atomic, lanes: Lanes, mask: str, count: int
    ) -> None:
        """Emits a call of the runtime for every active lane; a fault leaves the function."""
        warp, code = self._warp, self._warp.scalar
        code.do(f"store <{warp.width} x i64> {self._checks.addresses(lanes)}, ptr %places")
        wide = warp.wide_mask(mask)
        space = SPACES[instruction.address.space]
        total = instruction.type.bytes * count
        served = code.op(
            f"call i1 {name}(ptr %w, ptr %places, i64 {wide}, ptr %staging, ptr %staging2, "
            f"i64 {total}, i32 {space}, i64 {instruction.pc}, i32 %warp)"
        )
        good = warp.labels("served")[0]
        code.do(f"br i1 {served}, label %{good}, label %fault")
        warp.label(good)

    def values(self, access: Load | Store, lanes: Lanes, mask: str, count: int) -> list[str]:
        """What stands in the places of the lanes of the mask, `count` vectors."""
        warp = self._warp
        self.serve("@serve_load", access, lanes, mask, count)
        kind = f"<{warp.width * count} x {lane_type(access.type)}>"
        whole = warp.scalar.op(f"load {kind}, ptr %staging")
        return [
            self._fast.picked(whole, kind, [i * count + part for i in range(warp.width)])
            for part in range(count)
        ]

    def load(self, load: Load, lanes: Lanes, mask: str, result: LaneVariance) -> list[str]:
        """What a load gives: `values`, or scalars where lanes are known not to differ."""
        warp, code, count = self._warp, self._warp.scalar, len(load.destinations)
        if result.is_varying:
            return self.values(load, lanes, mask, count)
        self.serve("@serve_load", load, lanes, mask, count)
        kind = f"<{warp.width * count} x {lane_type(load.type)}>"
        whole = code.op(f"load {kind}, ptr %staging")
        wide = warp.wide_mask(mask)
        lowest = code.op(f"call i64 @llvm.cttz.i64(i64 {wide}, i1 false)")
        inside = code.op(f"and i64 {lowest}, {warp.width - 1}")
        values = []
        for part in range(count):
            place = code.op(f"mul i64 {inside}, {count}")
            place = code.op(f"add i64 {place}, {part}")
            values.append(code.op(f"extractelement {kind} {whole}, i64 {place}"))
        return values
