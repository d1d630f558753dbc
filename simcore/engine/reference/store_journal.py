"""What stores to buffers overwrote, so that a run can be undone."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["StoreJournal"]


class StoreJournal:
    """Takes as much memory as the run stores, however large the buffers are."""

    def __init__(self) -> None:
        self._entries: list[tuple[npt.NDArray[Any], npt.NDArray[np.int64], npt.NDArray[Any]]] = []

    def note(self, view: npt.NDArray[Any], element: npt.NDArray[np.int64], count: int) -> None:
        """`count` elements of `view` from each `element` on are about to change."""
        for part in range(count):
            at = np.asarray(element + part)
            self._entries.append((view, at, view[at]))

    def undo(self) -> None:
        """Puts everything back, the latest change first."""
        while self._entries:
            view, at, before = self._entries.pop()
            view[at] = before
