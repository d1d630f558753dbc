"""What the kernels of Ernst et al. 2022 must leave: correlations, differences, moments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import ndimage

Inputs = Mapping[str, Any]
Sizes = Mapping[str, int]
Expected = dict[str, npt.NDArray[np.float64]]

_LEAD = 16
_BESIDE = ("near", "second", "third", "far")
_HALF = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (1, 1, -1), (1, -1, 1), (-1, 1, 1)]
_VELOCITIES = np.array([(0, 0, 0), *(tuple(s * np.array(c)) for c in _HALF for s in (1, -1))])
_WEIGHTS = np.array([2 / 9, 1 / 9, 0, 1 / 72])[(_VELOCITIES**2).sum(axis=1)]


def star25(inputs: Inputs, sizes: Sizes) -> Expected:
    """`to` as it was outside of the domain; inside one correlation along each axis."""
    mesh = inputs["from"]
    beside = [inputs[name] for name in _BESIDE]
    total = inputs["centre"] * mesh
    for axis in range(3):
        total += ndimage.correlate1d(mesh, [*reversed(beside), 0.0, *beside], axis=axis)
    expected = inputs["to"].copy()
    inside = _inside(sizes, len(beside))
    expected[inside] = total[inside]
    return {"to": expected}


def interface_tracking(inputs: Inputs, sizes: Sizes) -> Expected:
    """`to` and `phase_to` as they were outside of the domain; inside one step of Allen and Cahn."""
    inside = _inside(sizes, 1)
    phase = inputs["phase"]
    normal = np.stack(np.gradient(phase)[::-1])
    normal /= np.sqrt((normal**2).sum(axis=0)) + 1e-9
    normal, phase = normal[:, *inside], phase[inside]
    velocity = _velocity(inputs, inside)
    square = (velocity**2).sum(axis=0)
    expected, phase_to = inputs["to"].copy(), inputs["phase_to"].copy()
    phase_to[inside] = 0.0
    for q, direction in enumerate(_VELOCITIES):
        along = np.tensordot(direction.astype(np.float64), velocity, axes=1)
        across = np.tensordot(direction.astype(np.float64), normal, axes=1)
        equilibrium = phase * (1 + 3 * along + 4.5 * along**2 - 1.5 * square)
        equilibrium += 4 * phase * (1 - phase) / inputs["thickness"] * across
        pulled = np.roll(inputs["from"][q], direction[::-1], (0, 1, 2))[inside]
        relaxed = (1 - inputs["omega"]) * pulled + inputs["omega"] * _WEIGHTS[q] * equilibrium
        expected[q][inside] = relaxed
        phase_to[inside] += relaxed
    return {"to": expected, "phase_to": phase_to}


def _velocity(inputs: Inputs, inside: tuple[slice, ...]) -> npt.NDArray[np.float64]:
    """The velocity of the fluid, x first: an array of its own, or the same everywhere."""
    if "flow" in inputs:
        loaded: npt.NDArray[np.float64] = inputs["flow"][:, *inside]
        return loaded
    return np.array([inputs[f"flow_{axis}"] for axis in "xyz"]).reshape(3, 1, 1, 1)


def _inside(sizes: Sizes, halo: int) -> tuple[slice, ...]:
    return (
        slice(halo, halo + sizes["depth"]),
        slice(halo, halo + sizes["height"]),
        slice(_LEAD, _LEAD + sizes["width"]),
    )
