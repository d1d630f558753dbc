"""Whether a kernel computed what NumPy computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import BenchmarkError

__all__ = ["check_words"]


def check_words(
    kernel: str, found: npt.NDArray[Any], expected: npt.NDArray[Any], tolerance: float = 0.0
) -> None:
    """Raises BenchmarkError at the first value beyond the relative tolerance.

    `expected` broadcasts to the shape of `found`.
    """
    wanted = np.broadcast_to(expected, found.shape)
    right = found == wanted
    if tolerance:
        # a NaN compares false
        right |= np.abs(found.astype(wanted.dtype) - wanted) <= tolerance * np.abs(wanted)
    if not right.all():
        place = tuple(np.argwhere(~right)[0])
        where = ", ".join(str(int(index)) for index in place)
        raise BenchmarkError(
            f"kernel {kernel}: result [{where}] is {found[place]}, NumPy computes {wanted[place]}"
        )
