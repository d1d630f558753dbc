"""Attention without the matrix of scores, causal or not, with its gradients."""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl

BLOCK_Q, BLOCK_K = 64, 32
CONFIGS = [
    triton.Config({"BLOCK_Q": q, "BLOCK_K": k}, num_stages=stages, num_warps=warps)
    for q, k, stages, warps in ((64, 32, 3, 4), (64, 64, 2, 4))
]


@triton.autotune(configs=CONFIGS, key=["tokens", "HEAD", "CAUSAL"])
@triton.jit
def forward_kernel(
    q, k, v, out, log_sums, scale, head_stride, tokens,
    HEAD: tl.constexpr, CAUSAL: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    # A program has some queries and meets all keys, with a running maximum and sum of each row.
    first, base = tl.program_id(0) * BLOCK_Q, tl.program_id(1).to(tl.int64) * head_stride
    rows, across = first + tl.arange(0, BLOCK_Q), tl.arange(0, HEAD)
    own = base + rows[:, None] * HEAD + across[None, :]
    queries = tl.load(q + own, mask=rows[:, None] < tokens, other=0.0)
    largest = tl.full((BLOCK_Q,), -float("inf"), tl.float32)
    weight = tl.zeros((BLOCK_Q,), tl.float32)
    total = tl.zeros((BLOCK_Q, HEAD), tl.float32)
    end = min(first + BLOCK_Q, tokens) if CAUSAL else tokens
    for start in range(0, end, BLOCK_K):
        there = start + tl.arange(0, BLOCK_K)
        at = base + there[:, None] * HEAD + across[None, :]
        keys = tl.load(k + at, mask=there[:, None] < tokens, other=0.0)
        scores = tl.dot(queries, keys.T) * scale
        seen = there[None, :] < tokens
        if CAUSAL:
            seen = seen & (there[None, :] <= rows[:, None])
        scores = tl.where(seen, scores, -1.0e6)
        larger = tl.maximum(largest, tl.max(scores, 1))
        powers = tl.exp2(scores - larger[:, None])
        shrink = tl.exp2(largest - larger)
        weight = weight * shrink + tl.sum(powers, 1)
        values = tl.load(v + at, mask=there[:, None] < tokens, other=0.0)
        total = tl.dot(powers.to(values.dtype), values, total * shrink[:, None])
        largest = larger
    tl.store(log_sums + tl.program_id(1) * tokens + rows, largest + tl.log2(weight), rows < tokens)
    result = (total / weight[:, None]).to(out.dtype.element_ty)
    tl.store(out + own, result, mask=rows[:, None] < tokens)


@triton.jit
def overlap_kernel(out, d_out, overlaps, rows, HEAD: tl.constexpr, BLOCK: tl.constexpr):
    row, across = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.arange(0, HEAD)
    at, inside = row[:, None] * HEAD + across[None, :], row[:, None] < rows
    one = tl.load(out + at, mask=inside, other=0.0).to(tl.float32)
    other = tl.load(d_out + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(overlaps + row, tl.sum(one * other, 1), mask=row < rows)


@triton.jit
def weights_of(scores, sums, rows, there, tokens, CAUSAL: tl.constexpr):
    seen = (rows < tokens) & (there < tokens)
    if CAUSAL:
        seen = seen & (there <= rows)
    return tl.where(seen, tl.exp2(scores - sums), 0.0)


@triton.jit
def key_gradient_kernel(
    q, k, v, d_out, d_k, d_v, log_sums, overlaps, scale, softmax_scale, head_stride, tokens,
    HEAD: tl.constexpr, CAUSAL: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    # A program has some keys and meets the queries that see them; scores are transposed.
    first, base = tl.program_id(0) * BLOCK_K, tl.program_id(1).to(tl.int64) * head_stride
    there, across = first + tl.arange(0, BLOCK_K), tl.arange(0, HEAD)
    own = base + there[:, None] * HEAD + across[None, :]
    keys = tl.load(k + own, mask=there[:, None] < tokens, other=0.0)
    values = tl.load(v + own, mask=there[:, None] < tokens, other=0.0)
    k_sum = tl.zeros((BLOCK_K, HEAD), tl.float32)
    v_sum = tl.zeros((BLOCK_K, HEAD), tl.float32)
    begin = first // BLOCK_Q * BLOCK_Q if CAUSAL else 0
    for start in range(begin, tokens, BLOCK_Q):
        rows = start + tl.arange(0, BLOCK_Q)
        at = base + rows[:, None] * HEAD + across[None, :]
        queries = tl.load(q + at, mask=rows[:, None] < tokens, other=0.0)
        slopes = tl.load(d_out + at, mask=rows[:, None] < tokens, other=0.0)
        at_row = tl.program_id(1) * tokens + rows
        sums = tl.load(log_sums + at_row, mask=rows < tokens, other=0.0)
        shared = tl.load(overlaps + at_row, mask=rows < tokens, other=0.0)
        scores = tl.dot(keys, queries.T) * scale
        weights = weights_of(scores, sums[None, :], rows[None, :], there[:, None], tokens, CAUSAL)
        v_sum = tl.dot(weights.to(slopes.dtype), slopes, v_sum)
        d_scores = weights * (tl.dot(values, slopes.T) - shared[None, :])
        k_sum = tl.dot(d_scores.to(queries.dtype), queries, k_sum)
    k_sum *= softmax_scale
    tl.store(d_k + own, k_sum.to(d_k.dtype.element_ty), mask=there[:, None] < tokens)
    tl.store(d_v + own, v_sum.to(d_v.dtype.element_ty), mask=there[:, None] < tokens)


@triton.jit
def query_gradient_kernel(
    q, k, v, d_out, d_q, log_sums, overlaps, scale, softmax_scale, head_stride, tokens,
    HEAD: tl.constexpr, CAUSAL: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    first, base = tl.program_id(0) * BLOCK_Q, tl.program_id(1).to(tl.int64) * head_stride
    rows, across = first + tl.arange(0, BLOCK_Q), tl.arange(0, HEAD)
    own = base + rows[:, None] * HEAD + across[None, :]
    queries = tl.load(q + own, mask=rows[:, None] < tokens, other=0.0)
    slopes = tl.load(d_out + own, mask=rows[:, None] < tokens, other=0.0)
    at_row = tl.program_id(1) * tokens + rows
    sums = tl.load(log_sums + at_row, mask=rows < tokens, other=0.0)
    shared = tl.load(overlaps + at_row, mask=rows < tokens, other=0.0)
    total = tl.zeros((BLOCK_Q, HEAD), tl.float32)
    end = min(first + BLOCK_Q, tokens) if CAUSAL else tokens
    for start in range(0, end, BLOCK_K):
        there = start + tl.arange(0, BLOCK_K)
        at = base + there[:, None] * HEAD + across[None, :]
        keys = tl.load(k + at, mask=there[:, None] < tokens, other=0.0)
        values = tl.load(v + at, mask=there[:, None] < tokens, other=0.0)
        scores = tl.dot(queries, keys.T) * scale
        weights = weights_of(scores, sums[:, None], rows[:, None], there[None, :], tokens, CAUSAL)
        d_scores = weights * (tl.dot(slopes, values.T) - shared[:, None])
        total = tl.dot(d_scores.to(keys.dtype), keys, total)
    total *= softmax_scale
    tl.store(d_q + own, total.to(d_q.dtype.element_ty), mask=rows[:, None] < tokens)


class Attention(torch.autograd.Function):
    """Attention of `(batch, heads, tokens, head)`, contiguous; `head` is a power of two."""

    @staticmethod
    def forward(ctx: Any, q: Any, k: Any, v: Any, causal: bool) -> Any:
        batch, heads, tokens, head = q.shape
        out = torch.empty_like(q)
        log_sums = torch.empty((batch, heads, tokens), device=q.device, dtype=torch.float32)
        # Powers of two are cheaper than those of e.
        scale = head**-0.5 / math.log(2)
        forward_kernel[lambda meta: (triton.cdiv(tokens, meta["BLOCK_Q"]), batch * heads)](
            q, k, v, out, log_sums, scale, tokens * head, tokens, HEAD=head, CAUSAL=causal
        )
        ctx.save_for_backward(q, k, v, out, log_sums)
        ctx.causal, ctx.scale = causal, scale
        return out

    @staticmethod
    def backward(ctx: Any, d_out: Any) -> Any:
        q, k, v, out, log_sums = ctx.saved_tensors
        batch, heads, tokens, head = q.shape
        d_out = d_out.contiguous()
        d_q, d_k, d_v = (torch.empty_like(part) for part in (q, k, v))
        overlaps, rows = torch.empty_like(log_sums), log_sums.numel()
        overlap_kernel[(triton.cdiv(rows, 64),)](out, d_out, overlaps, rows, HEAD=head, BLOCK=64)
        numbers = ctx.scale, head**-0.5, tokens * head, tokens
        tiles = {"HEAD": head, "CAUSAL": ctx.causal, "BLOCK_Q": BLOCK_Q, "BLOCK_K": BLOCK_K}
        key_gradient_kernel[(triton.cdiv(tokens, BLOCK_K), batch * heads)](
            q, k, v, d_out, d_k, d_v, log_sums, overlaps, *numbers, **tiles
        )
        query_gradient_kernel[(triton.cdiv(tokens, BLOCK_Q), batch * heads)](
            q, k, v, d_out, d_q, log_sums, overlaps, *numbers, **tiles
        )
        return d_q, d_k, d_v, None


attention = Attention.apply
