"""The benchmark kernels: launches, arguments by problem size, and what NumPy says they compute.

A case, its C twin and its OpenCL twin bear the same name and take the same arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from problem import Array, Problem

from kernelcast.execution.runnable import LoadedModule, RunnableKernel

__all__ = ["CASES", "KERNELS", "KernelCase"]

KERNELS = Path(__file__).parent / "kernels"
_EXAMPLES = Path(__file__).parents[1] / "examples"


@dataclass(frozen=True)
class KernelCase:
    """A kernel and the problem sizes at which it is measured.

    `full`: the C twin needs 5 to 100 ms. `reference`: the reference engine needs about a second.
    `interpreted`: an interpreter of single instructions does. `small`: for tests.
    `worst_ratio`: how many times the C twin's time this kernel may take. `example`: PTX file below
    examples/ and its entry, where an example has the kernel already.
    """

    name: str
    make: Callable[[int], Problem]
    full: int
    reference: int
    interpreted: int
    small: int
    worst_ratio: float = 12.0
    example: tuple[str, str] | None = None

    @property
    def source(self) -> Path:
        """The PTX file; CUDA C++ lies beside it."""
        return KERNELS / f"{self.name}.ptx" if self.example is None else _EXAMPLES / self.example[0]

    def kernel(self) -> RunnableKernel:
        """A new object each time, so that nothing compiled for another is used."""
        entry = self.name if self.example is None else self.example[1]
        return LoadedModule.read(self.source)[entry]


def _random(*shape: int, dtype: type[np.floating[Any]] = np.float32) -> Array:
    """Numbers in [0, 1), the same in every run."""
    found: Array = np.random.default_rng(20240229).random(shape, dtype=dtype)
    return found


class _Shape(TypedDict):
    grid: tuple[int, int, int]
    thread_block: tuple[int, int, int]


def _line(n: int, threads: int = 256) -> _Shape:
    """One thread an element."""
    return {"grid": (-(-n // threads), 1, 1), "thread_block": (threads, 1, 1)}


def _square(n: int, width: int, height: int) -> _Shape:
    """One thread an element of n x n."""
    return {"grid": (-(-n // width), -(-n // height), 1), "thread_block": (width, height, 1)}


def _saxpy(n: int) -> Problem:
    x, y, a = _random(n), _random(n)[::-1].copy(), np.float32(1.5)
    start = y.copy()
    arguments = (np.int32(n), a, x, y)
    return Problem(
        **_line(n), arguments=arguments, output=3, expected=lambda: a * x + start, rtol=1e-6
    )


def _stencil2d(n: int) -> Problem:
    mesh = _random(n, n, dtype=np.float64)

    def expected() -> Array:
        out = np.zeros_like(mesh)
        sides = mesh[1:-1, :-2] + mesh[1:-1, 2:] + mesh[:-2, 1:-1] + mesh[2:, 1:-1]
        out[1:-1, 1:-1] = 0.5 * mesh[1:-1, 1:-1] + 0.125 * sides
        return out

    arguments = (mesh, np.zeros_like(mesh), np.int32(n))
    return Problem(
        **_square(n, 64, 4), arguments=arguments, output=1, expected=expected, rtol=1e-12
    )


def _stencil3d(n: int) -> Problem:
    mesh, centre, side = _random(n, n, n), np.float32(0.4), np.float32(0.1)

    def expected() -> Array:
        out = np.zeros_like(mesh)
        inner = slice(1, -1)
        sides = mesh[:-2, inner, inner] + mesh[2:, inner, inner]
        sides += mesh[inner, :-2, inner] + mesh[inner, 2:, inner]
        sides += mesh[inner, inner, :-2] + mesh[inner, inner, 2:]
        out[inner, inner, inner] = centre * mesh[inner, inner, inner] + side * sides
        return out

    arguments = (mesh, np.zeros_like(mesh), centre, side, np.int32(n))
    return Problem(**_square(n, 32, 8), arguments=arguments, output=1, expected=expected, rtol=1e-5)


def _sgemm(n: int, tile: int) -> Problem:
    a, b = _random(n, n), _random(n, n).T.copy()
    return Problem(
        grid=(-(-n // tile), -(-n // tile), 1),
        thread_block=(16, 16, 1),
        arguments=(a, b, np.zeros_like(a), np.int32(n)),
        output=2,
        expected=lambda: a @ b,
        rtol=1e-4,
    )


def _reduction(n: int) -> Problem:
    """One sum for every 512 values: each thread adds two before the tree begins."""
    values, parts = _random(n), -(-n // 512)

    def expected() -> Array:
        padded = np.zeros(parts * 512, np.float32)
        padded[:n] = values
        sums: Array = padded.reshape(parts, 512).sum(axis=1, dtype=np.float64)
        return sums

    return Problem(
        grid=(parts, 1, 1),
        thread_block=(256, 1, 1),
        arguments=(values, np.zeros(parts, np.float32), np.int32(n)),
        output=1,
        expected=expected,
        rtol=1e-5,
    )


def _spmv(rows: int) -> Problem:
    """0 to 31 elements a row, three quarters of them within 512 columns of the diagonal."""
    choose = np.random.default_rng(7)
    starts = np.zeros(rows + 1, np.int32)
    np.cumsum(choose.integers(0, 32, rows), out=starts[1:])
    elements = int(starts[-1])
    near = np.repeat(np.arange(rows), np.diff(starts)) + choose.integers(-512, 512, elements)
    far = choose.integers(0, rows, elements)
    columns = np.where(choose.random(elements) < 0.75, near % rows, far).astype(np.int32)
    values, x = _random(elements), _random(rows)

    def expected() -> Array:
        totals = np.zeros(elements + 1)
        np.cumsum(values * x[columns], dtype=np.float64, out=totals[1:])
        sums: Array = totals[starts[1:]] - totals[starts[:-1]]
        return sums

    arguments = (starts, columns, values, x, np.zeros(rows, np.float32), np.int32(rows))
    return Problem(
        **_line(rows), arguments=arguments, output=4, expected=expected, rtol=1e-5, atol=1e-6
    )


def _histogram(n: int) -> Problem:
    """Values around 128, so that a warp often meets the same counter."""
    values = np.random.default_rng(3).normal(128, 30, n).clip(0, 255).astype(np.uint32)
    return Problem(
        grid=(-(-n // (256 * 16)), 1, 1),
        thread_block=(256, 1, 1),
        arguments=(values, np.zeros(256, np.uint32), np.int32(n)),
        output=1,
        expected=lambda: np.bincount(values, minlength=256),
    )


def _nbody(n: int) -> Problem:
    bodies, softening = _random(n, 4), np.float32(1e-2)

    def expected() -> Array:
        position, mass = bodies[:, :3].astype(np.float64), bodies[:, 3].astype(np.float64)
        found = np.empty((n, 3))
        for i in range(n):
            offset = position - position[i]
            pull = mass * ((offset * offset).sum(axis=1) + float(softening)) ** -1.5
            found[i] = pull @ offset
        return found

    arguments = (bodies, np.zeros((n, 3), np.float32), softening, np.int32(n))
    return Problem(
        **_line(n, 128), arguments=arguments, output=1, expected=expected, rtol=1e-4, atol=1e-6 * n
    )


def _transpose(n: int, tile: int) -> Problem:
    matrix = _random(n, n)
    return Problem(
        grid=(-(-n // 32), -(-n // tile), 1),
        thread_block=(32, 8, 1),
        arguments=(matrix, np.zeros_like(matrix), np.int32(n)),
        output=1,
        expected=lambda: matrix.T,
    )


def _collatz(n: int) -> Problem:
    def expected() -> Array:
        steps = np.zeros(n, np.int32)
        running, value = np.arange(1, n), np.arange(2, n + 1, dtype=np.uint64)
        while len(running):
            steps[running] += 1
            is_odd = value & np.uint64(1) == 1
            value = np.where(is_odd, np.uint64(3) * value + np.uint64(1), value >> np.uint64(1))
            running, value = running[value != 1], value[value != 1]
        return steps

    arguments = (np.zeros(n, np.int32), np.int32(n))
    return Problem(**_line(n), arguments=arguments, output=0, expected=expected)


_SAXPY_EXAMPLE = ("saxpy/saxpy.ptx", "saxpy")
_SGEMM_EXAMPLE = ("sgemm/sgemm.ptx", "sgemm_16x16")
_REDUCTION_EXAMPLE = ("reduction/reduction.ptx", "block_sums")
CASES = (
    KernelCase("saxpy", _saxpy, 2**24, 2**22, 2**17, 2**14, 12.0, _SAXPY_EXAMPLE),
    KernelCase("stencil2d", _stencil2d, 4096, 2048, 256, 128),
    KernelCase("stencil3d", _stencil3d, 320, 160, 48, 32),
    KernelCase("sgemm_naive", lambda n: _sgemm(n, 16), 512, 304, 64, 32),
    KernelCase("sgemm_tiled", lambda n: _sgemm(n, 16), 1024, 288, 64, 32, 12.0, _SGEMM_EXAMPLE),
    KernelCase("sgemm_register", lambda n: _sgemm(n, 64), 1024, 256, 128, 64),
    KernelCase("reduction", _reduction, 2**25, 2**22, 2**15, 2**12, 20.0, _REDUCTION_EXAMPLE),
    KernelCase("spmv", _spmv, 2**19, 2**16, 2**13, 2**10),
    KernelCase("histogram", _histogram, 2**24, 2**21, 2**17, 2**13, 20.0),
    KernelCase("nbody", _nbody, 2**13, 768, 384, 128),
    KernelCase("transpose_naive", lambda n: _transpose(n, 8), 4096, 3072, 256, 128),
    KernelCase("transpose_tiled", lambda n: _transpose(n, 32), 4096, 3072, 256, 128),
    KernelCase("collatz", _collatz, 2**20, 2**18, 2**12, 2**10),
)
