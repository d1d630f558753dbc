"""Atomic operations by many lanes at once, with the result of doing them one lane after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.ir import mbarrier_words
from kernelcast.simcore.isa.opcodes.table import OPCODES, Context
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["ATOMICS", "apply_atomic"]

Array = npt.NDArray[Any]

ATOMICS: Mapping[str, Callable[..., Any]] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "exch": lambda _old, new: new,
    "inc": lambda old, limit: np.where(old >= limit, 0, old + 1).astype(old.dtype),
    "dec": lambda old, limit: np.where((old == 0) | (old > limit), limit, old - 1).astype(
        old.dtype
    ),
    "cas": lambda old, compare, new: np.where(old == compare, new, old),
    mbarrier_words.OPERATION: mbarrier_words.advanced,
}
"""operation -> (old, *operands) -> new, as the PTX manual defines them."""

# From this many lanes on one address, a running total beats taking turns.
_CROWD = 16


def _meaning(operation: str, type_: ScalarType | None) -> Callable[..., Any]:
    is_extremum = operation in ("min", "max")
    if type_ is None or not type_.holds_floats or (type_.is_float and not is_extremum):
        return ATOMICS[operation]
    context = Context(type_, type_, frozenset())
    return partial(OPCODES[operation].compute, context)


def apply_atomic(
    memory: Array,
    element: npt.NDArray[np.int64],
    operation: str,
    operands: tuple[Array, ...],
    type_: ScalarType | None = None,
) -> tuple[Array, bool]:
    """Old values by lane, and whether any memory changed. Lanes act in ascending order.

    `memory` is a flat typed view, `element` the position for each lane; `type_` matters where the
    numbers are of a format that NumPy lacks.
    """
    before = memory[element]
    order = np.argsort(element, kind="stable")
    arranged = element[order]
    starts = np.flatnonzero(np.concatenate(([True], arranged[1:] != arranged[:-1])))
    sizes = np.diff(np.append(starts, len(arranged)))
    old = np.empty_like(before)
    meaning = _meaning(operation, type_)
    if isinstance(meaning, np.ufunc):
        crowded = sizes >= _CROWD
        for start, size in zip(starts[crowded], sizes[crowded], strict=True):
            lanes = order[start : start + size]
            chain = np.concatenate((memory[element[lanes[:1]]], operands[0][lanes]))
            totals = meaning.accumulate(chain)
            old[lanes] = totals[:-1]
            memory[element[lanes[0]]] = totals[-1]
        starts, sizes = starts[~crowded], sizes[~crowded]
    for turn in range(int(sizes.max(initial=0))):
        lanes = order[starts[sizes > turn] + turn]
        old[lanes] = memory[element[lanes]]
        memory[element[lanes]] = meaning(old[lanes], *(operand[lanes] for operand in operands))
    return old, not np.array_equal(before, memory[element])
