"""Loads, stores and atomics of a warp as LLVM IR, checked and recorded.

An access is predicted to fall into one region: its address space, or the buffer that its address
was computed from. One comparison checks bounds and alignment of all lanes: the distance from the
region's start, rotated right by the alignment's bits, is below a limit only if those bits are zero
and the distance is small. Lanes that fail it are served one by one by the runtime, which knows all
regions and reports faults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kernelcast.simcore.engine.jit.analysis import Analysis, Facts
from kernelcast.simcore.engine.jit.registers import Registers, lane_vector
from kernelcast.simcore.engine.jit.runtime_code import RECORD_WORDS, SPACES
from kernelcast.simcore.engine.jit.shapes import Shape, apply_rule, uniform
from kernelcast.simcore.engine.jit.workspace import BUFFER_WORDS, field_offset
from kernelcast.simcore.isa.kernel import (
    Atomic,
    BasicBlock,
    Compute,
    Load,
    Register,
    Store,
    SymbolAddress,
)
from kernelcast.simcore.isa.native_code import NativeCode
from kernelcast.simcore.isa.opcodes import Context
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["MemoryCode", "Value"]

Value = tuple[str, ScalarType, Shape]
"""A result: scalar base or vector, the type that it was read as, its shape."""

_VARYING = Shape(None)
# A window of this many times what the lanes want is loaded at once; beyond it, lane by lane.
_WINDOW_FACTOR = 4


@dataclass(frozen=True, slots=True)
class Region:
    """SSA names, valid in the whole function: first address, bytes, bytes to write, host base."""

    key: str
    first: str
    size: str
    writable: str
    host: str


@dataclass(frozen=True, slots=True)
class Lanes:
    """Addresses of one access: a scalar base with constant offsets, or a vector (`offsets` None).

    `base` and `vector` are i64, without the region's first address taken off.
    """

    base: str
    offsets: tuple[int, ...] | None


class MemoryCode:
    """Writes the memory instructions of one function."""

    def __init__(
        self,
        facts: Facts,
        analysis: Analysis,
        scalar: NativeCode,
        entry: NativeCode,
        registers: Registers,
        symbols: Mapping[str, int],
        roots: Mapping[int, int],
        records: bool,
    ) -> None:
        self._facts = facts
        self._analysis = analysis
        self._width = facts.width
        self._code = scalar
        self._vector = scalar.with_lanes(facts.width)
        self._entry = entry
        self._registers = registers
        self._symbols = symbols
        self._roots = roots
        self._records = records
        self._mask_type = f"i{facts.width}"
        self._regions: dict[str, Region] = {}
        self._limits: dict[tuple[str, int, int], str] = {}
        self._time = "0"
        self.lane_shapes: list[tuple[int, ...]] = []
        self.atomics: set[tuple[str, ScalarType]] = set()

    def begin(self, block: BasicBlock, mask: str, time: str) -> None:
        """A new basic block: makes sure that its records fit into the ring."""
        self._time = time
        accesses = sum(isinstance(i, Load | Store | Atomic) for i in block.body)
        if self._records and accesses:
            words = accesses * (RECORD_WORDS + self._width)
            self._code.do(f"call void @make_room(ptr %w, i64 {8 * words})")

    def result_shape(self, instruction: Compute) -> Shape:
        context = Context(instruction.type, instruction.source_type, instruction.modifiers)
        types = instruction.opcode.operand_types(context)
        sources = [
            self._registers.shape(operand, read_as)
            for operand, read_as in zip(instruction.sources, types, strict=True)
        ]
        return apply_rule(instruction, sources, self._width)

    def load(self, load: Load, mask: str, position: int) -> list[Value]:
        code, count = self._code, len(load.destinations)
        lane = _lane_type(load.type)
        written = load.type if load.type.is_integer else ScalarType.named(f"b{load.type.bits}")
        lanes = self._addresses(load)
        if load.address.space is AddressSpace.PARAM and load.address.base is None:
            region = self._field_region("params", "param_bytes", writable=False)
            fixed = uniform(self._width)
            found = self._fast_load(region, lanes, load.type, count, mask, fixed)
            return [(value, written, fixed) for value in found]
        if load.address.space is not AddressSpace.PARAM:
            self._record(load.pc, lanes, mask, position)
        region, lanes = self._placed(load, lanes)
        result = uniform(self._width) if self._is_uniform(load, lanes) else _VARYING
        kind = f"<{self._width} x {lane}>" if result.is_varying else lane
        slow, join = self._labels("slow", "join")
        fast_values: list[str] = []
        if region is not None:
            total = load.type.bytes * count
            self._check(region, lanes, total, mask, slow, region.size)
            fast_values = self._fast_load(region, lanes, load.type, count, mask, result)
            end = self._here()
            code.do(f"br label %{join}")
        else:
            code.do(f"br label %{slow}")
        code.lines.append(f"{slow}:")
        slow_values = self._slow_load(load, lanes, mask, result)
        slow_end = self._here()
        code.do(f"br label %{join}")
        code.lines.append(f"{join}:")
        values = slow_values
        if region is not None:
            values = [
                code.op(f"phi {kind} [ {a}, %{end} ], [ {b}, %{slow_end} ]")
                for a, b in zip(fast_values, slow_values, strict=True)
            ]
        return [(value, written, result) for value in values]

    def store(self, store: Store, mask: str, position: int) -> None:
        code = self._code
        bits = ScalarType.named(f"b{store.type.bits}")
        lanes = self._addresses(store)
        self._record(store.pc, lanes, mask, position)
        values = [self._registers.vector(s, bits) for s in store.sources]
        region, lanes = self._placed(store, lanes)
        slow, join = self._labels("slow", "join")
        if region is not None:
            total = store.type.bytes * len(values)
            self._check(region, lanes, total, mask, slow, region.writable)
            self._fast_store(region, lanes, store.type, values, mask)
            code.do(f"br label %{join}")
        else:
            code.do(f"br label %{slow}")
        code.lines.append(f"{slow}:")
        kind = f"<{self._width * len(values)} x {_lane_type(store.type)}>"
        code.do(f"store {kind} {self._interleaved(values, store.type)}, ptr %staging")
        self._serve("@serve_store", store, lanes, mask, len(values))
        code.do(f"br label %{join}")
        code.lines.append(f"{join}:")

    def atomic(self, atomic: Atomic, mask: str, position: int) -> Value | None:
        """Lane by lane in the runtime."""
        code, width = self._code, self._width
        bits = ScalarType.named(f"b{atomic.type.bits}")
        lanes = self._addresses(atomic)
        self._record(atomic.pc, lanes, mask, position)
        kind = f"<{width} x {_lane_type(atomic.type)}>"
        for slot, source in zip(("%staging", "%staging2"), atomic.sources, strict=False):
            code.do(f"store {kind} {self._registers.vector(source, bits)}, ptr {slot}")
        self.atomics.add((atomic.operation, atomic.type))
        name = f"@atomic_{atomic.operation}_{atomic.type.ptx_name}"
        self._serve(name, atomic, lanes, mask, 1)
        old = code.op(f"load {kind}, ptr %staging")
        written = atomic.type if atomic.type.is_integer else bits
        return old, written, _VARYING

    # addresses

    def _is_uniform(self, load: Load, lanes: Lanes) -> bool:
        if load.address.space in (AddressSpace.LOCAL, AddressSpace.GENERIC):
            return False
        return lanes.offsets is not None and not any(lanes.offsets)

    def _addresses(self, instruction: Load | Store | Atomic) -> Lanes:
        """Addresses within the instruction's space."""
        address, code = instruction.address, self._code
        zero = (0,) * self._width
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
        vector = self._vector
        if address.offset:
            vector_offset = vector.splat(f"i{bits}", address.offset)
            value = vector.binary("add", f"i{bits}", value, vector_offset)
        return Lanes(vector.cast("zext", f"i{bits}", value, "i64"), None)

    def _placed(
        self, instruction: Load | Store | Atomic, lanes: Lanes
    ) -> tuple[Region | None, Lanes]:
        """The region that the access is expected to fall into; None when nothing is known."""
        address = instruction.address
        match address.space:
            case AddressSpace.SHARED:
                return self._field_region("shared", "shared_bytes", writable=True), lanes
            case AddressSpace.CONST:
                return self._field_region("constants", "constant_bytes", writable=False), lanes
            case AddressSpace.PARAM:
                return self._field_region("params", "param_bytes", writable=False), lanes
            case AddressSpace.GLOBAL | AddressSpace.GENERIC:
                if isinstance(address.base, Register) and address.base.index in self._roots:
                    return self._buffer_region(self._roots[address.base.index]), lanes
        return None, lanes

    def _field_region(self, host: str, size: str, *, writable: bool) -> Region:
        known = self._regions.get(host)
        if known is None:
            base = self._entry_load("ptr", f"%w, i64 {field_offset(host)}")
            length = self._entry_load("i64", f"%w, i64 {field_offset(size)}")
            known = Region(host, "0", length, length if writable else "0", base)
            self._regions[host] = known
        return known

    def _buffer_region(self, row: int) -> Region:
        key = f"buffer{row}"
        known = self._regions.get(key)
        if known is None:
            table = self._entry_load("ptr", f"%w, i64 {field_offset('buffers')}")
            words = [
                self._entry_load(kind, f"{table}, i64 {8 * (BUFFER_WORDS * row + column)}")
                for column, kind in enumerate(("i64", "i64", "i64", "ptr"))
            ]
            known = Region(key, *words)
            self._regions[key] = known
        return known

    def _entry_load(self, kind: str, place: str) -> str:
        where = self._entry.op(f"getelementptr i8, ptr {place}")
        return self._entry.op(f"load {kind}, ptr {where}")

    def _limit(self, region: Region, size: str, bytes_: int, alignment: int) -> str:
        """How many aligned distances from the region's start leave room for `bytes_`."""
        key = (region.key + size, bytes_, alignment)
        known = self._limits.get(key)
        if known is None:
            entry = self._entry
            room = entry.op(f"sub i64 {size}, {bytes_}")
            fits = entry.op(f"icmp sge i64 {room}, 0")
            steps = entry.op(f"lshr i64 {room}, {alignment.bit_length() - 1}")
            one_more = entry.op(f"add i64 {steps}, 1")
            known = entry.op(f"select i1 {fits}, i64 {one_more}, i64 0")
            self._limits[key] = known
        return known

    # checks

    def _check(
        self, region: Region, lanes: Lanes, total: int, mask: str, slow: str, size: str
    ) -> None:
        """Goes on in a new fast path when all active lanes are in the region, else to `slow`."""
        code, shift = self._code, total.bit_length() - 1
        fast = self._labels("fast")[0]
        if (
            lanes.offsets is not None
            and _span(lanes.offsets) % total == 0
            and all((offset - min(lanes.offsets)) % total == 0 for offset in lanes.offsets)
        ):
            distance = self._distance(region, lanes)
            limit = self._limit(region, size, total + _span(lanes.offsets), total)
            if shift:
                distance = self._rotated(code, distance, shift)
            inside = code.op(f"icmp ult i64 {distance}, {limit}")
        else:
            vector = self._vector
            far = vector.binary("sub", "i64", self._as_vector(lanes), self._splat(region.first))
            limit = self._splat(self._limit(region, size, total, total))
            if shift:
                far = self._rotated(vector, far, shift)
            outside = vector.binary("icmp uge", "i64", far, limit)
            bits = code.op(f"bitcast <{self._width} x i1> {outside} to {self._mask_type}")
            active = code.op(f"and {self._mask_type} {bits}, {mask}")
            inside = code.op(f"icmp eq {self._mask_type} {active}, 0")
        code.do(f"br i1 {inside}, label %{fast}, label %{slow}, !prof !1")
        code.lines.append(f"{fast}:")

    def _rotated(self, code: NativeCode, value: str, shift: int) -> str:
        kind = code.type("i64")
        operands = [(kind, value), (kind, value), (kind, code.splat("i64", shift))]
        return code.intrinsic("fshr", "i64", operands)

    def _distance(self, region: Region, lanes: Lanes) -> str:
        """Of the lowest lane from the region's start."""
        assert lanes.offsets is not None
        low = min(lanes.offsets)
        base = self._code.op(f"add i64 {lanes.base}, {low}") if low else lanes.base
        return base if region.first == "0" else self._code.op(f"sub i64 {base}, {region.first}")

    def _splat(self, value: str) -> str:
        if value == "0":
            return "zeroinitializer"
        return self._registers.broadcast(value, "i64")

    def _as_vector(self, lanes: Lanes) -> str:
        if lanes.offsets is None:
            return lanes.base
        splat = self._registers.broadcast(lanes.base, "i64")
        return self._vector.binary("add", "i64", splat, lane_vector("i64", lanes.offsets))

    def _pointer(self, region: Region, lanes: Lanes) -> str:
        """Host address of the lowest lane."""
        return self._code.op(
            f"getelementptr i8, ptr {region.host}, i64 {self._distance(region, lanes)}"
        )

    def _pointers(self, region: Region, lanes: Lanes, offset: int) -> str:
        far = self._vector.binary("sub", "i64", self._as_vector(lanes), self._splat(region.first))
        if offset:
            far = self._vector.binary("add", "i64", far, self._vector.splat("i64", offset))
        return self._code.op(f"getelementptr i8, ptr {region.host}, <{self._width} x i64> {far}")

    # fast paths

    def _fast_load(
        self,
        region: Region,
        lanes: Lanes,
        type_: ScalarType,
        count: int,
        mask: str,
        result: Shape,
    ) -> list[str]:
        lane, size = _lane_type(type_), type_.bytes
        if not result.is_varying:
            first = self._pointer(region, lanes)
            return [self._load_at(first, part * size, lane, size) for part in range(count)]
        offsets = lanes.offsets
        if offsets is not None:
            low = min(offsets)
            elements = (_span(offsets) // size) + count
            if elements <= _WINDOW_FACTOR * self._width * count:
                window = f"<{elements} x {lane}>"
                value = self._load_at(self._pointer(region, lanes), 0, window, size)
                return [
                    self._picked(value, window, [(o - low) // size + part for o in offsets])
                    for part in range(count)
                ]
        values = []
        for part in range(count):
            pointers = self._pointers(region, lanes, part * size)
            values.append(self._gather(pointers, lane, size, mask))
        return values

    def _load_at(self, first: str, offset: int, kind: str, size: int) -> str:
        where = first
        if offset:
            where = self._code.op(f"getelementptr i8, ptr {first}, i64 {offset}")
        return self._code.op(f"load {kind}, ptr {where}, align {size}")

    def _picked(self, value: str, kind: str, indices: list[int]) -> str:
        elements = int(kind[1:].split(" ")[0])
        if indices == list(range(elements)):
            return value
        chosen = ", ".join(f"i32 {i}" for i in indices)
        return self._code.op(
            f"shufflevector {kind} {value}, {kind} poison, <{self._width} x i32> <{chosen}>"
        )

    def _gather(self, pointers: str, lane: str, size: int, mask: str) -> str:
        kind = f"<{self._width} x {lane}>"
        name = f"@llvm.masked.gather.v{self._width}{lane}.v{self._width}p0"
        code = self._code
        masks = f"<{self._width} x i1>"
        places = f"<{self._width} x ptr>"
        code.declarations[name] = f"declare {kind} {name}({places}, {masks}, {kind})"
        return code.op(
            f"call {kind} {name}({places} align {size} {pointers}, "
            f"{masks} {self._mask_vector(mask)}, {kind} zeroinitializer)"
        )

    def _mask_vector(self, mask: str) -> str:
        if mask == "-1":
            return "splat (i1 true)"
        return self._code.op(f"bitcast {self._mask_type} {mask} to <{self._width} x i1>")

    def _fast_store(
        self, region: Region, lanes: Lanes, type_: ScalarType, values: list[str], mask: str
    ) -> None:
        code, lane, size = self._code, _lane_type(type_), type_.bytes
        count, width = len(values), self._width
        kind = f"<{width} x {lane}>"
        offsets = lanes.offsets
        if offsets is not None and offsets == tuple(i * size * count for i in range(width)):
            first = self._pointer(region, lanes)
            if mask == "-1":
                wide = f"<{width * count} x {lane}>"
                whole = self._interleaved(values, type_)
                code.do(f"store {wide} {whole}, ptr {first}, align {size}")
                return
            if count == 1:
                name = f"@llvm.masked.store.v{width}{lane}.p0"
                code.declarations[name] = f"declare void {name}({kind}, ptr, <{width} x i1>)"
                code.do(
                    f"call void {name}({kind} {values[0]}, ptr align {size} {first}, "
                    f"<{width} x i1> {self._mask_vector(mask)})"
                )
                return
        places = f"<{width} x ptr>"
        name = f"@llvm.masked.scatter.v{width}{lane}.v{width}p0"
        code.declarations[name] = f"declare void {name}({kind}, {places}, <{width} x i1>)"
        for part, value in enumerate(values):
            pointers = self._pointers(region, lanes, part * size)
            code.do(
                f"call void {name}({kind} {value}, {places} align {size} {pointers}, "
                f"<{width} x i1> {self._mask_vector(mask)})"
            )

    def _interleaved(self, values: list[str], type_: ScalarType) -> str:
        """All parts of lane 0, then of lane 1, ..."""
        lane, width, code = _lane_type(type_), self._width, self._code
        if len(values) == 1:
            return values[0]
        joined, size = list(values), width
        while len(joined) > 1:
            order = ", ".join(f"i32 {i}" for i in range(2 * size))
            joined = [
                code.op(
                    f"shufflevector <{size} x {lane}> {joined[i]}, <{size} x {lane}> "
                    f"{joined[i + 1]}, <{2 * size} x i32> <{order}>"
                )
                for i in range(0, len(joined), 2)
            ]
            size *= 2
        order = ", ".join(
            f"i32 {part * width + i}" for i in range(width) for part in range(len(values))
        )
        kind = f"<{size} x {lane}>"
        return code.op(f"shufflevector {kind} {joined[0]}, {kind} poison, <{size} x i32> <{order}>")

    # the runtime

    def _serve(
        self, name: str, instruction: Load | Store | Atomic, lanes: Lanes, mask: str, count: int
    ) -> None:
        """Calls the runtime for every active lane; a fault leaves the function."""
        code, width = self._code, self._width
        code.do(f"store <{width} x i64> {self._as_vector(lanes)}, ptr %places")
        wide = self._wide_mask(mask)
        space = SPACES[instruction.address.space]
        total = instruction.type.bytes * count
        served = code.op(
            f"call i1 {name}(ptr %w, ptr %places, i64 {wide}, ptr %staging, ptr %staging2, "
            f"i64 {total}, i32 {space}, i64 {instruction.pc}, i32 %warp)"
        )
        good = self._labels("served")[0]
        code.do(f"br i1 {served}, label %{good}, label %fault")
        code.lines.append(f"{good}:")

    def _slow_load(self, load: Load, lanes: Lanes, mask: str, result: Shape) -> list[str]:
        code, count, lane = self._code, len(load.destinations), _lane_type(load.type)
        self._serve("@serve_load", load, lanes, mask, count)
        kind = f"<{self._width * count} x {lane}>"
        whole = code.op(f"load {kind}, ptr %staging")
        if not result.is_varying:
            wide = self._wide_mask(mask)
            lowest = code.op(f"call i64 @llvm.cttz.i64(i64 {wide}, i1 false)")
            inside = code.op(f"and i64 {lowest}, {self._width - 1}")
            values = []
            for part in range(count):
                place = code.op(f"mul i64 {inside}, {count}")
                place = code.op(f"add i64 {place}, {part}")
                values.append(code.op(f"extractelement {kind} {whole}, i64 {place}"))
            return values
        return [
            self._picked(whole, kind, [i * count + part for i in range(self._width)])
            for part in range(count)
        ]

    def _wide_mask(self, mask: str) -> str:
        if mask == "-1":
            return str((1 << self._width) - 1) if self._width < 64 else "-1"
        if self._width == 64:
            return mask
        return self._code.op(f"zext {self._mask_type} {mask} to i64")

    def _record(self, pc: int, lanes: Lanes, mask: str, position: int) -> None:
        if not self._records:
            return
        code = self._code
        wide, time = self._wide_mask(mask), code.op(f"add i64 {self._time}, {position}")
        if lanes.offsets is None:
            code.do(
                f"call void @record_lanes(ptr %w, i64 {pc}, i32 %warp, i64 {time}, i64 {wide}, "
                f"<{self._width} x i64> {lanes.base})"
            )
            return
        if lanes.offsets not in self.lane_shapes:
            self.lane_shapes.append(lanes.offsets)
        shape = self.lane_shapes.index(lanes.offsets)
        code.do(
            f"call void @record_shape(ptr %w, i64 {pc | 1 << 31 | shape << 32}, i32 %warp, "
            f"i64 {time}, i64 {wide}, i64 {lanes.base})"
        )

    def _here(self) -> str:
        """The label of the LLVM basic block that is being written."""
        for line in reversed(self._code.lines):
            if line.endswith(":"):
                return line[:-1]
        raise AssertionError("no label yet")

    def _labels(self, *stems: str) -> tuple[str, ...]:
        return tuple(f"{stem}{self._code.fresh()[1:]}" for stem in stems)


def _span(offsets: tuple[int, ...]) -> int:
    return max(offsets) - min(offsets)


def _lane_type(type_: ScalarType) -> str:
    return f"i{type_.bits}"
