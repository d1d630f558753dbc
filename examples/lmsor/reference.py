"""What the LMSOR kernel must compute, element by element from the difference equation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def red_phase(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """One red phase of the five-point difference equation on the rows of each parity."""
    n = sizes["n"]
    red, black = inputs["red"].copy(), inputs["black"]
    for parity in (0, 1):
        # Interior red elements: columns 1 .. n/2 of even rows, 0 .. n/2 - 1 of odd rows.
        first = 1 - parity
        rows = np.arange(2 - parity, n + 1, 2)
        here = np.ix_(rows, np.arange(first, first + n // 2))
        below, above = (np.ix_(rows + step, here[1][0]) for step in (-1, 1))
        left, right = (np.ix_(rows, here[1][0] + step) for step in (-first, 1 - first))
        f, g, omega = (inputs[name][here] for name in ("f_prime", "g_prime", "omega"))
        horizontal = inputs["k_squared"] * inputs["s"]
        vertical = inputs["h_squared"] * inputs["s"]
        jacobi = (
            inputs["minus_rho_h_squared"] * horizontal
            + horizontal * ((1 + f) * black[left] + (1 - f) * black[right])
            + vertical * ((1 - g) * black[above] + (1 + g) * black[below])
        )
        red[here] = (1 - omega) * red[here] + omega * jacobi
    return {"red": red}
