"""Files of LLVM IR and SPIR-V: bitcode and modules, known by their first bytes, or text."""

from __future__ import annotations

from pathlib import Path

from kernelcast.errors import InputError
from kernelcast.input_files import read_input
from kernelcast.ptx_frontend.ptx.module_cache import (
    cached_ir_name,
    load_module,
    store_module,
)
from kernelcast.simcore.host.collector import collector_paused
from kernelcast.simcore.host.limits import check_source
from kernelcast.simcore.isa.ir.kernel import Module

__all__ = ["is_bitcode", "is_spirv", "load_llvm_ir", "read_ir"]

_MAGIC = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
"""First bytes of bitcode, and of a wrapper around it."""
_SPIRV_MAGIC = (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03")
"""First bytes of SPIR-V, in either order of bytes."""


def is_bitcode(content: bytes) -> bool:
    """Whether a file that begins so is LLVM bitcode."""
    return content.startswith(_MAGIC)


def is_spirv(content: bytes) -> bool:
    """Whether a file that begins so is a module of SPIR-V."""
    return content.startswith(_SPIRV_MAGIC)


def load_llvm_ir(file: Path) -> Module:
    """The kernels of a file; InputError when it cannot be read, else as `read_ir`."""
    try:
        content = read_input(file)
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from None
    check_source(len(content), str(file))
    return read_ir(content, str(file))


def read_ir(content: bytes, path: str) -> Module:
    """The kernels of bitcode, of a text of LLVM IR or of a module of SPIR-V, kept on disk.

    IrSyntaxError when it is no IR, SpirvError when it is a broken module of SPIR-V. What has been
    read before needs no LLVM.
    """
    name = cached_ir_name(content, path)
    with collector_paused():
        module = load_module(name)
        if module is None:
            module = _read(content, path)
            store_module(name, module)
    return module


def _read(content: bytes, path: str) -> Module:
    # PTX, and what was read before, does without
    from kernelcast.ptx_frontend.llvm import read_llvm
    from kernelcast.ptx_frontend.spirv import read_spirv

    if is_spirv(content):
        return read_llvm(read_spirv(content, path).encode(), path, is_text=True)
    return read_llvm(content, path, is_text=not is_bitcode(content))
