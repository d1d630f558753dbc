"""Cross entropy whose forward pass leaves the gradient in place of the logits, as Liger's does."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl


@triton.jit
def loss_kernel(logits, targets, losses, columns, ignored, counted, smoothing, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    here = logits + row * columns
    target = tl.load(targets + row)
    if target == ignored:
        for first in range(0, columns, BLOCK):
            at = first + tl.arange(0, BLOCK)
            tl.store(here + at, 0.0, mask=at < columns)
        return
    # First pass: the largest logit, and the sum of powers beside it.
    largest, total, plain = -float("inf"), 0.0, 0.0
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        value = tl.load(here + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        plain += tl.sum(tl.where(at < columns, value, 0.0), axis=0)
        larger = tl.maximum(largest, tl.max(value, axis=0))
        total = total * tl.exp(largest - larger) + tl.sum(tl.exp(value - larger), axis=0)
        largest = larger
    log_sum = largest + tl.log(total)
    chosen = tl.load(here + target).to(tl.float32)
    loss = log_sum - (1 - smoothing) * chosen - smoothing * plain / columns
    tl.store(losses + row, loss / counted)
    tl.debug_barrier()
    # Second pass: softmax less what was wanted.
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        value = tl.load(here + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        slope = tl.exp(value - log_sum) - smoothing / columns
        slope = tl.where(at == target, slope - (1 - smoothing), slope)
        tl.store(here + at, slope / counted, mask=at < columns)


@triton.jit
def scale_kernel(x, factor, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    by = tl.load(factor)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        value = tl.load(x + row * columns + at, mask=at < columns)
        tl.store(x + row * columns + at, value * by, mask=at < columns)


class CrossEntropy(torch.autograd.Function):
    """Mean loss of rows of logits, which it overwrites, against indices of classes."""

    @staticmethod
    def forward(
        ctx: Any, logits: Any, targets: Any, ignored: int = -100, smoothing: float = 0.0
    ) -> Any:
        rows, columns = logits.shape
        losses = torch.zeros(rows, dtype=torch.float32, device=logits.device)
        counted = int((targets != ignored).sum())
        block = min(triton.next_power_of_2(columns), 1024)
        loss_kernel[(rows,)](
            logits, targets, losses, columns, ignored, counted, smoothing, BLOCK=block, num_warps=8
        )
        ctx.save_for_backward(logits.detach())
        ctx.block = block
        return losses.sum()

    @staticmethod
    def backward(ctx: Any, d_loss: Any) -> Any:
        (slopes,) = ctx.saved_tensors
        rows, columns = slopes.shape
        if not torch.equal(d_loss, torch.ones_like(d_loss)):
            scale_kernel[(rows,)](slopes, d_loss, columns, BLOCK=ctx.block)
        return slopes, None, None, None


cross_entropy = CrossEntropy.apply
