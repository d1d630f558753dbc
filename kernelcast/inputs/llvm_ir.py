"""Files of LLVM IR: bitcode, known by its first bytes, or text."""

from __future__ import annotations

from pathlib import Path

from kernelcast.errors import InputError
from kernelcast.ptx_frontend.llvm import read_llvm
from kernelcast.simcore.isa.kernel import Module

__all__ = ["is_bitcode", "load_llvm_ir"]

_MAGIC = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
"""Of bitcode, and of a wrapper around it."""


def is_bitcode(content: bytes) -> bool:
    """Whether a file that begins so is LLVM bitcode."""
    return content.startswith(_MAGIC)


def load_llvm_ir(file: Path) -> Module:
    """The kernels of a file; InputError when it cannot be read, IrSyntaxError when it is no IR."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from None
    return read_llvm(content, str(file), is_text=not is_bitcode(content))
