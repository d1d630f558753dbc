"""Twenty-one HIP kernels with a small launch each, and what NumPy says of the results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import kernelcast as kc
from kernelcast.execution.runnable import LoadedModule

__all__ = ["CASES", "KERNELS", "Case", "loaded"]

Array = npt.NDArray[Any]
KERNELS = Path(__file__).parent / "kernels"


@dataclass(frozen=True)
class Case:
    """`inputs`: arguments by name, arrays among them; `expected`: results by the arguments' names.

    `shared_bytes`: dynamic shared memory. `twin`: the PTX of the same kernel, below the workloads.
    """

    file: str
    entry: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    inputs: Callable[[], dict[str, Any]]
    expected: Callable[[dict[str, Any]], dict[str, Array]]
    shared_bytes: int = 0
    rtol: float = 0.0
    atol: float = 0.0
    twin: tuple[str, str] | None = None

    def arguments(self) -> dict[str, Any]:
        """New arrays and numbers, the same each time."""
        return self.inputs()

    def run(self, module: Any, **keywords: Any) -> dict[str, Any]:
        """The arguments after a run."""
        arguments = self.arguments()
        module[self.entry].run(
            grid=self.grid,
            block=self.block,
            shared_bytes=self.shared_bytes,
            args=list(arguments.values()),
            **keywords,
        )
        return arguments

    def check(self, found: dict[str, Any]) -> None:
        """Raises AssertionError where results are not those that NumPy gives."""
        for name, wanted in self.expected(self.arguments()).items():
            np.testing.assert_allclose(
                found[name], wanted, self.rtol, self.atol, err_msg=self.entry
            )


@cache
def loaded(file: str, architecture: str = "") -> LoadedModule:
    """The kernels of one of the files."""
    return kc.load(KERNELS / f"{file}.hip", arch=architecture)


def _random(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def _integers(seed: int, most: int, *shape: int) -> Array:
    return np.random.default_rng(seed).integers(0, most, shape)


def _zeros(*shape: int) -> Array:
    return np.zeros(shape, np.float32)


def _vectors() -> dict[str, Any]:
    return {"x": _random(1, 1000), "y": _random(2, 1000), "sum": _zeros(1000), "n": 1000}


def _matrix() -> dict[str, Any]:
    return {"to": _zeros(75, 50), "from": _random(1, 50, 75), "rows": 50, "columns": 75}


def _mesh() -> dict[str, Any]:
    place = {"to": _zeros(20, 70), "from": _random(3, 20, 70)}
    return {**place, "centre": 0.5, "beside": 0.125, "width": 70, "height": 20}


def _star(a: dict[str, Any]) -> dict[str, Array]:
    from_, to = a["from"].astype(np.float64), np.zeros((20, 70))
    beside = from_[1:-1, :-2] + from_[1:-1, 2:] + from_[:-2, 1:-1] + from_[2:, 1:-1]
    to[1:-1, 1:-1] = 0.5 * from_[1:-1, 1:-1] + 0.125 * beside
    return {"to": to}


def _image() -> dict[str, Any]:
    weights = _random(5, 9).tobytes()
    return {
        "in": _random(4, 30, 40),
        "out": _zeros(30, 40),
        "w": weights,
        "width": 40,
        "height": 30,
    }


def _convolved(a: dict[str, Any]) -> dict[str, Array]:
    weights = np.frombuffer(a["w"], np.float32).reshape(3, 3).astype(np.float64)
    padded = np.pad(a["in"].astype(np.float64), 1)
    shifted = (weights[j, i] * padded[j : j + 30, i : i + 40] for j in range(3) for i in range(3))
    return {"out": np.sum(list(shifted), axis=0)}


_TAPS = (
    *(0.5, -0.25, 0.125, 1.0, -1.5, 0.75, 0.375, -0.0625),
    *(2.25, 0.25, -0.5, 0.75, 1.25, -1.0, 0.625, 0.875),
)


def _signal() -> dict[str, Any]:
    return {"signal": _random(6, 515), "filtered": _zeros(500), "n": 500}


def _filtered(a: dict[str, Any]) -> dict[str, Array]:
    return {"filtered": np.convolve(a["signal"].astype(np.float64), _TAPS[::-1], "valid")}


def _channels() -> dict[str, Any]:
    sizes = {"channels": 3, "height": 11, "width": 13}
    return {"image": _random(7, 3, 11, 13), "columns": _zeros(3, 3, 3, 9, 11), **sizes}


def _patches(a: dict[str, Any]) -> dict[str, Array]:
    windows = np.lib.stride_tricks.sliding_window_view(a["image"], (3, 3), (1, 2))
    return {"columns": windows.transpose(0, 3, 4, 1, 2)}


def _factors() -> dict[str, Any]:
    sizes = {"m": 30, "n": 40, "k": 50}
    return {"a": _random(8, 30, 50), "b": _random(9, 50, 40), "c": _zeros(30, 40), **sizes}


def _half_factors() -> dict[str, Any]:
    a, b = _random(10, 32, 48).astype(np.float16), _random(11, 48, 32).astype(np.float16)
    return {"a": a, "b": b, "c": _zeros(32, 32), "m": 32, "n": 32, "k": 48}


def _product(a: dict[str, Any]) -> dict[str, Array]:
    return {"c": a["a"].astype(np.float64) @ a["b"].astype(np.float64)}


def _clusters() -> dict[str, Any]:
    found = {"nearest": np.zeros(300, np.int32), "distance": _zeros(300)}
    return {
        "points": _random(12, 16, 300),
        "centres": _random(13, 7, 16),
        **found,
        "n": 300,
        "k": 7,
    }


def _nearest(a: dict[str, Any]) -> dict[str, Array]:
    points, centres = a["points"].astype(np.float64), a["centres"].astype(np.float64)
    distances = ((points.T[:, None, :] - centres[None]) ** 2).sum(axis=2)
    return {"nearest": distances.argmin(axis=1), "distance": distances.min(axis=1)}


def _bodies() -> dict[str, Any]:
    bodies = np.abs(_random(14, 200, 4))
    return {"bodies": bodies, "accelerations": _zeros(200, 4), "count": 200, "softening": 0.01}


def _attracted(a: dict[str, Any]) -> dict[str, Array]:
    bodies = a["bodies"].astype(np.float64)
    way = bodies[None, :, :3] - bodies[:, None, :3]
    strength = bodies[None, :, 3] / ((way**2).sum(axis=2) + np.float64(np.float32(0.01))) ** 1.5
    return {"accelerations": np.pad((way * strength[:, :, None]).sum(axis=1), ((0, 0), (0, 1)))}


def _sparse() -> dict[str, Any]:
    counts = _integers(15, 9, 120)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    columns = _integers(16, 120, int(starts[-1])).astype(np.int32)
    values = _random(17, int(starts[-1])).astype(np.float64)
    x = _random(18, 120).astype(np.float64)
    return {"starts": starts, "columns": columns, "values": values, "x": x, "y": 0 * x, "rows": 120}


def _sparse_product(a: dict[str, Any]) -> dict[str, Array]:
    rows = np.repeat(np.arange(120), np.diff(a["starts"]))
    y = np.zeros(120)
    np.add.at(y, rows, a["values"] * a["x"][a["columns"]])
    return {"y": y}


def _ways() -> dict[str, Any]:
    distance = _integers(19, 100, 40, 40).astype(np.int32)
    return {"distance": distance, "via": np.full((40, 40), -1, np.int32), "nodes": 40, "over": 7}


def _shorter(a: dict[str, Any]) -> dict[str, Array]:
    distance = a["distance"]
    over = distance[:, 7:8] + distance[7:8, :]
    return {"distance": np.minimum(distance, over), "via": np.where(over < distance, 7, -1)}


def _waves() -> dict[str, Any]:
    turns = np.exp(-2j * np.pi * np.arange(512) / 512).astype(np.complex64)
    return {"in": _random(20, 3, 1024), "roots": turns.view(np.float32), "out": _zeros(3, 1024)}


def _transformed(a: dict[str, Any]) -> dict[str, Array]:
    values = a["in"].view(np.complex64).astype(np.complex128)
    return {"out": np.fft.fft(values).view(np.float64)}


def _numbers() -> dict[str, Any]:
    return {"values": _random(21, 2000), "sums": _zeros(3), "n": 2000}


def _partial(a: dict[str, Any]) -> dict[str, Array]:
    places = np.arange(2000) // 256 % 3
    return {"sums": np.bincount(places, a["values"].astype(np.float64))}


def _scanned_integers() -> dict[str, Any]:
    values = _integers(22, 1000, 700).astype(np.int32)
    odd = np.zeros(24, np.uint64)
    return {"values": values, "prefix": 0 * values, "odd": odd, "n": 700}


def _scanned(a: dict[str, Any]) -> dict[str, Array]:
    stretches = np.split(a["values"], [256, 512])
    return {"prefix": np.concatenate([np.cumsum(stretch) for stretch in stretches])}


def _bytes() -> dict[str, Any]:
    words = _integers(23, 1 << 32, 3000).astype(np.uint32)
    return {"words": words, "bins": np.zeros(256, np.uint32), "n": 3000}


def _counted(a: dict[str, Any]) -> dict[str, Array]:
    return {"bins": np.bincount(a["words"].view(np.uint8), minlength=256)}


def _keys() -> dict[str, Any]:
    return {"keys": _integers(24, 1 << 32, 1500).astype(np.uint32), "n": 1500}


def _sorted(a: dict[str, Any]) -> dict[str, Array]:
    return {"keys": np.concatenate([np.sort(part) for part in np.split(a["keys"], [1024])])}


def _rows() -> dict[str, Any]:
    return {"x": _random(25, 3, 700), "y": _zeros(3, 700), "columns": 700}


def _soft(a: dict[str, Any]) -> dict[str, Array]:
    powers = np.exp(a["x"] - a["x"].max(axis=1, keepdims=True).astype(np.float64))
    return {"y": powers / powers.sum(axis=1, keepdims=True)}


def _layer() -> dict[str, Any]:
    place = {"x": _random(26, 7, 100), "gamma": _random(27, 100), "beta": _random(28, 100)}
    return {**place, "y": _zeros(7, 100), "rows": 7, "columns": 100, "epsilon": 1e-5}


def _normalized(a: dict[str, Any]) -> dict[str, Array]:
    x = a["x"].astype(np.float64)
    scaled = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    return {"y": scaled * a["gamma"] + a["beta"]}


def _head() -> dict[str, Any]:
    q, k, v = (_random(seed, 70, 64) for seed in (29, 30, 31))
    return {"q": q, "k": k, "v": v, "out": _zeros(70, 64), "length": 70, "scale": 0.125}


def _attended(a: dict[str, Any]) -> dict[str, Array]:
    scores = 0.125 * (a["q"].astype(np.float64) @ a["k"].T)
    return {"out": _soft({"x": scores})["y"] @ a["v"]}


def _transposed(a: dict[str, Any]) -> dict[str, Array]:
    return {"to": a["from"].T}


def _added(a: dict[str, Any]) -> dict[str, Array]:
    return {"sum": a["x"] + a["y"]}


CASES = (
    Case("arrays", "vector_add", (4,), (256,), _vectors, _added),
    Case(
        *("arrays", "transpose_naive", (3, 2), (32, 8), _matrix, _transposed),
        twin=("transpose/transpose.ptx", "transpose_naive"),
    ),
    Case(
        *("arrays", "transpose_tiled", (3, 2), (32, 8), _matrix, _transposed),
        twin=("transpose/transpose.ptx", "transpose_tiled"),
    ),
    Case(
        *("arrays", "star5_2d", (3, 5), (32, 4), _mesh, _star),
        rtol=1e-5,
        atol=1e-6,
        twin=("stencil/star5_2d.ptx", "star5_2d"),
    ),
    Case(
        *("arrays", "convolution2d", (2, 8), (32, 4), _image, _convolved),
        rtol=1e-5,
        atol=1e-5,
        twin=("learning/convolution2d.ptx", "convolution2d"),
    ),
    Case(
        *("arrays", "fir", (4,), (128,), _signal, _filtered),
        shared_bytes=4 * (128 + 15),
        rtol=1e-5,
        atol=1e-5,
    ),
    Case("arrays", "im2col", (2,), (192,), _channels, _patches),
    Case(
        *("arrays", "multiply", (3, 2), (16, 16), _factors, _product),
        rtol=1e-5,
        atol=1e-5,
        twin=("gemm/tiled.ptx", "gemm_tiled_16x16"),
    ),
    Case(
        *("arrays", "matrix_core_product", (2, 2), (64,), _half_factors, _product),
        rtol=1e-5,
        atol=1e-5,
    ),
    Case(
        *("points", "kmeans_assign", (3,), (128,), _clusters, _nearest),
        rtol=1e-5,
        twin=("learning/kmeans_assign.ptx", "kmeans_assign"),
    ),
    Case(
        *("points", "nbody", (2,), (128,), _bodies, _attracted),
        rtol=1e-4,
        atol=1e-3,
        twin=("simulation/nbody.ptx", "nbody"),
    ),
    Case(
        *("points", "spmv_csr_scalar", (2,), (64,), _sparse, _sparse_product),
        rtol=1e-12,
        twin=("sparse/spmv_csr_scalar.ptx", "spmv_csr_scalar"),
    ),
    Case("points", "floyd_warshall", (2, 10), (32, 4), _ways, _shorter),
    Case(
        *("points", "fft512", (3,), (64,), _waves, _transformed),
        rtol=1e-6,
        atol=3e-5,
        twin=("fft/fft512.ptx", "fft512"),
    ),
    Case("lanes", "partial_sums", (3,), (256,), _numbers, _partial, rtol=1e-5, atol=1e-5),
    Case("lanes", "scan", (3,), (256,), _scanned_integers, _scanned),
    Case(
        *("lanes", "shared_atomics", (2,), (256,), _bytes, _counted),
        twin=("histogram/shared_atomics.ptx", "shared_atomics"),
    ),
    Case(
        *("lanes", "bitonic_sort", (2,), (256,), _keys, _sorted),
        twin=("sort/bitonic.ptx", "bitonic_sort"),
    ),
    Case(
        *("lanes", "softmax", (3,), (256,), _rows, _soft),
        rtol=1e-5,
        twin=("learning/softmax.ptx", "softmax"),
    ),
    Case(
        *("lanes", "layernorm", (2,), (32, 4), _layer, _normalized),
        rtol=1e-4,
        atol=1e-5,
        twin=("learning/layernorm.ptx", "layernorm"),
    ),
    Case(
        *("attention", "attention_tile", (2, 1), (16, 16), _head, _attended),
        rtol=1e-4,
        atol=1e-5,
        twin=("learning/attention_tile.ptx", "attention_tile"),
    ),
)
