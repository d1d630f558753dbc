"""What alpha A B + beta C must be, computed in double precision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt


def product(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, npt.NDArray[Any]]:
    """alpha A B + beta C."""
    a, b, c = (inputs[name].astype(np.float64) for name in "abc")
    return {"c": inputs["alpha"] * (a @ b) + inputs["beta"] * c}
