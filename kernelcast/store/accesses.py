"""The accesses of a launch while it runs, small enough to be kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.store.codec import decoded, encoded
from kernelcast.store.results import Sealed, limit_bytes
from kernelcast.traces.stream import AccessBatch

__all__ = ["AccessKeeper", "KeptAccesses"]

_SHARE_OF_LIMIT = 16
"""One launch may take that part of the folder: more of them are of more use."""


class AccessKeeper:
    """An AccessSink that compresses what it gets, and drops all of it when it is too much.

    Regular accesses take less than a byte each, random ones some five.
    """

    def __init__(self) -> None:
        self._most = limit_bytes() // _SHARE_OF_LIMIT
        self._size = 0
        self.parts: list[npt.NDArray[np.uint8]] = []

    @property
    def is_complete(self) -> bool:
        """Whether nothing had to be dropped."""
        return self._size <= self._most

    def accept(self, batch: AccessBatch) -> None:
        """Takes the next batch."""
        if not self.is_complete:
            return
        part = encoded(batch)
        self._size += len(part)
        self.parts.append(np.frombuffer(part, np.uint8))
        if not self.is_complete:
            self.parts.clear()


@dataclass(frozen=True)
class KeptAccesses:
    """The batches of a launch in their order."""

    sealed: Sealed

    def batches(self) -> Iterator[AccessBatch]:
        """Each batch, decoded when it is its turn."""
        for part in self.sealed.value:
            batch: AccessBatch = decoded(part.data)
            yield batch
