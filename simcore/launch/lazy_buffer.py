"""Buffers whose size and place are known before their contents are made.

Addresses need sizes only, so that a launch over 10^9 elements can be sliced and sampled without the
memory that its buffers would take.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kernelcast.errors import LaunchError
from kernelcast.simcore.host.limits import check_room

__all__ = ["ELEMENTS_PER_CHUNK", "Fill", "LazyBuffer"]

ELEMENTS_PER_CHUNK = 1 << 20

Array: TypeAlias = npt.NDArray[Any]
Fill: TypeAlias = Callable[[int, int], Array]
"""(chunk, elements) -> the contents of that chunk, whatever was made before."""


class LazyBuffer:
    """An array of `shape` and `dtype` that is made when it is first needed, then kept.

    It is filled in chunks of ELEMENTS_PER_CHUNK, each by its number alone; without `fill` it holds
    zeros. `recipe`: equal for buffers that are filled in the same way, None where nobody says so.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: npt.DTypeLike,
        fill: Fill | None = None,
        recipe: str | None = None,
    ) -> None:
        self.shape = shape
        self.recipe = "zeros" if fill is None else recipe
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self._fill = fill
        self._array: Array | None = None
        self._making = threading.Lock()

    def __repr__(self) -> str:
        return f"<lazy buffer {self.dtype}{list(self.shape)}>"

    @property
    def size(self) -> int:
        """Elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The size of the array in bytes, whether it exists or not."""
        return self.size * self.dtype.itemsize

    @property
    def is_materialised(self) -> bool:
        """Whether the array has been made."""
        return self._array is not None

    def materialise(self) -> Array:
        """The one array behind this buffer; LaunchError when it does not fit the memory."""
        with self._making:
            if self._array is None:
                self._array = self._made()
            return self._array

    def elements(self, first: int, end: int) -> Array:
        """The initial contents of elements `first` to `end`, flat, without making the others."""
        if not 0 <= first <= end <= self.size:
            raise LaunchError(f"elements {first} to {end} of a buffer of {self.size}")
        found = np.zeros(end - first, self.dtype)
        if self._fill is not None:
            for chunk in range(first // ELEMENTS_PER_CHUNK, -(-end // ELEMENTS_PER_CHUNK)):
                start = chunk * ELEMENTS_PER_CHUNK
                low, high = max(first, start), min(end, start + ELEMENTS_PER_CHUNK)
                contents = self._fill(chunk, self._elements_of(chunk))
                found[low - first : high - first] = contents[low - start : high - start]
        return found

    def _elements_of(self, chunk: int) -> int:
        return min(ELEMENTS_PER_CHUNK, self.size - chunk * ELEMENTS_PER_CHUNK)

    def _made(self) -> Array:
        check_room(self.nbytes, f"a buffer of shape {self.shape}")
        try:
            array = np.zeros(self.size, self.dtype)
        except (MemoryError, ValueError, OverflowError):
            raise LaunchError(f"no memory for a buffer of shape {self.shape}") from None
        if self._fill is not None:
            for chunk in range(-(-self.size // ELEMENTS_PER_CHUNK)):
                start, count = chunk * ELEMENTS_PER_CHUNK, self._elements_of(chunk)
                array[start : start + count] = self._fill(chunk, count)
        return array.reshape(self.shape)
