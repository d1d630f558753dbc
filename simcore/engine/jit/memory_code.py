"""Loads, stores and atomics of a warp as LLVM IR, checked and recorded.

Lanes that pass the check of the region that they are expected in are served at once; when some do
not, all are served one by one by the runtime, which knows all regions and reports faults.
"""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.simcore.engine.jit.access_checks import AccessChecks, Lanes, Regions
from kernelcast.simcore.engine.jit.analysis import Analysis
from kernelcast.simcore.engine.jit.atomic_code import AtomicCode, AtomicKind
from kernelcast.simcore.engine.jit.record_code import RecordCode
from kernelcast.simcore.engine.jit.registers import Registers
from kernelcast.simcore.engine.jit.runtime_code import SPACES
from kernelcast.simcore.engine.jit.shapes import Shape, uniform
from kernelcast.simcore.engine.jit.vector_access import VectorAccess, lane_type
from kernelcast.simcore.engine.jit.warp_code import WarpCode
from kernelcast.simcore.isa.kernel import (
    Atomic,
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
_PATTERNED = (AddressSpace.GLOBAL, AddressSpace.SHARED, AddressSpace.CONST)


class MemoryCode:
    """Writes the memory instructions of one function.

    `only`: pcs of the instructions that do something, None for all; `used`: registers that are
    read anywhere.
    """

    def __init__(
        self,
        warp: WarpCode,
        analysis: Analysis,
        registers: Registers,
        symbols: Mapping[str, int],
        roots: Mapping[int, int],
        record: RecordCode,
        atomics: AtomicCode,
        only: frozenset[int] | None,
        used: frozenset[int],
    ) -> None:
        self._warp = warp
        self._analysis = analysis
        self._registers = registers
        self._symbols = symbols
        self._record = record
        self._only = only
        self._used = used
        self._atomics = atomics
        self._regions = Regions(warp.entry, roots)
        self._checks = AccessChecks(warp, registers, self._regions)
        self._fast = VectorAccess(warp, self._checks)

    def load(self, load: Load, mask: str, position: int) -> list[Value]:
        """One value for each destination; none when the instruction is only recorded."""
        warp, code = self._warp, self._warp.scalar
        lanes = self._addresses(load)
        if not self._does(load):
            self._record.access(load, lanes, mask, position)
            return []
        written = load.type if load.type.is_integer else ScalarType.named(f"b{load.type.bits}")
        if load.address.space is AddressSpace.PARAM and load.address.base is None:
            region = self._regions.expected(load.address)
            assert region is not None
            fixed, count = uniform(warp.width), len(load.destinations)
            found = self._fast.load(region, lanes, load.type, count, mask, fixed)
            return [(value, written, fixed) for value in found]
        result = uniform(warp.width) if _is_uniform(load, lanes) else _VARYING
        if lanes.likely is None:
            values = self._load(load, lanes, mask, position, result)
            return [(value, written, result) for value in values]
        kind = f"<{warp.width} x {lane_type(load.type)}>"
        near, far, join = warp.labels("near", "far", "join")
        pattern = self._checks.pattern(lanes, mask, near, far)
        warp.label(near)
        near_values = self._load(load, pattern, mask, position, result)
        near_end = warp.here()
        code.do(f"br label %{join}")
        warp.label(far)
        values = self._load(load, lanes, mask, position, result)
        far_end = warp.here()
        code.do(f"br label %{join}")
        warp.label(join)
        return [
            (code.op(f"phi {kind} [ {a}, %{near_end} ], [ {b}, %{far_end} ]"), written, result)
            for a, b in zip(near_values, values, strict=True)
        ]

    def _load(self, load: Load, lanes: Lanes, mask: str, position: int, result: Shape) -> list[str]:
        warp, code, count = self._warp, self._warp.scalar, len(load.destinations)
        self._record.access(load, lanes, mask, position)
        region = self._regions.expected(load.address)
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
        if region is None:
            return values
        return [
            code.op(f"phi {kind} [ {a}, %{end} ], [ {b}, %{slow_end} ]")
            for a, b in zip(fast_values, values, strict=True)
        ]

    def store(self, store: Store, mask: str, position: int) -> None:
        warp, code = self._warp, self._warp.scalar
        lanes = self._addresses(store)
        if not self._does(store):
            self._record.access(store, lanes, mask, position)
            return
        bits = ScalarType.named(f"b{store.type.bits}")
        values = [self._registers.vector(s, bits) for s in store.sources]
        if lanes.likely is None:
            self._store(store, lanes, mask, position, values)
            return
        near, far, join = warp.labels("near", "far", "join")
        pattern = self._checks.pattern(lanes, mask, near, far)
        warp.label(near)
        self._store(store, pattern, mask, position, values)
        code.do(f"br label %{join}")
        warp.label(far)
        self._store(store, lanes, mask, position, values)
        code.do(f"br label %{join}")
        warp.label(join)

    def _store(
        self, store: Store, lanes: Lanes, mask: str, position: int, values: list[str]
    ) -> None:
        warp, code = self._warp, self._warp.scalar
        self._record.access(store, lanes, mask, position)
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

    def atomic(self, atomic: Atomic, mask: str, position: int) -> list[Value]:
        """The old values, where somebody reads them."""
        warp, code = self._warp, self._warp.scalar
        lanes = self._addresses(atomic)
        self._record.access(atomic, lanes, mask, position)
        if not self._does(atomic):
            return []
        bits = ScalarType.named(f"b{atomic.type.bits}")
        kind = f"<{warp.width} x {lane_type(atomic.type)}>"
        operands = [self._registers.vector(source, bits) for source in atomic.sources]
        for slot, operand in zip(("%staging", "%staging2"), operands, strict=False):
            code.do(f"store {kind} {operand}, ptr {slot}")
        keeps_old = atomic.destination is not None and atomic.destination.index in self._used
        is_private = atomic.address.space is AddressSpace.SHARED
        what = AtomicKind(atomic.operation, atomic.type, is_private, keeps_old)
        region = self._regions.expected(atomic.address)
        slow, join = warp.labels("slow", "join")
        if region is not None:
            self._checks.check(region, lanes, atomic.type.bytes, mask, slow, region.writable)
            if _is_uniform(atomic, lanes) and what.can_be_summed:
                place = self._checks.pointer(region, lanes)
                self._atomics.total(what, place, operands[0], mask)
            else:
                places = self._checks.distances(region, lanes)
                self._atomics.by_lane(what, region.host, places, mask)
        code.do(f"br label %{join if region is not None else slow}")
        warp.label(slow)
        self._serve(self._atomics.unchecked(atomic), atomic, lanes, mask, 1)
        code.do(f"br label %{join}")
        warp.label(join)
        if not keeps_old:
            return []
        old = code.op(f"load {kind}, ptr %staging")
        return [(old, atomic.type if atomic.type.is_integer else bits, _VARYING)]

    def _does(self, instruction: Load | Store | Atomic) -> bool:
        """Whether the instruction does anything but count."""
        return self._only is None or instruction.pc in self._only

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
        likely = shape.offsets if address.space in _PATTERNED else None
        return Lanes(vector.cast("zext", f"i{bits}", value, "i64"), None, likely)

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


def _is_uniform(access: Load | Atomic, lanes: Lanes) -> bool:
    """Whether all lanes are known to touch the same place."""
    if access.address.space in (AddressSpace.LOCAL, AddressSpace.GENERIC):
        return False
    return lanes.offsets is not None and not any(lanes.offsets)
