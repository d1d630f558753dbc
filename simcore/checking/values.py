"""What values the accesses of findings read and wrote: the launch is run again and looked at there.

Nothing else is recorded in that run, which is the same as the first one: one thread, one order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.checking.findings import Raw
from kernelcast.simcore.checking.plan import Plan
from kernelcast.simcore.checking.records import SHARED_SPACE
from kernelcast.simcore.engine.jit.codegen.memory.counted_accesses import CountedAccesses
from kernelcast.simcore.engine.jit.codegen.memory.records import VALUES
from kernelcast.simcore.engine.jit.runtime.task import Task
from kernelcast.simcore.isa.analysis.cluster_addresses import OFFSET_MASK
from kernelcast.simcore.isa.types import WINDOW_BYTES, WINDOWS, AddressSpace
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.stream import AccessBatch
from kernelcast.traces.trace import AccessTable

__all__ = ["Seen", "Values"]

_SHARED = WINDOWS[AddressSpace.SHARED]
_PC, _LISTED = (1 << 24) - 1, 1 << 31


@dataclass(slots=True)
class Seen:
    """One thread's access: where, and its values by number, as words of 64 bits."""

    address: int
    words: dict[int, int] = field(default_factory=dict)


class Values:
    """Looks for the accesses of findings; `of` says what was seen of each."""

    def __init__(self, plan: Plan, found: Sequence[Raw]) -> None:
        self._plan = plan
        self._waited: dict[tuple[int, int, int], list[Raw]] = {}
        wanted: set[tuple[int, int]] = set()
        for raw in found:
            self._waited.setdefault((raw.pc, raw.thread, raw.time), []).append(raw)
            wanted |= {(raw.pc, raw.thread), (raw.prior_pc, raw.prior_thread)}
        self._wanted = {key for key in wanted if key[1]}
        self._lanes: dict[int, list[int]] = {}
        for thread in sorted({thread for _, thread in self._wanted}):
            warp, lane = divmod(thread - 1, plan.geometry.width)
            self._lanes.setdefault(warp, []).append(lane)
        self._last: dict[tuple[int, int], dict[int, Seen]] = {}
        self._now: dict[tuple[int, int], tuple[int, Seen]] = {}
        self._found: dict[Raw, tuple[Seen | None, Seen]] = {}

    @property
    def pcs(self) -> frozenset[int]:
        """The accesses that must be recorded."""
        return frozenset(pc for pc, _ in self._wanted)

    def of(self, raw: Raw) -> tuple[Seen | None, Seen | None]:
        """The earlier access and the one that was found; None where the run did not show it."""
        return self._found.get(raw, (None, None))

    def new_log(self, task: Task) -> _Log:
        """What a worker hands its records to."""
        return _Log(self, self._plan, np.array(task.source.lane_offsets, np.int64))

    @property
    def is_done(self) -> bool:
        """Whether nothing is looked for any more."""
        return not self._waited

    def lanes(self, warp: int) -> Sequence[int]:
        """The lanes of a warp, numbered over the grid, whose accesses may be wanted."""
        return self._lanes.get(warp, ())

    def see(self, pc: int, thread: int, time: int, address: int) -> None:
        """A thread makes an access."""
        if (pc, thread) not in self._wanted:
            return
        seen = Seen(address)
        for raw in self._waited.pop((pc, thread, time), ()):
            self._found[raw] = self._before(raw), seen
        places = self._last.setdefault((pc, thread), {})
        places.pop(address, None)
        places[address] = seen
        self._now[pc, thread] = time, seen

    def hear(self, pc: int, thread: int, time: int, number: int, word: int) -> None:
        """A value of an access that has just been seen."""
        when, seen = self._now.get((pc, thread), (-1, None))
        if seen is not None and when == time:
            seen.words[number] = word

    def _before(self, raw: Raw) -> Seen | None:
        """What the earlier thread did last where the later one is now."""
        places = self._last.get((raw.prior_pc, raw.prior_thread), {})
        sizes = self._plan.table.bytes
        low, size = _place(raw, raw.address), int(sizes[raw.pc])
        for address in reversed(places):
            first = _place(raw, address)
            if first < low + size and low < first + int(sizes[raw.prior_pc]):
                return places[address]
        return None


def _place(raw: Raw, address: int) -> int:
    if raw.space != SHARED_SPACE:
        return address
    if _SHARED <= address < _SHARED + WINDOW_BYTES:
        address -= _SHARED
    return address & OFFSET_MASK


class _Log:
    """The log of one worker."""

    def __init__(self, values: Values, plan: Plan, lane_offsets: npt.NDArray[np.int64]) -> None:
        self._values = values
        self._warps, self._width = plan.geometry.warps, plan.geometry.width
        self._offsets: list[list[int]] = lane_offsets.tolist()
        self.counted = CountedAccesses((), 0, self._width, 1)

    def take(self, words: npt.NDArray[np.int64]) -> None:
        """The records of a ring, in the order in which they were made."""
        values = self._values
        if values.is_done:
            return
        at, width, all_words = 0, self._width, words.tolist()
        while at < len(all_words):
            info, when, where, mask = all_words[at : at + 4]
            first = at + 4
            at = first + (1 if info & _LISTED else width)
            warp, time = (where & 0xFFFFFFFF) * self._warps + (when >> 32), when & 0xFFFFFFFF
            for lane in values.lanes(warp):
                if not mask >> lane & 1:
                    continue
                thread, pc = warp * width + lane + 1, info & _PC
                if info & _LISTED:
                    place = all_words[first] + self._offsets[info >> 32][lane]
                    values.see(pc, thread, time, place)
                elif info & VALUES:
                    values.hear(pc, thread, time, info >> 32, all_words[first + lane])
                else:
                    values.see(pc, thread, time, all_words[first + lane])

    def batch(self, first: int, end: int, warp_time: npt.NDArray[np.int32]) -> AccessBatch:
        """No accesses, as of a follower."""
        nothing = AccessTable.empty(), PatternTable.empty(self._width)
        return AccessBatch(first, end - first, *nothing, warp_time)
