"""Kernels of CuPy, from the sources that its objects hold: no GPU is needed, nor CuPy's own run.

Importing CuPy works without a GPU; arrays of it do not, so that kernels run on NumPy arrays.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import InputError
from kernelcast.execution.runnable import LoadedModule, RunnableKernel
from kernelcast.inputs.compiler_options import CompilerOptions
from kernelcast.inputs.cuda.cuda_source import compile_cuda_text
from kernelcast.inputs.native.sources import ptx_module

__all__ = ["from_cupy"]

_C_TYPES = {
    "bool": "bool", "int8": "signed char", "int16": "short", "int32": "int", "int64": "long long",
    "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned int",
    "uint64": "unsigned long long", "float16": "__half", "float32": "float", "float64": "double",
}  # fmt: skip
_BODY = """
extern "C" __global__ void {name}({parameters}) {{
  {loop_prep};
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < _n;
       i += (long long)gridDim.x * blockDim.x) {{
    {elements}
    {operation};
  }}
  {after_loop};
}}
"""


def from_cupy(
    kernel: Any, *, arch: str = "", types: Mapping[str, npt.DTypeLike] | None = None
) -> RunnableKernel | LoadedModule:
    """A `RawKernel` or `ElementwiseKernel` as a kernel that runs, a `RawModule` as a module.

    An element-wise kernel takes its arrays, which must be contiguous and of one size, and the
    number of elements behind them; CuPy launches it with 128 threads in a thread block. `types`
    says what its placeholders stand for, such as `{"T": "float32"}`; it has no reductions and no
    broadcasting. `arch` is what is compiled for, by default sm_75.
    InputError for other objects and missing types; CompilationError where NVRTC refuses the source.
    """
    if hasattr(kernel, "operation") and hasattr(kernel, "in_params"):
        name, source = kernel.name, _element_wise(kernel, types or {})
        return _module(source, name, arch, _options(kernel.kwargs.get("options")), ())[name]
    if hasattr(kernel, "name_expressions") and hasattr(kernel, "code"):
        code, names = kernel.code or "", tuple(kernel.name_expressions or ())
        return _module(code, "RawModule", arch, _options(kernel.options), names)
    if hasattr(kernel, "code") and hasattr(kernel, "name"):
        names = (kernel.name,) if "<" in kernel.name else ()
        return _module(kernel.code, kernel.name, arch, _options(kernel.options), names)[kernel.name]
    raise InputError(
        f"{type(kernel).__name__} is no RawKernel, RawModule or ElementwiseKernel of CuPy"
    )


def _options(given: Any) -> tuple[str, ...]:
    return tuple(given or ())


def _module(
    source: str, name: str, arch: str, options: tuple[str, ...], names: tuple[str, ...]
) -> LoadedModule:
    if not source:
        raise InputError(f"{name} holds no source: only its machine code is at hand")
    path = f"<CuPy: {name}>"
    chosen = CompilerOptions(arch, options, tuple(_headers()), names)
    made = compile_cuda_text(source.encode(), Path(path), chosen)
    return ptx_module(made.ptx, f"{path} (PTX)", made.names)


def _headers() -> Iterator[Path]:
    """The folder of CuPy's own headers, where CuPy is installed."""
    found = importlib.util.find_spec("cupy")
    if found is not None and found.origin is not None:
        yield Path(found.origin).parent / "_core" / "include"


def _element_wise(kernel: Any, types: Mapping[str, npt.DTypeLike]) -> str:
    """The CUDA C++ of an element-wise kernel over contiguous arrays."""
    given = [item for item in kernel.params if item.ctype is not None]
    missing = sorted({p.ctype for p in given if p.dtype is None and p.ctype not in types})
    if missing:
        raise InputError(f"{kernel.name}: give types for {', '.join(missing)}")
    names = {p.ctype: _c_type(types[p.ctype]) for p in given if p.dtype is None}
    halves = "#include <cuda_fp16.h>\n" if "__half" in names.values() else ""
    aliases = "".join(f"typedef {name} {alias};\n" for alias, name in names.items())
    parameters = [_parameter(item) for item in given]
    elements = [
        f"{'const ' if item.is_const else ''}{_type(item)} &{item.name} = _raw_{item.name}[i];"
        for item in given
        if not item.raw
    ]
    body = _BODY.format(
        name=kernel.name,
        parameters=", ".join([*parameters, "long long _n"]),
        elements=" ".join(elements),
        operation=kernel.operation,
        loop_prep=kernel.kwargs.get("loop_prep", ""),
        after_loop=kernel.kwargs.get("after_loop", ""),
    )
    return f"{halves}{aliases}{kernel.preamble}\n{body}"


def _type(item: Any) -> str:
    return str(item.ctype) if item.dtype is None else _c_type(item.dtype)


def _parameter(item: Any) -> str:
    name = item.name if item.raw else f"_raw_{item.name}"
    return f"{'const ' if item.is_const else ''}{_type(item)} *{name}"


def _c_type(kind: npt.DTypeLike) -> str:
    name = np.dtype(kind).name
    if name not in _C_TYPES:
        raise InputError(f"{name}: elements of it are not compiled")
    return _C_TYPES[name]
