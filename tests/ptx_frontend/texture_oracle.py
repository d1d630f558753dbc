"""What reads of textures give, computed with NumPy by the formulas of the CUDA programming guide.

Texture fetching: nearest is T[floor(x)]; linear takes x_B = x - 0.5, i = floor(x_B) and the
fraction in 9 bits, 8 of them behind the point. Addressing: wrap is frac(x), mirror frac(x) or
1 - frac(x) where floor(x) is odd.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.launch.images import Addressing, Filter

Array = npt.NDArray[Any]
F = np.float32


def folded(coordinate: Array, size: int, how: Addressing, normalized: bool) -> Array:
    """The coordinate in texels; wrapping and mirroring need normalized ones."""
    x = coordinate.astype(F)
    if not normalized:
        return x
    if how is Addressing.WRAP:
        x = x - np.floor(x)
    elif how is Addressing.MIRROR:
        fraction = x - np.floor(x)
        x = np.where(np.floor(x) % 2 == 0, fraction, F(1) - fraction).astype(F)
    return (x * F(size)).astype(F)


def placed(number: Array, size: int, how: Addressing, normalized: bool) -> tuple[Array, Array]:
    """(texel, whether it is in the texture)."""
    inside = (number >= 0) & (number < size)
    if how is Addressing.WRAP and normalized:
        return number % size, np.ones_like(inside)
    if how is not Addressing.BORDER:
        inside = np.ones_like(inside)
    return np.clip(number, 0, size - 1), inside


def weights_of(below: Array, position: Array) -> Array:
    return np.floor((position - below) * 256 + 0.5) / 256


def fetched(
    texels: Array,
    coordinates: Array,
    addressing: tuple[Addressing, ...],
    filter_: Filter,
    normalized: bool,
    border: Array,
) -> Array:
    """(reads, components): the texels at the coordinates.

    `texels` has its axes slowest first, components last; `coordinates` is (reads, axes), x first.
    """
    axes = coordinates.shape[1]
    sizes = texels.shape[:axes][::-1]
    positions = [
        folded(coordinates[:, a], sizes[a], addressing[a], normalized) for a in range(axes)
    ]
    if filter_ is Filter.LINEAR:
        positions = [(position - F(0.5)).astype(F) for position in positions]
    firsts = [np.floor(position).astype(np.int64) for position in positions]
    shares = [weights_of(f, p) for f, p in zip(firsts, positions, strict=True)]
    total = np.zeros((len(coordinates), texels.shape[-1]))
    corners = product((0, 1), repeat=axes) if filter_ is Filter.LINEAR else [(0,) * axes]
    for corner in corners:
        weight = np.ones(len(coordinates))
        inside = np.ones(len(coordinates), bool)
        index: list[Array] = []
        for a in range(axes):
            found, is_in = placed(firsts[a] + corner[a], sizes[a], addressing[a], normalized)
            index.append(found)
            inside &= is_in
            if filter_ is Filter.LINEAR:
                weight = weight * (shares[a] if corner[a] else 1 - shares[a])
        values = texels[tuple(reversed(index))].astype(np.float64)
        total += weight[:, None] * np.where(inside[:, None], values, border)
    return total
