"""OpenCL kernels as Oclgrind's compiler makes them: counts equal Oclgrind's, results NumPy's."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.execution.instruction_mix import instruction_mix

pytestmark = pytest.mark.skipif(
    shutil.which("oclgrind-kernel") is None, reason="Oclgrind is not installed"
)

Array = npt.NDArray[Any]
SOURCE = Path(__file__).with_name("test_kernels.cl")
ENVIRONMENT = {**os.environ, "LC_ALL": "C"}
MIXED = np.dtype(
    {
        "names": ["a", "b", "c", "d"],
        "formats": ["i1", "i4", ("f4", 3), "f8"],
        "offsets": [0, 4, 8, 24],
        "itemsize": 32,
    }
)
PACKED = np.dtype([("a", "i1"), ("b", "i4")])
TABLE = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.int32)


@dataclass(frozen=True)
class LocalArray:
    """An argument that is local memory of so many bytes."""

    bytes: int


@dataclass(frozen=True)
class Case:
    """A launch, and what it must leave in some of its arguments."""

    size: tuple[int, ...]
    group: tuple[int, ...]
    arguments: tuple[Any, ...]
    expected: Mapping[int, Array]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What Oclgrind compiles the kernels to, as `program.bc` and `program.ll` in a folder."""
    folder = tmp_path_factory.mktemp("oclgrind")
    mark = uuid.uuid4().hex
    (folder / "program.cl").write_text(f"{SOURCE.read_text()}\n// {mark}\n")
    case = own(16)
    witness(folder, "program.cl", "own", case, "--dump-spir")
    dumped = [x for x in Path("/tmp").glob("oclgrind_*.cl") if mark in x.read_text("latin-1")]
    for source in dumped:
        for suffix in (".ll", ".bc"):
            shutil.move(source.with_suffix(suffix), folder / f"program{suffix}")
        source.unlink()
    return folder


def witness(folder: Path, file: str, kernel: str, case: Case, *options: str) -> dict[str, int]:
    """Oclgrind's histogram of a launch: executions by the text of its line."""
    sizes = [" ".join(map(str, (*size, 1, 1)[:3])) for size in (case.size, case.group)]
    lines = [file, kernel, *sizes]
    for argument in case.arguments:
        if isinstance(argument, LocalArray):
            lines.append(f"<size={argument.bytes}>")
        else:
            data = argument if isinstance(argument, bytes) else argument.tobytes()
            lines += [f"<size={len(data)} hex uchar>", " ".join(f"{byte:02x}" for byte in data)]
    (folder / "launch.sim").write_text("\n".join(lines) + "\n")
    command = ["oclgrind-kernel", "--inst-counts", *options, "launch.sim"]
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, check=True)
    text = done.stdout.decode("latin-1")
    return {
        re.sub(r"\.p(\d)i8", r".p\1", name): int(count)
        for count, name in re.findall(r"^\s+(\d+) - (.*)$", text, re.MULTILINE)
    }


def histogram(trace: kc.KernelTrace) -> dict[str, int]:
    """Oclgrind's histogram from our trace: the bytes of accesses are added up."""
    counts: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for row in instruction_mix(trace.data).rows:
        access = re.fullmatch(r"((?:load|store) \w+) \((\d+) bytes\)", row.opcode)
        name = access[1] if access else row.opcode
        counts[name] = counts.get(name, 0) + row.thread
        if access:
            sizes[name] = sizes.get(name, 0) + row.thread * int(access[2])
    return {
        f"{name} ({sizes[name]} bytes)" if name in sizes else name: count
        for name, count in counts.items()
    }


def floats(*shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).random(shape, dtype=np.float32)


def integers(low: int, high: int, *shape: int, dtype: Any = np.int32) -> Array:
    return np.random.default_rng(2).integers(low, high, shape, dtype=dtype)


def stencil(n: int) -> Case:
    a = floats(n)
    b = a.copy()
    b[1:-1] = 0.25 * a[:-2] + 0.5 * a[1:-1] + 0.25 * a[2:]
    return Case((n,), (16,), (a, np.zeros_like(a), np.int32(n)), {1: b})


def gemm(n: int) -> Case:
    a, b = floats(n, n), floats(n, n, seed=2)
    return Case((n, n), (8, 8), (a, b, np.zeros_like(a), np.int32(n)), {2: a @ b})


def reduce(n: int) -> Case:
    a = floats(n)
    out = np.zeros(n // 32, np.float32)
    return Case((n,), (32,), (a, out, LocalArray(128)), {1: a.reshape(-1, 32).sum(1)})


def scan(n: int) -> Case:
    a = integers(-9, 9, n)
    sums = a.reshape(-1, 16).cumsum(1, dtype=np.int32).reshape(-1)
    arrays = LocalArray(64), LocalArray(64)
    return Case((n,), (16,), (a, np.zeros_like(a), *arrays), {1: sums})


def collatz(n: int) -> Case:
    steps = []
    for number in range(1, n + 1):
        count = 0
        while number != 1:
            number = 3 * number + 1 if number % 2 else number // 2
            count += 1
        steps.append(count)
    return Case((n,), (16,), (np.zeros(n, np.int32),), {0: np.array(steps, np.int32)})


def vectors(n: int) -> Case:
    a, b = floats(n, 4), floats(n, 4, seed=2)
    v = a * np.float32(2) + b[:, ::-1]
    v[:, 0] = np.where(v[:, 1] > 1, v[:, 2], v[:, 3])
    return Case((n,), (8,), (a, b, np.float32(2)), {0: v})


def bytes_(n: int) -> Case:
    a = integers(0, 256, n, dtype=np.uint8)
    b = integers(-128, 128, n, dtype=np.int8)
    x, y = a.astype(np.int32), b.astype(np.int32)
    new = ((x * 3 + y) >> 1).astype(np.uint8)
    third = np.trunc(y / 3).astype(np.int32)
    c = (y >> 2) * x + (y < -5) + (x > 200) + third + x % 7
    return Case((n,), (16,), (a, b, np.zeros(n, np.int16)), {0: new, 2: c.astype(np.int16)})


def wide(n: int) -> Case:
    a = np.random.default_rng(3).random(n) * 100 - 50
    b = integers(-(2**31), 2**31, n, dtype=np.int64)
    found = []
    for i, (d, v) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        square = v * v // 7
        rest = abs(v) % 5 * (1 if v >= 0 else -1)
        found.append(square + rest + int(d) + (v << (i & 15)) + (v >> 3) + (v % 2**64 >> 60))
    return Case((n,), (16,), (a, b), {0: a * a / 3, 1: np.array(found, np.int64)})


def structs(n: int) -> Case:
    s = np.zeros(n, MIXED)
    s["a"], s["b"], s["c"] = integers(-9, 9, n), integers(-99, 99, n), floats(n, 3)
    p = np.zeros(n, PACKED)
    p["a"], p["b"] = integers(-9, 9, n), integers(-9999, 9999, n)
    t, q = s.copy(), p.copy()
    t["a"] += 1
    t["b"] *= 2
    t["c"][:, 1] += np.float32(3.5)
    t["d"] -= 4.25
    q["b"] += p["a"]
    o = TABLE[np.arange(n) % 8] + np.frombuffer(b"hello", np.uint8)[np.arange(n) % 5]
    return Case((n,), (8,), (s, p, np.zeros(n, np.int32)), {0: t, 1: q, 2: o})


def counting(n: int) -> Case:
    a = integers(0, 2**32, n, dtype=np.uint32)
    found = np.bincount(a & 15, minlength=16).astype(np.uint32)
    return Case((n,), (32,), (a, np.zeros(16, np.uint32)), {1: found})


def calls(n: int) -> Case:
    def helper(x: int) -> int:
        return x * 2 if x > 5 else x - 1

    q = np.array([helper(i) + helper(i + 3) for i in range(n)], np.int32)
    p = np.zeros(n + 3, np.int32)
    marked = p.copy()
    marked[:6] = 7
    return Case((n,), (8,), (p, np.zeros(n, np.int32)), {0: marked, 1: q})


def choice(n: int) -> Case:
    p = np.resize(np.array([0, 5, -3, 9, 4], np.int32), n)
    results: dict[int, Callable[[int], int]] = {
        0: lambda i: 11,
        5: lambda i: i,
        -3: lambda i: i * i + 4,
        9: lambda i: 6,
    }
    found = [results[x](i) if x in results else -1 for i, x in enumerate(p.tolist())]
    return Case((n,), (8,), (p,), {0: np.array(found, np.int32)})


def values(n: int) -> Case:
    s = np.zeros(1, MIXED)
    s["a"], s["b"], s["c"], s["d"] = -3, 1000, [[1.5, 2.6, -3.7]], 77.7
    f = np.array([1, 2, 9.5, 4], np.float32)
    i = np.arange(n)
    c = np.array([3, 5, -7])[i % 3]
    o = (-3 + 1000 * i + c + 77 + 9 - 5).astype(np.int32)
    arguments = (np.zeros(n, np.int32), s.tobytes(), f.tobytes(), np.int8(-5))
    return Case((n,), (8,), arguments, {0: o})


def own(n: int) -> Case:
    found = [sum(((j * 7 + i) & 15) * i for j in range(11)) for i in range(n)]
    arguments = (np.zeros(n, np.int32), np.int32(11))
    return Case((n,), (8,), arguments, {0: np.array(found, np.int32)})


def transpose(n: int) -> Case:
    a = floats(n, n)
    return Case((n, n), (8, 8), (a, np.zeros_like(a), np.int32(n)), {1: a.T.copy()})


def nbody(n: int) -> Case:
    p, v = floats(n, 4), floats(n, 4, seed=2)
    d = p[None, :, :3].astype(np.float64) - p[:, None, :3]
    r = (d * d).sum(2) + 0.01
    new = v.copy()
    new[:, :3] += (d * (p[None, :, 3] / (r * np.sqrt(r)))[..., None]).sum(1).astype(np.float32)
    return Case((n,), (16,), (p, v, np.int32(n)), {1: new})


def spmv(n: int) -> Case:
    lengths = integers(0, 6, n)
    row = np.concatenate([[0], lengths.cumsum()]).astype(np.int32)
    col, val, x = integers(0, n, int(row[-1])), floats(int(row[-1])), floats(n, seed=2)
    y = [float(val[a:b] @ x[col[a:b]]) for a, b in pairwise(row.tolist())]
    arguments = (row, col, val, x, np.zeros(n, np.float32))
    return Case((n,), (8,), arguments, {4: np.array(y, np.float32)})


CASES: dict[str, tuple[Callable[[int], Case], int, int]] = {
    "stencil": (stencil, 32, 128),
    "gemm": (gemm, 8, 16),
    "reduce": (reduce, 32, 128),
    "scan": (scan, 16, 64),
    "collatz": (collatz, 16, 64),
    "vectors": (vectors, 8, 32),
    "bytes": (bytes_, 32, 128),
    "wide": (wide, 16, 64),
    "structs": (structs, 8, 24),
    "histogram": (counting, 32, 128),
    "calls": (calls, 16, 40),
    "choice": (choice, 16, 40),
    "values": (values, 8, 32),
    "own": (own, 8, 32),
    "transpose": (transpose, 8, 24),
    "nbody": (nbody, 16, 48),
    "spmv": (spmv, 16, 48),
}


def run(folder: Path, file: str, kernel: str, case: Case, engine: str) -> kc.KernelTrace:
    """Runs a launch on copies of its arguments and compares what it leaves with NumPy."""
    arguments: list[Any] = []
    for argument in case.arguments:
        if isinstance(argument, LocalArray):
            arguments.append(argument.bytes)
        elif isinstance(argument, np.ndarray):
            arguments.append(argument.copy())
        else:
            arguments.append(argument)
    groups = [size // group for size, group in zip(case.size, case.group, strict=True)]
    trace = kc.load(folder / file)[kernel].run(
        grid=groups, block=case.group, args=arguments, engine=engine
    )
    for position, expected in case.expected.items():
        found = arguments[position]
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-6)
        else:
            assert np.array_equal(found, expected), (kernel, position)
    return trace


@pytest.mark.drawn(6)
@pytest.mark.parametrize("kernel", CASES)
def test_counts_are_those_of_oclgrind(program: Path, kernel: str) -> None:
    """Bitcode on one engine, text on the other; two sizes."""
    make, small, large = CASES[kernel]
    for size, file, engine in ((small, "program.bc", "reference"), (large, "program.ll", "jit")):
        case = make(size)
        trace = run(program, file, kernel, case, engine)
        wanted = witness(program, "program.bc", kernel, case)
        assert wanted
        assert histogram(trace) == wanted
