"""Work in its own thread, call after call in their order, while its caller prepares the next."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

__all__ = ["Stage"]


class Stage:
    """Makes calls one after the other, of which at most `waiting` have not ended at any time.

    What they do is thus the same as if each were made at once; compiled code and NumPy leave the
    GIL to the caller meanwhile. The thread begins with a call and ends in `wait`, or with this
    object.
    """

    def __init__(self, waiting: int) -> None:
        self._waiting = waiting
        self._pool: ThreadPoolExecutor | None = None
        self._calls: deque[Future[None]] = deque()

    def call(self, function: Callable[..., None], *arguments: Any) -> None:
        """Has it called, as soon as few enough wait; raises what an earlier call raised."""
        while len(self._calls) >= self._waiting:
            self._calls.popleft().result()
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, "kernelcast memory")
        self._calls.append(self._pool.submit(function, *arguments))

    def wait(self) -> None:
        """Returns when all calls have ended; raises what one of them raised."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
        while self._calls:
            self._calls.popleft().result()
