"""How large the arrays are, how often is measured, and the contents whose sums are known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernelcast.errors import BenchmarkError
from kernelcast.opencl_bench.benchmark import Effort
from kernelcast.opencl_bench.target import DeviceFacts

__all__ = ["REPEATS", "Words", "array_bytes", "footprints", "numbered_words"]

Words = npt.NDArray[np.uint32]

REPEATS = {Effort.QUICK: 3, Effort.FULL: 9}

_KIB = 1 << 10
_MIB = 1 << 20
_CACHES = {Effort.QUICK: 2, Effort.FULL: 4}
"""An array is so many times the last cache; STREAM demands four."""
_CPU_FLOOR = {Effort.QUICK: 64 * _MIB, Effort.FULL: 256 * _MIB}
_GPU_FLOOR = {Effort.QUICK: 256 * _MIB, Effort.FULL: 512 * _MIB}
"""Array sizes for drivers that tell the size of a small cache only."""
_ALL_ARRAYS = 2048 * _MIB
_SMALLEST = _MIB
_OF_MEMORY = 4
_STEPS = {Effort.QUICK: (1.0,), Effort.FULL: (1.0, 1.5)}
"""Footprints of each octave, over its first."""


def array_bytes(
    facts: DeviceFacts, effort: Effort, *, arrays: int = 1, caches: int | None = None
) -> int:
    """Size of each of `arrays` arrays that no cache holds: whole MiB, 2 GiB in all at most.

    `caches`: how many times the last cache, if the effort does not decide.

    BenchmarkError when the device has less than 1 MiB for each.
    """
    floor = _CPU_FLOOR if facts.is_cpu else _GPU_FLOOR
    wanted = max((caches or _CACHES[effort]) * facts.cache_bytes, floor[effort])
    room = min(facts.global_bytes // _OF_MEMORY, _ALL_ARRAYS) // arrays
    size = min(wanted, room, facts.max_buffer_bytes) // _MIB * _MIB
    if size < _SMALLEST:
        raise BenchmarkError(f"{arrays} arrays of 1 MiB do not fit on {facts.name}")
    return size


def footprints(largest: int, unit: int, effort: Effort, every: int = 1) -> list[int]:
    """Multiples of `unit` from 1 KiB on: one (QUICK) or two (FULL) in each octave.

    `every`: so many octaves are one step.
    """
    octaves = range(int(np.log2(_KIB)), int(np.log2(max(largest, _KIB))) + 1, every)
    sizes = (int(step * 2**octave) for octave in octaves for step in _STEPS[effort])
    return sorted({size // unit * unit for size in sizes if unit <= size <= largest})


def numbered_words(count: int) -> Words:
    """`count` words that all differ: a sum tells whether one is left out or read twice."""
    words = np.arange(count, dtype=np.uint32)
    words *= np.uint32(0x9E3779B1)
    return words
