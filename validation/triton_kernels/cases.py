"""Sizes and configurations of the Triton kernels, and how each is launched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import log2
from typing import Any

__all__ = ["Array", "TritonCase", "all_cases"]


@dataclass(frozen=True, slots=True)
class Array:
    """An argument that is a tensor: random numbers, or whole numbers below `below`."""

    shape: tuple[int, ...]
    dtype: str = "float16"
    below: int | None = None


@dataclass(frozen=True, slots=True)
class TritonCase:
    """One launch: `kernel[grid](*arguments, **constants)` with `options` of the compiler.

    `answer` makes the expected contents of argument `result` of the tensors, by PyTorch; None
    where the results are random.
    """

    kernel: str
    size: Mapping[str, int]
    grid: tuple[int, ...]
    arguments: tuple[Array | int | float, ...]
    constants: Mapping[str, int]
    options: Mapping[str, int] = field(default_factory=dict)
    result: int = -1
    answer: Callable[..., Any] | None = None


def all_cases() -> Iterator[TritonCase]:
    """All launches, those of one kernel behind each other."""
    yield from _streams()
    yield from _rows()
    yield from _attention()
    yield from _products()


def _ceil(a: int, b: int) -> int:
    return -(-a // b)


def _streams() -> Iterator[TritonCase]:
    n = 1 << 26
    for block in (256, 1024, 4096):
        constants, grid, flat = {"BLOCK": block}, (_ceil(n, block),), Array((n,), "float32")
        yield TritonCase(
            "add",
            {"n": n},
            grid,
            (flat, flat, flat, n),
            constants,
            {"num_warps": 4},
            2,
            lambda x, y, _: x + y,
        )
        yield TritonCase(
            "dropout", {"n": n}, grid, (flat, flat, n, 0.5, 123), constants, {"num_warps": 4}, 1
        )
        half = Array((n,))
        yield TritonCase(
            "swiglu", {"n": n}, grid, (half, half, half, n), constants, {"num_warps": 4}, 2, _swiglu
        )


def _swiglu(gate: Any, up: Any, _: Any) -> Any:
    gate = gate.float()
    return gate * gate.sigmoid() * up.float()


def _rows() -> Iterator[TritonCase]:
    for columns in (1024, 4096, 12288):
        rows, block = (1 << 26) // columns, 1 << (columns - 1).bit_length()
        size, grid, constants = {"rows": rows, "columns": columns}, (rows,), {"BLOCK": block}
        matrix, weight = Array((rows, columns)), Array((columns,), "float32")
        for warps in (4, 8, 16):
            row = partial(TritonCase, size=size, grid=grid, options={"num_warps": warps})
            yield row(
                "softmax",
                arguments=(matrix, matrix, columns, columns),
                constants=constants,
                result=1,
                answer=lambda x, _: x.float().softmax(-1),
            )
            yield row(
                "layer_norm",
                arguments=(matrix, weight, weight, matrix, columns, 1e-5),
                constants=constants,
                result=3,
                answer=_layer_norm,
            )
            yield row(
                "rms_norm",
                arguments=(matrix, weight, matrix, columns, 1e-5),
                constants=constants,
                result=2,
                answer=_rms_norm,
            )
            targets, losses = Array((rows,), "int64", columns), Array((rows,), "float32")
            yield row(
                "cross_entropy",
                arguments=(matrix, targets, losses, columns),
                constants={"BLOCK": min(block, 4096)},
                result=2,
                answer=_cross_entropy,
            )


def _layer_norm(x: Any, weight: Any, bias: Any, _: Any) -> Any:
    x = x.float()
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt() * weight + bias


def _rms_norm(x: Any, weight: Any, _: Any) -> Any:
    x = x.float()
    return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt() * weight


def _cross_entropy(logits: Any, targets: Any, _: Any) -> Any:
    logits = logits.float()
    return logits.logsumexp(-1) - logits.gather(-1, targets[:, None])[:, 0]


def _products() -> Iterator[TritonCase]:
    tiles = [
        (128, 256, 64, 3, 8),
        (64, 256, 32, 4, 4),
        (128, 128, 32, 4, 4),
        (128, 64, 32, 4, 4),
        (64, 128, 32, 4, 4),
        (128, 32, 32, 4, 4),
        (64, 32, 32, 5, 2),
        (32, 64, 32, 5, 2),
        (128, 256, 64, 4, 8),
        (256, 128, 64, 3, 8),
        (256, 64, 64, 4, 4),
        (64, 256, 64, 4, 4),
        (128, 128, 64, 3, 4),
        (128, 128, 64, 3, 8),
        (128, 64, 64, 4, 4),
        (64, 128, 64, 4, 4),
        (64, 64, 64, 4, 4),
        (64, 64, 32, 4, 2),
        (64, 64, 128, 3, 4),
        (128, 128, 128, 2, 8),
        (256, 128, 32, 4, 8),
        (32, 128, 64, 4, 4),
        (32, 32, 64, 4, 2),
        (16, 64, 64, 4, 2),
    ]
    for m, n, k in ((4096, 4096, 4096), (8192, 1024, 2048), (256, 8192, 8192)):
        for tile_m, tile_n, tile_k, stages, warps in tiles:
            constants = {"BLOCK_M": tile_m, "BLOCK_N": tile_n, "BLOCK_K": tile_k, "GROUP": 8}
            arguments = (Array((m, k)), Array((k, n)), Array((m, n)), m, n, k, k, 1, n, 1, n, 1)
            yield TritonCase(
                "matmul",
                {"m": m, "n": n, "k": k},
                (_ceil(m, tile_m) * _ceil(n, tile_n),),
                arguments,
                constants,
                {"num_warps": warps, "num_stages": stages},
                2,
                lambda a, b, _: a.float() @ b.float(),
            )


def _attention() -> Iterator[TritonCase]:
    for heads, tokens, head in ((32, 4096, 64), (32, 2048, 128)):
        operand = Array((heads, tokens, head))
        scale = head**-0.5 * log2(2.718281828459045)
        for tile_m, tile_n, stages, warps in (
            (64, 32, 3, 4),
            (64, 64, 3, 4),
            (128, 32, 3, 4),
            (128, 64, 3, 4),
            (128, 64, 3, 8),
            (128, 128, 2, 8),
            (64, 128, 2, 4),
            (128, 64, 2, 8),
        ):
            yield TritonCase(
                "attention",
                {"heads": heads, "tokens": tokens, "head": head},
                (tokens // tile_m, heads),
                (operand, operand, operand, operand, scale, tokens * head, tokens),
                {"HEAD": head, "BLOCK_M": tile_m, "BLOCK_N": tile_n},
                {"num_warps": warps, "num_stages": stages},
                3,
                _attend,
            )


def _attend(q: Any, k: Any, v: Any, _: Any) -> Any:
    scores = q.float() @ k.float().transpose(-1, -2) * q.shape[-1] ** -0.5
    return scores.softmax(-1) @ v.float()
