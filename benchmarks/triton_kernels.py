"""Kernels in Triton, compiled to PTX without a GPU: products, attention, norms, sums, copies."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["triton_ptx"]

tl: Any = None
_HALVES = ("x", "y", "w", "q", "k", "v")


# Triton looks at annotations too, and takes no names in them that it does not know: int, not Any.
def add(x: int, y: int, out: int, n: int, bn: int) -> None:
    at = tl.program_id(0) * bn + tl.arange(0, bn)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


def softmax(x: int, out: int, n: int, bn: int) -> None:
    row, at = tl.program_id(0), tl.arange(0, bn)
    value = tl.load(x + row * n + at, mask=at < n, other=-float("inf")).to(tl.float32)
    power = tl.exp(value - tl.max(value, 0))
    tl.store(out + row * n + at, power / tl.sum(power, 0), mask=at < n)


def layer_norm(x: int, w: int, y: int, out: int, n: int, bn: int) -> None:
    row, at = tl.program_id(0), tl.arange(0, bn)
    value = tl.load(x + row * n + at, mask=at < n, other=0.0).to(tl.float32)
    mean = tl.sum(value, 0) / n
    centred = tl.where(at < n, value - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 0) / n + 1e-5)
    weight, shift = tl.load(w + at, mask=at < n), tl.load(y + at, mask=at < n)
    tl.store(out + row * n + at, centred * scale * weight + shift, mask=at < n)


def sums(x: int, out: int, n: int, bm: int, bn: int) -> None:
    rows, total = tl.program_id(0) * bm + tl.arange(0, bm), tl.zeros((bm, bn), tl.float32)
    for first in range(0, n, bn):
        at = first + tl.arange(0, bn)
        total += tl.load(x + rows[:, None] * n + at[None, :], mask=at[None, :] < n, other=0.0)
    tl.store(out + rows, tl.sum(total, 1))


def transpose(x: int, out: int, m: int, n: int, bm: int, bn: int) -> None:
    rows = tl.program_id(0) * bm + tl.arange(0, bm)
    columns = tl.program_id(1) * bn + tl.arange(0, bn)
    mask = (rows[:, None] < m) & (columns[None, :] < n)
    value = tl.load(x + rows[:, None] * n + columns[None, :], mask=mask)
    tl.store(out + rows[:, None] + columns[None, :] * m, value, mask=mask)


def matmul(x: int, y: int, out: int, m: int, n: int, size: int, bm: int, bk: int) -> None:
    rows = tl.program_id(0) * bm + tl.arange(0, bm)
    columns = tl.program_id(1) * bm + tl.arange(0, bm)
    depth = tl.arange(0, bk)
    total = tl.zeros((bm, bm), dtype=tl.float32)
    for first in range(0, size, bk):
        inside = first + depth < size
        left = tl.load(
            x + rows[:, None] * size + (first + depth)[None, :],
            mask=(rows[:, None] < m) & inside[None, :],
            other=0.0,
        )
        right = tl.load(
            y + (first + depth)[:, None] * n + columns[None, :],
            mask=inside[:, None] & (columns[None, :] < n),
            other=0.0,
        )
        total = tl.dot(left, right, total)
    place = out + rows[:, None] * n + columns[None, :]
    tl.store(place, total, mask=(rows[:, None] < m) & (columns[None, :] < n))


def attention(q: int, k: int, v: int, out: int, keys: int, bm: int, bn: int, d: int) -> None:
    rows = tl.program_id(0) * bm + tl.arange(0, bm)
    dims = tl.arange(0, d)
    query = tl.load(q + rows[:, None] * d + dims[None, :])
    top = tl.full((bm,), -float("inf"), tl.float32)
    weight = tl.zeros((bm,), tl.float32)
    total = tl.zeros((bm, d), tl.float32)
    for first in range(0, keys, bn):
        at = first + tl.arange(0, bn)
        key = tl.load(k + at[None, :] * d + dims[:, None])
        scores = tl.dot(query, key) * 0.125
        most = tl.maximum(top, tl.max(scores, 1))
        powers = tl.exp(scores - most[:, None])
        shrink = tl.exp(top - most)
        weight = weight * shrink + tl.sum(powers, 1)
        value = tl.load(v + at[:, None] * d + dims[None, :])
        total = total * shrink[:, None] + tl.dot(powers.to(tl.float16), value)
        top = most
    tl.store(out + rows[:, None] * d + dims[None, :], total / weight[:, None])


_CASES: tuple[tuple[Callable[..., None], dict[str, int]], ...] = (
    *((add, {"bn": size}) for size in (256, 1024, 4096)),
    *((softmax, {"bn": size}) for size in (256, 1024, 4096)),
    *((layer_norm, {"bn": size}) for size in (256, 1024, 4096)),
    *((sums, {"bm": m, "bn": n}) for m, n in ((1, 1024), (16, 64), (32, 128))),
    *((transpose, {"bm": m, "bn": m}) for m in (16, 32, 64)),
    *((matmul, {"bm": m, "bk": 32}) for m in (32, 64, 128)),
    *((attention, {"bm": m, "bn": 32, "d": d}) for m, d in ((32, 32), (64, 32), (64, 64))),
)


def triton_ptx(architecture: str) -> Iterator[tuple[str, str]]:
    """(name, PTX) of each kernel for an architecture; ImportError without Triton."""
    global tl
    import kernelcast as kc

    triton: Any = importlib.import_module("triton")
    tl = importlib.import_module("triton.language")
    for function, sizes in _CASES:
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        types = {name: _type(name) for name in names if name not in sizes}
        divisible = [name for name in ("m", "n", "size", "keys") if types.get(name) == "i32"]
        made = kc.from_triton(
            triton.jit(function), types, sizes, arch=architecture, divisible_by_16=divisible
        )
        yield f"{function.__name__}_{'x'.join(map(str, sizes.values()))}", made.ptx


def _type(name: str) -> str:
    return "*fp16" if name in _HALVES else "*fp32" if name == "out" else "i32"
