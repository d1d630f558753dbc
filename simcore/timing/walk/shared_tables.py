"""What several walks of one kernel read alike, made once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

import numpy as np

__all__ = ["SharedTables"]

Made = TypeVar("Made")

_SMALL_BYTES = 1 << 14


class SharedTables:
    """Results of functions by what they were given, for the time of a few walks.

    Small arrays are known by what they hold, all else that is no number by being the same object.
    Threads may share it.
    """

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}
        self._known: list[Any] = []
        self._lock = Lock()

    def once(self, make: Callable[..., Made], *given: Any) -> Made:
        """What `make` returns for `given`, which nobody changes."""
        key = make, *map(_identity, given)
        with self._lock:
            if key not in self._made:
                self._made[key] = make(*given)
                self._known.append(given)  # so that no other object becomes the same
            found: Made = self._made[key]
        return found


def _identity(value: Any) -> Hashable:
    if isinstance(value, np.ndarray) and value.nbytes <= _SMALL_BYTES:
        return value.dtype.str, value.shape, value.tobytes()
    return value if isinstance(value, (bool, int, float)) else (id(value),)
