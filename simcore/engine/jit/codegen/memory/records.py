"""What compiled code notes of accesses: records in the ring, or a count where only that matters.

Shared and constant memory have no caches: of an access by the whole warp at known lane offsets it
is enough to know how often it happened at each place within 16 bytes. A worker that has no memory
for these counts gets records of them, too.
"""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.simcore.engine.jit.analysis.warp_analysis import Analysis
from kernelcast.simcore.engine.jit.codegen.memory.access_checks import Lanes
from kernelcast.simcore.engine.jit.codegen.runtime_functions import RECORD_WORDS
from kernelcast.simcore.engine.jit.codegen.warp_code import FULL, WarpCode
from kernelcast.simcore.engine.jit.codegen.workspace import field_offset
from kernelcast.simcore.isa.ir.kernel import (
    Atomic,
    BarrierArrive,
    BarrierSync,
    BasicBlock,
    ClusterArrive,
    Fence,
    Instruction,
    Load,
    Store,
    WarpOperation,
)
from kernelcast.simcore.isa.ir.mbarrier_words import is_mbarrier_look
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["EVENT", "VALUES", "WRITTEN", "CountedAccess", "RecordCode", "Watch"]

_COUNTED = (AddressSpace.SHARED, AddressSpace.CONST)
_START_BYTES, _MOST_VALUES, _WORD_BITS = 16, 16, 64
EVENT, WRITTEN, VALUES = 1 << 30, 1 << 29, 1 << 28
"""Bits of a record's first word, with `Watch`.

What orders threads; what became of a store; values."""
_ARRIVES = "cp.async.mbarrier.arrive"
_EVENTS = (BarrierArrive, BarrierSync, ClusterArrive, Fence, WarpOperation)


@dataclass(frozen=True)
class Watch:
    """What code records for somebody who follows each access of each thread, in order.

    All accesses, those of shared memory too, but for loads whose pc is in `quiet` that stay where
    they are expected. After each store a record with the lanes that changed nothing in place of its
    mask, and with those in whose place something else stands afterwards. And a record, with a
    number that `event` is told, of whatever orders threads. Looks at mbarriers have records of what
    they see, and so have arrivals that tell them of copies.

    With `values` there are only records of accesses whose pc is in it, and after or before each of
    them one of each of its values, in place of the addresses, with its number from bit 32 on:
    elements that a load reads or a store writes; of an atomic its operands, last what was there.
    """

    quiet: frozenset[int] = frozenset()
    values: frozenset[int] | None = None


@dataclass(frozen=True)
class CountedAccess:
    """An instruction whose executions by full warps are counted in slots, one for each start.

    `offsets`: bytes from lane 0 by lane; `starts`: of each slot, lane 0's address modulo 16.
    """

    pc: int
    offsets: tuple[int, ...]
    first_slot: int
    starts: tuple[int, ...]


class RecordCode:
    """Writes what is noted of each access; nothing when `enabled` is False.

    With `in_times` there are records only of basic blocks that a warp begins at the times that its
    worker says.
    """

    def __init__(
        self,
        warp: WarpCode,
        analysis: Analysis,
        enabled: bool,
        *,
        in_times: bool = False,
        watch: Watch | None = None,
    ) -> None:
        self._warp = warp
        self._analysis = analysis
        self._enabled = enabled
        self._in_times = in_times
        self._watch = watch
        self._time = "0"
        self._is_time = ""
        self.lane_offsets: list[tuple[int, ...]] = []
        self.counted: list[CountedAccess] = []
        self.most_bytes = 0
        """Of the records of one basic block: the ring holds them all."""

    @property
    def is_enabled(self) -> bool:
        """Whether anything is recorded of accesses."""
        return self._enabled

    @property
    def is_watched(self) -> bool:
        """Whether somebody follows each access."""
        return self._watch is not None

    @property
    def slots(self) -> int:
        """Counters that accesses without records need: one for each start of each access."""
        return sum(len(access.starts) for access in self.counted)

    def begin(self, block: BasicBlock, time: str) -> None:
        """A new basic block: makes sure that its records fit into the ring."""
        self._time = time
        if not self._enabled:
            return
        accesses = sum(
            isinstance(i, Load | Store | Atomic) and i.address.space is not AddressSpace.PARAM
            for i in block.body
        )
        if self._watch is not None:
            accesses += sum(isinstance(i, _EVENTS) for i in (*block.body, block.terminator))
        if accesses:
            words = accesses * (RECORD_WORDS + self._warp.width)
            if self._watch is not None:
                words += accesses * RECORD_WORDS
                words += sum(map(self._value_words, block.body))
            self.most_bytes = max(self.most_bytes, 8 * words)
            self._warp.scalar.do(f"call void @make_room(ptr %w, i64 {8 * words})")
            if self._in_times:
                self._is_time = self._within_times(time)

    def counts_all(self, space: AddressSpace, lanes: Lanes, mask: str) -> bool:
        """Whether every access like this is counted, given that %counts.accesses holds."""
        is_counted = lanes.offsets is not None and space in _COUNTED
        return self._enabled and is_counted and mask == FULL and self._watch is None

    def access(
        self,
        access: Load | Store | Atomic,
        lanes: Lanes,
        mask: str,
        position: int,
        *,
        is_grouped: bool = False,
    ) -> None:
        """`position`: of the instruction in its basic block; the mask may be empty.

        `is_grouped`: %counts.accesses is known to hold where `counts_all`.
        """
        space = access.address.space
        if not self._enabled or space is AddressSpace.PARAM:
            return
        if self._is_quiet(access.pc):
            return
        if lanes.offsets is None or space not in _COUNTED or self._watch is not None:
            self._record(access.pc, lanes, mask, position)
            return
        if is_grouped and self.counts_all(space, lanes, mask):
            self._count(access, lanes)
            return
        warp = self._warp
        count, record, noted = warp.labels("count", "record", "noted")
        whole = warp.scalar.op(f"icmp eq {warp.mask_type} {mask}, -1")
        whole = warp.scalar.op(f"and i1 {whole}, %counts.accesses")
        warp.scalar.do(f"br i1 {whole}, label %{count}, label %{record}")
        warp.label(count)
        self._count(access, lanes)
        warp.scalar.do(f"br label %{noted}")
        warp.label(record)
        self._record(access.pc, lanes, mask, position)
        warp.scalar.do(f"br label %{noted}")
        warp.label(noted)

    def _is_quiet(self, pc: int) -> bool:
        """Whether nobody wants to know of an access that is where it is expected."""
        if self._watch is None:
            return False
        values = self._watch.values
        return pc in self._watch.quiet if values is None else pc not in values

    @property
    def follows_values(self) -> bool:
        """Whether only accesses whose values are wanted have records."""
        return self._watch is not None and self._watch.values is not None

    def wants_values(self, pc: int) -> bool:
        """Whether somebody wants to know what an access reads or writes."""
        values = None if self._watch is None else self._watch.values
        return values is not None and pc in values

    def wants_arrivals(self, instruction: Instruction) -> bool:
        """Whether an mbarrier is told of copies, and somebody wants to know its word."""
        is_followed = self._watch is not None and not self.follows_values
        return is_followed and instruction.mnemonic.startswith(_ARRIVES)

    def flush(self) -> None:
        """Hands over what is recorded, before somebody else makes records."""
        code = self._warp.scalar
        field = code.op(f"getelementptr i8, ptr %w, i64 {field_offset('ring_flush')}")
        code.do(f"call void {code.op(f'load ptr, ptr {field}')}(ptr %w)")

    def _value_words(self, instruction: Instruction) -> int:
        """Words of the records of its values."""
        if is_mbarrier_look(instruction) or self.wants_arrivals(instruction):
            return RECORD_WORDS + self._warp.width
        if not self.wants_values(instruction.pc):
            return 0
        return _MOST_VALUES * (RECORD_WORDS + self._warp.width)

    def value(self, pc: int, number: int, vector: str, bits: int, mask: str, position: int) -> None:
        """Records a value of an access by lane, its first 64 bits; `vector` of integers."""
        code = self._warp.scalar
        wide, time = self._warp.wide_mask(mask), code.op(f"add i64 {self._time}, {position}")
        if bits != _WORD_BITS:
            name = "zext" if bits < _WORD_BITS else "trunc"
            vector = self._warp.vector.cast(name, f"i{bits}", vector, "i64")
        code.do(
            f"call void @record_lanes(ptr %w, i64 {pc | VALUES | number << 32}, i32 %warp, "
            f"i64 {time}, i64 {wide}, <{self._warp.width} x i64> {vector})"
        )

    def unexpected(self, load: Load, lanes: Lanes, mask: str, position: int) -> None:
        """Records a load that is not where it is expected, if `access` has kept quiet about it."""
        if self._is_quiet(load.pc) and not self.follows_values:
            self._record(load.pc, lanes, mask, position)

    def written(self, pc: int, same: str, lost: str, position: int) -> None:
        """Records what became of a store: masks as of `Watch`, which i64 hold."""
        if self.follows_values:
            return
        time = self._warp.scalar.op(f"add i64 {self._time}, {position}")
        self._warp.scalar.do(
            f"call void @record_listed(ptr %w, i64 {pc | 1 << 31 | WRITTEN}, i32 %warp, "
            f"i64 {time}, i64 {same}, i64 {lost})"
        )

    def event(self, pc: int, mask: str, position: int, number: str) -> None:
        """Records that the lanes of a mask came to something that orders threads; i64 `number`."""
        if self.follows_values:
            return
        code = self._warp.scalar
        wide, time = self._warp.wide_mask(mask), code.op(f"add i64 {self._time}, {position}")
        code.do(
            f"call void @record_listed(ptr %w, i64 {pc | 1 << 31 | EVENT}, i32 %warp, i64 {time}, "
            f"i64 {wide}, i64 {number})"
        )

    def event_by_lane(self, pc: int, mask: str, position: int, numbers: str) -> None:
        """Records an event with a number for each lane, a vector of i64."""
        if self.follows_values:
            return
        code = self._warp.scalar
        wide, time = self._warp.wide_mask(mask), code.op(f"add i64 {self._time}, {position}")
        code.do(
            f"call void @record_lanes(ptr %w, i64 {pc | EVENT}, i32 %warp, i64 {time}, i64 {wide}, "
            f"<{self._warp.width} x i64> {numbers})"
        )

    def write_entry(self) -> None:
        """The row of counters of the stage at hand, at the function's entry."""
        if not self.counted:
            return
        entry = self._warp.entry
        rows = entry.op(f"getelementptr i8, ptr %w, i64 {field_offset('access_counts')}")
        table = entry.op(f"load ptr, ptr {rows}")
        where = entry.op(f"getelementptr i8, ptr %w, i64 {field_offset('stage')}")
        stage = entry.op(f"load i64, ptr {where}")
        first = entry.op(f"mul i64 {stage}, {self.slots}")
        entry.do(f"%counts.accesses = icmp ne ptr {table}, null")
        entry.do(f"%access.row = getelementptr i64, ptr {table}, i64 {first}")

    def _count(self, access: Load | Store | Atomic, lanes: Lanes) -> None:
        assert lanes.offsets is not None
        code, size, lane0 = self._warp.scalar, access.type.bytes, lanes.offsets[0]
        first = self._first_slot(access, tuple(offset - lane0 for offset in lanes.offsets))
        address = code.op(f"add i64 {lanes.base}, {lane0}")
        start = code.op(f"and i64 {address}, {_START_BYTES - 1}")
        step = code.op(f"lshr i64 {start}, {size.bit_length() - 1}")
        slot = code.op(f"add i64 {step}, {first}")
        where = code.op(f"getelementptr i64, ptr %access.row, i64 {slot}")
        known = code.op(f"load i64, ptr {where}")
        code.do(f"store i64 {code.op(f'add i64 {known}, 1')}, ptr {where}")

    def _first_slot(self, access: Load | Store | Atomic, offsets: tuple[int, ...]) -> int:
        """Code that is written twice, grouped and not, counts in the same slots."""
        for known in self.counted:
            if (known.pc, known.offsets) == (access.pc, offsets):
                return known.first_slot
        starts = tuple(range(0, _START_BYTES, access.type.bytes))
        self.counted.append(CountedAccess(access.pc, offsets, self.slots, starts))
        return self.counted[-1].first_slot

    def end_warps(self, time: str) -> None:
        """Ends a warp at the head of a loop if nothing is recorded of it from then on.

        Nobody waits for it at a barrier then.
        """
        if not self._in_times:
            return
        code, warp = self._warp.scalar, self._warp
        past = code.op(f"icmp sge i64 {time}, {self._bound('record_until')}")
        (further,) = warp.labels("further")
        code.do(f"br i1 {past}, label %done, label %{further}")
        warp.label(further)

    def _within_times(self, time: str) -> str:
        code = self._warp.scalar
        begun = code.op(f"icmp sge i64 {time}, {self._bound('record_from')}")
        goes_on = code.op(f"icmp slt i64 {time}, {self._bound('record_until')}")
        return code.op(f"and i1 {begun}, {goes_on}")

    def _bound(self, name: str) -> str:
        code = self._warp.scalar
        where = code.op(f"getelementptr i8, ptr %w, i64 {field_offset(name)}")
        return code.op(f"load i64, ptr {where}")

    def _record(self, pc: int, lanes: Lanes, mask: str, position: int) -> None:
        if not self._in_times:
            self._write(pc, lanes, mask, position)
            return
        warp = self._warp
        record, passed = warp.labels("timed", "passed")
        warp.scalar.do(f"br i1 {self._is_time}, label %{record}, label %{passed}")
        warp.label(record)
        self._write(pc, lanes, mask, position)
        warp.scalar.do(f"br label %{passed}")
        warp.label(passed)

    def _write(self, pc: int, lanes: Lanes, mask: str, position: int) -> None:
        code = self._warp.scalar
        wide, time = self._warp.wide_mask(mask), code.op(f"add i64 {self._time}, {position}")
        if lanes.offsets is None:
            code.do(
                f"call void @record_lanes(ptr %w, i64 {pc}, i32 %warp, i64 {time}, i64 {wide}, "
                f"<{self._warp.width} x i64> {lanes.base})"
            )
            return
        if lanes.offsets not in self.lane_offsets:
            self.lane_offsets.append(lanes.offsets)
        number = self.lane_offsets.index(lanes.offsets)
        code.do(
            f"call void @record_listed(ptr %w, i64 {pc | 1 << 31 | number << 32}, i32 %warp, "
            f"i64 {time}, i64 {wide}, i64 {lanes.base})"
        )
