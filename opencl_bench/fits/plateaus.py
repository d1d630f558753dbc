"""Finds the plateaus of a curve that rises in steps, on logarithmic axes.

A plateau explains its points up to the noise and costs a constant, a point that no plateau explains
costs a constant, and the cheapest such explanation of the whole curve is found by dynamic
programming. Soft knees therefore stay unexplained instead of becoming a stair of small steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernelcast.opencl_bench.fits.detection import Floats, root_mean_square

__all__ = ["DISTINCT_RATIO", "Plateau", "find_plateaus", "noise"]

DISTINCT_RATIO = 1.25
"""Plateaus nearer than this are one level: address translation and partitions shift it so far."""

_NOISE_FLOOR = 0.02
_NOISE_CEILING = 0.05
_UNEXPLAINED_COST = 6.0
_PLATEAU_COST = 8.0
_NARROWEST_OCTAVES = 0.3
_SETTLED_OCTAVES = 1.0
_STEEPEST = 0.25
"""Logarithmic slope above which a narrow flat piece is part of a ramp."""


@dataclass(frozen=True, slots=True)
class Plateau:
    """Points `first` to `last` (indices, both included) around `level`; `residual` is relative.

    `last_level` is where the level ends: address translation may raise it on the way.
    """

    first: int
    last: int
    level: float
    last_level: float
    residual: float


def noise(y: Floats) -> float:
    """Relative noise from the differences of neighbours, within bounds that keep drift out."""
    if y.size < 2:
        return _NOISE_FLOOR
    typical = float(np.median(np.abs(np.diff(np.log(y))))) / (0.6745 * np.sqrt(2))
    return float(min(max(typical, _NOISE_FLOOR), _NOISE_CEILING))


def find_plateaus(x: Floats, y: Floats) -> tuple[Plateau, ...]:
    """Levels of rising `y` over rising `x` (both positive).

    Each is `DISTINCT_RATIO` or more above the last; a falling start (a benchmark that warms up) is
    left out.
    """
    pieces = [
        piece
        for first, last in _flat_pieces(np.log(y), noise(y))
        if _is_wide(x, y, first, last)
        for piece in [_plateau(y, first, last)]
    ]
    if not pieces:
        return ()
    lowest = min(range(len(pieces)), key=lambda index: pieces[index].level)
    start = next(
        index
        for index in range(lowest + 1)
        if pieces[index].level < DISTINCT_RATIO * pieces[lowest].level
    )
    return _joined(x, y, _rising(pieces[start:]))


def _flat_pieces(log_y: Floats, sigma: float) -> list[tuple[int, int]]:
    """The cheapest explanation of the curve by flat pieces of two points or more."""
    count = log_y.size
    total = np.concatenate(([0.0], np.cumsum(log_y)))
    squares = np.concatenate(([0.0], np.cumsum(log_y**2)))
    best = np.zeros(count + 1)
    begin = np.full(count + 1, -1)
    for end in range(1, count + 1):
        best[end] = best[end - 1] + _UNEXPLAINED_COST
        starts = np.arange(end - 1)
        if not starts.size:
            continue
        sums = total[end] - total[starts]
        errors = squares[end] - squares[starts] - sums**2 / (end - starts)
        costs = best[starts] + _PLATEAU_COST + errors / sigma**2
        choice = int(np.argmin(costs))
        if costs[choice] < best[end]:
            best[end], begin[end] = costs[choice], choice
    pieces = []
    end = count
    while end > 0:
        if begin[end] >= 0:
            pieces.append((int(begin[end]), end - 1))
            end = int(begin[end])
        else:
            end -= 1
    return pieces[::-1]


def _is_wide(x: Floats, y: Floats, first: int, last: int) -> bool:
    octaves = np.log2(x[last] / x[first])
    if octaves < _NARROWEST_OCTAVES:
        return False
    slope = np.polyfit(np.log(x[first : last + 1]), np.log(y[first : last + 1]), 1)[0]
    return bool(octaves >= _SETTLED_OCTAVES or slope < _STEEPEST)


def _plateau(y: Floats, first: int, last: int) -> Plateau:
    part = y[first : last + 1]
    level = float(np.median(part))
    return Plateau(first, last, level, level, root_mean_square(part / level - 1))


def _rising(pieces: list[Plateau]) -> list[Plateau]:
    """The pieces without those clearly below an earlier one: dips, not levels."""
    kept: list[Plateau] = []
    for piece in pieces:
        if not kept or piece.level * DISTINCT_RATIO > kept[-1].level:
            kept.append(piece)
    return kept


def _joined(x: Floats, y: Floats, pieces: list[Plateau]) -> tuple[Plateau, ...]:
    """Joins neighbours that are nearer than `DISTINCT_RATIO`, the nearest first."""
    groups = [[piece] for piece in pieces]
    while len(groups) > 1:
        levels = np.array([_representative(x, group).level for group in groups])
        ratios = np.abs(np.log(levels[1:] / levels[:-1]))
        nearest = int(np.argmin(ratios))
        if ratios[nearest] >= np.log(DISTINCT_RATIO):
            break
        groups[nearest : nearest + 2] = [groups[nearest] + groups[nearest + 1]]
    return tuple(_spanned(x, y, group) for group in groups)


def _representative(x: Floats, group: list[Plateau]) -> Plateau:
    """The first piece that is long enough to have settled, else the longest."""
    octaves = [float(np.log2(x[piece.last] / x[piece.first])) for piece in group]
    settled = [
        piece for piece, size in zip(group, octaves, strict=True) if size >= _SETTLED_OCTAVES
    ]
    return settled[0] if settled else group[int(np.argmax(octaves))]


def _spanned(x: Floats, y: Floats, group: list[Plateau]) -> Plateau:
    level = _representative(x, group).level
    part = y[group[0].first : group[-1].last + 1]
    near = part[np.abs(np.log(part / level)) < np.log(DISTINCT_RATIO)]
    residual = root_mean_square(near / level - 1)
    return Plateau(group[0].first, group[-1].last, level, group[-1].level, residual)
