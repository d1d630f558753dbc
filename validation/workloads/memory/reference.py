"""What the memory kernels must leave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Inputs = Mapping[str, Any]
Sizes = Mapping[str, int]
Expected = dict[str, npt.NDArray[Any]]

_THREADS = 256  # of a thread block of shared_conflicts
_LANES = 32


def copy(inputs: Inputs, sizes: Sizes) -> Expected:
    """The source itself."""
    return {"to": inputs["from"]}


def triad(inputs: Inputs, sizes: Sizes) -> Expected:
    """b + scalar c."""
    return {"a": inputs["b"] + inputs["scalar"] * inputs["c"]}


def strided_read(inputs: Inputs, sizes: Sizes) -> Expected:
    """Every `stride`-th element."""
    return {"to": inputs["from"][:: sizes["stride"]]}


def misaligned(inputs: Inputs, sizes: Sizes) -> Expected:
    """The source from `offset` on."""
    return {"to": inputs["from"][sizes["offset"] :]}


def gather(inputs: Inputs, sizes: Sizes) -> Expected:
    """The table's entries at the indices."""
    return {"to": np.take(inputs["table"], inputs["indices"])}


def pointer_chase(inputs: Inputs, sizes: Sizes) -> Expected:
    """Positions after `steps`, by squaring the permutation: its 2^k-th powers, bit by bit."""
    power, position = inputs["next"], inputs["position"]
    steps = sizes["steps"]
    while steps:
        if steps & 1:
            position = power[position]
        steps >>= 1
        if steps:
            power = power[power]
    return {"position": position}


def small_grid(inputs: Inputs, sizes: Sizes) -> Expected:
    """The states after all steps of look-up and linear congruence."""
    states, table = inputs["states"].copy(), inputs["table"]
    for _ in range(sizes["steps"]):
        states ^= table[states // (2**32 // len(table))]
        states *= np.uint32(1664525)
        states += np.uint32(1013904223)
    return {"states": states}


def divergence_ladder(inputs: Inputs, sizes: Sizes) -> Expected:
    """k steps of v -> m v + a are v m^k + a (m^k - 1) / (m - 1)."""
    powers = [(2 * rung + 3) ** (rung + 1) for rung in range(_LANES)]
    added = [rung * (power - 1) // (2 * rung + 2) for rung, power in enumerate(powers)]
    rungs = np.arange(sizes["n"]) % _LANES  # a thread block is whole warps
    factors, terms = (
        np.array([number % 2**32 for number in numbers], np.uint32)[rungs]
        for numbers in (powers, added)
    )
    return {"values": inputs["values"] * factors + terms}


def shared_conflicts(inputs: Inputs, sizes: Sizes) -> Expected:
    """Differences of running sums over each thread block's values, twice in a row."""
    n, window = sizes["n"], sizes["window"]
    values = np.zeros(-(-n // _THREADS) * _THREADS, np.uint64)
    values[:n] = inputs["values"]
    rows = values.reshape(-1, _THREADS)
    running = np.cumsum(np.hstack([np.zeros_like(rows[:, :1]), rows, rows]), axis=1)
    sums = running[:, window : window + _THREADS] - running[:, :_THREADS]
    return {"sums": sums.ravel()[:n].astype(np.uint32)}
