"""Inputs of the kernels like Rodinia's that a generator cannot make."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

Array = npt.NDArray[Any]

FEATURES = 34
MOST_CENTRES = 5
BACKGROUND, DISK = 100, 228
RADIUS = 5
UNREACHED = -1
POINT = np.dtype(
    [("weight", "f4"), ("coordinates", "u8"), ("assigned", "i8"), ("cost", "f4")], True
)
"""A point of streamcluster, laid out as C does it; the pointer is never followed."""


def features(sizes: Mapping[str, int]) -> Array:
    """[points, features], whole numbers from 0 to 255."""
    shape = (sizes["points"], sizes["features"])
    return np.random.default_rng(1).integers(0, 256, shape, dtype=np.uint8).astype(np.float32)


def transposed_features(sizes: Mapping[str, int]) -> Array:
    """Features by feature instead of by point, flattened."""
    return features(sizes).T.copy().ravel()


def centres(sizes: Mapping[str, int]) -> Array:
    """[MOST_CENTRES, FEATURES], whole numbers from 0 to 255."""
    shape = (MOST_CENTRES, FEATURES)
    return np.random.default_rng(2).integers(0, 256, shape, dtype=np.uint8).astype(np.float32)


def disk(sizes: Mapping[str, int]) -> Array:
    """[disk_pixels, 2]: places less than RADIUS from the middle."""
    around = np.arange(-RADIUS + 1, RADIUS)
    y, x = np.meshgrid(around, around, indexing="ij")
    inside = np.hypot(x, y) < RADIUS
    return np.stack([x[inside], y[inside]], axis=1).astype(np.int32)


def video(sizes: Mapping[str, int]) -> Array:
    """[side, side, frames]: background and noise, as bright as the disk in a square."""
    side = sizes["side"]
    noise = np.random.default_rng(3).integers(0, 12, (side, side, sizes["frames"]))
    shown = np.full_like(noise, BACKGROUND)
    shown[side // 3 : side // 2, side // 3 : side // 2] = DISK
    return (shown + noise).astype(np.uint8)


def seeds(sizes: Mapping[str, int]) -> Array:
    """Random seeds of the particles."""
    return np.random.default_rng(4).integers(1, 2**31 - 1, sizes["particles"], np.int32)


def weights(sizes: Mapping[str, int]) -> Array:
    """Random weights, 1 in total up to rounding."""
    drawn = np.random.default_rng(5).random(sizes["particles"])
    return drawn / drawn.sum()


def running_sums(sizes: Mapping[str, int]) -> Array:
    """Running sums of the particles' weights."""
    return np.cumsum(weights(sizes))


def draws(sizes: Mapping[str, int]) -> Array:
    """One in each of as many equal parts of the unit interval as there are particles."""
    particles = sizes["particles"]
    return (np.arange(particles) + 0.25) / particles


@cache
def _graph(vertices: int) -> sparse.csr_matrix:
    """Two to four edges from each vertex to any other, and back: six a vertex in the mean."""
    generator = np.random.default_rng(6)
    drawn = generator.permutation(np.arange(vertices) % 3 + 2)
    drawn[0] += 3 * vertices - drawn.sum()
    source = np.repeat(np.arange(vertices), drawn)
    target = generator.integers(0, vertices, 3 * vertices)
    ends = np.concatenate([source, target]), np.concatenate([target, source])
    order = np.argsort(ends[0], kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(ends[0], minlength=vertices))])
    ones = np.ones(6 * vertices, np.int32)
    return sparse.csr_matrix((ones, ends[1][order], starts), shape=(vertices, vertices))


@cache
def _levels(vertices: int, levels: int) -> Array:
    """Distances from vertex 0, up to `levels`."""
    graph = _graph(vertices)
    found = np.full(vertices, UNREACHED, np.int32)
    found[0] = 0
    for level in range(levels):
        found[(graph @ (found == level).astype(np.int32) > 0) & (found == UNREACHED)] = level + 1
    return found


def vertices(sizes: Mapping[str, int]) -> Array:
    """[vertices, 2]: the first edge and how many."""
    starts = _graph(sizes["vertices"]).indptr
    return np.stack([starts[:-1], np.diff(starts)], axis=1).astype(np.int32)


def neighbours(sizes: Mapping[str, int]) -> Array:
    """The targets of all edges, vertex by vertex."""
    return _graph(sizes["vertices"]).indices.astype(np.int32)


def distances(sizes: Mapping[str, int]) -> Array:
    """Distances of vertices, up to the level at hand."""
    return _levels(sizes["vertices"], sizes["level"]).copy()


def frontier(sizes: Mapping[str, int]) -> Array:
    """Flags of the vertices at the level at hand."""
    return (distances(sizes) == sizes["level"]).astype(np.uint8)


def visited(sizes: Mapping[str, int]) -> Array:
    """Flags of the vertices that the search has reached."""
    return (distances(sizes) != UNREACHED).astype(np.uint8)


def next_frontier(sizes: Mapping[str, int]) -> Array:
    """Flags of the vertices at the next level."""
    after = _levels(sizes["vertices"], sizes["level"] + 1)
    return (after == sizes["level"] + 1).astype(np.uint8)


def stream_coordinates(sizes: Mapping[str, int]) -> Array:
    """[dimensions, points], whole numbers from 0 to 63."""
    shape = (sizes["dimensions"], sizes["points"])
    return np.random.default_rng(7).integers(0, 64, shape, dtype=np.uint8).astype(np.float32)


def centre_numbers(sizes: Mapping[str, int]) -> Array:
    """Centres by point: the first points are centres themselves."""
    return np.arange(sizes["points"]) % sizes["centres"]


def stream_points(sizes: Mapping[str, int]) -> Array:
    """[points, 32]: POINT, with costs of about what points cost that lie at random."""
    generator = np.random.default_rng(8)
    points = np.zeros(sizes["points"], POINT)
    points["weight"] = generator.integers(1, 4, sizes["points"])
    points["assigned"] = generator.integers(0, sizes["centres"], sizes["points"])
    typical = 64 * 64 // 6 * sizes["dimensions"]
    points["cost"] = generator.integers(0, 4 * typical, sizes["points"])
    return points.view(np.uint8).reshape(-1, POINT.itemsize)


def dominant_matrix(sizes: Mapping[str, int]) -> Array:
    """[n, n], diagonally dominant: what pivoting would change nothing about."""
    n = sizes["n"]
    return np.random.default_rng(9).random((n, n), np.float32) - 0.5 + n * np.eye(n, dtype="f4")
