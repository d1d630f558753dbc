"""Kernels as users of Triton write them: products, attention, norms, activations, losses."""

from __future__ import annotations

import triton
import triton.language as tl

__all__ = [
    "add",
    "attention",
    "cross_entropy",
    "dropout",
    "layer_norm",
    "matmul",
    "rms_norm",
    "softmax",
    "swiglu",
]


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def dropout(x, out, n, rate, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + at, mask=inside)
    kept = tl.where(tl.rand(seed, at) > rate, value / (1 - rate), 0.0)
    tl.store(out + at, kept, mask=inside)


@triton.jit
def softmax(x, out, row_stride, columns, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * row_stride + at, mask=inside, other=-float("inf")).to(tl.float32)
    power = tl.exp(value - tl.max(value, 0))
    tl.store(out + row * row_stride + at, power / tl.sum(power, 0), mask=inside)


@triton.jit
def layer_norm(x, weight, bias, out, columns, epsilon, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    centred = tl.where(inside, value - tl.sum(value, 0) / columns, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, 0) / columns + epsilon)
    result = centred * scale * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside)
    tl.store(out + row * columns + at, result, mask=inside)


@triton.jit
def rms_norm(x, weight, out, columns, epsilon, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(value * value, 0) / columns + epsilon)
    tl.store(
        out + row * columns + at, value * scale * tl.load(weight + at, mask=inside), mask=inside
    )


@triton.jit
def swiglu(gate, up, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    opened = tl.load(gate + at, mask=inside).to(tl.float32)
    raised = tl.load(up + at, mask=inside).to(tl.float32)
    tl.store(out + at, opened * tl.sigmoid(opened) * raised, mask=inside)


@triton.jit
def cross_entropy(logits, targets, losses, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    largest, total = -float("inf"), 0.0
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        value = tl.load(logits + row * columns + at, mask=at < columns, other=-float("inf"))
        value = value.to(tl.float32)
        larger = tl.maximum(largest, tl.max(value, 0))
        total = total * tl.exp(largest - larger) + tl.sum(tl.exp(value - larger), 0)
        largest = larger
    chosen = tl.load(logits + row * columns + tl.load(targets + row)).to(tl.float32)
    tl.store(losses + row, largest + tl.log(total) - chosen)


@triton.jit
def matmul(
    a, b, c, m, n, k,
    a_row, a_column, b_row, b_column, c_row, c_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    # Thread blocks that share rows of A run near each other: GROUP rows of tiles at a time.
    tiles_n = tl.cdiv(n, BLOCK_N)
    number = tl.program_id(0)
    group = number // (GROUP * tiles_n)
    rows_of_group = tl.minimum(tl.cdiv(m, BLOCK_M) - group * GROUP, GROUP)
    tile_m = group * GROUP + (number % (GROUP * tiles_n)) % rows_of_group
    tile_n = (number % (GROUP * tiles_n)) // rows_of_group
    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % m
    columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % n
    depth = tl.arange(0, BLOCK_K)
    a_at = a + rows[:, None] * a_row + depth[None, :] * a_column
    b_at = b + depth[:, None] * b_row + columns[None, :] * b_column
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, BLOCK_K)):
        left = k - step * BLOCK_K
        a_tile = tl.load(a_at, mask=depth[None, :] < left, other=0.0)
        b_tile = tl.load(b_at, mask=depth[:, None] < left, other=0.0)
        total = tl.dot(a_tile, b_tile, total)
        a_at += BLOCK_K * a_column
        b_at += BLOCK_K * b_row
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_at = c + rows[:, None] * c_row + columns[None, :] * c_column
    tl.store(c_at, total.to(tl.float16), mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def attention(
    q, k, v, out, scale, head_stride, tokens,
    HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    # One block of queries against all keys, with a running maximum and sum of each row.
    first = tl.program_id(1) * head_stride
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    across = tl.arange(0, HEAD)
    at = first + rows[:, None] * HEAD + across[None, :]
    queries = tl.load(q + at)
    largest = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    weight = tl.zeros((BLOCK_M,), tl.float32)
    total = tl.zeros((BLOCK_M, HEAD), tl.float32)
    for start in range(0, tokens, BLOCK_N):
        there = start + tl.arange(0, BLOCK_N)
        keys = tl.load(k + first + there[None, :] * HEAD + across[:, None])
        scores = tl.dot(queries, keys) * scale
        larger = tl.maximum(largest, tl.max(scores, 1))
        powers = tl.exp2(scores - larger[:, None])
        shrink = tl.exp2(largest - larger)
        weight = weight * shrink + tl.sum(powers, 1)
        values = tl.load(v + first + there[:, None] * HEAD + across[None, :])
        total = tl.dot(powers.to(tl.float16), values, total * shrink[:, None])
        largest = larger
    tl.store(out + at, (total / weight[:, None]).to(tl.float16))
