"""RMS norm with its gradients, in the manner of Liger's: a program has many rows in turn."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from triton.runtime import driver


@triton.jit
def forward_kernel(x, y, weight, scale, columns, epsilon, BLOCK: tl.constexpr):
    row, at = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=0.0)
    wide = value.to(tl.float32)
    inverse = tl.rsqrt(tl.sum(wide * wide, axis=0) / columns + epsilon)
    tl.store(scale + row, inverse)
    normal = (wide * inverse).to(value.dtype)
    tl.store(y + row * columns + at, normal * tl.load(weight + at, mask=inside), mask=inside)


@triton.jit
def gradient_kernel(d_y, d_x, x, weight, scale, d_weight, rows, columns, each, BLOCK: tl.constexpr):
    part, at = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    inside = at < columns
    w = tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
    w_sum = tl.zeros((BLOCK,), dtype=tl.float32)
    for row in range(part * each, min((part + 1) * each, rows)):
        slope = tl.load(d_y + row * columns + at, mask=inside, other=0.0).to(tl.float32)
        value = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
        inverse = tl.load(scale + row)
        weighted = slope * w
        along = tl.sum(weighted * value, axis=0) * inverse * inverse / columns
        result = inverse * (weighted - along * value)
        tl.store(d_x + row * columns + at, result, mask=inside)
        w_sum += slope * value * inverse
    tl.store(d_weight + part * columns + at, w_sum, mask=inside)


class RmsNorm(torch.autograd.Function):
    """RMS norm over the last dimension, which fits one program."""

    @staticmethod
    def forward(ctx: Any, x: Any, weight: Any, epsilon: float) -> Any:
        y, columns = torch.empty_like(x), x.shape[-1]
        rows = x.numel() // columns
        scale = torch.empty(rows, dtype=torch.float32, device=x.device)
        block = triton.next_power_of_2(columns)
        forward_kernel[(rows,)](x, y, weight, scale, columns, epsilon, BLOCK=block)
        ctx.save_for_backward(x, weight, scale)
        return y

    @staticmethod
    def backward(ctx: Any, d_y: Any) -> Any:
        x, weight, scale = ctx.saved_tensors
        columns = x.shape[-1]
        rows = x.numel() // columns
        device = driver.active.get_current_device()
        programs = driver.active.utils.get_device_properties(device)["multiprocessor_count"]
        d_x = torch.empty_like(x)
        parts = torch.zeros((programs, columns), dtype=torch.float32, device=x.device)
        gradient_kernel[(programs,)](
            d_y, d_x, x, weight, scale, parts, rows, columns, triton.cdiv(rows, programs),
            BLOCK=triton.next_power_of_2(columns),
        )  # fmt: skip
        return d_x, parts.sum(0).to(weight.dtype), None


rms_norm = RmsNorm.apply
