"""Which region an access is expected to fall into, and the check that it does.

A region is an address space, or the buffer that an address was computed from. One comparison checks
bounds and alignment of all lanes: the distance from the region's start, rotated right by the
alignment's bits, is below a limit only if those bits are zero and the distance is small.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kernelcast.simcore.engine.jit.codegen.registers import Registers, lane_vector
from kernelcast.simcore.engine.jit.codegen.warp_code import WarpCode
from kernelcast.simcore.engine.jit.codegen.workspace import field_offset
from kernelcast.simcore.isa.ir.kernel import Address, Register
from kernelcast.simcore.isa.numerics.lane_code import LaneCode
from kernelcast.simcore.isa.types import AddressSpace
from kernelcast.simcore.launch.allocations import ROW_WORDS

__all__ = ["AccessChecks", "Lanes", "Region", "Regions"]

_FIXED = ", !invariant.load !{}"
"""What is loaded stays as it is while the loop over thread blocks runs."""


@dataclass(frozen=True, slots=True)
class Region:
    """SSA names: first address, bytes, bytes that may be written, host base.

    They are valid in the whole function unless the region was looked up for one access.
    """

    key: str
    first: str
    size: str
    writable: str
    host: str
    is_looked_up: bool = False


@dataclass(frozen=True, slots=True)
class Lanes:
    """Addresses of one access: a scalar base with constant offsets, or a vector (`offsets` None).

    `base` is i64, without the region's first address taken off. `likely`: the offsets that a
    vector has unless an index wraps around, if there is such a pattern. `reach`: so many bytes
    farther on lies the last access that is checked together with this one. `first`: the scalar base
    that a vector with likely offsets has then, and `holds` whether it has, where they are known.
    """

    base: str
    offsets: tuple[int, ...] | None
    likely: tuple[int, ...] | None = None
    reach: int = 0
    first: str = ""
    holds: str = ""

    @property
    def low(self) -> int:
        """The least offset."""
        assert self.offsets is not None
        return min(self.offsets)

    @property
    def span(self) -> int:
        """Bytes from the first byte of the lowest lane to that of the highest."""
        assert self.offsets is not None
        return max(self.offsets) - min(self.offsets)

    def steps_by(self, bytes_: int) -> bool:
        """Whether all lanes are known to be whole steps of so many bytes apart."""
        return self.offsets is not None and all(
            (offset - self.low) % bytes_ == 0 for offset in self.offsets
        )


class Regions:
    """The regions that a function uses, their values loaded once at its entry where they are known.

    `roots`: register index -> row of the pointer that its address was computed from.
    """

    def __init__(self, warp: WarpCode, roots: Mapping[int, int]) -> None:
        self._warp = warp
        self._entry = warp.entry
        self.slots = 0
        """Accesses whose region is looked up."""
        self._roots = roots
        self._regions: dict[str, Region] = {}
        self._limits: dict[tuple[str, int, int], str] = {}

    def expected(self, address: Address) -> Region | None:
        """The region that the access is expected to fall into; None when nothing is known."""
        match address.space:
            case AddressSpace.SHARED:
                return self._of_field("shared", "shared_bytes", writable=True)
            case AddressSpace.CONST:
                return self._of_field("constants", "constant_bytes", writable=False)
            case AddressSpace.PARAM:
                return self._of_field("params", "param_bytes", writable=False)
            case AddressSpace.GLOBAL | AddressSpace.GENERIC:
                if isinstance(address.base, Register) and address.base.index in self._roots:
                    return self._of_buffer(self._roots[address.base.index])
        return None

    def looked_up(self, address: str) -> Region:
        """The allocation of an i64 address, looked up each time; another one where none holds it.

        Only the code that follows may use it.
        """
        code, slot = self._warp.scalar, self.slots
        self.slots += 1
        row = code.op(f"call ptr @row_of(ptr %w, i64 {address}, i64 {slot})")
        words = _row_words(code, row, 0)
        return Region(f"row{slot}", *words, is_looked_up=True)

    def limit(self, region: Region, size: str, bytes_: int, alignment: int) -> str:
        """How many aligned distances from the region's start leave room for `bytes_`.

        `bytes_` is `alignment` or more. None do where they reach round the whole address space.
        """
        if bytes_ - alignment >= 1 << 63:  # more than any region has, and maybe than 64 bits hold
            return "0"
        if region.is_looked_up:
            return _limit(self._warp.scalar, size, bytes_, alignment)
        key = (region.key + size, bytes_, alignment)
        known = self._limits.get(key)
        if known is None:
            known = self._limits[key] = _limit(self._entry, size, bytes_, alignment)
        return known

    def _of_field(self, host: str, size: str, *, writable: bool) -> Region:
        known = self._regions.get(host)
        if known is None:
            base = self._loaded("ptr", f"%w, i64 {field_offset(host)}")
            length = self._loaded("i64", f"%w, i64 {field_offset(size)}")
            known = Region(host, "0", length, length if writable else "0", base)
            self._regions[host] = known
        return known

    def _of_buffer(self, row: int) -> Region:
        key = f"buffer{row}"
        known = self._regions.get(key)
        if known is None:
            field, size = f"%w, i64 {field_offset('pointers')}", 8 * ROW_WORDS * (row + 1)
            there = f", !dereferenceable !{{i64 {size}}}"
            table = _loaded(self._entry, "ptr", field, _FIXED + there)
            known = Region(key, *_row_words(self._entry, table, row, _FIXED))
            self._regions[key] = known
        return known

    def _loaded(self, kind: str, place: str) -> str:
        return _loaded(self._entry, kind, place, _FIXED)


class AccessChecks:
    """Writes the check of an access, and its lanes' places in a region."""

    def __init__(self, warp: WarpCode, registers: Registers, regions: Regions) -> None:
        self._warp = warp
        self._registers = registers
        self._regions = regions

    def check(
        self, region: Region, lanes: Lanes, total: int, mask: str, slow: str, size: str
    ) -> None:
        """Goes on in a new fast path when all active lanes are in the region, else to `slow`.

        `total`: bytes of one lane; `size`: of the region's bytes, those that the access may touch.
        """
        warp, shift = self._warp, total.bit_length() - 1
        code, vector = warp.scalar, warp.vector
        if lanes.steps_by(total):
            distance = self._distance(region, lanes)
            limit = self._regions.limit(region, size, total + lanes.span + lanes.reach, total)
            if shift:
                distance = _rotated(code, distance, shift)
            inside = code.op(f"icmp ult i64 {distance}, {limit}")
        else:
            far = self.distances(region, lanes)
            limit = self._splat(self._regions.limit(region, size, total + lanes.reach, total))
            if shift:
                far = _rotated(vector, far, shift)
            inside = self._in_no_lane(vector.binary("icmp uge", "i64", far, limit), mask)
        self.proceed(inside, slow)

    def proceed(self, condition: str, slow: str) -> None:
        """Goes on in a new fast path, as is likely, where the condition holds, else to `slow`."""
        fast = self._warp.labels("fast")[0]
        self._warp.scalar.do(f"br i1 {condition}, label %{fast}, label %{slow}, !prof !1")
        self._warp.label(fast)

    def region(self, address: Address, lanes: Lanes, mask: str) -> Region | None:
        """Where an access is expected; where nothing is known, the allocation of one lane.

        None for local memory.
        """
        known = self._regions.expected(address)
        if known is None and address.space in (AddressSpace.GLOBAL, AddressSpace.GENERIC):
            return self._regions.looked_up(self._an_address(lanes, mask))
        return known

    def _an_address(self, lanes: Lanes, mask: str) -> str:
        """The address of some active lane, as i64: the lowest one, or any where all are known."""
        code = self._warp.scalar
        if lanes.offsets is not None:
            return code.op(f"add i64 {lanes.base}, {lanes.low}") if lanes.low else lanes.base
        wide = self._warp.wide_mask(mask)
        lowest = code.op(f"call i64 @llvm.cttz.i64(i64 {wide}, i1 false)")
        lane = code.op(f"and i64 {lowest}, {self._warp.width - 1}")
        return code.op(f"extractelement {self._warp.vector.type('i64')} {lanes.base}, i64 {lane}")

    def pattern(self, lanes: Lanes, mask: str) -> tuple[str, Lanes]:
        """Whether the active lanes have their likely offsets from lane 0, as i1; those lanes."""
        vector = self._warp.vector
        assert lanes.likely is not None
        if lanes.holds:
            return lanes.holds, Lanes(lanes.first, lanes.likely)
        kind = vector.type("i64")
        first = self._warp.scalar.op(f"extractelement {kind} {lanes.base}, i32 0")
        found = Lanes(first, lanes.likely)
        differs = vector.binary("icmp ne", "i64", lanes.base, self.addresses(found))
        return self._in_no_lane(differs, mask), found

    def _in_no_lane(self, found: str, mask: str) -> str:
        """Whether a vector of i1 is false in all active lanes."""
        warp = self._warp
        bits = warp.scalar.op(f"bitcast <{warp.width} x i1> {found} to {warp.mask_type}")
        return warp.is_empty(warp.both_masks(bits, mask))

    def moved(self, lanes: Lanes, distance: int) -> Lanes:
        """The addresses of the lanes so many bytes on, in a region that holds both."""
        if not distance:
            return lanes
        if lanes.offsets is None:
            vector = self._warp.vector
            step = vector.splat("i64", distance)
            return Lanes(vector.binary("add", "i64", lanes.base, step), None)
        base = self._warp.scalar.op(f"add i64 {lanes.base}, {distance}")
        return Lanes(base, lanes.offsets)

    def addresses(self, lanes: Lanes) -> str:
        """The address of each lane, as a vector."""
        if lanes.offsets is None:
            return lanes.base
        splat = self._registers.broadcast(lanes.base, "i64")
        return self._warp.vector.binary("add", "i64", splat, lane_vector("i64", lanes.offsets))

    def pointer(self, region: Region, lanes: Lanes) -> str:
        """Host address of the lowest lane."""
        return self._warp.scalar.op(
            f"getelementptr i8, ptr {region.host}, i64 {self._distance(region, lanes)}"
        )

    def pointers(self, region: Region, lanes: Lanes, offset: int) -> str:
        """Host addresses of all lanes, `offset` bytes on."""
        vector = self._warp.vector
        far = self.distances(region, lanes)
        if offset:
            far = vector.binary("add", "i64", far, vector.splat("i64", offset))
        return vector.op(f"getelementptr i8, ptr {region.host}, {vector.type('i64')} {far}")

    def distances(self, region: Region, lanes: Lanes) -> str:
        """Emits the distances of all lanes from the region's start, in bytes."""
        if region.first == "0":
            return self.addresses(lanes)
        return self._warp.vector.binary(
            "sub", "i64", self.addresses(lanes), self._splat(region.first)
        )

    def _distance(self, region: Region, lanes: Lanes) -> str:
        """Emits the distance of the lowest lane from the region's start, in bytes."""
        code, low = self._warp.scalar, lanes.low
        base = code.op(f"add i64 {lanes.base}, {low}") if low else lanes.base
        return base if region.first == "0" else code.op(f"sub i64 {base}, {region.first}")

    def _splat(self, value: str) -> str:
        if value == "0":
            return "zeroinitializer"
        return self._registers.broadcast(value, "i64")


def _loaded(code: LaneCode, kind: str, place: str, facts: str = "") -> str:
    where = code.op(f"getelementptr i8, ptr {place}")
    return code.op(f"load {kind}, ptr {where}{facts}")


def _row_words(code: LaneCode, table: str, row: int, facts: str = "") -> tuple[str, str, str, str]:
    """What a row of a table of allocations holds."""
    first, size, writable, host = (
        _loaded(code, kind, f"{table}, i64 {8 * (ROW_WORDS * row + column)}", facts)
        for column, kind in enumerate(("i64", "i64", "i64", "ptr"))
    )
    return first, size, writable, host


def _limit(code: LaneCode, size: str, bytes_: int, alignment: int) -> str:
    more = bytes_ - alignment
    if more:
        size = code.intrinsic("usub.sat", "i64", [("i64", size), ("i64", str(more))])
    return code.op(f"lshr i64 {size}, {alignment.bit_length() - 1}")


def _rotated(code: LaneCode, value: str, shift: int) -> str:
    kind = code.type("i64")
    operands = [(kind, value), (kind, value), (kind, code.splat("i64", shift))]
    return code.intrinsic("fshr", "i64", operands)
