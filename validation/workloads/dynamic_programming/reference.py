"""What the kernels of dynamic programming and of elimination must compute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.linalg
import scipy.ndimage

ALIGNMENT_TILE = 32
LUD_TILE = 16
UNKNOWNS = 512


def pathfinder(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """The cheapest costs row by row: each cell's own plus the least of three above."""
    best = inputs["previous"]
    for costs in inputs["costs"]:
        best = costs + scipy.ndimage.minimum_filter1d(best, 3, mode="nearest")
    return {"result": best}


def _aligned(inputs: Mapping[str, Any], sizes: Mapping[str, int], least: int) -> dict[str, Any]:
    """The wave's tiles row by row.

    Gaps along a row are a running maximum once what each column costs is taken out. `least` bounds
    every score from below.
    """
    score, gap, wave = inputs["score"].copy(), inputs["gap"], inputs["wave"]
    pair = inputs["substitution"][inputs["first"][:, np.newaxis], inputs["second"]]
    for left in range(0, sizes["columns"], ALIGNMENT_TILE):
        top = wave * ALIGNMENT_TILE - left
        if not 0 <= top < sizes["rows"]:
            continue
        tile = score[top : top + ALIGNMENT_TILE + 1, left : left + ALIGNMENT_TILE + 1]
        ramp = gap * np.arange(tile.shape[1])
        for y in range(1, len(tile)):
            matched = tile[y - 1, :-1] + pair[top + y - 1, left : left + tile.shape[1] - 1]
            tile[y, 1:] = np.maximum(np.maximum(matched, tile[y - 1, 1:] - gap), least)
            tile[y] = np.maximum.accumulate(tile[y] + ramp) - ramp
    return {"score": score}


def needle(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Global alignment, whose scores have no lower bound."""
    return _aligned(inputs, sizes, np.iinfo(np.int32).min)


def smith_waterman(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Local alignment, whose scores are never below zero."""
    return _aligned(inputs, sizes, 0)


def lud_diagonal(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """LAPACK's decomposition, which finds nothing to exchange in dominant matrices."""
    matrices = inputs["matrices"].copy()
    done = slice(LUD_TILE * inputs["step"], LUD_TILE * (inputs["step"] + 1))
    tiles = matrices[:, done, done]
    _, lower, upper = scipy.linalg.lu(tiles.astype(np.float64))
    tiles[:] = lower + upper - np.eye(LUD_TILE)
    return {"matrices": matrices}


def lud_internal(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """The trailing matrix less the product of the step's column and row of tiles."""
    matrix = inputs["matrix"].copy()
    start = LUD_TILE * inputs["step"]
    end = start + LUD_TILE
    matrix[end:, end:] -= matrix[end:, start:end] @ matrix[start:end, end:]
    return {"matrix": matrix}


def gaussian_fan2(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Rows below the pivot less their multiples of the pivot's row."""
    pivot = inputs["pivot"]
    below = slice(pivot + 1, None)
    multipliers = inputs["multipliers"][below]
    matrix, right_side = inputs["matrix"].copy(), inputs["right_side"].copy()
    matrix[below, pivot:] -= np.outer(multipliers, matrix[pivot, pivot:])
    right_side[below] -= multipliers * right_side[pivot]
    return {"matrix": matrix, "right_side": right_side}


def cyclic_reduction(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """All systems as one banded system, by LAPACK's elimination with pivoting."""
    lower, upper = inputs["lower"].astype(np.float64), inputs["upper"].astype(np.float64)
    lower[:, 0] = 0
    upper[:, -1] = 0
    bands = np.zeros((3, lower.size))
    bands[0, 1:] = upper.ravel()[:-1]
    bands[1] = inputs["diagonal"].ravel()
    bands[2, :-1] = lower.ravel()[1:]
    solution = scipy.linalg.solve_banded((1, 1), bands, inputs["right_side"].ravel())
    return {"solution": solution.reshape(-1, UNKNOWNS)}
