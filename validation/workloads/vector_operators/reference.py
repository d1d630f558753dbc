"""What the operators on vectors and rows must compute, in double precision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr
from scipy.special import softmax as exact_softmax

Arrays = dict[str, npt.NDArray[Any]]
Inputs = Mapping[str, Any]
Sizes = Mapping[str, int]


def _wide(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    return values.astype(np.float64)


def add(inputs: Inputs, sizes: Sizes) -> Arrays:
    """The first and `factor` times the second."""
    return {"out": _wide(inputs["a"]) + inputs["factor"] * _wide(inputs["b"])}


def divide(inputs: Inputs, sizes: Sizes) -> Arrays:
    """The first over the second."""
    return {"out": _wide(inputs["a"]) / _wide(inputs["b"])}


def multiply(inputs: Inputs, sizes: Sizes) -> Arrays:
    """The product."""
    return {"out": _wide(inputs["a"]) * _wide(inputs["b"])}


def power(inputs: Inputs, sizes: Sizes) -> Arrays:
    """The first to the power of the second."""
    return {"out": _wide(inputs["a"]) ** _wide(inputs["b"])}


def add_scalar(inputs: Inputs, sizes: Sizes) -> Arrays:
    """The sum."""
    return {"out": _wide(inputs["a"]) + inputs["scalar"]}


def multiply_scalar(inputs: Inputs, sizes: Sizes) -> Arrays:
    """The product."""
    return {"out": _wide(inputs["a"]) * inputs["scalar"]}


def divide_scalar(inputs: Inputs, sizes: Sizes) -> Arrays:
    """A third."""
    return {"out": _wide(inputs["a"]) / 3}


def power_scalar(inputs: Inputs, sizes: Sizes) -> Arrays:
    """The power."""
    return {"out": _wide(inputs["a"]) ** np.float64(inputs["scalar"])}


def relu(inputs: Inputs, sizes: Sizes) -> Arrays:
    """What is positive, else 0."""
    return {"out": np.where(inputs["a"] > 0, inputs["a"], 0)}


def gelu(inputs: Inputs, sizes: Sizes) -> Arrays:
    """Each element times the share of the normal distribution below it."""
    return {"out": _wide(inputs["a"]) * ndtr(_wide(inputs["a"]))}


def tanh(inputs: Inputs, sizes: Sizes) -> Arrays:
    """The hyperbolic tangent."""
    return {"out": np.tanh(_wide(inputs["a"]))}


def softmax(inputs: Inputs, sizes: Sizes) -> Arrays:
    """The exponentials of each row over their sum."""
    return {"y": exact_softmax(_wide(inputs["x"]), axis=1)}


def layer_norm(inputs: Inputs, sizes: Sizes) -> Arrays:
    """Rows of mean 0 and variance 1, scaled and shifted; their former means and scales."""
    x = _wide(inputs["x"])
    means = x.mean(axis=1)
    scales = 1 / np.sqrt(x.var(axis=1) + inputs["epsilon"])
    normal = (x - means[:, None]) * scales[:, None]
    return {"y": normal * inputs["gamma"] + inputs["beta"], "means": means, "scales": scales}
