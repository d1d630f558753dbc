"""Accesses in two passes at once: what some ask for is found while others go through the caches."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.host.compiled import bound
from kernelcast.simcore.memory.access_memo import empty_memo, forget, most_words
from kernelcast.simcore.memory.levels import REQUESTED, REQUESTS, TALLY_COLUMNS, Caches
from kernelcast.simcore.memory.passes.line_requests import Requests, new_requests
from kernelcast.simcore.memory.passes.stage import Stage
from kernelcast.simcore.memory.traversal import (
    NOTHING,
    Patterns,
    Records,
    Room,
    Routes,
    Turn,
    request,
    settle,
    traverse,
)

__all__ = ["Passes"]

_WAITING = 2
_WORDS_AT_LEAST = 1 << 17
"""A megabyte: few calls, and what one processor writes is in its cache when another reads it."""

Ints = npt.NDArray[np.int64]


class Passes:
    """Counts what the accesses of `paths` do in `caches`, in the order in which `run` gets them."""

    def __init__(self, paths: Routes, caches: Caches, warp_width: int) -> None:
        self._paths = paths
        l1, l2 = caches.l1, caches.l2
        widest = int(paths.bytes.max(initial=1))
        self._memo = memo = empty_memo(
            warp_width, widest, l2.sector_bytes, l1.line_shift, l2.line_shift
        )
        sectors_shift = memo.stretch_shift - (memo.sector_bytes.bit_length() - 1)
        shifts = memo.levels, sectors_shift - l1.line_shift, sectors_shift - l2.line_shift
        size = len(paths.kind) * TALLY_COLUMNS
        self._asked: Ints = np.zeros(size, np.int64)
        self._found: Ints = np.zeros(size, np.int64)
        self._request = bound(request, paths, memo, self._asked)
        self._traverse = bound(traverse, *shifts, paths, caches, self._found)
        self._most_words = most_words(memo)
        self._requests: list[Requests] = []
        self._batches = 0
        self._stage = Stage(_WAITING)

    def run(self, order: Ints, row_mask: int, records: Records, patterns: Patterns) -> None:
        """Simulates accesses; returns when their `records` and `patterns` are needed no longer."""
        begin = 0
        while begin < len(order):
            requests = self._free_requests()
            self._batches += 1
            room = Room(requests, self._batches, self._most_words)
            turn = Turn(order, row_mask, begin)
            begin, count = self._request(turn, records, patterns, room)
            self._stage.call(self._traverse, requests, count)

    def add_left_out(self, left_out: Ints) -> None:
        """Counts repeats of which caches see nothing: (requests, lanes) by pc, or empty."""
        if not len(left_out):
            return
        asked = self._asked.reshape(-1, TALLY_COLUMNS)[-len(left_out) :]
        sizes = np.where(self._paths.kind == NOTHING, 0, self._paths.bytes)[-len(left_out) :]
        asked[:, REQUESTS] += left_out[:, 0] * (sizes > 0)
        asked[:, REQUESTED] += left_out[:, 1] * sizes

    def forget_patterns(self) -> None:
        """Patterns get new numbers."""
        settle(self._paths, self._memo, self._asked)
        forget(self._memo)

    def wait(self) -> None:
        """Returns when the caches are as the last access leaves them."""
        self._stage.wait()

    def tally(self) -> Ints:
        """The counters of all accesses until now, shape (instructions * TALLY_COLUMNS,)."""
        self.wait()
        settle(self._paths, self._memo, self._asked)
        return self._asked + self._found

    def _free_requests(self) -> Requests:
        """Requests that no call reads any more: one more than may wait go round."""
        if len(self._requests) <= _WAITING:
            self._requests.append(new_requests(max(_WORDS_AT_LEAST, 2 * self._most_words)))
            return self._requests[-1]
        self._requests.append(self._requests.pop(0))
        return self._requests[-1]
