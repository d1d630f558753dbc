"""What the transposes must leave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt


def transpose(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, npt.NDArray[Any]]:
    """The transposed matrix."""
    return {"to": inputs["from"].T}
