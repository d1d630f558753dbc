"""What the micro-benchmarks' kernels must give, for work-items that own neighbouring elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def values(sizes: Mapping[str, int]) -> Array:
    """Small integers, 0 to 15, of a prime period: the sums of neighbours differ."""
    return _periodic(sizes["items"] * sizes["per_item"] * sizes["lanes"])


def words(sizes: Mapping[str, int]) -> Array:
    """The same for footprints."""
    return _periodic(sizes["footprints"] * sizes["count"] * sizes["lanes"])


def _periodic(count: int) -> Array:
    return np.resize(np.arange(1021) % 16, count)


def mixed(arguments: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Array]:
    """t -> 15 - t, `iterations` times, then the sums over each work-item's elements."""
    data = arguments["data"].reshape(sizes["items"], sizes["per_item"], sizes["lanes"])
    mirrored = 15 - data if sizes["iterations"] % 2 else data
    return {"sums": mirrored.sum(axis=1).reshape(-1)}


def cache(arguments: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Array]:
    """Every group of one work-item adds up a footprint, `passes` times."""
    own = arguments["data"].reshape(-1, sizes["count"], sizes["lanes"])
    once = own.sum(axis=1, dtype=np.uint32)
    return {"sums": np.resize(once * np.uint32(sizes["passes"]), sizes["groups"] * sizes["lanes"])}


def swapped(arguments: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Array]:
    """Six places of a work-item after `iterations` times five swaps of two of them."""
    order = np.arange(6)
    for _ in range(sizes["iterations"]):
        for one, other in ((0, 1), (2, 3), (4, 5), (1, 2), (3, 4)):
            order[[one, other]] = order[[other, one]]
    items = np.arange(sizes["items"], dtype=np.uint32)
    sums = sum(np.uint32(k + 1) * (6 * items + np.uint32(order[k])) for k in range(6))
    return {"sums": np.repeat(np.asarray(sums, np.uint32), sizes["lanes"])}
