"""OpenCL C through clang: options, include paths and errors."""

from __future__ import annotations

from kernelcast.errors import InputError
from kernelcast.inputs.clang import Clang, find_clang
from kernelcast.inputs.clang_source import (
    ClangSource,
    ClangTarget,
    check_source,
    compiled_source,
)
from kernelcast.inputs.compiler_options import CompilerOptions

__all__ = ["compile_opencl"]

_DEFAULTS = (
    *("-cl-std=CL1.2", "-O2", "-fno-discard-value-names"),
    *("-gline-tables-only", "-ffile-compilation-dir=."),
)
"""An option of the user stands behind them and wins. Lines are kept, so that what goes wrong in a
run is told in terms of the source, with files called as the caller calls them, and names, so that
arguments are called as there."""
_NO_PACKING, _PACKING = "-fno-slp-vectorize", "-fslp-vectorize"
"""GPUs have no vectors to pack unrelated sums into. An `-O` behind it would undo the first one."""
_SPIR = ClangTarget("spir64-unknown-unknown")


def compile_opencl(
    source: ClangSource, options: CompilerOptions, target: ClangTarget = _SPIR
) -> bytes:
    """What a source is compiled to, from the cache when nothing that it depends on has changed.

    CompilationError with the first error's place; InputError when there is no clang.
    """
    if options.names:
        raise InputError(f"{source.path}: OpenCL C has no templates to name instances of")
    check_source(source, options)
    clang = find_clang("OpenCL C")
    arguments = _arguments(source, options, target, clang)
    return compiled_source(clang, source, options, arguments, target.libraries)


def _arguments(
    source: ClangSource, options: CompilerOptions, target: ClangTarget, clang: Clang
) -> tuple[str, ...]:
    return (
        f"--target={target.triple}",
        *_DEFAULTS,
        *clang.declaring_options,
        *(f"-I{folder}" for folder in options.include),
        *options.options,
        *(() if _PACKING in options.options else (_NO_PACKING,)),
        *target.output,
        *("-x", "cl"),
        source.argument,
    )
