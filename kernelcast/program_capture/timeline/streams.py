"""Which streams wait for which (CUDA runtime API, stream synchronization behavior).

What is given to a stream happens in turn. The legacy default stream waits for all others that
block, and they for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["LEGACY_STREAM", "Streams"]

LEGACY_STREAM = 0
_ALSO_LEGACY = 1
_NON_BLOCKING = 1


@dataclass
class Streams:
    """When the streams of one GPU are done with what they were given, in seconds."""

    ready: dict[int, float] = field(default_factory=lambda: {LEGACY_STREAM: 0.0})
    blocking: dict[int, bool] = field(default_factory=dict)

    def create(self, stream: int, flags: int) -> None:
        """A new stream, which is done with everything."""
        self.ready[stream] = 0.0
        self.blocking[stream] = not flags & _NON_BLOCKING

    def create_behind(self, stream: int, others: Sequence[int]) -> None:
        """A new stream that begins when others are done, and that none waits for."""
        self.ready[stream] = max((self.free_at(other) for other in others), default=0.0)
        self.blocking[stream] = False

    def join(self, stream: int, others: Sequence[int]) -> None:
        """Ends other streams: what follows in this one begins when they are done."""
        done = [self.ready.pop(other) for other in others if other in self.ready]
        for other in others:
            self.blocking.pop(other, None)
        self.give(stream, max([self.free_at(stream), *done]))

    def destroy(self, stream: int) -> None:
        """Forgets a stream; what it was given stays."""
        self.ready[LEGACY_STREAM] = max(self.ready[LEGACY_STREAM], self.ready.pop(stream, 0.0))

    def free_at(self, stream: int) -> float:
        """When the next thing given to a stream may begin."""
        mine = _named(stream)
        if mine == LEGACY_STREAM:
            waits = [at for other, at in self.ready.items() if self._blocks(other)]
            return max(waits, default=0.0)
        own = self.ready.get(mine, 0.0)
        return max(own, self.ready[LEGACY_STREAM]) if self._blocks(mine) else own

    def give(self, stream: int, end: float) -> None:
        """The stream is busy until `end`."""
        self.ready[_named(stream)] = end

    def wait(self, stream: int, until: float) -> None:
        """What follows in a stream does not begin before `until`."""
        mine = _named(stream)
        self.ready[mine] = max(self.ready.get(mine, 0.0), until)

    def done_at(self, stream: int | None) -> float:
        """When a stream is done, or with None all are."""
        if stream is None:
            return max(self.ready.values())
        return (
            self.free_at(stream)
            if _named(stream) == LEGACY_STREAM
            else self.ready.get(_named(stream), 0.0)
        )

    def _blocks(self, stream: int) -> bool:
        return self.blocking.get(stream, True)


def _named(stream: int) -> int:
    return LEGACY_STREAM if stream == _ALSO_LEGACY else stream
