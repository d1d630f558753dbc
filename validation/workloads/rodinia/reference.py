"""What the kernels like Rodinia's must compute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.ndimage
import scipy.spatial

Array = npt.NDArray[Any]
Inputs = Mapping[str, Any]
Sizes = Mapping[str, int]

AMBIENT = 80.0
TILE = 16
FEATURES = 34
BACKGROUND, DISK = 100, 228
POINT = np.dtype(
    [("weight", "f4"), ("coordinates", "u8"), ("assigned", "i8"), ("cost", "f4")], True
)
THREADS = 512


def hotspot(inputs: Inputs, sizes: Sizes) -> dict[str, Any]:
    """Temperatures after all steps, in double precision."""
    t = inputs["temperature"].astype(np.float64)
    for _ in range(sizes["steps"]):
        flow = inputs["power"] + (AMBIENT - t) / inputs["resistance_z"]
        for axis, resistance in enumerate(("resistance_y", "resistance_x")):
            curvature = scipy.ndimage.correlate1d(t, [1.0, -2.0, 1.0], axis, mode="nearest")
            flow = flow + curvature / inputs[resistance]
        t = t + inputs["seconds"] / inputs["capacity"] * flow
    return {"result": t}


def hotspot3d(inputs: Inputs, sizes: Sizes) -> dict[str, Any]:
    """Temperatures after one step, by SciPy's correlation with a cross."""
    stencil = np.zeros((3, 3, 3))
    stencil[1, 1, 1] = inputs["centre_weight"]
    stencil[1, 1, ::2] = inputs["row_weight"]
    stencil[1, ::2, 1] = inputs["column_weight"]
    stencil[::2, 1, 1] = inputs["stack_weight"]
    result = scipy.ndimage.correlate(inputs["temperature"], stencil, mode="nearest")
    heating = inputs["power_gain"] * inputs["power"] + inputs["stack_weight"] * AMBIENT
    return {"result": result + heating}


def srad_coefficient(inputs: Inputs, sizes: Sizes) -> dict[str, Any]:
    """Differences to the four neighbours and the diffusion coefficient of each pixel."""
    image, q02 = inputs["image"].astype(np.float64), inputs["q02"]
    framed = np.pad(image, 1, mode="edge")
    found = {
        "to_north": framed[:-2, 1:-1] - image,
        "to_south": framed[2:, 1:-1] - image,
        "to_west": framed[1:-1, :-2] - image,
        "to_east": framed[1:-1, 2:] - image,
    }
    g = sum(difference**2 for difference in found.values()) / image**2
    laplacian = sum(found.values()) / image
    q2 = (g / 2 - (laplacian / 4) ** 2) / (1 + laplacian / 4) ** 2
    return {**found, "coefficient": np.clip(q02 * (1 + q02) / (q02**2 + q2), 0, 1)}


def srad_update(inputs: Inputs, sizes: Sizes) -> dict[str, Any]:
    """The image after one step of diffusion."""
    c = inputs["coefficient"]
    framed = np.pad(c, ((0, 1), (0, 1)), mode="edge")
    divergence = c * (inputs["to_north"] + inputs["to_west"])
    divergence += framed[1:, :-1] * inputs["to_south"] + framed[:-1, 1:] * inputs["to_east"]
    return {"image": inputs["image"] + inputs["rate"] / 4 * divergence}


def kmeans_transpose(inputs: Inputs, sizes: Sizes) -> dict[str, Any]:
    """The features transposed."""
    return {"transposed": inputs["given"].T}


def kmeans_assign(inputs: Inputs, sizes: Sizes) -> dict[str, Any]:
    """The nearest centre of each point, by SciPy's distances."""
    points = inputs["features"].reshape(FEATURES, -1).T.astype(np.float64)
    centres = np.frombuffer(inputs["centres"], np.float32).reshape(-1, FEATURES)
    return {"nearest": scipy.spatial.distance.cdist(points, centres, "sqeuclidean").argmin(axis=1)}


def _uniform(seed: Array) -> tuple[Array, Array]:
    """The next seeds and numbers; 32-bit products wrap, remainders keep their sign."""
    product = (1103515245 * seed.astype(np.int64) + 12345).astype(np.int32).astype(np.int64)
    following = np.fmod(product, 2147483647)
    return following, np.abs(following / 2147483647)


def _normal(seed: Array) -> tuple[Array, Array]:
    seed, u = _uniform(seed)
    seed, v = _uniform(seed)
    return seed, np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * v)


def particle_likelihood(inputs: Inputs, sizes: Sizes) -> dict[str, Any]:
    """New positions of the particles, their likelihoods and weights."""
    seed, drawn = _normal(inputs["seed"])
    x = inputs["drawn_x"] + 1 + 5 * drawn
    seed, drawn = _normal(seed)
    y = inputs["drawn_y"] - 2 + 2 * drawn
    disk, video = inputs["disk"], inputs["video"]
    columns = x.astype(np.int64)[:, np.newaxis] + disk[:, 1]
    rows = y.astype(np.int64)[:, np.newaxis] + disk[:, 0]
    pixels = np.abs((columns * sizes["side"] + rows) * sizes["frames"] + sizes["frame"])
    pixels[pixels >= video.size] = 0
    seen = video.ravel()[pixels].astype(np.float64)
    likelihood = (((seen - BACKGROUND) ** 2 - (seen - DISK) ** 2) / 50).mean(axis=1)
    weights = np.exp(likelihood) / len(x)
    starts = np.arange(0, len(x), THREADS)
    return {
        "place_x": x,
        "place_y": y,
        "pixels": pixels,
        "likelihood": likelihood,
        "weights": weights,
        "seed": seed,
        "partial": np.add.reduceat(weights, starts),
    }


def particle_sum(inputs: Inputs, sizes: Sizes) -> dict[str, Any]:
    """The partial sums with their total in the first place."""
    partial = inputs["partial"].copy()
    partial[0] = partial.sum()
    return {"partial": partial}


def particle_normalise(inputs: Inputs, sizes: Sizes) -> dict[str, Any]:
    """Normalised weights, their running sums, and evenly spaced draws."""
    weights = inputs["weights"] / inputs["partial"][0]
    steps = np.arange(len(weights)) / len(weights)
    return {"weights": weights, "running": np.cumsum(weights), "draws": inputs["first"] + steps}


def particle_draw(inputs: Inputs, sizes: Sizes) -> dict[str, Any]:
    """The positions of the particles that the draws fall on."""
    found = np.searchsorted(inputs["running"], inputs["draws"])
    found = np.minimum(found, sizes["particles"] - 1)
    return {"drawn_x": inputs["place_x"][found], "drawn_y": inputs["place_y"][found]}


def needle(inputs: Inputs, sizes: Sizes) -> dict[str, Any]:
    """The wave's tiles row by row.

    Gaps along a row are a running maximum once what each column costs is taken out.
    """
    score, gap = inputs["score"].copy(), inputs["gap"]
    ramp = gap * np.arange(TILE + 1)
    for left in range(0, sizes["side"], TILE):
        top = sizes["wave"] * TILE - left
        if not 0 <= top < sizes["side"]:
            continue
        tile = score[top : top + TILE + 1, left : left + TILE + 1]
        pair = inputs["pairs"][top : top + TILE + 1, left : left + TILE + 1]
        for y in range(1, TILE + 1):
            tile[y, 1:] = np.maximum(tile[y - 1, :-1] + pair[y, 1:], tile[y - 1, 1:] - gap)
            tile[y] = np.maximum.accumulate(tile[y] + ramp) - ramp
    return {"score": score}


def bfs_visit(inputs: Inputs, sizes: Sizes) -> dict[str, Any]:
    """Edge by edge from the frontier, all at once."""
    first, count = inputs["vertex"][inputs["frontier"] != 0].T
    edges = np.concatenate(
        [np.arange(start, start + n) for start, n in zip(first, count, strict=True)]
    )
    reached = np.unique(inputs["neighbours"][edges])
    reached = reached[inputs["visited"][reached] == 0]
    distance, marked = inputs["distance"].copy(), np.zeros_like(inputs["marked"])
    distance[reached], marked[reached] = sizes["level"] + 1, 1
    return {"distance": distance, "marked": marked, "frontier": np.zeros_like(marked)}


def bfs_advance(inputs: Inputs, sizes: Sizes) -> dict[str, Any]:
    """Makes the marked vertices the next frontier."""
    marked = inputs["marked"]
    return {
        "frontier": marked,
        "visited": np.maximum(inputs["visited"], marked),
        "is_unfinished": [1],
        "marked": np.zeros_like(marked),
    }


def backprop_forward(inputs: Inputs, sizes: Sizes) -> dict[str, Any]:
    """Every level of the tree leaves its sums where it found its first number."""
    weights = inputs["weights"].astype(np.float64)
    tiles = weights[1:, 1:].reshape(-1, TILE, TILE)
    tiles *= inputs["input"][1:].reshape(-1, TILE, 1)
    for stride in (2, 4, 8, 16):
        tiles[:, ::stride] += tiles[:, stride // 2 :: stride]
    weights[1:, 1:] = tiles.reshape(-1, TILE)
    return {"weights": weights, "partial": tiles[:, 0]}


def backprop_adjust(inputs: Inputs, sizes: Sizes) -> dict[str, Any]:
    """The biases' input is 1; the first column is left alone."""
    given = inputs["input"].astype(np.float64)
    given[0] = 1
    changes = inputs["changes"].astype(np.float64)
    changes[:, 1:] = 0.3 * np.outer(given, inputs["delta"][1:]) + 0.3 * changes[:, 1:]
    weights = inputs["weights"].astype(np.float64)
    weights[:, 1:] += changes[:, 1:]
    return {"weights": weights, "changes": changes}


def streamcluster(inputs: Inputs, sizes: Sizes) -> dict[str, Any]:
    """What each centre would save by points that switch, and which points do."""
    points = inputs["point"].view(POINT)[:, 0]
    candidate = inputs["coordinates"][:, inputs["candidate"], np.newaxis]
    cost = np.square(inputs["coordinates"] - candidate).sum(axis=0) * points["weight"]
    switches = cost < points["cost"]
    place = np.where(switches, sizes["centres"], inputs["centre_of"][points["assigned"]])
    lower = np.zeros_like(inputs["lower"])
    saving = np.where(switches, cost - points["cost"], points["cost"] - cost)
    np.put_along_axis(lower, place[:, np.newaxis], saving[:, np.newaxis], axis=1)
    return {"lower": lower, "switches": switches}


def pathfinder(inputs: Inputs, sizes: Sizes) -> dict[str, Any]:
    """The cheapest costs after the rows of one launch."""
    best = inputs["previous"]
    first = sizes["first_row"]
    for costs in inputs["costs"][first : first + sizes["steps"]]:
        best = costs + scipy.ndimage.minimum_filter1d(best, 3, mode="nearest")
    return {"result": best}


def _divided(inputs: Inputs, sizes: Sizes) -> tuple[Array, slice, slice]:
    """A copy of the matrix, the place of the tile on the diagonal, and what comes after it."""
    end = TILE * (sizes["step"] + 1)
    return inputs["matrix"].copy(), slice(end - TILE, end), slice(end, None)


def lud_diagonal(inputs: Inputs, sizes: Sizes) -> dict[str, Any]:
    """LAPACK's decomposition, which finds nothing to exchange in dominant matrices."""
    matrix, tile, _ = _divided(inputs, sizes)
    _, lower, upper = scipy.linalg.lu(matrix[tile, tile].astype(np.float64))
    matrix[tile, tile] = lower + upper - np.eye(TILE)
    return {"matrix": matrix}


def lud_perimeter(inputs: Inputs, sizes: Sizes) -> dict[str, Any]:
    """Triangular systems with what stands in the tile on the diagonal."""
    matrix, tile, rest = _divided(inputs, sizes)
    both = matrix[tile, tile].astype(np.float64)
    solve = scipy.linalg.solve_triangular
    matrix[tile, rest] = solve(both, matrix[tile, rest], lower=True, unit_diagonal=True)
    matrix[rest, tile] = solve(both, matrix[rest, tile].T, trans="T").T
    return {"matrix": matrix}


def lud_internal(inputs: Inputs, sizes: Sizes) -> dict[str, Any]:
    """The trailing matrix less the product of the step's column and row of tiles."""
    matrix, tile, rest = _divided(inputs, sizes)
    matrix[rest, rest] -= matrix[rest, tile] @ matrix[tile, rest]
    return {"matrix": matrix}
