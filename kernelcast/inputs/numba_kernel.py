"""Numba kernels, compiled to PTX by Numba itself, without a GPU."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernelcast.errors import CompilationError, InputError, LaunchError, SourceSpan
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.inputs.native.sources import ptx_module
from kernelcast.simcore.launch.launch import Argument

__all__ = ["NumbaKernel", "NumbaParameter", "from_numba"]

_ARCHITECTURE = re.compile(r"sm_(?P<major>\d+)(?P<minor>\d)[af]?$")
_PLACE = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')
_INSTALL = "pip install 'numba-cuda[cu13]' brings what is missing, no GPU is needed"
_NULL = 0


@dataclass(frozen=True, slots=True)
class NumbaParameter:
    """`dtype` and `dimensions` of an array; a scalar has the dimensions None."""

    name: str
    dtype: np.dtype[Any]
    dimensions: int | None

    def expanded(self, value: Argument) -> list[Argument]:
        """The arguments of the PTX kernel: Numba hands arrays over as the fields of a struct.

        These are meminfo, parent, nitems, itemsize, data, and shape and strides by dimension.
        """
        if self.dimensions is None:
            if not isinstance(value, (bool, int, float, np.generic)):
                raise LaunchError(f"argument {self.name} must be a number")
            return [self.dtype.type(value)]
        if not isinstance(value, np.ndarray):
            raise LaunchError(f"argument {self.name} must be a NumPy array")
        if value.dtype != self.dtype or value.ndim != self.dimensions:
            raise LaunchError(
                f"argument {self.name} must be an array of {self.dimensions} dimensions of "
                f"{self.dtype}, got {value.ndim} of {value.dtype}"
            )
        head: list[Argument] = [_NULL, _NULL, value.size, value.itemsize, value]
        return [*head, *value.shape, *value.strides]

    @property
    def expanded_names(self) -> list[str]:
        """Names of the PTX parameters that Numba passes for the argument."""
        if self.dimensions is None:
            return [self.name]
        axes = range(self.dimensions)
        fields = ["meminfo", "parent", "nitems", "itemsize"]
        shape = [f"{self.name}.shape[{axis}]" for axis in axes]
        strides = [f"{self.name}.strides[{axis}]" for axis in axes]
        return [*(f"{self.name}.{field}" for field in fields), self.name, *shape, *strides]


@dataclass(frozen=True)
class NumbaKernel:
    """A compiled kernel that takes the arguments of the Python function."""

    kernel: RunnableKernel
    ptx: str
    name: str
    parameters: tuple[NumbaParameter, ...]

    def run(
        self,
        args: Sequence[Argument],
        *,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        **options: Any,
    ) -> KernelTrace:
        """Executes one launch; `options` as `RunnableKernel.run` has. Arrays must be C-contiguous.

        LaunchError when the arguments do not fit the signature.
        """
        if len(args) != len(self.parameters):
            names = ", ".join(item.name for item in self.parameters)
            raise LaunchError(
                f"{self.name} takes {len(self.parameters)} arguments ({names}), got {len(args)}"
            )
        pairs = list(zip(self.parameters, args, strict=True))
        return self.kernel.run(
            grid=grid,
            block=block,
            args=[part for parameter, value in pairs for part in parameter.expanded(value)],
            argument_names=[part for item in self.parameters for part in item.expanded_names],
            **options,
        )


def from_numba(
    function: Any, signature: Any, *, arch: str = "sm_75", **options: Any
) -> NumbaKernel:
    """Compiles a Python function as a CUDA kernel; `signature` as `numba.cuda.jit` takes it.

    That is a text such as `void(float32[::1], float32)` or a tuple of types. `function` may be
    under `@cuda.jit`. `options` go to `numba.cuda.compile_ptx`: `fastmath`, `opt`.
    CompilationError when Numba refuses the function; InputError when it lacks its CUDA target.
    """
    match = _ARCHITECTURE.match(arch)
    if match is None:
        raise InputError(f"{arch!r} is no architecture such as 'sm_75'")
    plain = getattr(function, "py_func", function)
    try:
        cuda = importlib.import_module("numba.cuda")
        types = importlib.import_module("numba.core.sigutils").normalize_signature(signature)[0]
        parameters = _parameters(plain, types)
        capability = int(match["major"]), int(match["minor"])
        chosen = {"lineinfo": True, **options}
        ptx, _ = cuda.compile_ptx(plain, signature, cc=capability, **chosen)
    except (ImportError, OSError) as error:  # NvvmSupportError is an ImportError
        raise InputError(f"from_numba: {_first_line(error)}; {_INSTALL}") from None
    except importlib.import_module("numba.core.errors").NumbaError as error:
        raise _compilation_error(plain, error) from None
    module = ptx_module(ptx, f"{plain.__name__} (PTX by Numba)")
    return NumbaKernel(module.only_kernel(), ptx, plain.__name__, parameters)


def _parameters(function: Any, types: Sequence[Any]) -> tuple[NumbaParameter, ...]:
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    if len(names) != len(types):
        raise InputError(
            f"{function.__name__} takes {len(names)} arguments, the signature has {len(types)}"
        )
    return tuple(_parameter(name, kind) for name, kind in zip(names, types, strict=True))


def _parameter(name: str, kind: Any) -> NumbaParameter:
    """A parameter as Numba passes it; InputError unless a number or row-major array."""
    numba = importlib.import_module("numba")
    as_dtype = importlib.import_module("numba.np.numpy_support").as_dtype
    element, dimensions = kind, None
    if isinstance(kind, numba.types.Array):
        element, dimensions = kind.dtype, kind.ndim
        if kind.layout == "F":
            raise InputError(f"argument {name}: column-major arrays are not supported")
    if not isinstance(element, (numba.types.Integer, numba.types.Float, numba.types.Boolean)):
        raise InputError(f"argument {name}: type {kind} is not supported")
    return NumbaParameter(name, np.dtype(as_dtype(element)), dimensions)


def _compilation_error(function: Any, error: Exception) -> CompilationError:
    text = re.sub(r"\x1b\[[\d;]*m", "", str(error))
    lines = [line for line in text.splitlines() if line.strip()]
    reason = next(
        (line for line in lines if not line.startswith("Failed in")), type(error).__name__
    )
    file = function.__code__.co_filename
    lines_of_file = [
        int(place["line"])
        for place in _PLACE.finditer(text)
        if Path(place["file"]).name == Path(file).name
    ]
    span = SourceSpan(file, lines_of_file[-1]) if lines_of_file else None
    return CompilationError(reason if span else f"{function.__name__}: {reason}", span)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
