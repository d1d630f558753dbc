"""Vector clocks: what threads know of each other by fences, releases and acquires, and barriers.

A clock maps a thread to the stamp up to which its accesses are known, and a whole thread block,
as a negative number, likewise. Clocks are never changed once they are made, so threads share them.
What a location of memory hands on are the clocks of those who released it, each with the thread
block within which it holds, or for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from kernelcast.simcore.checking.rules import Order

__all__ = ["Clock", "Clocks", "View", "joined", "of_thread_block"]

Clock: TypeAlias = Mapping[int, int]
_NOTHING: Clock = {}
_EVERYBODY = -1


def of_thread_block(thread_block: int) -> int:
    """What stands for all threads of a thread block in a clock."""
    return -1 - thread_block


class View(NamedTuple):
    """A thread that does something: its number, its thread block and its stamp.

    Without clocks it knows all of its thread block up to `floor`, and lanes of its warp, by number.
    """

    thread: int
    thread_block: int
    now: int
    floor: int
    lanes: tuple[tuple[int, int], ...] = ()


@dataclass(slots=True)
class _Place:
    """What a location hands on: by the thread block in which it holds, or for everybody."""

    released: dict[int, Clock] = field(default_factory=dict)


@dataclass(slots=True)
class _Fence:
    clock: Clock
    is_narrow: bool


class Clocks:
    """The clocks of one launch. Threads are numbered over the whole grid, `home` each."""

    def __init__(self) -> None:
        self._known: dict[int, Clock] = {}
        self._of_block: dict[int, Clock] = {}
        self._places: dict[tuple[int, int], _Place] = {}
        self._fences: dict[int, _Fence] = {}
        self._looked: dict[int, dict[int, Clock]] = {}
        self.is_used = False
        """Whether a thread has ever known anything by a clock."""

    def knows(self, thread: int, thread_block: int, who: int, of: int, stamp: int) -> bool:
        """Whether a thread knows what `who` of the thread block `of` had done at a stamp."""
        for clock in (self._known.get(thread), self._of_block.get(thread_block)):
            if clock and (
                clock.get(who, -1) >= stamp or clock.get(of_thread_block(of), -1) >= stamp
            ):
                return True
        return False

    def snapshot(self, view: View) -> Clock:
        """All that a thread knows now, its own accesses too."""
        own = {view.thread: view.now, **dict(view.lanes)}
        if view.floor:
            own[of_thread_block(view.thread_block)] = view.floor
        before = self._known.get(view.thread, _NOTHING)
        return joined((before, self._of_block.get(view.thread_block, _NOTHING), own))

    def begin(self, thread: int, clock: Clock) -> None:
        """A thread begins anew, with what a clock knows."""
        self.is_used = True
        self._known[thread] = clock

    def learn(self, thread: int, clock: Clock) -> None:
        """A thread knows what a clock does."""
        if clock:
            self.is_used = True
            self._known[thread] = joined((self._known.get(thread, _NOTHING), clock))

    def fence(self, view: View, order: Order) -> None:
        """What was done before is released by strong writes after it.

        What strong reads before it saw is acquired.
        """
        for holds_in, clock in self._looked.pop(view.thread, {}).items():
            if not order.is_narrow or holds_in != _EVERYBODY:
                self.learn(view.thread, clock)
        self._fences[view.thread] = _Fence(self.snapshot(view), order.is_narrow)

    def read(self, view: View, place: tuple[int, int], order: Order) -> None:
        """A strong read, which acquires or may do so by a fence that follows."""
        there = self._places.get(place)
        if there is None:
            return
        for holds_in, clock in there.released.items():
            if holds_in not in (_EVERYBODY, view.thread_block):
                continue
            if order.is_narrow and holds_in == _EVERYBODY:
                continue  # released for all, but this one looks at its thread block only
            if order.acquires:
                self.learn(view.thread, clock)
            else:
                looked = self._looked.setdefault(view.thread, {})
                looked[holds_in] = joined((looked.get(holds_in, _NOTHING), clock))

    def write(self, view: View, place: tuple[int, int], order: Order, *, goes_on: bool) -> None:
        """A strong write; one that `goes_on` reads as well, and hands on what was there."""
        fence = self._fences.get(view.thread)
        clock, is_narrow = _NOTHING, order.is_narrow
        if order.releases:
            clock = self.snapshot(view)
        elif fence is not None:
            clock, is_narrow = fence.clock, is_narrow or fence.is_narrow
        there = self._places.get(place)
        if there is None or not goes_on:
            if not clock:
                self._places.pop(place, None)
                return
            there = self._places[place] = _Place()
        if clock:
            for holds_in in {view.thread_block, view.thread_block if is_narrow else _EVERYBODY}:
                before = there.released.get(holds_in, _NOTHING)
                there.released[holds_in] = joined((before, clock))

    def forget(self, place: tuple[int, int]) -> None:
        """A weak write ends what a location hands on."""
        self._places.pop(place, None)

    def meet(self, threads: Iterable[int], clock: Clock) -> None:
        """Threads leave a barrier and know what a clock does."""
        for thread in threads:
            self.learn(thread, clock)

    def of(self, threads: Iterable[int]) -> Clock:
        """What some threads know by clocks together."""
        return joined(self._known.get(thread, _NOTHING) for thread in threads)

    def join_block(self, thread_block: int, threads: Iterable[int]) -> None:
        """All threads of a thread block know by clocks what any of them knows."""
        known = [self._known.pop(thread) for thread in threads if thread in self._known]
        if known:
            before = self._of_block.get(thread_block, _NOTHING)
            self._of_block[thread_block] = joined((before, *known))


def joined(clocks: Iterable[Clock]) -> Clock:
    """What any of the clocks knows."""
    found: dict[int, int] = {}
    last: Clock = _NOTHING
    count = 0
    for clock in clocks:
        if not clock or clock is last:
            continue
        count, last = count + 1, clock
        for who, stamp in clock.items():
            if found.get(who, -1) < stamp:
                found[who] = stamp
    return last if count == 1 else found
