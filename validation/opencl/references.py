"""What the micro-benchmarks' kernels must give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def elements(sizes: Mapping[str, int]) -> Array:
    """Small integers, 0 to 15, of a prime period: the sums of neighbours differ."""
    return _periodic(sizes["groups"] * sizes["per_item"] * sizes["group"])


def words(sizes: Mapping[str, int]) -> Array:
    """The words of the footprints, which repeat their period."""
    return _periodic(sizes["footprints"] * sizes["count"])


def _periodic(count: int) -> Array:
    return np.resize(np.arange(1021) % 16, count)


def mixed(arguments: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Array]:
    """t -> 15 - t, `iterations` times, then the sums over each work-item's elements."""
    data = arguments["data"].reshape(sizes["groups"], sizes["per_item"], sizes["group"])
    mirrored = 15 - data if sizes["iterations"] % 2 else data
    return {"sums": mirrored.sum(axis=1).reshape(-1)}


def cache(arguments: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Array]:
    """Every work-group adds up a footprint, `passes` times, its work-items taking turns."""
    own = arguments["data"].reshape(-1, sizes["count"] // sizes["group"], sizes["group"])
    once = own.sum(axis=1, dtype=np.uint32)
    return {"sums": np.resize(once * np.uint32(sizes["passes"]), sizes["groups"] * sizes["group"])}


def swapped(arguments: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Array]:
    """Six places of a work-item after `iterations` times five swaps of two of them."""
    order = np.arange(6)
    for _ in range(sizes["iterations"]):
        for one, other in ((0, 1), (2, 3), (4, 5), (1, 2), (3, 4)):
            order[[one, other]] = order[[other, one]]
    items = np.arange(sizes["groups"] * sizes["group"], dtype=np.uint32)
    sums = sum(np.uint32(k + 1) * (6 * items + np.uint32(order[k])) for k in range(6))
    return {"sums": np.repeat(np.asarray(sums, np.uint32), sizes["lanes"])}
