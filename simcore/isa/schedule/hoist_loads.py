"""The order in which an assembler puts the instructions of a region.

First an order that takes few registers, from the end to the beginning: an instruction stands before
what reads its result. Then loads rise from it, with what their addresses need, as far as
dependences allow and registers are left, so that their latencies overlap (integrated scheduling:
J. R. Goodman, W.-C. Hsu, Code scheduling and register allocation in large basic blocks, ICS 1988).
Last, neighbours that wait for one another are moved apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.schedule.latencies import latency
from kernelcast.simcore.isa.schedule.pressure import Liveness, pressures
from kernelcast.simcore.isa.schedule.region import Region, Step, is_slow_load

__all__ = ["compact_order", "hoisted", "spread"]

_CANDIDATES = 48
"""How many instructions are compared when the next one is chosen."""
_REACH = 512
"""The most steps that a load rises."""
_WINDOW = 24
"""How many steps ahead an instruction may be chosen while others wait."""

_EXACT = 600
"""Steps up to which the registers of every move are counted anew."""
_BACK = 8
"""Registers less when moves whose registers were only estimated took too many."""

Order = list[int]
Before = Sequence[set[int]]
_Changes = tuple[list[tuple[int, int]], list[tuple[int, int]]]


def compact_order(region: Region, before: Before, live: Liveness) -> Order:
    """An order that takes few registers: that of the source, or one made from the end."""
    source = list(range(len(region.steps)))
    if not source:
        return source
    best, fewest = source, max(pressures(region, source, live))
    for is_deep in (True, False):
        other = _from_the_end(region, before, live, is_deep=is_deep)
        most = max(pressures(region, other, live))
        if most < fewest:
            best, fewest = other, most
    return best


def _from_the_end(region: Region, before: Before, live: Liveness, *, is_deep: bool) -> Order:
    """Steps are chosen from the last to the first, when all that read their results are.

    `is_deep`: the step that frees registers, else the one that was asked for last, as recursion
    does; otherwise the one that frees most or takes fewest, the last of the source.
    """
    waiting = [0] * len(region.steps)
    for earlier in before:
        for position in earlier:
            waiting[position] += 1
    ready = [position for position, count in enumerate(waiting) if not count]
    heights = _depths([True] * len(before), before)
    alive, changes = set(live.lasting), _changes(region.steps)
    order: Order = []
    while ready:
        places = range(max(0, len(ready) - _CANDIDATES), len(ready))
        added = {place: _added(changes[ready[place]], alive) for place in places}
        if is_deep:
            best = min(places, key=lambda place: (max(added[place], 0) > 0, -place))
        else:
            best = min(places, key=lambda place: (added[place], -ready[place]))
        step = region.steps[ready.pop(best)]
        order.append(step.position)
        alive.difference_update(id(value) for value in step.writes if value not in step.kept)
        alive.update(id(holder) for holder in step.holders)
        freed = []
        for position in before[step.position]:
            waiting[position] -= 1
            if not waiting[position]:
                freed.append(position)
        # what needs less stands nearer (R. Sethi, J. D. Ullman, JACM 1970)
        ready.extend(sorted(freed, key=lambda position: (-heights[position], position)))
        if not is_deep:
            ready.sort()
    return order[::-1]


def _changes(steps: Sequence[Step]) -> list[_Changes]:
    """Values, by identity, that each step reads and writes, and their registers."""
    return [
        (
            [(id(item), item.words) for item in step.holders],
            [(id(item), item.words) for item in step.writes],
        )
        for step in steps
    ]


def _added(changes: _Changes, alive: set[int]) -> int:
    """Registers that are in use before a step and not after it, less the others."""
    added = 0
    for item, words in changes[0]:
        if item not in alive:
            added += words
    for item, words in changes[1]:
        if item in alive:
            added -= words
    return added


def hoisted(region: Region, before: Before, live: Liveness, order: Order, limit: int) -> Order:
    """`order` with each load, in its order, as early as `limit` registers allow."""
    is_load = [is_slow_load(step) for step in region.steps]
    depth = _depths(is_load, before)
    found = list(order)
    pressure = np.array(pressures(region, found, live), np.int64)
    most = max(limit, int(pressure.max(initial=0)))
    is_exact = len(order) <= _EXACT
    for position in order:
        if not is_load[position]:
            continue
        at = found.index(position)
        moved = _moved_with(before, found, at)
        words = sum(value.words for value in region.steps[position].writes)
        stops = _Stops(before, depth, is_load, {found[place] for place in moved}, position)
        begin = _earliest(stops, found, at, pressure, limit - words)
        while begin is not None and begin < at:
            tried = _moved(found, [place for place in moved if place >= begin], begin)
            if not is_exact:
                pressure[begin:at] += words
                found = tried
                break
            now = pressures(region, tried, live)
            if max(now) <= most:
                found, pressure = tried, np.array(now, np.int64)
                break
            begin = (begin + at + 1) // 2
    if max(pressures(region, found, live), default=0) > most:
        return hoisted(region, before, live, order, limit - _BACK) if limit > _BACK else order
    return found


def _moved(order: Order, places: list[int], begin: int) -> Order:
    """The order with the steps at `places` in front of the one at `begin`."""
    chosen = set(places)
    rest = [order[place] for place in range(begin, len(order)) if place not in chosen]
    return [*order[:begin], *(order[place] for place in places), *rest]


def _depths(is_load: Sequence[bool], before: Before) -> list[int]:
    """How many loads must follow one another until the result of each step is there."""
    found = [0] * len(is_load)
    for position, earlier in enumerate(before):
        most = max((found[other] for other in earlier), default=0)
        found[position] = most + is_load[position]
    return found


def _moved_with(before: Before, order: Order, at: int) -> list[int]:
    """Places of a load and of what it needs among the steps close before it, rising."""
    needed, places = set(before[order[at]]), [at]
    for place in range(at - 1, max(-1, at - _WINDOW), -1):
        if order[place] in needed:
            needed |= before[order[place]]
            places.append(place)
    return places[::-1]


class _Stops:
    """What a load does not rise past: what it and its address need, and loads as near the start."""

    def __init__(
        self,
        before: Before,
        depth: Sequence[int],
        is_load: Sequence[bool],
        own: set[int],
        load: int,
    ) -> None:
        self.own = own
        self._needed = set().union(*(before[position] for position in own)) - own
        self._depth = depth
        self._load = load
        self._is_load = is_load

    def __contains__(self, position: object) -> bool:
        assert isinstance(position, int)
        is_load = self._is_load[position] and position not in self.own
        return position in self._needed or (
            is_load and self._depth[position] <= self._depth[self._load]
        )


def _earliest(
    stops: _Stops, order: Order, at: int, pressure: npt.NDArray[np.int64], most: int
) -> int | None:
    """The first place where the load at `at` and what moves with it fit; None where it stays."""
    begin = None
    for place in range(at - 1, max(-1, at - _REACH), -1):
        position = order[place]
        if position in stops or pressure[place] > most:
            break
        if position not in stops.own:
            begin = place
    return begin


def spread(region: Region, before: Before, order: Order) -> Order:
    """`order` with steps that would wait for their operands behind some that need not."""
    ready_at = [0] * len(region.steps)
    waiting = list(order)
    done = [False] * len(region.steps)
    found: Order = []
    now = 0
    while waiting:
        best, when = 0, None
        for place, position in enumerate(waiting[:_WINDOW]):
            if not all(done[earlier] for earlier in before[position]):
                continue
            due = max((ready_at[earlier] for earlier in before[position]), default=0)
            if when is None or due < when:
                best, when = place, max(due, now)
            if when <= now:
                break
        position = waiting.pop(best)
        step = region.steps[position]
        now = max(now, when or 0) + (not step.is_folded)
        ready_at[position] = now + (0 if step.is_folded else latency(step.instruction))
        done[position] = True
        found.append(position)
    return found
