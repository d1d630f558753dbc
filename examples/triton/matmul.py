"""Product of matrices with an activation behind it; tiles in groups, so that L2 is reused."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

CONFIGS = [
    triton.Config(
        {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP": 8}, num_stages=stages, num_warps=warps
    )
    for m, n, k, stages, warps in (
        (128, 128, 64, 4, 8),
        (64, 64, 32, 4, 4),
        (64, 32, 32, 5, 2),
    )
]


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.autotune(configs=CONFIGS, key=["m", "n", "k"])
@triton.jit
def matmul_kernel(
    a, b, c, m, n, k,
    a_row, a_column, b_row, b_column, c_row, c_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    ACTIVATION: tl.constexpr,
):  # fmt: skip
    number, tiles_m, tiles_n = tl.program_id(0), tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
    in_group = GROUP * tiles_n
    first_m = number // in_group * GROUP
    height = min(tiles_m - first_m, GROUP)
    tile_m = first_m + number % in_group % height
    tile_n = number % in_group // height
    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % m
    columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % n
    depth = tl.arange(0, BLOCK_K)
    a_at = a + (rows[:, None] * a_row + depth[None, :] * a_column)
    b_at = b + (depth[:, None] * b_row + columns[None, :] * b_column)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, BLOCK_K)):
        rest = k - step * BLOCK_K
        left = tl.load(a_at, mask=depth[None, :] < rest, other=0.0)
        right = tl.load(b_at, mask=depth[:, None] < rest, other=0.0)
        total = tl.dot(left, right, total)
        a_at += BLOCK_K * a_column
        b_at += BLOCK_K * b_row
    if ACTIVATION == "leaky_relu":
        total = leaky_relu(total)
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_at = c + c_row * rows[:, None] + c_column * columns[None, :]
    tl.store(c_at, total.to(tl.float16), mask=(rows[:, None] < m) & (columns[None, :] < n))


def matmul(a: torch.Tensor, b: torch.Tensor, activation: str = "") -> torch.Tensor:
    """`a @ b` in half precision, with `leaky_relu` behind it if that is asked for."""
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), device=a.device, dtype=torch.float16)
    matmul_kernel[
        lambda meta: (triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)
    ](a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), ACTIVATION=activation)
    return c
