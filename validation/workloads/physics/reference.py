"""What the kernels that simulate physics, and the one that clusters a stream, must compute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.ndimage
import scipy.spatial

Array = npt.NDArray[Any]

PARTICLES = 100
FACES = 4
WALL = -1
FAR_FIELD = -2
HEAT_RATIO = 1.4


def _second_difference(values: Array, axis: int) -> Array:
    curvature: Array = scipy.ndimage.correlate1d(values, [1.0, -2.0, 1.0], axis, mode="nearest")
    return curvature


def _stepped(temperature: Array, inputs: Mapping[str, Any]) -> Array:
    change: Array = inputs["power_gain"] * inputs["power"]
    change += inputs["row_gain"] * _second_difference(temperature, 0)
    change += inputs["column_gain"] * _second_difference(temperature, 1)
    change += inputs["ambient_gain"] * (inputs["ambient_temperature"] - temperature)
    return temperature + change


def hotspot(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Temperatures after one step."""
    return {"result": _stepped(inputs["temperature"], inputs)}


def hotspot_two_steps(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Temperatures after two steps."""
    return {"result": _stepped(_stepped(inputs["temperature"], inputs), inputs)}


def hotspot3d(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Temperatures after one step, by SciPy's correlation with a cross."""
    stencil = np.zeros((3, 3, 3))
    stencil[1, 1, 1] = inputs["centre_weight"]
    stencil[1, 1, ::2] = inputs["row_weight"]
    stencil[1, ::2, 1] = inputs["column_weight"]
    stencil[::2, 1, 1] = inputs["stack_weight"]
    result = scipy.ndimage.correlate(inputs["temperature"], stencil, mode="nearest")
    return {"result": result + inputs["power_gain"] * inputs["power"]}


def srad_coefficient(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Gradient and Laplacian from differences between rows and columns, each taken once."""
    image, q02 = inputs["image"], inputs["q02"]
    squares, laplacian = np.zeros_like(image), np.zeros_like(image)
    for axis in range(2):
        difference = np.diff(image, axis=axis)
        first = (slice(None),) * axis + (slice(None, -1),)
        second = (slice(None),) * axis + (slice(1, None),)
        for side, sign in ((first, 1), (second, -1)):
            squares[side] += difference**2
            laplacian[side] += sign * difference
    squares /= image**2
    laplacian /= image
    q2 = (squares / 2 - (laplacian / 4) ** 2) / (1 + laplacian / 4) ** 2
    return {"coefficient": np.clip(q02 * (1 + q02) / (q02**2 + q2), 0, 1)}


def srad_update(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Balances what flows through each edge between two cells, which both see."""
    image, coefficient = inputs["image"], inputs["coefficient"]
    down = coefficient[1:] * np.diff(image, axis=0)
    across = coefficient[:, 1:] * np.diff(image, axis=1)
    divergence = np.zeros_like(image)
    divergence[:-1] += down
    divergence[:, :-1] += across
    divergence[1:] -= down
    divergence[:, 1:] -= across
    return {"updated": image + inputs["rate"] / 4 * divergence}


def lavamd(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Box by box, with all neighbouring particles at once, in double precision."""
    grid, decay = (sizes["layers"], sizes["rows"], sizes["columns"]), inputs["decay"]
    boxes = inputs["particles"].astype(np.float64).reshape(*grid, PARTICLES, 4)
    results = np.empty_like(boxes)
    for box in np.ndindex(grid):
        near = boxes[tuple(slice(max(i - 1, 0), i + 2) for i in box)].reshape(-1, 4)
        home = boxes[box]
        squared = scipy.spatial.distance.cdist(home[:, :3], near[:, :3], "sqeuclidean")
        potential = np.exp(-decay * squared) * near[:, 3]
        total = potential.sum(axis=1)
        results[box][:, 3] = total
        pull = home[:, :3] * total[:, np.newaxis] - potential @ near[:, :3]
        results[box][:, :3] = 2 * decay * pull
    return {"results": results.reshape(-1, 4)}


def _flux_tensor(state: Array) -> tuple[Array, Array, Array]:
    """Fluxes [3, 5, n] along the axes, pressure [n] and fastest wave [n] of states [5, n]."""
    velocity = state[1:4] / state[0]
    pressure = (HEAT_RATIO - 1) * (state[4] - 0.5 * (state[1:4] * velocity).sum(axis=0))
    tensor = velocity[:, np.newaxis] * state
    for axis in range(3):
        tensor[axis, 1 + axis] += pressure
    tensor[:, 4] += pressure * velocity
    fastest = np.linalg.norm(velocity, axis=0) + np.sqrt(HEAT_RATIO * pressure / state[0])
    return tensor, pressure, fastest


def cfd_flux(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Face by face for all cells at once, in double precision."""
    far_field = np.frombuffer(inputs["far_field"], np.float32)[:, np.newaxis]
    # One cell more stands for the gas beyond the outer boundary.
    states = np.hstack([inputs["state"], far_field]).astype(np.float64)
    tensor, pressure, fastest = _flux_tensor(states)
    home = slice(0, sizes["n"])
    residual = np.zeros((5, sizes["n"]))
    for face in range(FACES):
        normal = inputs["normals"][face].astype(np.float64)
        neighbour = inputs["neighbour"][face]
        beyond = np.where(neighbour == FAR_FIELD, sizes["n"], neighbour)
        mean = (tensor[:, :, home] + tensor[:, :, beyond]) / 2
        speed = np.maximum(fastest[home], fastest[beyond])
        damping = np.linalg.norm(normal, axis=0) * speed / 2
        flux = np.einsum("afn,an->fn", mean, normal)
        flux -= damping * (states[:, beyond] - states[:, home])
        wall = neighbour == WALL
        flux[:, wall] = 0
        flux[1:4, wall] = (pressure[home] * normal)[:, wall]
        residual += flux
    return {"residual": residual}


def streamcluster_gain(inputs: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """What each point saves at the candidate centre, and which points switch."""
    candidate = inputs["points"][:, inputs["candidate"], np.newaxis]
    distance = np.square(inputs["points"] - candidate).sum(axis=0)
    saving = inputs["costs"] - inputs["weights"] * distance
    return {"savings": saving.clip(min=0), "switches": saving > 0}
