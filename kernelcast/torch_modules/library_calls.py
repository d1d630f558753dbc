"""Calls of libraries in generated code, and the kernels of ours that stand for them."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kernelcast.simcore.device.device import Device
from kernelcast.torch_modules.absent_gpu import module
from kernelcast.torch_modules.tiles import Tile, attention_tile, product_tile

__all__ = ["StandIn", "moved_bytes", "stand_in"]

_GROUP = 8
_LOG2_E = 1.4426950408889634
_LEAST_HEAD = 16
_RATES = {"float16": "fp16", "bfloat16": "bf16", "float8_e4m3fn": "fp8", "float8_e5m2": "fp8"}
_MOVES = ("zero_", "fill_", "fill", "zeros", "zeros_like", "full", "copy_", "clone", "contiguous")
_READING_MOVES = ("copy_", "clone", "contiguous")


@dataclass(frozen=True)
class StandIn:
    """One launch of a kernel of ours in place of a library's.

    `flops`: those that the library's operator is for, two for each multiply-add.
    """

    kernel: Any
    grid: tuple[int, ...]
    args: tuple[Any, ...]
    constants: Mapping[str, Any]
    tile: Tile
    flops: float
    options: Mapping[str, int] = field(default_factory=dict)


def stand_in(
    name: str, args: Sequence[Any], named: Mapping[str, Any], result: Any, device: Device
) -> StandIn | None:
    """What stands for operator `name` of ATen, which made `result`; None for what nothing does."""
    maker = _MAKERS.get(name)
    tensors = [value for value in (*args, result) if hasattr(value, "untyped_storage")]
    kinds = {str(tensor.dtype).rpartition(".")[2] for tensor in tensors}
    if maker is None or not kinds <= {*_RATES, "float32", "bool"}:
        return None
    return maker(args, named, result, device)


def moved_bytes(name: str, result: Any) -> int | None:
    """Bytes that an operator reads and writes which only fills or copies; None for others."""
    if name not in _MOVES:
        return None
    size: int = result.numel() * result.element_size()
    return size * 2 if name in _READING_MOVES else size


def _kernels() -> Any:
    return importlib.import_module("kernelcast.torch_modules.library_kernels")


def _precision(tensor: Any) -> str:
    """How numbers of single precision are multiplied, as the program has chosen."""
    matmul = module("torch").backends.cuda.matmul
    is_tf32 = str(tensor.dtype) == "torch.float32" and matmul.fp32_precision == "tf32"
    return "tf32" if is_tf32 else "ieee"


def _rate(tensor: Any, device: Device) -> float:
    """Multiply-adds of an SM in a cycle for elements of that type."""
    name = _RATES.get(str(tensor.dtype).rpartition(".")[2])
    if name is None and _precision(tensor) == "tf32":
        name = "tf32"
    found = getattr(device.tensor, name, None) if name is not None else None
    return float(found or device.sm.fp32_lanes)


def _product(a: Any, b: Any, bias: Any, c: Any, device: Device) -> StandIn:
    """`c = a @ b + bias` for matrices, or for as many as the first dimension has."""
    a, b, c = (item if item.dim() == 3 else item.unsqueeze(0) for item in (a, b, c))
    batches, m, n = c.shape
    k = a.shape[-1]
    added = (bias if bias is not None else c).expand(c.shape)
    rate, size = _rate(a, device), a.element_size()
    tile = product_tile(device, m, n, batches, element_bytes=size, rate=rate)
    strides = (item.stride() for item in (a, b, added, c))
    return StandIn(
        kernel=_kernels().product,
        grid=(tile.count(m, n), batches),
        args=(a, b, added, c, m, n, k, *(step for steps in strides for step in steps)),
        constants={
            "BLOCK_M": tile.rows,
            "BLOCK_N": tile.columns,
            "BLOCK_K": tile.depth,
            "GROUP": _GROUP,
            "EVEN_K": k % tile.depth == 0,
            "HAS_BIAS": bias is not None,
            "PRECISION": _precision(a),
        },
        tile=tile,
        flops=2.0 * batches * m * n * k,
        options={"num_warps": tile.warps, "num_stages": tile.stages},
    )


def _of_factors(args: Sequence[Any], _: object, result: Any, device: Device) -> StandIn:
    return _product(args[0], args[1], None, result, device)


def _of_sum(args: Sequence[Any], named: Mapping[str, Any], result: Any, device: Device) -> StandIn:
    bias = None if named.get("beta", 1) == 0 else args[0]
    return _product(args[1], args[2], bias, result, device)


def _attention(
    args: Sequence[Any], named: Mapping[str, Any], result: Any, device: Device
) -> StandIn:
    return _attending(
        args, None, _argument(args, named, 4, "is_causal", default=False), named, result, device
    )


def _masked_attention(
    args: Sequence[Any], named: Mapping[str, Any], result: Any, device: Device
) -> StandIn:
    causal = _argument(args, named, 6, "is_causal", default=False)
    return _attending(args, args[3], causal, named, result, device)


def _attending(
    args: Sequence[Any],
    mask: Any,
    is_causal: bool,
    named: Mapping[str, Any],
    result: Any,
    device: Device,
) -> StandIn:
    q, k, v = args[:3]
    out = result[0]
    batches, heads, queries, head = q.shape
    keys = k.shape[2]
    scale = named.get("scale") or head**-0.5
    tile = attention_tile(device, head, q.element_size())
    strides = [step for item in (q, k, v) for step in item.stride()[:3]]
    mask_strides = mask.stride() if mask is not None else (0,) * 4
    seen = 0.5 * (1 + 1 / queries) if is_causal and queries == keys else 1.0
    return StandIn(
        kernel=_kernels().attention,
        grid=(-(-queries // tile.rows), batches * heads),
        args=(
            *(q, k, v, q if mask is None else mask, out, scale * _LOG2_E),
            *(heads, heads // k.shape[1], queries, keys, head),
            *(*strides, *mask_strides, *out.stride()[:3]),
        ),
        constants={
            "HEAD": max(_LEAST_HEAD, 1 << (head - 1).bit_length()),
            "CAUSAL": bool(is_causal),
            "HAS_MASK": mask is not None,
            "BLOCK_Q": tile.rows,
            "BLOCK_K": tile.columns,
            "PRECISION": _precision(q),
        },
        tile=tile,
        flops=4.0 * batches * heads * queries * keys * head * seen,
        options={"num_warps": tile.warps, "num_stages": tile.stages},
    )


def _convolution(
    args: Sequence[Any], named: Mapping[str, Any], result: Any, device: Device
) -> StandIn | None:
    x, weight, bias, step, pad, spread, is_transposed = _convolution_arguments(args, named)[:7]
    groups = _argument(args, named, 8, "groups", default=1)
    if is_transposed or groups != 1 or x.dim() != 4:
        return None
    images, filters, height, width = result.shape
    channels, taps = x.shape[1], weight.shape[2:]
    pixels, rate = images * height * width, _rate(x, device)
    tile = product_tile(device, pixels, filters, 1, element_bytes=x.element_size(), rate=rate)
    return StandIn(
        kernel=_kernels().convolution,
        grid=(tile.count(pixels, filters),),
        args=(
            *(x, weight, x if bias is None else bias, result, images, channels, *x.shape[2:]),
            *(filters, height, width, *step, *pad, *spread),
            *(*x.stride(), *weight.stride(), *result.stride()),
        ),
        constants={
            "TAPS_Y": taps[0],
            "TAPS_X": taps[1],
            "BLOCK_M": tile.rows,
            "BLOCK_N": tile.columns,
            "BLOCK_K": tile.depth,
            "GROUP": _GROUP,
            "HAS_BIAS": bias is not None,
            "PRECISION": _precision(x),
        },
        tile=tile,
        flops=2.0 * pixels * filters * channels * math.prod(taps),
        options={"num_warps": tile.warps, "num_stages": tile.stages},
    )


def _convolution_arguments(args: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
    names = ("input", "weight", "bias", "stride", "padding", "dilation", "transposed")
    return [_argument(args, named, number, name) for number, name in enumerate(names)]


def _argument(
    args: Sequence[Any], named: Mapping[str, Any], number: int, name: str, default: Any = None
) -> Any:
    return args[number] if len(args) > number else named.get(name, default)


_MAKERS: Mapping[str, Callable[..., StandIn | None]] = {
    "mm": _of_factors,
    "bmm": _of_factors,
    "addmm": _of_sum,
    "baddbmm": _of_sum,
    "_addmm_activation": _of_sum,
    "convolution": _convolution,
    "_scaled_dot_product_flash_attention": _attention,
    "_scaled_dot_product_efficient_attention": _masked_attention,
}
