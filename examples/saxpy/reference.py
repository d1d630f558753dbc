"""What saxpy must compute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def saxpy(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """a x + y."""
    return {"y": inputs["a"] * inputs["x"] + inputs["y"]}
