"""What the steps on graphs must compute, by products of sparse matrices and by sorting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

Array = npt.NDArray[Any]

UNREACHED = -1


def adjacency(inputs: Mapping[str, Any], values: Array, vertices: int) -> Any:
    """The adjacency matrix in compressed rows, with these values."""
    structure = (values, inputs["columns"], inputs["row_starts"])
    return sparse.csr_matrix(structure, shape=(vertices, vertices))


def least_offers(state: Array, places: Array, offers: Array) -> Array:
    """The state, lowered where an offer is less: the offers sorted, the least one of each place."""
    sorted_offers = np.sort(places.astype(np.int64) << 32 | offers)
    place, offer = sorted_offers >> 32, sorted_offers & 0xFFFFFFFF
    is_least = np.diff(place, prepend=-1) != 0
    lowered = state.copy()
    lowered[place[is_least]] = np.minimum(state[place[is_least]], offer[is_least])
    return lowered


def bfs_level(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Distances and how many are new; the queue's order is that of the atomics, so not compared."""
    before, level = inputs["distances"], sizes["level"]
    edges = adjacency(inputs, np.ones(sizes["edges"], np.int32), sizes["vertices"])
    is_queued = np.isin(np.arange(sizes["vertices"]), inputs["queue"])
    is_new = (is_queued @ edges > 0) & (before == UNREACHED)
    return {
        "distances": np.where(is_new, level + 1, before),
        "next_queued": [np.count_nonzero(is_new)],
    }


def bfs_frontier(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """The next level of a breadth-first search, by a product with the adjacency matrix."""
    before = inputs["distances"]
    edges = adjacency(inputs, np.ones(sizes["edges"], np.int32), sizes["vertices"])
    is_next = (inputs["frontier"] @ edges > 0) & (inputs["visited"] == 0)
    return {
        "frontier": np.zeros_like(before),
        "distances": np.where(is_next, sizes["level"] + 1, before),
        "next_frontier": is_next,
    }


def pagerank_step(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """One step of PageRank, by a product with the adjacency matrix."""
    vertices, damping = sizes["vertices"], inputs["damping"]
    edges = adjacency(inputs, np.ones(sizes["edges"]), vertices)
    return {"ranks": (1 - damping) / vertices + damping * (edges @ inputs["given"])}


def sssp_relax(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """The least offers over the edges of active vertices, and which vertices they lower."""
    before = inputs["distances"]
    source = np.repeat(np.arange(sizes["vertices"]), np.diff(inputs["row_starts"]))
    is_offered = inputs["is_active"][source] != 0
    offers = before[source[is_offered]] + inputs["weights"][is_offered]
    lowered = least_offers(before, inputs["columns"][is_offered], offers)
    return {"lowered": lowered, "is_active_next": lowered < before}


def hook_components(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Roots after each edge offered the larger root the smaller one."""
    roots = inputs["roots"]
    ends = np.sort(roots[np.stack([inputs["sources"], inputs["targets"]])], axis=0)
    apart = ends[:, ends[0] != ends[1]]
    return {"hooked": least_offers(roots, apart[1], apart[0])}
