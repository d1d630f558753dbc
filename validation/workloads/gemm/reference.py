"""What the matrix products must be, of floats too computed in double precision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt


def product(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, npt.NDArray[Any]]:
    """c = a b, of matrices or of stacks of them."""
    return {"c": np.matmul(inputs["a"].astype(np.float64), inputs["b"].astype(np.float64))}
