"""CUDA C++ for which no architecture was chosen: compiled for that of each device, as users do.

`__CUDA_ARCH__` decides what a source does: asynchronous copies are loads and stores on GPUs before
the A100, reductions of a warp are loops of shuffles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kernelcast.errors import CompilationError
from kernelcast.execution.runnable import LoadedModule
from kernelcast.inputs.compiler_options import CompilerOptions
from kernelcast.inputs.cuda.cuda_source import DEFAULT_ARCHITECTURE, CompiledCuda, compile_cuda
from kernelcast.inputs.native.sources import AssembledPtx, ptx_module
from kernelcast.inputs.signatures import declared_elements

__all__ = ["cuda_module"]

_NEWER = ("sm_80", "sm_90", "sm_100")
"""What a source is compiled for that needs more than the default has."""


@dataclass(frozen=True, kw_only=True)
class _CodeOfDevices(AssembledPtx):
    """Machine code of a source that is compiled for each architecture that `compiled` knows.

    That of the others, and of those for which the source does not compile, is made of `text`.
    """

    compiled: Callable[[str], CompiledCuda]

    def text_for(self, architecture: int) -> str:
        try:
            return self.compiled(f"sm_{architecture}").ptx
        except CompilationError:
            return self.text()


def cuda_module(file: Path, options: CompilerOptions, source: bytes) -> LoadedModule:
    """The kernels of a file of CUDA C++, of which `source` is the text.

    Without an architecture they are PTX for the default, or for the first newer one that has what
    they use, and machine code of what the source is for each device. Raises what `compile_cuda`
    does.
    """
    architecture, made = _for_first(file, options)
    loaded = ptx_module(made.ptx, f"{file} (PTX)", made.names, declared_elements(source))
    if options.architecture:
        return replace(loaded, note=made.note)

    def compiled(name: str) -> CompiledCuda:
        return made if name == architecture else _compiled_for(file, options, name)

    native = _CodeOfDevices(lambda: made.ptx, loaded.module, compiled=compiled)
    return replace(loaded, native=native, note=_note(made.note, architecture))


def _for_first(file: Path, options: CompilerOptions) -> tuple[str, CompiledCuda]:
    """The architecture that was asked for, or the first that the source compiles for."""
    try:
        return options.architecture or DEFAULT_ARCHITECTURE, compile_cuda(file, options)
    except CompilationError:
        found = None if options.architecture else _first_of(_NEWER, file, options)
        if found is None:
            raise
        return found


def _first_of(
    architectures: Sequence[str], file: Path, options: CompilerOptions
) -> tuple[str, CompiledCuda] | None:
    for architecture in architectures:
        try:
            return architecture, _compiled_for(file, options, architecture)
        except CompilationError:
            continue
    return None


def _compiled_for(file: Path, options: CompilerOptions, architecture: str) -> CompiledCuda:
    return compile_cuda(file, replace(options, architecture=architecture))


def _note(note: str, architecture: str) -> str:
    if architecture == DEFAULT_ARCHITECTURE:
        return note
    told = f"compiled for {architecture}: {DEFAULT_ARCHITECTURE} has not all that the source uses"
    return f"{told}; {note}" if note else told
