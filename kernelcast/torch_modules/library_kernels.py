"""Kernels of ours in Triton that stand for those of closed libraries; Triton must be installed."""

from __future__ import annotations

import triton
import triton.language as tl

__all__ = ["attention", "convolution", "product"]


@triton.jit
def place_of(number, tiles_m, tiles_n, GROUP: tl.constexpr):
    # Programs that share rows of the left factor run near each other.
    in_group = GROUP * tiles_n
    first_m = number // in_group * GROUP
    height = min(tiles_m - first_m, GROUP)
    return first_m + number % in_group % height, number % in_group // height


@triton.jit
def product(
    a, b, bias, c, m, n, k,
    a_batch, a_row, a_column, b_batch, b_row, b_column,
    bias_batch, bias_row, bias_column, c_batch, c_row, c_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    EVEN_K: tl.constexpr, HAS_BIAS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    batch = tl.program_id(1).to(tl.int64)
    tile_m, tile_n = place_of(tl.program_id(0), tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N), GROUP)
    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % m
    columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % n
    depth = tl.arange(0, BLOCK_K)
    a_at = a + batch * a_batch + rows[:, None] * a_row + depth[None, :] * a_column
    b_at = b + batch * b_batch + depth[:, None] * b_row + columns[None, :] * b_column
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, BLOCK_K)):
        if EVEN_K:
            left, right = tl.load(a_at), tl.load(b_at)
        else:
            rest = k - step * BLOCK_K
            left = tl.load(a_at, mask=depth[None, :] < rest, other=0.0)
            right = tl.load(b_at, mask=depth[:, None] < rest, other=0.0)
        total = tl.dot(left, right, total, input_precision=PRECISION)
        a_at += BLOCK_K * a_column
        b_at += BLOCK_K * b_row
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    if HAS_BIAS:
        added = bias + batch * bias_batch
        at = rows[:, None] * bias_row + columns[None, :] * bias_column
        total += tl.load(added + at, mask=inside, other=0.0).to(tl.float32)
    c_at = c + batch * c_batch + rows[:, None] * c_row + columns[None, :] * c_column
    tl.store(c_at, total.to(c.dtype.element_ty), mask=inside)


@triton.jit
def attention(
    q, k, v, mask, out, scale, heads, shared_by, queries, keys, head,
    q_batch, q_head, q_row, k_batch, k_head, k_row, v_batch, v_head, v_row,
    mask_batch, mask_head, mask_row, mask_column, out_batch, out_head, out_row,
    HEAD: tl.constexpr, CAUSAL: tl.constexpr, HAS_MASK: tl.constexpr,
    BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    # A program has some queries and meets all keys, with a running maximum and sum of each row.
    batch, number = (tl.program_id(1) // heads).to(tl.int64), tl.program_id(1) % heads
    q += batch * q_batch + number * q_head
    k += batch * k_batch + number // shared_by * k_head
    v += batch * v_batch + number // shared_by * v_head
    out += batch * out_batch + number * out_head
    first = tl.program_id(0) * BLOCK_Q
    rows, across = first + tl.arange(0, BLOCK_Q), tl.arange(0, HEAD)
    inside = (rows[:, None] < queries) & (across[None, :] < head)
    mine = tl.load(q + rows[:, None] * q_row + across[None, :], mask=inside, other=0.0)
    largest = tl.full((BLOCK_Q,), -float("inf"), tl.float32)
    weight = tl.zeros((BLOCK_Q,), tl.float32)
    total = tl.zeros((BLOCK_Q, HEAD), tl.float32)
    end = min(first + BLOCK_Q, keys) if CAUSAL else keys
    for start in range(0, end, BLOCK_K):
        there = start + tl.arange(0, BLOCK_K)
        known = (there[:, None] < keys) & (across[None, :] < head)
        theirs = tl.load(k + there[:, None] * k_row + across[None, :], mask=known, other=0.0)
        scores = tl.dot(mine, theirs.T, input_precision=PRECISION) * scale
        if HAS_MASK:
            at = rows[:, None] * mask_row + there[None, :] * mask_column
            both = (rows[:, None] < queries) & (there[None, :] < keys)
            place = mask + batch * mask_batch + number * mask_head + at
            scores += tl.load(place, mask=both, other=0.0).to(tl.float32) * 1.4426950408889634
        seen = there[None, :] < keys
        if CAUSAL:
            seen = seen & (there[None, :] <= rows[:, None])
        scores = tl.where(seen, scores, -1.0e6)
        larger = tl.maximum(largest, tl.max(scores, 1))
        powers = tl.exp2(scores - larger[:, None])
        shrink = tl.exp2(largest - larger)
        weight = weight * shrink + tl.sum(powers, 1)
        values = tl.load(v + there[:, None] * v_row + across[None, :], mask=known, other=0.0)
        total = tl.dot(
            powers.to(values.dtype), values, total * shrink[:, None], input_precision=PRECISION
        )
        largest = larger
    result = (total / weight[:, None]).to(out.dtype.element_ty)
    tl.store(out + rows[:, None] * out_row + across[None, :], result, mask=inside)


@triton.jit
def convolution(
    x, weight, bias, y, images, channels, height, width, filters, y_height, y_width,
    step_y, step_x, pad_y, pad_x, spread_y, spread_x,
    x_image, x_channel, x_row, x_column, w_filter, w_channel, w_row, w_column,
    y_image, y_filter, y_row, y_column,
    TAPS_Y: tl.constexpr, TAPS_X: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr, GROUP: tl.constexpr, HAS_BIAS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    # A product whose left factor is gathered: a row for each pixel, a column for each tap.
    pixels = images * y_height * y_width
    tile_m, tile_n = place_of(
        tl.program_id(0), tl.cdiv(pixels, BLOCK_M), tl.cdiv(filters, BLOCK_N), GROUP
    )
    pixel = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    number = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    image, top = pixel // (y_height * y_width), pixel // y_width % y_height
    left = pixel % y_width
    depth = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    steps = tl.cdiv(channels, BLOCK_K)
    for step in range(0, TAPS_Y * TAPS_X * steps):
        tap, channel = step // steps, step % steps * BLOCK_K + depth
        row = top * step_y - pad_y + tap // TAPS_X * spread_y
        column = left * step_x - pad_x + tap % TAPS_X * spread_x
        there = (pixel < pixels) & (row >= 0) & (row < height) & (column >= 0) & (column < width)
        place = x + image * x_image + row * x_row + column * x_column
        seen = tl.load(
            place[:, None] + channel[None, :] * x_channel,
            mask=there[:, None] & (channel[None, :] < channels),
            other=0.0,
        )
        factors = tl.load(
            weight + number[None, :] * w_filter + channel[:, None] * w_channel
            + tap // TAPS_X * w_row + tap % TAPS_X * w_column,
            mask=(number[None, :] < filters) & (channel[:, None] < channels),
            other=0.0,
        )  # fmt: skip
        total = tl.dot(seen, factors, total, input_precision=PRECISION)
    if HAS_BIAS:
        total += tl.load(bias + number, mask=number < filters, other=0.0).to(tl.float32)[None, :]
    place = y + image * y_image + top * y_row + left * y_column
    inside = (pixel[:, None] < pixels) & (number[None, :] < filters)
    result = total.to(y.dtype.element_ty)
    tl.store(place[:, None] + number[None, :] * y_filter, result, mask=inside)
