"""A file to kernels, whatever its format.

PTX, CUDA C++, HIP, OpenCL C, LLVM IR, SPIR-V, a cubin, a fat binary, an object or an executable.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias

from kernelcast.errors import InputError
from kernelcast.execution.runnable import LoadedModule
from kernelcast.input_files import open_input, read_input
from kernelcast.inputs.amd.code_objects import load_code_objects
from kernelcast.inputs.amd.generated_code import GeneratedCode, code_of_ir
from kernelcast.inputs.amd.hip_source import compile_hip, has_host_code, includes_hip
from kernelcast.inputs.clang_source import read_clang_source
from kernelcast.inputs.compiler_options import CompilerOptions
from kernelcast.inputs.cuda.cuda_source import NO_HOST_CODE
from kernelcast.inputs.cuda.device_code import cuda_module
from kernelcast.inputs.embedded_code import load_embedded
from kernelcast.inputs.embedded_native import EmbeddedNative
from kernelcast.inputs.fat_binary import is_fat_binary
from kernelcast.inputs.llvm_ir import is_bitcode, is_spirv, load_llvm_ir, read_ir
from kernelcast.inputs.native.cubins import kernels_of
from kernelcast.inputs.native.sources import AssembledPtx
from kernelcast.inputs.opencl.amd_code import opencl_code
from kernelcast.inputs.opencl.ptx import compile_opencl_to_ptx, with_names_of_builtins
from kernelcast.inputs.opencl.source import compile_opencl
from kernelcast.inputs.signatures import declared_elements
from kernelcast.ptx_frontend import read_module, read_ptx
from kernelcast.ptx_frontend.amdgcn.code_object import is_amd_elf, is_bundle
from kernelcast.ptx_frontend.sass.container.cubin import is_cubin, read_cubin
from kernelcast.ptx_frontend.sass.container.elf import is_elf
from kernelcast.simcore.isa.ir.element_types import with_elements
from kernelcast.simcore.isa.ir.kernel import Module

__all__ = ["COMPILED_SUFFIXES", "READERS", "Reader", "has_units", "load_source"]

Reader: TypeAlias = Callable[[Path, CompilerOptions], LoadedModule]
"""The kernels of a file: InputError when it holds none or the options do not apply to it."""


def load_source(
    path: str | os.PathLike[str], options: CompilerOptions | None = None
) -> LoadedModule:
    """The kernels of a file. Of a fat binary those for the newest architecture, or the given one.

    Its PTX is taken before its machine code, as `embedded_code` says.
    Kernels of OpenCL come as source, as LLVM IR, text (`.ll`) or bitcode, or as SPIR-V.
    InputError when the file holds no kernels or `options` do not apply to it; CompilationError
    when a compiler refuses a source; PtxSyntaxError when the PTX is none.
    """
    file = Path(path)
    return READERS.get(file.suffix, _by_content)(file, options or CompilerOptions())


def _cuda(file: Path, options: CompilerOptions) -> LoadedModule:
    if includes_hip(_text_of(file)):
        return _hip(file, options)
    return cuda_module(file, options, _text_of(file))


def _hip(file: Path, options: CompilerOptions) -> LoadedModule:
    source = read_clang_source(file)
    made = compile_hip(source, options)
    module = with_elements(read_ir(made.ir, str(file)), declared_elements(source.text))
    if not module.kernels and not module.rejected:
        raise InputError(
            f"{file}: it holds no kernel: no __global__ function is defined; instances of "
            "templates that nothing in it makes are named as `names`"
        )
    note = NO_HOST_CODE if has_host_code(source.text) else ""
    code = GeneratedCode(made.ir.decode("utf-8", "surrogateescape"), str(file), module)
    return LoadedModule(module, made.names, code, note)


def _cpp(file: Path, options: CompilerOptions) -> LoadedModule:
    if not includes_hip(_text_of(file)):
        raise InputError(f"{file}: C++ without kernels: it includes no <hip/hip_runtime.h>")
    return _hip(file, options)


def _opencl(file: Path, options: CompilerOptions) -> LoadedModule:
    source = read_clang_source(file)
    if options.architecture:
        ptx = read_ptx(compile_opencl_to_ptx(source, options), f"{file} (PTX)")
        told = with_elements(with_names_of_builtins(ptx), declared_elements(source.text))
        return LoadedModule(told)
    module = read_ir(compile_opencl(source, options), str(file))
    return LoadedModule(module, native=opencl_code(source, options, module))


def _by_content(file: Path, options: CompilerOptions, *, is_ir: bool = False) -> LoadedModule:
    """Executables and fat binaries, LLVM IR and SPIR-V by their first bytes, else PTX."""
    content = _beginning(file)
    if is_amd_elf(content) or is_bundle(content):
        return _amd_code(file, options)
    is_machine_code = is_elf(content) or is_fat_binary(content)
    if options.options or options.include or (options.names and not is_machine_code):
        raise InputError(f"{file}: compiler options and names are for CUDA C++, HIP and OpenCL C")
    if is_cubin(content):
        return LoadedModule(_cubin(file, options))
    if is_machine_code:
        module = load_embedded(file, options.architecture, options.names)
        return LoadedModule(module, native=EmbeddedNative(file, module))
    if is_ir or is_bitcode(content) or is_spirv(content):
        if options.architecture:
            raise InputError(f"{file}: it is LLVM IR or SPIR-V, for no architecture")
        ir = load_llvm_ir(file)
        return LoadedModule(ir, native=code_of_ir(read_input(file), str(file), ir))
    if file.suffix != ".ptx" and not _VERSION.search(_text_of(file)):
        raise InputError(_unknown(file))
    if options.architecture:
        raise InputError(f"{file}: it is PTX already, for the architecture that it names")
    module = read_module(file)
    return LoadedModule(module, native=AssembledPtx(partial(_text, file), module))


def _amd_code(file: Path, options: CompilerOptions) -> LoadedModule:
    if options.options or options.include:
        raise InputError(f"{file}: compiler options are for sources, not for machine code")
    return load_code_objects(read_input(file), str(file), options.architecture or "")


def _text(file: Path) -> str:
    return read_input(file).rstrip(b"\0").decode("utf-8")


def _text_of(file: Path) -> bytes:
    try:
        return read_input(file)
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from None


def _unknown(file: Path) -> str:
    """What is said of a file that is none of what is read."""
    suffixes = ", ".join((".ptx", *READERS, ".cubin", ".fatbin"))
    return (
        f"{file}: neither PTX nor anything else that holds kernels; read are {suffixes}, and "
        "objects, libraries and executables with NVIDIA's code in them"
    )


_ir: Reader = partial(_by_content, is_ir=True)

READERS: dict[str, Reader] = {
    ".hip": _hip,
    ".cpp": _cpp,
    ".cc": _cpp,
    ".cxx": _cpp,
    ".cu": _cuda,
    ".cuh": _cuda,
    ".cl": _opencl,
    ".ocl": _opencl,
    ".ll": _ir,
    ".bc": _ir,
    ".spv": _ir,
}
"""Readers by the suffix of a file; files of any other are known by what they begin with."""
_VERSION = re.compile(rb"^[ \t]*\.(version|target|address_size)\b", re.MULTILINE)
"""One of the directives that PTX begins with."""
_HEAD_BYTES = 24
"""The beginning of an ELF file that says which machine it is for."""
COMPILED_SUFFIXES = tuple(
    suffix for suffix in READERS if READERS[suffix] in (_cuda, _hip, _cpp, _opencl)
)
"""Suffixes of texts that compiler options apply to."""


def has_units(file: Path) -> bool:
    """Whether a file is a fat binary, object, library or program; InputError as for reading it."""
    if file.suffix in READERS:
        return False
    content = _beginning(file)
    if is_amd_elf(content):
        return False
    return is_fat_binary(content) or (is_elf(content) and not is_cubin(content))


def _beginning(file: Path) -> bytes:
    try:
        with open_input(file) as stream:
            return stream.read(_HEAD_BYTES)
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from None


def _cubin(file: Path, options: CompilerOptions) -> Module:
    """The kernels of a cubin; InputError where another architecture is asked for than its own."""
    content = read_input(file)
    cubin = read_cubin(content, str(file))
    own = f"sm_{cubin.architecture}"
    if options.architecture and options.architecture.rstrip("af") != own:
        raise InputError(f"{file}: it is machine code for {own}, not for {options.architecture}")
    return kernels_of(cubin, content, names=options.names)
