"""What thread blocks of a cluster share while they run as compiled code; who waits for whom."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.jit.codegen.counted_barriers import CLUSTER_BARRIER
from kernelcast.simcore.engine.jit.codegen.warp_context import NOWHERE
from kernelcast.simcore.engine.jit.runtime.generated_code import GeneratedCode
from kernelcast.simcore.launch.memory_spaces import FlatMemory

__all__ = ["ClusterBarrier", "ClusterMemory"]

Bytes: TypeAlias = npt.NDArray[np.uint8]
Contexts: TypeAlias = Callable[[], Bytes | None]
"""Rows of a thread block's warps; None before it has begun."""
_LINE = 64
_NEVER = np.iinfo(np.int32).max


class ClusterMemory(FlatMemory):
    """Shared memory of all thread blocks, each from a cache line on; `hosts`: their addresses."""

    def __init__(self, size: int, thread_blocks: int) -> None:
        super().__init__("shared memory", size)
        self.stride = max(_LINE, -(-size // _LINE) * _LINE)
        room = np.zeros(self.stride * thread_blocks + _LINE, np.uint8)
        first = -room.ctypes.data % _LINE
        self.bytes = room[first : first + self.stride * thread_blocks]
        ranks = np.arange(thread_blocks, dtype=np.int64)
        self.hosts = self.bytes.ctypes.data + self.stride * ranks

    def of(self, rank: int) -> Bytes:
        """The shared memory of the thread block with that rank."""
        return self.bytes[rank * self.stride : (rank + 1) * self.stride]


class ClusterBarrier:
    """Opens for a thread when all of the cluster that have not exited came as often as it did.

    `arrivals`: by rank and thread; threads that do not exist never arrive and are not waited for.
    """

    def __init__(self, source: GeneratedCode, thread_blocks: int, threads: int) -> None:
        layout = source.layout
        self._source = source
        self._width = layout.width
        self.arrivals = np.zeros((thread_blocks, layout.warps * layout.width), np.int32)
        self._exists = np.arange(layout.warps * layout.width) < threads
        self._least = 0

    def begin(self) -> None:
        """Another cluster: nobody has come yet."""
        self.arrivals[:] = 0
        self._least = 0

    def look(self, members: Iterable[Contexts]) -> None:
        """How often all threads have come by now. `members`: of all thread blocks by rank."""
        self._least = min(self._least_of(number, c) for number, c in enumerate(members))

    def open(self, rank: int, rows: Bytes) -> bool:
        """Releases the warps of a thread block whose barrier has opened; whether there are any.

        The barrier had opened when somebody looked. `rows`: the warps' contexts.
        """
        waits = self.waiting(rows)
        if not waits.any():
            return False
        came = self.arrivals[rank].reshape(waits.shape)
        ready = (came <= self._least) | ~waits
        going = waits & ready.all(axis=1)[:, None]
        if not going.any():
            return False
        layout = self._source.layout
        assert layout.numbers_offset is not None
        assert layout.opened_offset is not None
        numbers = rows[:, layout.numbers_offset : layout.numbers_offset + self._width]
        numbers[going] = NOWHERE
        bits = np.packbits(going, axis=1, bitorder="little")
        rows[:, layout.opened_offset : layout.opened_offset + bits.shape[1]] |= bits
        return True

    def waiting(self, rows: Bytes) -> npt.NDArray[np.bool_]:
        """The threads that wait here; shape (warps, lanes)."""
        first = self._source.layout.numbers_offset
        if first is None:
            return np.zeros((len(rows), self._width), np.bool_)
        return np.asarray(rows[:, first : first + self._width] == CLUSTER_BARRIER)

    def _least_of(self, rank: int, contexts: Contexts) -> int:
        """How often the threads of a thread block came that have not exited, at least."""
        alive, rows = self._exists, contexts()
        if rows is not None:
            alive = alive & self._alive(rows)
        return int(np.where(alive, self.arrivals[rank], _NEVER).min())

    def _alive(self, rows: Bytes) -> npt.NDArray[np.bool_]:
        states = rows[:, :4].copy().view(np.int32)[:, 0]
        words = np.zeros((len(rows), 8), np.uint8)
        for _, offset in (*self._source.mixed_barriers, *self._source.yields):
            words |= rows[:, offset : offset + 8]
        words[states < 0] = 0
        bits = np.unpackbits(words, axis=1, bitorder="little")
        return bits[:, : self._width].reshape(-1).astype(np.bool_)
