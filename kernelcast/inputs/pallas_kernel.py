"""Pallas kernels of JAX, lowered to Triton by JAX and compiled by Triton, without a GPU."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kernelcast.errors import CompilationError, InputError
from kernelcast.inputs.triton_kernel import TritonKernel, compiled_text

__all__ = ["from_pallas"]

_CALL = "stablehlo.custom_call"
_TARGET = "gpu.triton"
_SETTINGS = "mhlo.backend_config"


@dataclass(frozen=True)
class _Lowered:
    """A kernel as JAX hands it to a GPU's compiler: MLIR of Triton, and how it is launched."""

    name: str
    text: str
    grid: tuple[int, int, int]
    warps: int
    stages: int
    arguments: int


def from_pallas(function: Any, *args: Any, arch: str = "sm_80") -> tuple[TritonKernel, ...]:
    """The kernels of `jax.experimental.pallas` that `function(*args)` launches, in their order.

    `args` are arrays or `jax.ShapeDtypeStruct`s. Kernels have to be lowered by way of Triton, as
    `plgpu.CompilerParams` of `jax.experimental.pallas.triton` asks. A kernel takes its inputs, then
    its outputs, and has its grid. CompilationError when JAX or Triton refuses; InputError when
    JAX or Triton is not installed, or there is no such kernel.
    """
    try:
        jax = importlib.import_module("jax")
        importlib.import_module("triton")
    except ImportError as error:
        raise InputError(f"from_pallas needs JAX and Triton: pip install jax ({error})") from None
    try:
        lowered = jax.jit(function).trace(*args).lower(lowering_platforms=("cuda",))
        found = list(_kernels(lowered.compiler_ir("stablehlo").operation))
    except Exception as error:  # what a kernel may raise in JAX has no common class
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise CompilationError(f"{_name_of(function)}: JAX: {first}") from error
    if not found:
        raise InputError(f"{_name_of(function)} has no Pallas kernel that is lowered to Triton")
    return tuple(_compiled(item, arch) for item in found)


def _name_of(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _kernels(operation: Any) -> Iterator[_Lowered]:
    """The kernels in an operation of MLIR and all that are within it."""
    for region in operation.regions:
        for basic_block in region.blocks:
            for item in basic_block.operations:
                inner = item.operation
                is_call = inner.name == _CALL
                if is_call and _TARGET in str(inner.attributes["call_target_name"]):
                    yield _lowered(inner)
                yield from _kernels(inner)


def _lowered(call: Any) -> _Lowered:
    ir = importlib.import_module("jaxlib.mlir.ir")
    settings = ir.DictAttr(call.attributes[_SETTINGS])

    def number(name: str) -> int:
        return int(ir.IntegerAttr(settings[name]).value)

    context = ir.Context()
    importlib.import_module("jaxlib.triton").dialect.register_dialect(context)
    context.load_all_available_dialects()
    module = ir.Module.parse(ir.StringAttr(settings["ir"]).value_bytes, context)
    return _Lowered(
        name=ir.StringAttr(settings["name"]).value,
        text=module.operation.get_asm(),
        grid=(number("grid_x"), number("grid_y"), number("grid_z")),
        warps=number("num_warps"),
        stages=number("num_stages"),
        arguments=len(call.operands) + len(call.results),
    )


def _compiled(item: _Lowered, arch: str) -> TritonKernel:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{item.name}.ttir"
        path.write_text(item.text, encoding="utf-8")
        options = {"num_warps": item.warps, "num_stages": item.stages}
        found = compiled_text(path, arch, options)
    names = [f"argument {number}" for number in range(item.arguments)]
    return replace(TritonKernel.of(found.metadata, found.asm["ptx"], names), grid=item.grid)
