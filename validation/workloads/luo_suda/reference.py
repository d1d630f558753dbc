"""What the kernels of Luo and Suda's benchmarks must give, in double precision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import ndimage
from scipy.special import ndtr

Inputs = Mapping[str, Any]
Sizes = Mapping[str, int]
Expected = dict[str, npt.NDArray[Any]]


def support_vector(inputs: Inputs, sizes: Sizes) -> Expected:
    """Scalar products of all pairs of features."""
    features = inputs["features"].astype(np.float64)
    return {"products": features @ features.T}


def matrix(inputs: Inputs, sizes: Sizes) -> Expected:
    """The product of both matrices."""
    return {"c": inputs["a"].astype(np.float64) @ inputs["b"].astype(np.float64)}


def linear(inputs: Inputs, sizes: Sizes) -> Expected:
    """The edge stays as it was."""
    picture = inputs["from"].astype(np.float64)
    means = ndimage.uniform_filter(picture, size=(3, 3, 1))
    expected = inputs["to"].astype(np.float64)
    expected[1:-1, 1:-1] = means[1:-1, 1:-1]
    return {"to": expected}


def sepia(inputs: Inputs, sizes: Sizes) -> Expected:
    """Colours weighted as sepia, at most 255."""
    weights = np.array([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])
    return {"to": np.minimum(inputs["from"].astype(np.float64) @ weights.T, 255.0)}


def black_scholes(inputs: Inputs, sizes: Sizes) -> Expected:
    """Option prices by exact normal distributions; `shifts`, if any, are added to seven results."""
    names = ("prices", "strikes", "years")
    price, strike, time = (inputs[name].astype(np.float64) for name in names)
    rate, volatility = inputs["rate"], inputs["volatility"]
    shift = inputs.get("shifts", np.zeros((7, 1))).astype(np.float64)
    deviation = volatility * np.sqrt(time) + shift[0]
    drift = (rate + volatility**2 / 2) * time + shift[1]
    d1 = (np.log(price / strike) + drift) / deviation + shift[2]
    d2 = d1 - deviation + shift[3]
    share, chance = ndtr(d1) + shift[4], ndtr(d2) + shift[5]
    discounted = strike * np.exp(-rate * time) + shift[6]
    calls = price * share - discounted * chance
    return {"calls": calls, "puts": discounted * (1 - chance) - price * (1 - share)}
