"""OpenCL C to PTX by clang and LLVM's NVPTX back end.

The back end has instructions but no built-in functions of OpenCL C: `builtins` defines
them, those of mathematics by NVIDIA's libdevice where it is installed.
"""

from __future__ import annotations

import re
from dataclasses import replace

from kernelcast.errors import InputError, UnsupportedInstruction
from kernelcast.inputs.clang_source import ClangSource, ClangTarget
from kernelcast.inputs.compiler_options import CompilerOptions, architecture_number
from kernelcast.inputs.cuda.nvrtc_library import find_libdevice
from kernelcast.inputs.opencl.definitions import opencl_definitions
from kernelcast.inputs.opencl.source import compile_opencl
from kernelcast.simcore.isa.ir.kernel import Module
from kernelcast.simcore.isa.ir.source_names import source_name

__all__ = ["compile_opencl_to_ptx", "with_names_of_builtins"]

_TRIPLE = "nvptx64-nvidia-nvcl"
_EXTENSIONS = ("-Xclang", "-cl-ext=+all")
"""clang thinks that this target has few."""
_NO_PASSES = ("-Xclang", "-disable-llvm-passes")
"""Definitions are optimised where they are called."""
_DEFINITION_OPTIONS = CompilerOptions(options=("-cl-std=CL2.0", "-g0", *_EXTENSIONS, *_NO_PASSES))
_CAPABILITIES = {
    32: (20, 30, 35),
    40: (32, 50),
    41: (37, 52),
    42: (53,),
    50: (60, 61, 62),
    60: (70,),
    61: (72,),
    63: (75,),
    70: (80,),
    71: (86,),
    74: (87,),
    78: (89,),
    80: (90,),
    86: (100,),
    87: (120,),
    88: (103, 121),
    90: (88, 110),
}
"""Version of PTX -> the compute capabilities that it is the first to know (PTX ISA 9.0, release
notes)."""
_UNDEFINED = re.compile(r"function '(?P<name>\w+)' is defined in another file")
_LIBDEVICE = re.compile(r"__nv_(?P<name>\w+)")
_DEBUG_LABEL = re.compile(r"^\$?L(?:__)?tmp\d+:\n", re.MULTILINE)
"""Marks of debug information, which LLVM sets even within a call."""


def compile_opencl_to_ptx(source: ClangSource, options: CompilerOptions) -> str:
    """The PTX of a source for `options.architecture`, from the cache when nothing has changed.

    CompilationError with the first error's place; InputError when there is no clang, or the
    architecture is none.
    """
    output = _output(options.architecture)
    definitions = opencl_definitions("nvptx")
    libraries = [compile_opencl(definitions, _DEFINITION_OPTIONS, ClangTarget(_TRIPLE))]
    libdevice = find_libdevice()
    if libdevice is not None:
        libraries.append(libdevice.read_bytes())
    made = compile_opencl(source, options, ClangTarget(_TRIPLE, output, tuple(libraries)))
    return _DEBUG_LABEL.sub("", made.decode("utf-8", "replace"))


def with_names_of_builtins(module: Module) -> Module:
    """The module with refusals that name undefined functions as OpenCL C does."""
    rejected = {name: tuple(map(_renamed, why)) for name, why in module.rejected.items()}
    return replace(module, rejected=rejected)


def _renamed(reason: Exception) -> Exception:
    match = _UNDEFINED.search(str(reason))
    if match is None or not isinstance(reason, UnsupportedInstruction):
        return reason
    library = _LIBDEVICE.match(match["name"])
    if library is not None:
        message = (
            f"{library['name']} comes from libdevice, which is not installed: pip install "
            "nvidia-nvvm or a CUDA toolkit brings it"
        )
    else:
        message = f"{source_name(match['name'])} of OpenCL C has no definition for PTX here"
    return UnsupportedInstruction(message, reason.span)


def _output(architecture: str) -> tuple[str, ...]:
    """Options for PTX of an architecture, with no more debug information than lines."""
    number = architecture_number(architecture)
    capability = int(number.rstrip("af"))
    version = next((v for v, known in _CAPABILITIES.items() if capability in known), None)
    if version is None:
        raise InputError(f"{architecture!r} is no architecture that PTX is made for")
    chosen = ("-target-cpu", f"sm_{number}", "-target-feature", f"+ptx{version}")
    words = (word for item in chosen for word in ("-Xclang", item))
    return (*_EXTENSIONS, "-gdwarf-4", "-gline-directives-only", *words, "-S")
