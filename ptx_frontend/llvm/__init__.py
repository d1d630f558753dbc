"""LLVM IR, bitcode or text, to kernels in the intermediate representation.

LLVM itself prints the module in its newest form (`simcore.host.ir_process`); `text` reads that
form, `lowering` makes the `Module`, `builtins` holds the functions of OpenCL. Imports `simcore.isa`
and `ptx_frontend.images`.
"""

from __future__ import annotations

from kernelcast.errors import IrSyntaxError
from kernelcast.ptx_frontend.llvm.lowering.module import lower
from kernelcast.ptx_frontend.llvm.text.reader import IrReader
from kernelcast.simcore.host.ir_process import canonical_ir
from kernelcast.simcore.isa.ir.kernel import Module

__all__ = ["read_llvm"]

_OLD_KERNEL_CONVENTION = b"DW_CC_LLVM_OpenCLKernel"
_KERNEL_CONVENTION = b"DW_CC_LLVM_DeviceKernel"
"""The name in debug information until LLVM 20, and since."""


def read_llvm(content: bytes, path: str, is_text: bool) -> Module:
    """The kernels of a module. Spans are places in the text that LLVM prints of it.

    IrSyntaxError for what LLVM does not take, UnsupportedInstruction where nothing of it can run.
    """
    if is_text:
        content = content.replace(_OLD_KERNEL_CONVENTION, _KERNEL_CONVENTION)
    text = canonical_ir(content, is_text, path)
    try:
        return lower(IrReader(f"{path} (LLVM IR)", text))
    except RecursionError:
        raise IrSyntaxError(f"{path}: types or constants nested too deeply") from None
