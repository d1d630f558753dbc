"""Barriers that some threads of a thread block wait at, and those of clusters, in the order seen.

A barrier of a count opens when so many threads have come; one without when a thread that waits
there goes on, which the records show.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kernelcast.simcore.checking.clocks import Clock, joined

__all__ = ["Barriers", "Opening"]


@dataclass(slots=True)
class Opening:
    """One time that a barrier opens: the clocks of those who came, and the threads that wait."""

    clocks: list[Clock] = field(default_factory=list)
    waiting: set[int] = field(default_factory=set)
    came: int = 0
    wanted: int = 0
    _joint: Clock | None = None

    def joint(self) -> Clock:
        """What all who came knew; nobody comes any more."""
        if self._joint is None:
            self._joint = joined(self.clocks)
        return self._joint

    @property
    def is_full(self) -> bool:
        """Whether enough threads have come, if their number is known."""
        return 0 < self.wanted <= self.came


class Barriers:
    """Openings by thread block and number, or by cluster and how often its threads have come."""

    def __init__(self) -> None:
        self._next: dict[tuple[int, int], Opening] = {}
        self._of_thread: dict[int, Opening] = {}
        self._times: dict[int, int] = {}
        self._clusters: dict[tuple[int, int], Opening] = {}

    def come(self, key: tuple[int, int], wanted: int, came: int, clocks: list[Clock]) -> Opening:
        """Threads come to a barrier; `came` is how many they count as."""
        opening = self._next.get(key)
        if opening is None or opening.is_full:
            opening = self._next[key] = Opening()
        opening.wanted = max(opening.wanted, wanted)
        opening.came += came
        opening.clocks += clocks
        return opening

    def arrive_in_cluster(self, cluster: int, thread: int, clock: Clock) -> None:
        """A thread comes to the barrier of its cluster."""
        times = self._times[thread] = self._times.get(thread, 0) + 1
        self._clusters.setdefault((cluster, times), Opening()).clocks.append(clock)

    def wait_for_cluster(self, cluster: int, thread: int) -> None:
        """A thread waits until all of its cluster have come as often as it has."""
        times = self._times.get(thread, 0)
        self._of_thread[thread] = self._clusters.setdefault((cluster, times), Opening())

    def wait(self, thread: int, opening: Opening) -> None:
        """A thread waits for an opening."""
        opening.waiting.add(thread)
        self._of_thread[thread] = opening

    def leave(self, thread: int) -> Opening | None:
        """What a thread waited for that goes on; None where it did not wait."""
        opening = self._of_thread.pop(thread, None)
        if opening is not None:
            for key in [key for key, known in self._next.items() if known is opening]:
                del self._next[key]
        return opening
