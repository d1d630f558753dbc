"""The gate of a transformer's MLP, `silu(gate) * up`, with its gradients in place of its inputs."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl


@triton.jit
def forward_kernel(gate, up, out, stride, columns, BLOCK: tl.constexpr):
    row, at = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    inside = at < columns
    opened = tl.load(gate + row * stride + at, mask=inside, other=0.0).to(tl.float32)
    raised = tl.load(up + row * stride + at, mask=inside, other=0.0)
    silu = (opened * tl.sigmoid(opened)).to(raised.dtype)
    tl.store(out + row * stride + at, silu * raised, mask=inside)


@triton.jit
def gradient_kernel(d_out, gate, up, stride, columns, BLOCK: tl.constexpr):
    row, at = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    inside = at < columns
    slope = tl.load(d_out + row * stride + at, mask=inside, other=0.0).to(tl.float32)
    opened = tl.load(gate + row * stride + at, mask=inside, other=0.0).to(tl.float32)
    raised = tl.load(up + row * stride + at, mask=inside, other=0.0).to(tl.float32)
    share = tl.sigmoid(opened)
    silu = opened * share
    tl.store(gate + row * stride + at, slope * raised * (silu * (1 - share) + share), mask=inside)
    tl.store(up + row * stride + at, slope * silu, mask=inside)


class SwiGlu(torch.autograd.Function):
    """The product over the last dimension, which fits one program."""

    @staticmethod
    def forward(ctx: Any, gate: Any, up: Any) -> Any:
        out, columns = torch.empty_like(gate), gate.shape[-1]
        block = triton.next_power_of_2(columns)
        rows = gate.numel() // columns
        forward_kernel[(rows,)](gate, up, out, out.stride(-2), columns, BLOCK=block, num_warps=8)
        ctx.save_for_backward(gate, up)
        return out

    @staticmethod
    def backward(ctx: Any, d_out: Any) -> Any:
        gate, up = ctx.saved_tensors
        columns = gate.shape[-1]
        block, stride = triton.next_power_of_2(columns), gate.stride(-2)
        d_gate, d_up = gate.clone(), up.clone()
        gradient_kernel[(gate.numel() // columns,)](
            d_out.contiguous(), d_gate, d_up, stride, columns, BLOCK=block, num_warps=8
        )
        return d_gate, d_up


swiglu = SwiGlu.apply
