"""Loads, stores and atomics of a warp as LLVM IR, checked and recorded.

Lanes that pass the check of the region that they are expected in are served at once; when some do
not, all are served one by one by the runtime, which knows all regions and reports faults. Groups
of accesses are checked once, before the first; the code that uses them is then written twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kernelcast.simcore.engine.jit.analysis.check_groups import CheckGroup, access_bytes
from kernelcast.simcore.engine.jit.analysis.lane_variance import LaneVariance, uniform
from kernelcast.simcore.engine.jit.analysis.warp_analysis import Analysis
from kernelcast.simcore.engine.jit.codegen.memory.access_checks import (
    AccessChecks,
    Lanes,
    Region,
    Regions,
)
from kernelcast.simcore.engine.jit.codegen.memory.addresses import AddressCode
from kernelcast.simcore.engine.jit.codegen.memory.atomics import AtomicCode, AtomicKind
from kernelcast.simcore.engine.jit.codegen.memory.effects import Effects
from kernelcast.simcore.engine.jit.codegen.memory.records import RecordCode
from kernelcast.simcore.engine.jit.codegen.memory.served_access import ServedAccess
from kernelcast.simcore.engine.jit.codegen.memory.vector_access import VectorAccess, lane_type
from kernelcast.simcore.engine.jit.codegen.registers import Registers
from kernelcast.simcore.engine.jit.codegen.warp_code import WarpCode
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    Load,
    Register,
    Store,
)
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["MemoryCode", "Value"]

Value = tuple[str, ScalarType, LaneVariance]
"""A result: scalar base or vector, the type that it was read as, its variance."""

_VARYING = LaneVariance(None)


@dataclass(frozen=True, slots=True)
class _Checked:
    """`lanes` of a group's least `offset`, all of whose accesses are in the region."""

    region: Region
    lanes: Lanes
    offset: int


class MemoryCode:
    """Writes the memory instructions of one function."""

    def __init__(
        self,
        warp: WarpCode,
        analysis: Analysis,
        registers: Registers,
        symbols: Mapping[str, int],
        roots: Mapping[int, int],
        record: RecordCode,
        atomics: AtomicCode,
        effects: Effects,
    ) -> None:
        self._warp = warp
        self._analysis = analysis
        self._registers = registers
        self._addresses = AddressCode(warp, analysis, registers, symbols)
        self._record = record
        self._only = effects.only
        self._used = effects.used
        self._ahead = effects.ahead
        self._atomics = atomics
        self.regions = Regions(warp, roots)
        self._checks = AccessChecks(warp, registers, self.regions)
        self._fast = VectorAccess(warp, self._checks)
        self._served = ServedAccess(warp, self._checks, self._fast)
        self._checked: dict[int, _Checked] = {}
        self._unlikely: frozenset[int] = frozenset()

    def is_predicted(self, access: Load | Store) -> bool:
        """Whether the region that the access should be in is known, and that it does anything."""
        address = access.address
        if not self._does(access) or access.pc in self._analysis.parameter_places:
            return False
        return self.regions.expected(address) is not None

    def begin_checked(self, groups: Sequence[CheckGroup], mask: str, cold: str) -> None:
        """Checks all accesses of the groups; where one fails, goes to `cold`.

        Accesses of the groups that are written before `begin_unchecked` have passed.
        """
        counts_all = False
        # no check yet: what is read of registers now is at hand on both paths
        found = [self._addresses.of(group.lowest) for group in groups]
        for group, lanes in zip(groups, found, strict=True):
            lowest, space = group.lowest, group.lowest.address.space
            region = self.regions.expected(lowest.address)
            assert region is not None
            if lanes.likely is not None:
                follows, lanes = self._checks.pattern(lanes, mask)
                self._checks.proceed(follows, cold)
            size = region.writable if group.writes else region.size
            together = replace(lanes, reach=group.reach)
            self._checks.check(region, together, access_bytes(lowest), mask, cold, size)
            counts_all |= self._record.counts_all(space, lanes, mask)
            for access in group.accesses:
                self._checked[access.pc] = _Checked(region, lanes, lowest.address.offset)
        if counts_all:
            self._checks.proceed("%counts.accesses", cold)

    def begin_unchecked(self) -> None:
        """Makes accesses of the check groups find their lanes' places one by one from here on."""
        self._unlikely = frozenset(self._checked)
        self._checked = {}

    def end_groups(self) -> None:
        """Makes every access check its own bounds from here on."""
        self._unlikely = frozenset()

    def load(self, load: Load, mask: str, position: int) -> list[Value]:
        """One value for each destination; none when the instruction is only recorded."""
        warp, code = self._warp, self._warp.scalar
        written = load.type if load.type.is_integer else ScalarType.named(f"b{load.type.bits}")
        result = uniform(warp.width) if self._is_uniform(load) else _VARYING
        if load.pc in self._checked:
            region, lanes = self._checked_lanes(load, mask, position)
            count = len(load.destinations)
            found = self._fast.load(region, lanes, load.type, count, mask, result)
            self._fetch_ahead(load, region, lanes)
            return [(value, written, result) for value in found]
        lanes = self._addresses.of(load)
        if not self._does(load):
            self._record.access(load, lanes, mask, position)
            return []
        place = self._analysis.parameter_places.get(load.pc)
        if place is not None:
            known = None if load.address.base is None else self._constants(load)
            if known is not None:
                return [(value, written, result) for value in known]
            parameters = self.regions.expected(load.address)
            assert parameters is not None
            count, lanes = len(load.destinations), Lanes(str(place), (0,) * warp.width)
            found = self._fast.load(parameters, lanes, load.type, count, mask, result)
            return [(value, written, result) for value in found]
        if lanes.likely is None or load.pc in self._unlikely:
            values = self._load(load, lanes, mask, position, result)
            return [(value, written, result) for value in values]
        kind = f"<{warp.width} x {lane_type(load.type)}>"
        far, join = warp.labels("far", "join")
        follows, pattern = self._checks.pattern(lanes, mask)
        self._checks.proceed(follows, far)
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

    def _fetch_ahead(self, load: Load, region: Region, lanes: Lanes) -> None:
        """Asks for what the next thread block loads here, where that is known."""
        distance = self._ahead.get(load.pc)
        if distance is not None:
            self._fast.fetch_ahead(region, lanes, access_bytes(load), distance)

    def _constants(self, load: Load) -> list[str] | None:
        """The numbers that a load of an image's descriptor gives, if the launch fixes them."""
        variances = [None if r is None else self._analysis.variance(r) for r in load.destinations]
        mask = (1 << load.type.bits) - 1
        found = [
            None if of is None or of.is_varying or of.constant is None else of.constant
            for of in variances
        ]
        if load.type.is_float or any(number is None for number in found):
            return None
        return [str(number & mask) for number in found if number is not None]

    def _load(
        self, load: Load, lanes: Lanes, mask: str, position: int, result: LaneVariance
    ) -> list[str]:
        warp, code, count = self._warp, self._warp.scalar, len(load.destinations)
        self._record.access(load, lanes, mask, position)
        region = self._expected(load, lanes, mask)
        lane = lane_type(load.type)
        kind = f"<{warp.width} x {lane}>" if result.is_varying else lane
        slow, join = warp.labels("slow", "join")
        fast_values: list[str] = []
        end = ""
        if region is not None:
            total = load.type.bytes * count
            self._checks.check(region, lanes, total, mask, slow, region.size)
            fast_values = self._fast.load(region, lanes, load.type, count, mask, result)
            self._fetch_ahead(load, region, lanes)
            end = warp.here()
        code.do(f"br label %{join if region is not None else slow}")
        warp.label(slow)
        self._record.unexpected(load, lanes, mask, position)
        values = self._served.load(load, lanes, mask, result)
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
        """Emits a store by the lanes of the mask; accesses that only count are just recorded."""
        warp, code = self._warp, self._warp.scalar
        bits = ScalarType.named(f"b{store.type.bits}")
        if store.pc in self._checked:
            values = [self._registers.vector(s, bits) for s in store.sources]
            region, lanes = self._checked_lanes(store, mask, position)
            self._write(store, region, lanes, values, mask, position)
            return
        lanes = self._addresses.of(store)
        if not self._does(store):
            self._record.access(store, lanes, mask, position)
            return
        values = [self._registers.vector(s, bits) for s in store.sources]
        if lanes.likely is None or store.pc in self._unlikely:
            self._store(store, lanes, mask, position, values)
            return
        far, join = warp.labels("far", "join")
        follows, pattern = self._checks.pattern(lanes, mask)
        self._checks.proceed(follows, far)
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
        region = self._expected(store, lanes, mask)
        slow, join = warp.labels("slow", "join")
        if region is not None:
            total = store.type.bytes * len(values)
            self._checks.check(region, lanes, total, mask, slow, region.writable)
            self._write(store, region, lanes, values, mask, position)
        code.do(f"br label %{join if region is not None else slow}")
        warp.label(slow)
        self._write(store, None, lanes, values, mask, position)
        code.do(f"br label %{join}")
        warp.label(join)

    def _write(
        self,
        store: Store,
        region: Region | None,
        lanes: Lanes,
        values: list[str],
        mask: str,
        position: int,
    ) -> None:
        """Stores where the check has passed, or lane by lane without a region.

        Notes what that changes where somebody watches.
        """
        is_noted = self._record.is_watched and store.address.space is not AddressSpace.LOCAL
        if is_noted:
            same = self._lanes_with(store, region, lanes, values, mask)
        if region is None:
            kind = f"<{self._warp.width * len(values)} x {lane_type(store.type)}>"
            together = self._fast.interleaved(values, store.type)
            self._warp.scalar.do(f"store {kind} {together}, ptr %staging")
            self._served.serve("@serve_store", store, lanes, mask, len(values))
        else:
            self._fast.store(region, lanes, store.type, values, mask)
        if is_noted:
            kept = self._lanes_with(store, region, lanes, values, mask)
            lost = self._warp.scalar.op(f"xor i64 {kept}, {self._warp.wide_mask(mask)}")
            self._record.written(store.pc, same, lost, position)

    def _lanes_with(
        self, store: Store, region: Region | None, lanes: Lanes, values: list[str], mask: str
    ) -> str:
        """The lanes of the mask in whose places these values stand, as i64."""
        warp, found = self._warp, mask
        kind = f"<{warp.width} x {lane_type(store.type)}>"
        if region is None:
            there = self._served.values(store, lanes, mask, len(values))
        else:
            there = self._fast.load(region, lanes, store.type, len(values), mask, _VARYING)
        for old, new in zip(there, values, strict=True):
            equal = warp.scalar.op(f"icmp eq {kind} {old}, {new}")
            bits = warp.scalar.op(f"bitcast <{warp.width} x i1> {equal} to {warp.mask_type}")
            found = warp.both_masks(found, bits)
        return warp.wide_mask(found)

    def atomic(self, atomic: Atomic, mask: str, position: int) -> list[Value]:
        """The old values, where somebody reads them."""
        warp, code = self._warp, self._warp.scalar
        lanes = self._addresses.of(atomic)
        self._record.access(atomic, lanes, mask, position)
        if not self._does(atomic):
            return []
        bits = ScalarType.named(f"b{atomic.type.bits}")
        kind = f"<{warp.width} x {lane_type(atomic.type)}>"
        operands = [self._registers.vector(source, bits) for source in atomic.sources]
        for slot, operand in zip(("%staging", "%staging2"), operands, strict=False):
            code.do(f"store {kind} {operand}, ptr {slot}")
        is_used = atomic.destination is not None and atomic.destination.index in self._used
        is_told = self._record.wants_arrivals(atomic)
        is_shown = self._record.wants_values(atomic.pc) or is_told
        keeps_old = is_used or is_shown
        is_private = atomic.address.space is AddressSpace.SHARED
        what = AtomicKind(atomic.operation, atomic.type, is_private, keeps_old)
        region = self._expected(atomic, lanes, mask)
        slow, join = warp.labels("slow", "join")
        if region is not None:
            self._checks.check(region, lanes, atomic.type.bytes, mask, slow, region.writable)
            if self._is_uniform(atomic) and what.can_be_summed:
                place = self._checks.pointer(region, lanes)
                self._atomics.total(what, place, operands[0], mask)
            else:
                places = self._checks.distances(region, lanes)
                self._atomics.by_lane(what, region.host, places, mask)
        code.do(f"br label %{join if region is not None else slow}")
        warp.label(slow)
        self._served.serve(self._atomics.unchecked(atomic), atomic, lanes, mask, 1)
        code.do(f"br label %{join}")
        warp.label(join)
        if not keeps_old:
            return []
        old = code.op(f"load {kind}, ptr %staging")
        shown = (old,) if is_told else (*operands, old)
        for number, vector in enumerate(shown if is_shown else ()):
            self._record.value(atomic.pc, number, vector, bits.bits, mask, position)
        return [(old, atomic.type if atomic.type.is_integer else bits, _VARYING)]

    def _expected(self, access: Load | Store | Atomic, lanes: Lanes, mask: str) -> Region | None:
        """Where to try first; None to serve each lane, as where the check of a group failed.

        Lanes that only lack their likely pattern may well be where they are expected.
        """
        if access.pc in self._unlikely and lanes.likely is None:
            return None
        return self._checks.region(access.address, lanes, mask)

    def _checked_lanes(
        self, access: Load | Store, mask: str, position: int
    ) -> tuple[Region, Lanes]:
        """Where an access is whose group has passed; notes it."""
        checked = self._checked[access.pc]
        distance = access.address.offset - checked.offset
        lanes = self._checks.moved(checked.lanes, distance)
        self._record.access(access, lanes, mask, position, is_grouped=True)
        return checked.region, lanes

    def _is_uniform(self, access: Load | Atomic) -> bool:
        """Whether all lanes are known to touch the same place."""
        address = access.address
        if address.space in (AddressSpace.LOCAL, AddressSpace.GENERIC):
            return False
        return (
            not isinstance(address.base, Register)
            or self._analysis.variance(address.base).is_uniform
        )

    def _does(self, instruction: Load | Store | Atomic) -> bool:
        """Whether the instruction does anything but count."""
        return self._only is None or instruction.pc in self._only
