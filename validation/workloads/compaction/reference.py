"""What the compaction must compute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def compaction(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Values above the threshold in their order, zeros behind them."""
    values = inputs["values"]
    kept = values[values > inputs["threshold"]]
    return {"kept": np.pad(kept, (0, len(values) - len(kept)))}
