"""A file to kernels, whatever its format.

PTX, CUDA C++, OpenCL C, LLVM IR, SPIR-V, a fat binary, an object or an executable.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TypeAlias

from kernelcast.errors import InputError
from kernelcast.execution.runnable import LoadedModule
from kernelcast.input_files import MOST_BYTES, open_input, read_input
from kernelcast.inputs.compiler_options import CompilerOptions
from kernelcast.inputs.cuda_source import compile_cuda
from kernelcast.inputs.elf_sections import is_elf
from kernelcast.inputs.fat_binary import EmbeddedPtx, embedded_ptx, is_fat_binary
from kernelcast.inputs.llvm_ir import is_bitcode, is_spirv, load_llvm_ir, read_ir
from kernelcast.inputs.native.sources import AssembledPtx, ptx_module
from kernelcast.inputs.opencl_ptx import compile_opencl_to_ptx, with_names_of_builtins
from kernelcast.inputs.opencl_source import compile_opencl, read_opencl_source
from kernelcast.ptx_frontend import read_module, read_ptx
from kernelcast.simcore.isa.ir.kernel import Kernel, Module

__all__ = ["COMPILED_SUFFIXES", "READERS", "Reader", "load_source"]

Reader: TypeAlias = Callable[[Path, CompilerOptions], LoadedModule]
"""The kernels of a file: InputError when it holds none or the options do not apply to it."""


def load_source(
    path: str | os.PathLike[str], options: CompilerOptions | None = None
) -> LoadedModule:
    """The kernels of a file. Of a fat binary those for the newest architecture, or the given one.

    Kernels of OpenCL come as source, as LLVM IR, text (`.ll`) or bitcode, or as SPIR-V.
    InputError when the file holds no kernels or `options` do not apply to it; CompilationError
    when a compiler refuses a source; PtxSyntaxError when the PTX is none.
    """
    file = Path(path)
    return READERS.get(file.suffix, _by_content)(file, options or CompilerOptions())


def _cuda(file: Path, options: CompilerOptions) -> LoadedModule:
    made = compile_cuda(file, options)
    return ptx_module(made.ptx, f"{file} (PTX)", made.names)


def _opencl(file: Path, options: CompilerOptions) -> LoadedModule:
    source = read_opencl_source(file)
    if options.architecture:
        ptx = read_ptx(compile_opencl_to_ptx(source, options), f"{file} (PTX)")
        return LoadedModule(with_names_of_builtins(ptx))
    return LoadedModule(read_ir(compile_opencl(source, options), str(file)))


def _by_content(file: Path, options: CompilerOptions, *, is_ir: bool = False) -> LoadedModule:
    """Executables and fat binaries, LLVM IR and SPIR-V by their first bytes, else PTX."""
    if options.options or options.include or options.names:
        raise InputError(f"{file}: compiler options and names are for CUDA C++ and OpenCL C")
    content = _beginning(file)
    if is_elf(content) or is_fat_binary(content):
        return LoadedModule(_embedded(file, options.architecture))
    if is_ir or is_bitcode(content) or is_spirv(content):
        if options.architecture:
            raise InputError(f"{file}: it is LLVM IR or SPIR-V, for no architecture")
        return LoadedModule(load_llvm_ir(file))
    if options.architecture:
        raise InputError(f"{file}: it is PTX already, for the architecture that it names")
    module = read_module(file)
    return LoadedModule(module, native=AssembledPtx(partial(_text, file), module))


def _text(file: Path) -> str:
    return read_input(file).rstrip(b"\0").decode("utf-8")


_ir: Reader = partial(_by_content, is_ir=True)

READERS: dict[str, Reader] = {
    ".cu": _cuda,
    ".cuh": _cuda,
    ".cl": _opencl,
    ".ocl": _opencl,
    ".ll": _ir,
    ".bc": _ir,
    ".spv": _ir,
}
"""Readers by the suffix of a file; files of any other are known by what they begin with."""
COMPILED_SUFFIXES = tuple(suffix for suffix in READERS if READERS[suffix] in (_cuda, _opencl))
"""Suffixes of texts that compiler options apply to."""


def _beginning(file: Path) -> bytes:
    try:
        with open_input(file, MOST_BYTES) as stream:
            return stream.read(4)
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from None


def _embedded(file: Path, architecture: str) -> Module:
    found = embedded_ptx(read_input(file), str(file))
    chosen = _for_architecture(found, architecture)
    if not chosen:
        have = sorted({item.architecture for item in found})
        reason = "no PTX in it, only machine code or no kernels at all"
        if have:
            reason = f"no PTX for {architecture} in it, but for {_names(have)}"
        raise InputError(f"{file}: {reason}")
    kernels: dict[str, Kernel] = {}
    rejected: dict[str, tuple[Exception, ...]] = {}
    for item in chosen:
        part = read_ptx(item.text, f"{file}[{_names([item.architecture])} #{item.container + 1}]")
        known = {*kernels, *rejected}  # instances of templates stand in several units
        kernels |= {name: kernel for name, kernel in part.kernels.items() if name not in known}
        rejected |= {name: why for name, why in part.rejected.items() if name not in known}
    return Module(str(file), kernels, rejected)


def _for_architecture(found: Iterable[EmbeddedPtx], architecture: str) -> list[EmbeddedPtx]:
    """One text a container; empty ones, of translation units without kernels, stay."""
    chosen: dict[int, EmbeddedPtx] = {}
    for item in found:
        best = chosen.get(item.container)
        if architecture and _names([item.architecture]) != architecture:
            continue
        if best is None or item.architecture > best.architecture:
            chosen[item.container] = item
    return list(chosen.values())


def _names(architectures: Iterable[int]) -> str:
    return ", ".join(f"sm_{number}" for number in architectures)
