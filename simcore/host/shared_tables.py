"""What several computations about one kernel have in common, made once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import RLock
from typing import Any, NamedTuple, TypeVar

import numpy as np

__all__ = ["Known", "SharedTables"]

Made = TypeVar("Made")

_SMALL_BYTES = 1 << 14
_MOST = 32
"""Results that are held at a time: those that were not asked for the longest are made again."""


class Known(NamedTuple):
    """Something to make a table of, that is known by a `key` of all that matters about it."""

    value: Any
    key: Hashable


class SharedTables:
    """Results of functions by what they were given.

    Small arrays are known by what they hold, what is `Known` by its key, all else that is no number
    by being the same object. Threads may share it.
    """

    def __init__(self) -> None:
        self._made: OrderedDict[Hashable, tuple[Any, tuple[Any, ...]]] = OrderedDict()
        self._lock = RLock()

    def __reduce__(self) -> tuple[type[SharedTables], tuple[()]]:
        """Another process has objects of its own, and makes its tables of them."""
        return SharedTables, ()

    def once(self, make: Callable[..., Made], *given: Any) -> Made:
        """What `make` returns for the values `given`, which nobody changes."""
        key = make, *map(_identity, given)
        with self._lock:
            if key not in self._made:
                made = make(*(item.value if isinstance(item, Known) else item for item in given))
                # what was given stays, so that no other object becomes the same
                self._made[key] = made, given
                while len(self._made) > _MOST:
                    self._made.popitem(last=False)
            self._made.move_to_end(key)
            found: Made = self._made[key][0]
        return found


def _identity(value: Any) -> Hashable:
    if isinstance(value, Known):
        return value.key
    if isinstance(value, np.ndarray) and value.nbytes <= _SMALL_BYTES:
        return value.dtype.str, value.shape, value.tobytes()
    return value if isinstance(value, (bool, int, float)) else (id(value),)
