"""How long the work at hand may still take: one deadline from reading a kernel to its run.

Whoever has a limit sets it once, around everything; whatever takes long asks now and then. An inner
limit never outlasts the outer one.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from kernelcast.errors import LimitExceeded

__all__ = ["Deadline", "check_time", "deadline_in", "time_limit", "watched"]

_STEPS_PER_LOOK = 256
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Deadline:
    """`at` is a time of the monotonic clock, `seconds` the limit that it came from."""

    at: float
    seconds: float

    @property
    def has_passed(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() > self.at

    @property
    def remaining_s(self) -> float:
        """Never negative."""
        return max(0.0, self.at - time.monotonic())

    def error(self, what: str) -> LimitExceeded:
        """`what` was going on when it passed."""
        return LimitExceeded(f"still {what} after {self.seconds:g} s (--limit-seconds)")


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def deadline_in(seconds: float | None) -> Deadline | None:
    """The deadline so many seconds from now, or the one at hand where it comes sooner."""
    outer = _current.get()
    if seconds is None:
        return outer
    mine = Deadline(time.monotonic() + seconds, seconds)
    return mine if outer is None or mine.at < outer.at else outer


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Everything within must end after so many seconds; None sets no limit of its own."""
    token = _current.set(deadline_in(seconds))
    try:
        yield
    finally:
        _current.reset(token)


def check_time(what: str) -> None:
    """Raises LimitExceeded, saying `what` was going on, when the deadline has passed."""
    deadline = _current.get()
    if deadline is not None and deadline.has_passed:
        raise deadline.error(what)


def watched(items: Iterable[Item], what: str) -> Iterator[Item]:
    """Yields the items as they are, with a look at the clock now and then."""
    deadline = _current.get()
    if deadline is None:
        yield from items
        return
    for step, item in enumerate(items):
        if step % _STEPS_PER_LOOK == 0 and deadline.has_passed:
            raise deadline.error(what)
        yield item
