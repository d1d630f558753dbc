"""Machine code of PTX for AMD's GPUs: translated to LLVM IR for them, then made by LLVM."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from kernelcast.errors import InputError
from kernelcast.execution.code import NativeSource
from kernelcast.inputs.amd.generated_code import GeneratedCode
from kernelcast.inputs.amd.translation.module_text import translated
from kernelcast.simcore.isa.analysis.kernel_analysis import once_per_kernel
from kernelcast.simcore.isa.ir.kernel import Kernel, Module
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["TranslatablePtx", "amd_code"]

_ALIGNED = "-unaligned-access-mode"
"""LLVM joins no accesses into one that is not aligned: PTX has none."""


class TranslatablePtx(NativeSource):
    """Kernels of PTX, which AMD's GPUs run when they are translated."""

    makes_amd_code = True
    module: Module
    """What was read; kernels that are machine code of NVIDIA's are not translated."""

    def amd_kernel(self, name: str, architecture: str) -> Kernel:
        """The kernel as machine code of one of AMD's architectures.

        UnsupportedInstruction where some of it has no translation or is not executed, InputError
        where there is no PTX of it.
        """
        return amd_code(self.module.kernels[name]).amd_kernel(name, architecture)

    def remark(self, name: str, architecture: int | str) -> str:
        """Says that the code of AMD's GPUs is a translation."""
        if not isinstance(architecture, str):
            return ""
        made = f"PTX was translated to {architecture} machine code by LLVM"
        rest = amd_code(self.module.kernels[name]).remark(name, architecture)
        return f"{made}; {rest}" if rest else made


@once_per_kernel
def amd_code(kernel: Kernel) -> GeneratedCode:
    """Where the code of a kernel of PTX comes from, for each architecture.

    InputError for a kernel that is machine code of NVIDIA's.
    """
    path = kernel.blocks[0].terminator.span.file
    if kernel.machine is not None:
        raise InputError(
            f"{path}: {kernel.name} is machine code of {kernel.machine.architecture}, and only PTX "
            "is translated for AMD's GPUs"
        )
    module = Module(path, {kernel.name: _moved(kernel)})
    return GeneratedCode(partial(translated, kernel), path, module, features=_ALIGNED)


def _moved(kernel: Kernel) -> Kernel:
    """The kernel with its constants in global memory, where AMD's GPUs have them."""
    symbols = {
        name: replace(symbol, space=AddressSpace.GLOBAL)
        if symbol.space is AddressSpace.CONST
        else symbol
        for name, symbol in kernel.symbols.items()
    }
    return replace(kernel, symbols=symbols)
