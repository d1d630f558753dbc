"""Kernels of machine code: of a cubin as it is, or of PTX that is assembled first."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from kernelcast.errors import CompilationError, InputError
from kernelcast.execution.code import OLDEST_ARCHITECTURE
from kernelcast.inputs.kernel_names import called_by
from kernelcast.inputs.native.assembler import assemble
from kernelcast.inputs.native.disassembler import disassemble
from kernelcast.inputs.native.entries import with_one_entry
from kernelcast.inputs.native.tools import fingerprint, required
from kernelcast.ptx_frontend.ptx.module_cache import (
    cached_name,
    load_module,
    store_module,
)
from kernelcast.ptx_frontend.sass.container.cubin import Cubin, read_cubin
from kernelcast.simcore.host.collector import collector_paused
from kernelcast.simcore.isa.ir.kernel import Module

__all__ = ["AssembledSource", "assembled_kernel", "assembled_module", "cubin_module", "kernels_of"]


@dataclass(frozen=True, slots=True)
class AssembledSource:
    """The text of a PTX module, and the module."""

    text: str
    module: Module


def cubin_module(
    content: bytes,
    path: str,
    source: AssembledSource | None = None,
    names: Collection[str] = (),
) -> Module:
    """The kernels of a cubin, or those called one of `names`, as symbols or in C++; kept on disk.

    `source`: the PTX that it was assembled from, which says more of parameters and places.
    InputError when it is damaged or no disassembler is there.
    """
    return kernels_of(read_cubin(content, path), content, source, names)


def kernels_of(
    cubin: Cubin,
    content: bytes,
    source: AssembledSource | None = None,
    names: Collection[str] = (),
) -> Module:
    """The kernels that `cubin_module` gives, of a cubin that was read from `content` already."""
    if cubin.architecture < OLDEST_ARCHITECTURE:
        raise InputError(
            f"{cubin.path}: machine code of sm_{cubin.architecture} is not executed, only that of "
            f"sm_{OLDEST_ARCHITECTURE} and newer"
        )
    tool = required(cubin.architecture, f"{cubin.path}: machine code").disassembler
    facts = (fingerprint(tool), "" if source is None else source.text, sorted(names))
    kept = cached_name(content, f"{cubin.path} {facts!r}")
    with collector_paused():
        module = load_module(kept)
        if module is None:
            module = _lowered(cubin, content, None if source is None else source.module, names)
            store_module(kept, module)
    return module


def assembled_module(
    ptx: str,
    architecture: str,
    path: str,
    source: Module | None = None,
    options: Sequence[str] = (),
) -> Module:
    """The kernels of PTX as machine code; `source`: what the PTX itself says of parameters."""
    assembled = None if source is None else AssembledSource(ptx, source)
    return cubin_module(assemble(ptx, architecture, path, options), path, assembled)


def assembled_kernel(
    ptx: str,
    architecture: str,
    path: str,
    source: Module,
    name: str,
) -> Module:
    """Kernels of PTX as machine code, the one of that name among them.

    It is assembled alone where the assembler refuses the whole, which another kernel may be the
    reason for.
    """
    try:
        return assembled_module(ptx, architecture, path, source)
    except CompilationError:
        alone = with_one_entry(ptx, name)
        if alone == ptx:
            raise
        return assembled_module(alone, architecture, path, source)


def _lowered(
    cubin: Cubin,
    content: bytes,
    source: Module | None,
    names: Collection[str],
) -> Module:
    """The kernels; functions that are not inlined stand in the sections of those that call them."""
    # machine code that was read before does without
    from kernelcast.ptx_frontend.sass.lowering.module import lower_cubin
    from kernelcast.ptx_frontend.sass.text.statements import read_listing

    codes = {name: function.code for name, function in cubin.functions.items()}
    chosen = None
    if names:
        entries = called_by(names, [f.name for f in cubin.functions.values() if f.is_entry])
        chosen = [cubin.functions[entry].symbol for entry in entries]
        others = {n: f for n, f in cubin.functions.items() if n in entries or not f.is_entry}
        cubin = replace(cubin, functions=others)
    is_of_ptx = source is not None
    text = disassemble(content, cubin.architecture, cubin.path, chosen, of_ptx=is_of_ptx)
    return lower_cubin(cubin, read_listing(text, codes, cubin.path), source)
