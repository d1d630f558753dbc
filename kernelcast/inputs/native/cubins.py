"""Kernels of machine code: of a cubin as it is, or of PTX that is assembled first."""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.inputs.native.assembler import assemble
from kernelcast.inputs.native.disassembler import disassemble
from kernelcast.ptx_frontend.sass.container.cubin import read_cubin
from kernelcast.ptx_frontend.sass.lowering.module import lower_cubin
from kernelcast.ptx_frontend.sass.text.statements import read_listing
from kernelcast.simcore.isa.ir.kernel import Module

__all__ = ["assembled_module", "cubin_module"]


def cubin_module(content: bytes, path: str, source: Module | None = None) -> Module:
    """The kernels of a cubin; InputError when it is damaged or no disassembler is there.

    `source`: the PTX that it was assembled from, whose lines are then told.
    """
    cubin = read_cubin(content, path)
    text = disassemble(content, cubin.architecture, path, of_ptx=source is not None)
    codes = {name: function.code for name, function in cubin.functions.items()}
    return lower_cubin(cubin, read_listing(text, codes, path), source)


def assembled_module(
    ptx: str,
    architecture: str,
    path: str,
    source: Module | None = None,
    options: Sequence[str] = (),
) -> Module:
    """The kernels of PTX as machine code; `source`: what the PTX itself says of parameters."""
    return cubin_module(assemble(ptx, architecture, path, options), path, source)
