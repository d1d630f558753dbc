"""A graph of dynamo as operators of ATen on a GPU.

Python's indexing of a tensor asks for the device, which is not there; operators do not. So the
graph is traced to operators on the CPU first, before automatic differentiation, and these are
moved to the GPU afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kernelcast.errors import InputError
from kernelcast.torch_modules.absent_gpu import module

__all__ = ["MovedGraph", "on_gpu"]

_LONGEST_FLASH_HEAD = 256
_DIMENSIONS_OF_FUSED_ATTENTION = 4


@dataclass(frozen=True)
class MovedGraph:
    """A graph on the GPU, its inputs, fake ones, and tensors that are inputs behind the others."""

    graph: Any
    inputs: list[Any]
    constants: list[Any]


def on_gpu(graph: Any, inputs: Sequence[Any]) -> MovedGraph:
    """The graph for inputs on the CPU, or without memory, as it is on a GPU.

    InputError for sizes that are not numbers.
    """
    torch = module("torch")
    for value in inputs:
        if isinstance(value, torch.SymInt):
            raise InputError("torch.compile gave a graph of unknown sizes: use dynamic=False")
    mode = module("torch._guards").detect_fake_mode(list(inputs))
    with mode:
        given = [_fake(value, mode) for value in inputs]
        traced = module("torch.fx.experimental.proxy_tensor").make_fx(
            lambda *values: torch.fx.Interpreter(graph).run(*values),
            decomposition_table={torch.ops.aten.scaled_dot_product_attention.default: _attention},
            pre_dispatch=True,
            _allow_non_fake_inputs=True,
        )(*given)
    constants = _constants_as_inputs(traced)
    for node in traced.graph.nodes:
        place = node.kwargs.get("device")
        if place is not None and torch.device(place).type in ("cpu", "meta"):
            node.kwargs = {**node.kwargs, "device": torch.device("cuda", 0)}
    traced.recompile()
    with mode:
        moved = [_moved(value) for value in (*inputs, *constants)]
    return MovedGraph(traced, moved, constants)


def _fake(value: Any, mode: Any) -> Any:
    return (
        mode.from_tensor(value, static_shapes=True) if hasattr(value, "untyped_storage") else value
    )


def _moved(value: Any) -> Any:
    """A fake tensor on the GPU in the shape of one elsewhere."""
    torch = module("torch")
    if not isinstance(value, torch.Tensor):
        return value
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="cuda")


def _constants_as_inputs(traced: Any) -> list[Any]:
    """Makes inputs of tensors that the graph holds itself, but of those that are one number."""
    found: list[Any] = []
    nodes = list(traced.graph.nodes)
    last = [node for node in nodes if node.op == "placeholder"][-1:]
    for node in nodes:
        value = getattr(traced, str(node.target), None) if node.op == "get_attr" else None
        if not getattr(value, "ndim", 0):
            continue
        place = (
            traced.graph.inserting_after(last[0])
            if last
            else traced.graph.inserting_before(nodes[0])
        )
        with place:
            given = traced.graph.placeholder(f"constant_{len(found)}")
        last = [given]
        node.replace_all_uses_with(given)
        traced.graph.erase_node(node)
        found.append(value)
    return found


def _attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """The attention that torch takes on a GPU: flash, memory-efficient, or three operators."""
    torch = module("torch")
    aten = torch.ops.aten
    is_half = query.dtype in (torch.float16, torch.bfloat16)
    fits = query.dim() == _DIMENSIONS_OF_FUSED_ATTENTION and query.dtype == key.dtype == value.dtype
    same_heads = query.shape[:-2] == key.shape[:-2]
    if fits and is_half and attn_mask is None and query.shape[-1] <= _LONGEST_FLASH_HEAD:
        return aten._scaled_dot_product_flash_attention.default(
            query, key, value, dropout_p, is_causal, scale=scale
        )[0]
    if fits and same_heads and (is_half or query.dtype == torch.float32):
        mask = _added(query, key, attn_mask)
        return aten._scaled_dot_product_efficient_attention.default(
            query, key, value, mask, False, dropout_p, is_causal, scale=scale
        )[0]
    return aten._scaled_dot_product_attention_math.default(
        query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
    )[0]


def _added(query: Any, key: Any, mask: Any) -> Any:
    """The mask as numbers that are added to the scores of every head."""
    torch = module("torch")
    if mask is None:
        return None
    if mask.dtype == torch.bool:
        zero = torch.zeros_like(mask, dtype=query.dtype)
        mask = zero.masked_fill(mask.logical_not(), -float("inf"))
    return mask.expand(*query.shape[:-1], key.shape[-2])
