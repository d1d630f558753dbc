"""What symbolic execution met: accesses and floating-point operations, in program order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeAlias

from kernelcast.simcore.address.expression import variable
from kernelcast.simcore.address.extraction.launch import LaunchValues
from kernelcast.simcore.address.extraction.loops import Trips, trips_under
from kernelcast.simcore.address.extraction.thread_state import RawAccess, Taken, Work
from kernelcast.simcore.address.extraction.values import Opaque

__all__ = ["Record"]

Item: TypeAlias = RawAccess | Work


class Record:
    """`items` in program order; `trips` by loop variable."""

    def __init__(self, launch: LaunchValues) -> None:
        self.items: list[Item] = []
        self.trips: dict[str, int] = {}
        self.loops: tuple[str, ...] = ()
        self._launch = launch

    def accessed(self, access: RawAccess) -> None:
        """Adds an access."""
        self.items.append(access)

    def worked(self, flops_32: int, flops_64: int, taken: tuple[Taken, ...]) -> None:
        """Adds the floating-point operations of a basic block."""
        self.items.append(Work(flops_32, flops_64, taken, self.loops))

    @contextmanager
    def inside(self, loop: str) -> Iterator[None]:
        """Makes what is added meanwhile part of a loop."""
        outer, self.loops = self.loops, (*self.loops, loop)
        try:
            yield
        finally:
            self.loops = outer

    def mark(self) -> int:
        """A position in the record: how many items it has."""
        return len(self.items)

    def cut(self, mark: int) -> list[Item]:
        """Takes away what was met since the mark."""
        taken, self.items = self.items[mark:], self.items[:mark]
        return taken

    def paste(self, items: Sequence[Item]) -> None:
        """Appends items that were recorded elsewhere."""
        self.items.extend(items)

    def is_open_since(self, mark: int) -> bool:
        """Whether the address of an access, or who makes it, was not found."""
        return any(
            isinstance(item, RawAccess)
            and (
                isinstance(item.address, Opaque)
                or any(isinstance(taken.condition, Opaque) for taken in item.taken)
            )
            for item in self.items[mark:]
        )

    def close_loop(
        self, mark: int, name: str, trips: Trips, depth: int, again: Sequence[Taken]
    ) -> None:
        """Says of what was met in a loop in which of its trips it was.

        `depth`: conditions that held before the loop; `again`: those of another trip.
        """
        inner = self.cut(mark)
        if trips.most is None:
            lost = Taken(trips.unknown or Opaque("how often a loop runs"), -1, "")
            self.paste([replace(item, taken=(*item.taken, lost)) for item in inner])
            self._keep(name, 1)
            return
        self._keep(name, trips.most)
        earlier: tuple[Taken, ...] = ()
        if not trips.is_same:
            before = {name: variable(name) - 1}
            earlier = tuple(taken.substituted(before) for taken in again)
        names = {range(trips.most): name}
        for item in inner:
            self.items.extend(self._in_trips(item, name, trips.most, depth, earlier, names))

    def _keep(self, name: str, trips: int) -> None:
        self.trips[name] = trips
        self._launch.ranges[name] = (0, trips - 1)

    def _in_trips(
        self,
        item: Item,
        name: str,
        trips: int,
        depth: int,
        earlier: tuple[Taken, ...],
        names: dict[range, str],
    ) -> list[Item]:
        """The item with the trips that its conditions leave; none where they leave none."""
        outer, own = item.taken[:depth], item.taken[depth:]
        kept: list[Taken] = []
        when = range(trips)
        for taken in own:
            found, others = trips_under([taken.condition], name, trips, self._launch)
            when = range(max(when.start, found.start), min(when.stop, found.stop))
            kept.extend(replace(taken, condition=condition) for condition in others)
        if not len(when):
            return []
        item = replace(item, taken=(*outer, *earlier, *kept))
        if len(when) == 1:
            loops = tuple(loop for loop in item.loops if loop != name)
            return [replace(item.substituted({name: when.start}), loops=loops)]
        if when not in names:
            names[when] = self._launch.new_loop()
            self._keep(names[when], len(when))
        other = names[when]
        if other != name:
            loops = tuple(other if loop == name else loop for loop in item.loops)
            item = replace(item.substituted({name: variable(other) + when.start}), loops=loops)
        return [item]
