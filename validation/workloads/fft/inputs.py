"""The table of roots of unity of the Fourier transform."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def roots(sizes: Mapping[str, int]) -> Any:
    """exp(-2 pi i k / 512), rounded once: real and imaginary parts."""
    return np.exp(-2j * np.pi * np.arange(512) / 512).view(np.float64).reshape(512, 2)
