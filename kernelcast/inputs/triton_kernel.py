"""Triton kernels, compiled to PTX by Triton itself, without a GPU."""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from kernelcast.errors import CompilationError, InputError, LaunchError, SourceSpan
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.inputs.native.sources import ptx_module
from kernelcast.inputs.native.triton_stages import assembled_once
from kernelcast.simcore.launch.launch import Argument, dimensions

__all__ = ["TritonGrid", "TritonKernel", "compilation_error", "compiled_text", "from_triton"]

TritonGrid: TypeAlias = int | Sequence[int] | Callable[[Mapping[str, Any]], int | Sequence[int]]
"""Programs, up to three sizes; or, as in a launch of Triton, a function of the constants."""

_CONSTANT = "constexpr"
_DIVISIBILITY = 16
"""Bytes to which allocators align: Triton compiles for pointers and numbers that 16 divides."""
_WARP_WIDTH = 32
_INTEGER = re.compile(r"[iu](8|16|32|64)$")
_ARCHITECTURE = re.compile(r"sm_(?P<number>\d+)[af]?$")
_DEF = re.compile(r"\s*def\b")
_STATED = {"enable_fp_fusion": True}
"""Options that Triton is about to give another value where they are not stated."""
_HIDDEN = ("global scratch", "profile scratch")
_KERNELS_KEPT = 4
"""A function that a sweep calls compiles its kernel for each group of devices."""


@dataclass(frozen=True)
class TritonKernel:
    """A compiled kernel and what Triton's own launcher would add to a launch of it.

    `scratch_bytes` per program: memory behind the hidden pointers that follow the arguments.
    `programs_per_cluster`: the thread blocks that Triton makes a cluster of, `num_ctas`.
    `with_ones` compiles it for arguments that are equal to 1; None where that has been done.
    """

    kernel: RunnableKernel
    ptx: str
    grid: tuple[int, int, int] | None
    threads: int
    shared_bytes: int
    argument_names: tuple[str, ...]
    scratch_bytes: tuple[int, ...]
    programs_per_cluster: int = 1
    with_ones: Callable[[frozenset[str]], TritonKernel] | None = None

    @classmethod
    def of(
        cls,
        metadata: Any,
        ptx: str,
        argument_names: Sequence[str],
        types: Mapping[str, str] | None = None,
    ) -> TritonKernel:
        """The kernel of what Triton compiled: its `metadata` and PTX, the arguments that are left.

        `types` are those of the arguments as Triton names them, where the caller knows them.
        InputError when the PTX takes other hidden arguments than this Triton should add.
        """
        known = types or {}
        elements = [known.get(name, "") for name in argument_names]
        pointed = tuple(name[1:] if name.startswith("*") else "" for name in elements)
        kernel = _read_kernel(ptx, metadata.name, pointed)
        sizes = (metadata.global_scratch_size, getattr(metadata, "profile_scratch_size", 0))
        hidden = len(kernel.kernel.parameters) - len(argument_names)
        if not 0 <= hidden <= len(sizes):
            raise InputError(
                f"{metadata.name}: {hidden} hidden arguments, which this Triton should not add"
            )
        return cls(
            kernel=kernel,
            ptx=ptx,
            grid=None,
            threads=metadata.num_warps * _WARP_WIDTH,
            shared_bytes=metadata.shared,
            argument_names=tuple(argument_names),
            scratch_bytes=sizes[:hidden],
            programs_per_cluster=metadata.num_ctas,
        )

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.kernel.name

    def run(
        self,
        args: Sequence[Argument],
        *,
        grid: int | Sequence[int] | None = None,
        **options: Any,
    ) -> KernelTrace:
        """Executes one launch; `args` without the constants, `options` as `RunnableKernel.run` has.

        LaunchError when there is no grid, here or in `from_triton`, or the arguments do not fit.
        """
        if len(args) != len(self.argument_names):
            raise LaunchError(
                f"kernel {self.name} takes {len(self.argument_names)} arguments "
                f"({', '.join(self.argument_names)}), got {len(args)}"
            )
        ones = frozenset(
            name for name, value in zip(self.argument_names, args, strict=True) if _is_one(value)
        )
        if ones and self.with_ones is not None:
            kernel = self.with_ones(ones)
            named = zip(self.argument_names, args, strict=True)
            left = [value for name, value in named if name in kernel.argument_names]
            return kernel.run(left, grid=self.grid if grid is None else grid, **options)
        programs = self.grid if grid is None else dimensions(grid, "grid")
        if programs is None:
            raise LaunchError(f"kernel {self.name}: give a grid")
        x, y, z = programs
        together = self.programs_per_cluster
        if together > 1:
            options = {"cluster": together, **options}
        return self.kernel.run(
            grid=(x * together, y, z),
            block=self.threads,
            args=(*args, *self._scratch(math.prod(programs) * together)),
            shared_bytes=self.shared_bytes,
            argument_names=(*self.argument_names, *_HIDDEN[: len(self.scratch_bytes)]),
            **options,
        )

    def _scratch(self, programs: int) -> list[Argument]:
        """Null pointers where the kernel needs no memory."""
        return [np.zeros(programs * size, np.uint8) if size else 0 for size in self.scratch_bytes]


@lru_cache(maxsize=_KERNELS_KEPT)
def _read_kernel(ptx: str, name: str, pointed: tuple[str, ...]) -> RunnableKernel:
    """The kernel of a PTX text; what was found out about it serves whoever comes with it again."""
    return ptx_module(ptx, f"{name} (PTX by Triton)", elements={name: pointed})[name]


def from_triton(
    function: Any,
    signature: Mapping[str, str],
    constants: Mapping[str, Any] | None = None,
    grid: TritonGrid | None = None,
    *,
    arch: str = "sm_80",
    divisible_by_16: Sequence[str] = (),
    **options: Any,
) -> TritonKernel:
    """Compiles a function under `@triton.jit`; `signature` has the types of its arguments.

    Types are Triton's: `*fp32` for a pointer, `i32`. `constants` are the `tl.constexpr` arguments.
    Pointers are taken as aligned to 16 bytes, as Triton finds them; `divisible_by_16` names the
    integers that are multiples of 16. Integers that a run finds to be 1 become constants, as in a
    launch of Triton. `options` are Triton's: `num_warps`, `num_stages`.
    CompilationError when Triton refuses the function; InputError when Triton is not installed.
    """
    constants = dict(constants or {})
    chosen = grid(constants) if callable(grid) else grid
    programs = None if chosen is None else dimensions(chosen, "grid")

    @cache
    def compiled(ones: frozenset[str]) -> TritonKernel:
        whole = {name for name in ones if _INTEGER.match(signature[name])}
        values = {**constants, **dict.fromkeys(whole, 1)}
        types = {name: kind for name, kind in signature.items() if name not in whole}
        found = _compile(function, types, values, arch, divisible_by_16, options)
        names = [name for name in _parameters(function) if name in types and name not in values]
        return TritonKernel.of(found.metadata, found.asm["ptx"], names, types)

    return replace(compiled(frozenset()), grid=programs, with_ones=compiled)


def _is_one(value: Argument) -> bool:
    """Whether Triton makes a constant of an argument."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value == 1


def _parameters(function: Any) -> tuple[str, ...]:
    names: Sequence[str] = function.arg_names
    return tuple(names)


def _compile(
    function: Any,
    signature: Mapping[str, str],
    constants: Mapping[str, Any],
    arch: str,
    divisible_by_16: Sequence[str],
    options: Mapping[str, Any],
) -> Any:
    try:
        triton = importlib.import_module("triton")
        compiler = importlib.import_module("triton.compiler")
        target_of = importlib.import_module("triton.backends.compiler").GPUTarget
        base = importlib.import_module("triton.errors").TritonError
    except ImportError as error:
        raise InputError(f"from_triton needs Triton: pip install triton ({error})") from None
    target = target_of("cuda", _architecture(arch), _WARP_WIDTH)
    types = _types(function, signature, constants)
    source = compiler.ASTSource(
        fn=function,
        signature=types,
        constexprs=dict(constants),
        attrs=_attributes(types, divisible_by_16),
    )
    try:
        with assembled_once():
            return triton.compile(source, target=target, options={**_STATED, **options})
    except (base, RuntimeError) as error:
        raise compilation_error(function, error) from None


def compiled_text(path: Path, arch: str, options: Mapping[str, Any]) -> Any:
    """What Triton compiles of its own intermediate text, a file `.ttir`, for an architecture.

    CompilationError when Triton refuses it.
    """
    triton = importlib.import_module("triton")
    target_of = importlib.import_module("triton.backends.compiler").GPUTarget
    target = target_of("cuda", _architecture(arch), _WARP_WIDTH)
    try:
        with assembled_once():
            return triton.compile(str(path), target=target, options={**_STATED, **options})
    except (importlib.import_module("triton.errors").TritonError, RuntimeError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise CompilationError(f"{path.stem}: {first}") from None


def _architecture(arch: str) -> int:
    match = _ARCHITECTURE.match(arch)
    if match is None:
        raise InputError(f"{arch!r} is no architecture such as 'sm_80'")
    return int(match["number"])


def _types(
    function: Any, signature: Mapping[str, str], constants: Mapping[str, Any]
) -> dict[str, str]:
    """A type for every parameter, in their order."""
    names = _parameters(function)
    for name in (*signature, *constants):
        if name not in names:
            raise InputError(f"{function.__name__} has no parameter {name!r}")
    for name in names:
        if name not in signature and name not in constants:
            raise InputError(f"{function.__name__}: no type and no value for parameter {name!r}")
    return {name: _CONSTANT if name in constants else signature[name] for name in names}


def _attributes(
    types: Mapping[str, str], divisible_by_16: Sequence[str]
) -> dict[tuple[int, ...], list[list[object]]]:
    return {
        (position,): [["tt.divisibility", _DIVISIBILITY]]
        for position, (name, kind) in enumerate(types.items())
        if kind.startswith("*") or name in divisible_by_16
    }


def compilation_error(function: Any, error: Exception) -> CompilationError:
    """Triton's refusal of a function: the last cause, in the function's own file."""
    while isinstance(error.__cause__, type(error)):
        error = error.__cause__
    node: Any = getattr(error, "node", None)
    message = getattr(error, "error_message", None) or str(error) or type(error).__name__
    first = str(message).strip().splitlines()[0]
    if not hasattr(node, "lineno"):
        return CompilationError(f"{function.__name__}: {first}")
    # Triton counts from the line of `def`, and notes the line of the first decorator
    decorators = next(i for i, line in enumerate(function.raw_src) if _DEF.match(line))
    line = function.starting_line_number + decorators + node.lineno - 1
    source = (getattr(error, "src", None) or "").splitlines()
    text = source[node.lineno - 1] if node.lineno <= len(source) else ""
    file = function.fn.__code__.co_filename
    return CompilationError(first, SourceSpan(file, line, node.col_offset + 1, 1, text))
