"""What buffers hold at the start: generators whose every chunk follows from its number alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.launch.lazy_buffer import ELEMENTS_PER_CHUNK, Fill, LazyBuffer

__all__ = ["Contents", "Generator"]

Array = npt.NDArray[Any]


class Generator(Enum):
    """How a buffer is filled. UNIFORM and ARANGE know integers: whole numbers, high excluded."""

    ZEROS = "zeros"
    ONES = "ones"
    UNIFORM = "uniform"
    NORMAL = "normal"
    ARANGE = "arange"
    FILE = "file"
    PYTHON = "python"
    MATRIX = "matrix"


@dataclass(frozen=True, slots=True)
class Contents:
    """What a buffer holds at the start.

    `source` is the file, `file.py:function` or the part of the workload's matrix. `low` and `high`
    bound UNIFORM; None for 0 to 1 (floats) or 0 to 100 (integers).
    """

    generator: Generator = Generator.ZEROS
    source: str = ""
    seed: int = 0
    low: float | None = None
    high: float | None = None

    @property
    def is_generated(self) -> bool:
        """False for what a file, a function or the matrix provides as a whole."""
        return self.generator not in (Generator.FILE, Generator.PYTHON, Generator.MATRIX)

    def lazy_buffer(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> LazyBuffer:
        """A buffer of generated contents."""
        return LazyBuffer(shape, dtype, self._fill(dtype), repr(self))

    def _fill(self, dtype: np.dtype[Any]) -> Fill | None:
        def arange(chunk: int, elements: int) -> Array:
            first = chunk * ELEMENTS_PER_CHUNK
            return np.arange(first, first + elements).astype(dtype)

        def normal(chunk: int, elements: int) -> Array:
            return self._random(chunk).standard_normal(elements).astype(dtype)

        match self.generator:
            case Generator.ZEROS:
                return None
            case Generator.ONES:
                return lambda _chunk, elements: np.ones(elements, dtype)
            case Generator.ARANGE:
                return arange
            case Generator.NORMAL:
                return normal
            case Generator.UNIFORM:
                return lambda chunk, elements: self._uniform(self._random(chunk), elements, dtype)
        raise ValueError(f"{self.generator.value} generates nothing")

    def _random(self, chunk: int) -> np.random.Generator:
        """The first chunk is the seed's own sequence, each further one a sequence of its own."""
        seed: int | Sequence[int] = [self.seed, chunk] if chunk else self.seed
        return np.random.default_rng(seed)

    def _uniform(
        self, generator: np.random.Generator, elements: int, dtype: np.dtype[Any]
    ) -> Array:
        low = 0.0 if self.low is None else self.low
        if dtype.kind != "f":
            high = 100.0 if self.high is None else self.high
            return generator.integers(math.ceil(low), math.ceil(high), elements, dtype.type)
        high = 1.0 if self.high is None else self.high
        if dtype.itemsize < 4:
            return generator.uniform(low, high, elements).astype(dtype)
        array = generator.random(elements, dtype=dtype.type)
        if (low, high) != (0.0, 1.0):
            array *= high - low
            array += low
        return array
