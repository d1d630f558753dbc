"""Front ends: every source of kernels becomes one `Module` of the intermediate representation.

`ptx` reads PTX, `llvm` LLVM IR, `spirv` SPIR-V by way of LLVM IR; `images` holds what texels take
in any of them; `amd_matrix` products of AMD's matrix cores, of its code and of LLVM IR. Front
ends import `simcore`; `spirv` ends in `llvm`, which writes instructions with the builders of `ptx`.
"""

from __future__ import annotations

from pathlib import Path

from kernelcast.errors import KernelcastError, PtxSyntaxError
from kernelcast.input_files import read_input
from kernelcast.ptx_frontend.ptx.lowering.module import lower
from kernelcast.ptx_frontend.ptx.module_cache import (
    SMALLEST_CACHED_BYTES,
    cached_name,
    load_module,
    store_module,
)
from kernelcast.ptx_frontend.ptx.text.parser import parse
from kernelcast.ptx_frontend.ptx.text.source import SourceText
from kernelcast.simcore.host.collector import collector_paused
from kernelcast.simcore.host.limits import check_source
from kernelcast.simcore.isa.ir.kernel import Module

__all__ = ["read_module", "read_ptx"]


def read_ptx(text: str, path: str) -> Module:
    """The kernels of a PTX text; `path` stands in messages. PtxSyntaxError when it is no PTX."""
    check_source(len(text), path)
    source = SourceText(path, text)
    with collector_paused():
        return lower(parse(source), source)


def read_module(path: str | Path) -> Module:
    """The kernels of a file; KernelcastError when it cannot be read, PtxSyntaxError when no PTX.

    What a large file holds is kept on disk and not read twice (see `module_cache`).
    """
    try:
        content = read_input(path)
    except OSError as error:
        raise KernelcastError(f"cannot read {path}: {error.strerror or error}") from error
    if b"\0" in content.rstrip(b"\0"):
        raise PtxSyntaxError(f"not PTX: {path} is a binary file")
    try:
        text = content.rstrip(b"\0").decode("utf-8")
    except UnicodeDecodeError as error:
        raise PtxSyntaxError(f"not PTX: {path} is not UTF-8 text") from error
    if len(content) < SMALLEST_CACHED_BYTES:
        return read_ptx(text, str(path))
    name = cached_name(text, str(path))
    with collector_paused():
        module = load_module(name)
    if module is None:
        module = read_ptx(text, str(path))
        store_module(name, module)
    return module
