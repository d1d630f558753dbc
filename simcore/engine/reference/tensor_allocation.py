"""Which columns of tensor memory thread blocks have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.matrix.tensor_memory import (
    TENSOR_COLUMNS,
    AllocationStep,
    TensorMemoryFault,
)

__all__ = ["BY_UNITS", "allocated"]

Array = npt.NDArray[np.bool_]
BY_UNITS = (AllocationStep.FIND, AllocationStep.KEEP)
"""What machine code asks for, in units of 32 columns."""
_UNIT = 32
_COLUMN_MASK = 0xFFFF


def allocated(step: AllocationStep, owned: Sequence[Array], given: Sequence[int]) -> int | None:
    """The column or unit that is found, if any; TensorMemoryFault says what does not fit.

    `owned`: which columns each of the thread blocks has, most often one.
    """
    match step:
        case AllocationStep.ALLOCATE:
            return _taken(owned, given[0])
        case AllocationStep.FIND:
            return _taken(owned, given[0] * _UNIT) // _UNIT
        case AllocationStep.DEALLOCATE:
            for columns in owned:
                _give_back(columns, given[0] & _COLUMN_MASK, _checked(given[1]))
        case AllocationStep.KEEP:
            for unit in range(TENSOR_COLUMNS // _UNIT):
                if not given[0] >> unit & 1:
                    for columns in owned:
                        columns[unit * _UNIT : (unit + 1) * _UNIT] = False
    return None


def _checked(count: int) -> int:
    if count < _UNIT or count > TENSOR_COLUMNS or count & (count - 1):
        raise TensorMemoryFault(f"{count} columns: they come in powers of two from 32 to 512")
    return count


def _taken(owned: Sequence[Array], count: int) -> int:
    """The first of so many columns that none of the thread blocks has, which all have now."""
    for first in range(0, TENSOR_COLUMNS, _checked(count)):
        found = [columns[first : first + count] for columns in owned]
        if not any(columns.any() for columns in found):
            for columns in found:
                columns[:] = True
            return first
    raise TensorMemoryFault(f"there are no {count} columns left, and nobody would give any back")


def _give_back(columns: Array, first: int, count: int) -> None:
    if not columns[first : first + count].all() or first + count > TENSOR_COLUMNS:
        raise TensorMemoryFault(f"columns {first} to {first + count - 1} are not allocated")
    columns[first : first + count] = False
