"""Kernels of machine code: of a cubin as it is, or of PTX that is assembled first."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from kernelcast.inputs.kernel_names import called_by
from kernelcast.inputs.native.assembler import assemble
from kernelcast.inputs.native.disassembler import disassemble
from kernelcast.inputs.native.tools import fingerprint, required
from kernelcast.ptx_frontend.ptx.module_cache import (
    cached_name,
    collector_paused,
    load_module,
    store_module,
)
from kernelcast.ptx_frontend.sass.container.cubin import Cubin, read_cubin
from kernelcast.ptx_frontend.sass.lowering.module import lower_cubin
from kernelcast.ptx_frontend.sass.text.statements import read_listing
from kernelcast.simcore.isa.ir.kernel import Module, Parameter

__all__ = ["assembled_module", "cubin_module", "kernels_of"]


def cubin_module(
    content: bytes,
    path: str,
    parameters: Mapping[str, tuple[Parameter, ...]] | None = None,
    names: Collection[str] = (),
) -> Module:
    """The kernels of a cubin, or those called one of `names`, as symbols or in C++; kept on disk.

    `parameters`: those of the source by kernel, which say more than a cubin. InputError when it is
    damaged or no disassembler is there.
    """
    return kernels_of(read_cubin(content, path), content, parameters, names)


def kernels_of(
    cubin: Cubin,
    content: bytes,
    parameters: Mapping[str, tuple[Parameter, ...]] | None = None,
    names: Collection[str] = (),
) -> Module:
    """As `cubin_module`, of a cubin that was read from `content`."""
    tool = required(cubin.architecture, f"{cubin.path}: machine code").disassembler
    facts = (fingerprint(tool), sorted((parameters or {}).items()), sorted(names))
    kept = cached_name(content, f"{cubin.path} {facts!r}")
    with collector_paused():
        module = load_module(kept)
    if module is None:
        module = _lowered(cubin, content, parameters, names)
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
    content = assemble(ptx, architecture, path, options)
    parameters = {} if source is None else {n: k.parameters for n, k in source.kernels.items()}
    return cubin_module(content, path, parameters)


def _lowered(
    cubin: Cubin,
    content: bytes,
    parameters: Mapping[str, tuple[Parameter, ...]] | None,
    names: Collection[str],
) -> Module:
    """Of a kernel with functions that are not inlined, its section has those."""
    codes = {name: function.code for name, function in cubin.functions.items()}
    chosen = None
    if names:
        entries = called_by(names, [f.name for f in cubin.functions.values() if f.is_entry])
        chosen = [cubin.functions[entry].symbol for entry in entries]
        others = {n: f for n, f in cubin.functions.items() if n in entries or not f.is_entry}
        cubin = replace(cubin, functions=others)
    text = disassemble(content, cubin.architecture, cubin.path, chosen)
    return lower_cubin(cubin, read_listing(text, codes, cubin.path), parameters)
