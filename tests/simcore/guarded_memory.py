"""Host memory that ends at pages which nobody may touch, with known bytes on its other side."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["GuardedMemory"]

Bytes = npt.NDArray[np.uint8]
_CANARY = 0xC5
_PROT_NONE = 0


class GuardedMemory:
    """Pieces for one launch after another: `release` hands all of them back."""

    def __init__(self) -> None:
        self._free: dict[int, list[_Piece]] = {}
        self._used: list[_Piece] = []

    def take(self, size: int, *, at_end: bool = True, granularity: int = 1) -> Bytes:
        """Zeros, whose first byte, or with `at_end` the end, lies at a page that cannot be touched.

        The end is rounded up to the granularity.
        """
        pages = max(1, -(-size // mmap.PAGESIZE))
        pool = self._free.setdefault(pages, [])
        piece = pool.pop() if pool else _Piece(pages)
        self._used.append(piece)
        return piece.begin(size, at_end=at_end, granularity=granularity)

    def release(self) -> bool:
        """Whether nothing was written beside any piece."""
        clean = [piece.is_clean() for piece in self._used]
        for piece in self._used:
            self._free[piece.pages].append(piece)
        self._used = []
        return all(clean)


class _Piece:
    def __init__(self, pages: int) -> None:
        self.pages = pages
        self._map = mmap.mmap(-1, (pages + 2) * mmap.PAGESIZE)
        whole = np.frombuffer(self._map, np.uint8)
        libc: Any = ctypes.CDLL(None, use_errno=True)
        for page in (0, pages + 1):
            place = whole.ctypes.data + page * mmap.PAGESIZE
            if libc.mprotect(ctypes.c_void_p(place), mmap.PAGESIZE, _PROT_NONE):
                raise OSError(ctypes.get_errno(), "mprotect")
        self._room: Bytes = whole[mmap.PAGESIZE : -mmap.PAGESIZE]

    def begin(self, size: int, *, at_end: bool, granularity: int) -> Bytes:
        rounded = -(-size // granularity) * granularity
        self._first = len(self._room) - rounded if at_end else 0
        self._size = size
        self._room[:] = _CANARY
        mine = self._room[self._first : self._first + size]
        mine[:] = 0
        return mine

    def is_clean(self) -> bool:
        before, behind = self._room[: self._first], self._room[self._first + self._size :]
        return bool((before == _CANARY).all() and (behind == _CANARY).all())
