"""What the histograms must count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def shared_atomics(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """The counts of all bytes."""
    return {"bins": np.bincount(inputs["words"].view(np.uint8), minlength=256)}


def global_atomics(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """The edges are whole numbers after the product, which is rounded as on the device."""
    count = sizes["bins"]
    inside = np.clip(inputs["values"] * np.float32(count), 0, np.nextafter(np.float32(count), 0))
    counts, _ = np.histogram(inside, bins=count, range=(0, count))
    return {"bins": counts}
