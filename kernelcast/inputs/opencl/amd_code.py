"""Machine code of OpenCL C for AMD's GPUs: clang for their target, and definitions of ours.

The source is compiled once more, for AMD's target, when code is asked for.
"""

from __future__ import annotations

from functools import partial

from kernelcast.inputs.amd.generated_code import GeneratedCode
from kernelcast.inputs.clang_source import ClangSource, ClangTarget
from kernelcast.inputs.compiler_options import CompilerOptions
from kernelcast.inputs.opencl.definitions import opencl_definitions
from kernelcast.inputs.opencl.source import compile_opencl
from kernelcast.simcore.isa.ir.kernel import Module

__all__ = ["opencl_code"]

_TRIPLE = "amdgcn-amd-amdhsa"
_ALONE = "-nogpulib"
"""Libraries of ROCm are not needed."""
_EXTENSIONS = ("-Xclang", "-cl-ext=+cl_khr_fp64,+cl_khr_fp16")
_DEFINITION_OPTIONS = CompilerOptions(
    options=("-cl-std=CL2.0", "-g0", *_EXTENSIONS, "-Xclang", "-disable-llvm-passes")
)


def opencl_code(source: ClangSource, options: CompilerOptions, module: Module) -> GeneratedCode:
    """Where the code of a source comes from, whose kernels are those of `module`."""
    return GeneratedCode(partial(_ir, source, options), source.path, module)


def _ir(source: ClangSource, options: CompilerOptions) -> str:
    definitions = opencl_definitions("amdgcn")
    target = ClangTarget(_TRIPLE, ("-emit-llvm", "-c", _ALONE))
    library = compile_opencl(definitions, _DEFINITION_OPTIONS, target)
    output = ("-emit-llvm", "-S", _ALONE, *_EXTENSIONS)
    made = compile_opencl(source, options, ClangTarget(_TRIPLE, output, (library,)))
    return made.decode("utf-8", "surrogateescape")
