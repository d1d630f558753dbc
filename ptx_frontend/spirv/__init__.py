"""SPIR-V, the binary form of OpenCL kernels, to the text of LLVM IR.

`module` reads what stands before the functions, `functions` writes the instructions, `translation`
puts the module together. Imports `ptx_frontend.llvm`.
"""

from __future__ import annotations

from kernelcast.errors import SpirvError, UnsupportedInstruction
from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.translation import Translation

__all__ = ["read_spirv"]


def read_spirv(data: bytes, path: str) -> str:
    """The LLVM IR of a module of OpenCL kernels, versions 1.0 to 1.6.

    SpirvError for a malformed module, UnsupportedInstruction for one whose settings ask for more
    than kernelcast covers; both name the byte where the instruction begins. A function with an
    instruction that is not supported has no body but an attachment that says why.
    """
    translation = Translation()
    try:
        return translation.text(data)
    except SpirvProblem as problem:
        at = translation.instruction
        placed = problem if at is None else problem.at(at.offset, at.name)
        kind = UnsupportedInstruction if problem.is_unsupported else SpirvError
        raise kind(f"{path}: {placed.message}") from None
