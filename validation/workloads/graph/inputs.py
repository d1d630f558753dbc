"""A directed graph whose degrees follow a power law, and the states that the steps start from.

A state is what the algorithm has reached after a few steps of its own, computed with NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

Array = npt.NDArray[Any]

UNREACHED = -1
FAR = 1_000_000_000
"""Distance of a vertex to which no way is known yet; far from overflow."""


def row_starts(sizes: Mapping[str, int]) -> Any:
    """Edges dealt to vertices by weights of a Pareto distribution, the largest cut off."""
    generator = np.random.default_rng(1)
    vertices = sizes["vertices"]
    weights = np.minimum(1 + generator.pareto(1.5, vertices), vertices**0.5)
    degrees = generator.multinomial(sizes["edges"], weights / weights.sum())
    return np.concatenate([[0], np.cumsum(degrees)])


def columns(sizes: Mapping[str, int]) -> Any:
    """Where the edges lead: anywhere, in no order."""
    return np.random.default_rng(2).integers(0, sizes["vertices"], sizes["edges"], np.int32)


def sources(sizes: Mapping[str, int]) -> Any:
    """The source of each edge, from the rows of the adjacency."""
    return np.repeat(np.arange(sizes["vertices"], dtype=np.int32), np.diff(row_starts(sizes)))


def weights(sizes: Mapping[str, int]) -> Any:
    """Random whole weights of edges, from 1 to 99."""
    return np.random.default_rng(3).integers(1, 100, sizes["edges"], np.int32)


def incoming(sizes: Mapping[str, int]) -> Any:
    """The adjacency matrix, transposed: a product with it sums over edges into each vertex."""
    ones = np.ones(sizes["edges"], np.int32)
    structure = (ones, columns(sizes), row_starts(sizes))
    return sparse.csr_matrix(structure, shape=(sizes["vertices"],) * 2).T


def distances(sizes: Mapping[str, int]) -> Any:
    """Distances in a breadth-first search from the vertex of most edges, up to `level`."""
    found = np.full(sizes["vertices"], UNREACHED, np.int32)
    found[np.diff(row_starts(sizes)).argmax()] = 0
    edges = incoming(sizes)
    for level in range(sizes["level"]):
        found[(edges @ (found == level) > 0) & (found == UNREACHED)] = level + 1
    return found


def queue(sizes: Mapping[str, int]) -> Any:
    """The first `queued` vertices of the last level; ValueError when there are fewer.

    How many there are is up to NumPy's release: the stream of `Generator.multinomial` changed with
    2.5.
    """
    vertices = np.flatnonzero(distances(sizes) == sizes["level"])
    if len(vertices) < sizes["queued"]:
        raise ValueError(f"level {sizes['level']} has {len(vertices)} vertices: queue no more")
    return vertices[: sizes["queued"]]


def frontier(sizes: Mapping[str, int]) -> Any:
    """The vertices at distance `level`."""
    return distances(sizes) == sizes["level"]


def visited(sizes: Mapping[str, int]) -> Any:
    """The vertices that the search has reached."""
    return distances(sizes) != UNREACHED


def given(sizes: Mapping[str, int]) -> Any:
    """What each vertex gives each of its neighbours: random ranks, divided by degrees."""
    vertices = sizes["vertices"]
    ranks = np.random.default_rng(4).random(vertices, np.float32) / vertices
    out_degrees = np.bincount(columns(sizes), minlength=vertices)
    return (ranks / np.maximum(out_degrees, 1)).astype(np.float32)


def path_lengths(sizes: Mapping[str, int], steps: int) -> Array:
    """Lengths of the shortest ways of at most `steps` edges from the vertex of most edges."""
    lengths = np.full(sizes["vertices"], FAR, np.int32)
    lengths[np.diff(row_starts(sizes)).argmax()] = 0
    source, target, weight = sources(sizes), columns(sizes), weights(sizes)
    for _ in range(steps):
        offers = lengths[source] + weight
        np.minimum.at(lengths, target, offers)
    return lengths


def sssp_distances(sizes: Mapping[str, int]) -> Any:
    """Lengths of the shortest ways after the steps that precede this one."""
    return path_lengths(sizes, sizes["steps"])


def sssp_is_active(sizes: Mapping[str, int]) -> Any:
    """The vertices whose distance the last step changed."""
    return sssp_distances(sizes) < path_lengths(sizes, sizes["steps"] - 1)


def edge_sources(sizes: Mapping[str, int]) -> Any:
    """Random sources of a list of edges, without order; `columns` are the targets."""
    return np.random.default_rng(5).integers(0, sizes["vertices"], sizes["edges"], np.int32)


def roots(sizes: Mapping[str, int]) -> Any:
    """Vertices hooked once onto their least neighbour, then compressed to trees of height one."""
    source, target = edge_sources(sizes), columns(sizes)
    parents = np.arange(sizes["vertices"], dtype=np.int32)
    np.minimum.at(parents, np.maximum(source, target), np.minimum(source, target))
    while np.any(parents[parents] != parents):
        parents = parents[parents]
    return parents
