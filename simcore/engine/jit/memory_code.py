"""Loads, stores and atomics of a warp as LLVM IR, checked and recorded.

Lanes that pass the check of the region that they are expected in are served at once; when some do
not, all are served one by one by the runtime, which knows all regions and reports faults.
"""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.simcore.engine.jit.access_checks import AccessChecks, Lanes, Regions
from kernelcast.simcore.engine.jit.analysis import Analysis
from kernelcast.simcore.engine.jit.registers import Registers
from kernelcast.simcore.engine.jit.runtime_code import RECORD_WORDS, SPACES
from kernelcast.simcore.engine.jit.shapes import Shape, uniform
from kernelcast.simcore.engine.jit.vector_access import VectorAccess, lane_type
from kernelcast.simcore.engine.jit.warp_code import WarpCode
from kernelcast.simcore.isa.kernel import (
    Atomic,
    BasicBlock,
    Load,
    Register,
    Store,
    SymbolAddress,
)
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["MemoryCode", "Value"]

Value = tuple[str, ScalarType, Shape]
"""A result: scalar base or vector, the type that it was read as, its shape."""

_VARYING = Shape(None)


class MemoryCode:
    """Writes the memory instructions of one function."""

    def __init__(
        self,
        warp: WarpCode,
        analysis: Analysis,
        registers: Registers,
        symbols: Mapping[str, int],
        roots: Mapping[int, int],
        records: bool,
    ) -> None:
        self._warp = warp
        self._analysis = analysis
        self._registers = registers
        self._symbols = symbols
        self._records = records
        self._regions = Regions(warp.entry, roots)
        self._checks = AccessChecks(warp, registers, self._regions)
        self._fast = VectorAccess(warp, self._checks)
        self._time = "0"
        self.lane_shapes: list[tuple[int, ...]] = []
        self.atomics: set[tuple[str, ScalarType]] = set()

    def begin(self, block: BasicBlock, time: str) -> None:
        """A new basic block: makes sure that its records fit into the ring."""
        self._time = time
        accesses = sum(isinstance(i, Load | Store | Atomic) for i in block.body)
        if self._records and accesses:
            words = accesses * (RECORD_WORDS + self._warp.width)
            self._warp.scalar.do(f"call void @make_room(ptr %w, i64 {8 * words})")

    def load(self, load: Load, mask: str, position: int) -> list[Value]:
        warp, code, count = self._warp, self._warp.scalar, len(load.destinations)
        written = load.type if load.type.is_integer else ScalarType.named(f"b{load.type.bits}")
        lanes = self._addresses(load)
        if load.address.space is not AddressSpace.PARAM:
            self._record(load.pc, lanes, mask, position)
        region = self._regions.expected(load.address)
        if load.address.space is AddressSpace.PARAM and load.address.base is None:
            assert region is not None
            fixed = uniform(warp.width)
            found = self._fast.load(region, lanes, load.type, count, mask, fixed)
            return [(value, written, fixed) for value in found]
        result = uniform(warp.width) if _is_uniform(load, lanes) else _VARYING
        lane = lane_type(load.type)
        kind = f"<{warp.width} x {lane}>" if result.is_varying else lane
        slow, join = warp.labels("slow", "join")
        fast_values: list[str] = []
        end = ""
        if region is not None:
            total = load.type.bytes * count
            self._checks.check(region, lanes, total, mask, slow, region.size)
            fast_values = self._fast.load(region, lanes, load.type, count, mask, result)
            end = warp.here()
        code.do(f"br label %{join if region is not None else slow}")
        warp.label(slow)
        values = self._slow_load(load, lanes, mask, result)
        slow_end = warp.here()
        code.do(f"br label %{join}")
        warp.label(join)
        if region is not None:
            values = [
                code.op(f"phi {kind} [ {a}, %{end} ], [ {b}, %{slow_end} ]")
                for a, b in zip(fast_values, values, strict=True)
            ]
        return [(value, written, result) for value in values]

    def store(self, store: Store, mask: str, position: int) -> None:
        warp, code = self._warp, self._warp.scalar
        bits = ScalarType.named(f"b{store.type.bits}")
        lanes = self._addresses(store)
        self._record(store.pc, lanes, mask, position)
        values = [self._registers.vector(s, bits) for s in store.sources]
        region = self._regions.expected(store.address)
        slow, join = warp.labels("slow", "join")
        if region is not None:
            total = store.type.bytes * len(values)
            self._checks.check(region, lanes, total, mask, slow, region.writable)
            self._fast.store(region, lanes, store.type, values, mask)
        code.do(f"br label %{join if region is not None else slow}")
        warp.label(slow)
        kind = f"<{warp.width * len(values)} x {lane_type(store.type)}>"
        code.do(f"store {kind} {self._fast.interleaved(values, store.type)}, ptr %staging")
        self._serve("@serve_store", store, lanes, mask, len(values))
        code.do(f"br label %{join}")
        warp.label(join)

    def atomic(self, atomic: Atomic, mask: str, position: int) -> Value:
        """Lane by lane in the runtime; the result is the old values."""
        code = self._warp.scalar
        bits = ScalarType.named(f"b{atomic.type.bits}")
        lanes = self._addresses(atomic)
        self._record(atomic.pc, lanes, mask, position)
        kind = f"<{self._warp.width} x {lane_type(atomic.type)}>"
        for slot, source in zip(("%staging", "%staging2"), atomic.sources, strict=False):
            code.do(f"store {kind} {self._registers.vector(source, bits)}, ptr {slot}")
        self.atomics.add((atomic.operation, atomic.type))
        name = f"@atomic_{atomic.operation}_{atomic.type.ptx_name}"
        self._serve(name, atomic, lanes, mask, 1)
        old = code.op(f"load {kind}, ptr %staging")
        written = atomic.type if atomic.type.is_integer else bits
        return old, written, _VARYING

    def _addresses(self, instruction: Load | Store | Atomic) -> Lanes:
        """Addresses within the instruction's space."""
        address, code = instruction.address, self._warp.scalar
        zero = (0,) * self._warp.width
        if not isinstance(address.base, Register):
            first = address.offset
            if isinstance(address.base, SymbolAddress):
                first += self._symbols[address.base.symbol] + address.base.offset
            return Lanes(str(first), zero)
        base, bits = address.base, address.base.bits
        shape = self._analysis.shape(base)
        value = self._registers.bits_of(base)
        if not shape.is_varying:
            moved = code.op(f"add i{bits} {value}, {address.offset}") if address.offset else value
            if bits == 64:
                return Lanes(moved, shape.offsets)
            wide = code.op(f"zext i{bits} {moved} to i64")
            if shape.is_uniform:
                return Lanes(wide, zero)
            # 32-bit addresses wrap: only the lowest lane's is sure to be near the region
            assert shape.offsets is not None
            low = min(shape.offsets)
            if low:
                least = code.op(f"add i{bits} {moved}, {low}")
                wide = code.op(f"zext i{bits} {least} to i64")
            return Lanes(wide, tuple(offset - low for offset in shape.offsets))
        vector = self._warp.vector
        if address.offset:
            vector_offset = vector.splat(f"i{bits}", address.offset)
            value = vector.binary("add", f"i{bits}", value, vector_offset)
        return Lanes(vector.cast("zext", f"i{bits}", value, "i64"), None)

    def _serve(
        self, name: str, instruction: Load | Store | Atomic, lanes: Lanes, mask: str, count: int
    ) -> None:
        """Calls the runtime for every active lane; a fault leaves the function."""
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

    def _slow_load(self, load: Load, lanes: Lanes, mask: str, result: Shape) -> list[str]:
        warp, code, count = self._warp, self._warp.scalar, len(load.destinations)
        self._serve("@serve_load", load, lanes, mask, count)
        kind = f"<{warp.width * count} x {lane_type(load.type)}>"
        whole = code.op(f"load {kind}, ptr %staging")
        if result.is_varying:
            return [
                self._fast.picked(whole, kind, [i * count + part for i in range(warp.width)])
                for part in range(count)
            ]
        wide = warp.wide_mask(mask)
        lowest = code.op(f"call i64 @llvm.cttz.i64(i64 {wide}, i1 false)")
        inside = code.op(f"and i64 {lowest}, {warp.width - 1}")
        values = []
        for part in range(count):
            place = code.op(f"mul i64 {inside}, {count}")
            place = code.op(f"add i64 {place}, {part}")
            values.append(code.op(f"extractelement {kind} {whole}, i64 {place}"))
        return values

    def _record(self, pc: int, lanes: Lanes, mask: str, position: int) -> None:
        if not self._records:
            return
        code = self._warp.scalar
        wide, time = self._warp.wide_mask(mask), code.op(f"add i64 {self._time}, {position}")
        if lanes.offsets is None:
            code.do(
                f"call void @record_lanes(ptr %w, i64 {pc}, i32 %warp, i64 {time}, i64 {wide}, "
                f"<{self._warp.width} x i64> {lanes.base})"
            )
            return
        if lanes.offsets not in self.lane_shapes:
            self.lane_shapes.append(lanes.offsets)
        shape = self.lane_shapes.index(lanes.offsets)
        code.do(
            f"call void @record_shape(ptr %w, i64 {pc | 1 << 31 | shape << 32}, i32 %warp, "
            f"i64 {time}, i64 {wide}, i64 {lanes.base})"
        )


def _is_uniform(load: Load, lanes: Lanes) -> bool:
    """Whether all lanes are known to read the same place."""
    if load.address.space in (AddressSpace.LOCAL, AddressSpace.GENERIC):
        return False
    return lanes.offsets is not None and not any(lanes.offsets)
