"""Product of matrices, `a @ b.T`, by programs that stay and take tiles in turn."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from triton.runtime import driver
from triton.tools.tensor_descriptor import TensorDescriptor

BLOCK_M, BLOCK_N, BLOCK_K, GROUP = 64, 64, 64, 8


@triton.jit
def place_of(tile, tiles_m, tiles_n, GROUP: tl.constexpr):
    in_group = GROUP * tiles_n
    first_m = tile // in_group * GROUP
    height = min(tiles_m - first_m, GROUP)
    return first_m + tile % in_group % height, tile % in_group // height


@triton.jit
def pointer_kernel(
    a, b, c, m, n, k, a_row, b_row, c_row,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    PROGRAMS: tl.constexpr,
):  # fmt: skip
    tiles_m, tiles_n = tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, PROGRAMS, flatten=True):
        tile_m, tile_n = place_of(tile, tiles_m, tiles_n, GROUP)
        rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
        columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for first in range(0, k, BLOCK_K):
            at = first + depth
            left = tl.load(
                a + rows[:, None] * a_row + at[None, :],
                mask=(rows[:, None] < m) & (at[None, :] < k),
                other=0.0,
            )
            right = tl.load(
                b + columns[:, None] * b_row + at[None, :],
                mask=(columns[:, None] < n) & (at[None, :] < k),
                other=0.0,
            )
            total = tl.dot(left, right.T, total)
        inside = (rows[:, None] < m) & (columns[None, :] < n)
        tl.store(
            c + rows[:, None] * c_row + columns[None, :], total.to(c.dtype.element_ty), mask=inside
        )


@triton.jit
def descriptor_kernel(
    a, b, c, m, n, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    PROGRAMS: tl.constexpr,
):  # fmt: skip
    tiles_m, tiles_n = tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, PROGRAMS, flatten=True):
        tile_m, tile_n = place_of(tile, tiles_m, tiles_n, GROUP)
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for first in range(0, k, BLOCK_K):
            left = a.load([tile_m * BLOCK_M, first])
            right = b.load([tile_n * BLOCK_N, first])
            total = tl.dot(left, right.T, total)
        c.store([tile_m * BLOCK_M, tile_n * BLOCK_N], total.to(c.dtype))


@triton.jit
def own_descriptor_kernel(
    a, b, c, m, n, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    PROGRAMS: tl.constexpr,
):  # fmt: skip
    left = tl.make_tensor_descriptor(a, [m, k], [k, 1], [BLOCK_M, BLOCK_K])
    right = tl.make_tensor_descriptor(b, [n, k], [k, 1], [BLOCK_N, BLOCK_K])
    result = tl.make_tensor_descriptor(c, [m, n], [n, 1], [BLOCK_M, BLOCK_N])
    descriptor_kernel(
        left, right, result, m, n, k, BLOCK_M, BLOCK_N, BLOCK_K, GROUP, PROGRAMS
    )  # fmt: skip


def _launch(kernel: Any, *args: Any, m: int, n: int, pipeline: int = 3) -> None:
    device = driver.active.get_current_device()
    sm_count = driver.active.utils.get_device_properties(device)["multiprocessor_count"]
    programs = min(sm_count, triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N))
    tiles = (BLOCK_M, BLOCK_N, BLOCK_K, GROUP, programs)
    kernel[(programs,)](*args, *tiles, num_stages=pipeline, num_warps=4)


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """`a @ b.T` with pointers."""
    (m, k), n = a.shape, b.shape[0]
    c = torch.empty((m, n), device=a.device, dtype=a.dtype)
    strides = a.stride(0), b.stride(0), c.stride(0)
    _launch(pointer_kernel, a, b, c, m, n, k, *strides, m=m, n=n)
    return c


def matmul_by_descriptors(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """`a @ b.T` with descriptors that the host makes."""
    (m, k), n = a.shape, b.shape[0]
    c = torch.empty((m, n), device=a.device, dtype=a.dtype)
    described = (
        TensorDescriptor.from_tensor(a, [BLOCK_M, BLOCK_K]),
        TensorDescriptor.from_tensor(b, [BLOCK_N, BLOCK_K]),
        TensorDescriptor.from_tensor(c, [BLOCK_M, BLOCK_N]),
    )
    _launch(descriptor_kernel, *described, m, n, k, m=m, n=n)
    return c


def matmul_by_own_descriptors(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """`a @ b.T` with descriptors that each program makes."""
    (m, k), n = a.shape, b.shape[0]
    c = torch.empty((m, n), device=a.device, dtype=a.dtype)

    def scratch(size: int, _alignment: int, _stream: int | None) -> torch.Tensor:
        return torch.empty(size, device=a.device, dtype=torch.int8)

    triton.set_allocator(scratch)
    _launch(own_descriptor_kernel, a, b, c, m, n, k, m=m, n=n)
    return c
