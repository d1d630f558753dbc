"""Dropout with a mask that is given, and with one that a seed makes in the kernel."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def masked_kernel(x, keep, out, n, rate, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + at, mask=inside)
    kept = tl.load(keep + at, mask=inside) != 0
    tl.store(out + at, tl.where(kept, value / (1 - rate), 0.0), mask=inside)


@triton.jit
def seeded_kernel(x, out, n, rate, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + at, mask=inside)
    kept = tl.rand(seed, at) > rate
    tl.store(out + at, tl.where(kept, value / (1 - rate), 0.0), mask=inside)


def dropout(x: torch.Tensor, keep: torch.Tensor, rate: float) -> torch.Tensor:
    """`x / (1 - rate)` where `keep` is not 0, else 0."""
    out, n = torch.empty_like(x), x.numel()
    masked_kernel[(triton.cdiv(n, 1024),)](x, keep, out, n, rate, BLOCK=1024)
    return out


def seeded_dropout(x: torch.Tensor, rate: float, seed: int) -> torch.Tensor:
    """Dropout whose mask is the same for the same seed."""
    out, n = torch.empty_like(x), x.numel()
    seeded_kernel[(triton.cdiv(n, 1024),)](x, out, n, rate, seed, BLOCK=1024)
    return out
