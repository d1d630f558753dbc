"""What the layers of neural networks and the clustering kernels must compute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.ndimage
import scipy.spatial
import scipy.special

INPUTS_PER_TILE = 16
CONVOLUTION_RADIUS = 8
CONVOLUTION_DEVIATION = 3.0


def gelu_bias(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """GELU of x + bias, by the normal distribution."""
    biased = inputs["x"] + inputs["bias"]
    return {"y": biased * scipy.special.ndtr(biased)}


def softmax(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Softmax along rows."""
    return {"y": scipy.special.softmax(inputs["x"], axis=1)}


def layernorm(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Rows scaled to mean 0 and variance 1, times gamma plus beta."""
    x = inputs["x"]
    mean = x.mean(axis=1, keepdims=True, dtype=np.float64).astype(np.float32)
    variance = x.var(axis=1, keepdims=True, dtype=np.float64) + inputs["epsilon"]
    scale = (1 / np.sqrt(variance)).astype(np.float32)
    return {"y": (x - mean) * scale * inputs["gamma"] + inputs["beta"]}


def attention(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Softmax attention of each head in double precision."""
    q, k, v = (inputs[name].astype(np.float64) for name in "qkv")
    scores = inputs["scale"] * (q @ k.transpose(0, 2, 1))
    return {"out": scipy.special.softmax(scores, axis=2) @ v}


def kmeans_assign(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Expands the square of the difference; whole numbers below 2**24 are exact."""
    points, centres = inputs["points"], inputs["centres"]
    of_points = np.einsum("fi,fi->i", points, points)
    of_centres = np.einsum("cf,cf->c", centres, centres)
    squared = of_points - 2 * (centres @ points) + of_centres[:, np.newaxis]
    return {"nearest": squared.argmin(axis=0), "squared_distance": squared.min(axis=0)}


def nn_distance(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Euclidean distances of the records to the query."""
    query = np.array([[inputs["latitude"], inputs["longitude"]]])
    return {"distances": scipy.spatial.distance.cdist(inputs["records"], query)[:, 0]}


def backprop_forward(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Sums of weighted inputs over each tile of inputs."""
    starts = np.arange(0, sizes["inputs"], INPUTS_PER_TILE)
    products = inputs["input"][:, np.newaxis] * inputs["weights"]
    return {"partial": np.add.reduceat(products, starts, axis=0)}


def backprop_adjust(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Weights and their changes after one step of gradient descent with momentum."""
    gradient = np.outer(inputs["input"], inputs["delta"])
    changes = np.float32(inputs["rate"]) * gradient
    changes += np.float32(inputs["momentum"]) * inputs["changes"]
    return {"weights": inputs["weights"] + changes, "changes": changes}


def convolution2d(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """The correlation with 3 x 3 weights, zeros outside."""
    weights = np.frombuffer(inputs["weights"], np.float32).reshape(3, 3)
    return {"out": scipy.ndimage.correlate(inputs["in"], weights, mode="constant")}


def convolution_rows(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """A Gaussian filter along rows, zeros outside."""
    out = scipy.ndimage.gaussian_filter1d(
        inputs["in"], CONVOLUTION_DEVIATION, mode="constant", radius=CONVOLUTION_RADIUS
    )
    return {"out": out}
