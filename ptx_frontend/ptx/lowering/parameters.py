"""Kernel parameters and where they lie in the parameter space."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kernelcast.errors import UnsupportedInstruction
from kernelcast.ptx_frontend.ptx.lowering.variables import (
    OPAQUE_TYPES,
    align_up,
    size_of,
    type_bytes,
)
from kernelcast.ptx_frontend.ptx.text.mnemonics import scalar_type
from kernelcast.ptx_frontend.ptx.text.source import SourceText
from kernelcast.ptx_frontend.ptx.text.syntax import VariableDeclaration
from kernelcast.simcore.isa.ir.kernel import Parameter, Symbol
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["opaque_parameter", "parameter_symbols", "place_parameters"]

_NUMBER_BYTES = 8


def place_parameters(
    declarations: Iterable[VariableDeclaration], source: SourceText
) -> tuple[Parameter, ...]:
    """Parameters in order, each at a multiple of its alignment; arrays are structs."""
    placed: dict[str, Parameter] = {}
    end = 0
    for declaration in declarations:
        name = declaration.name
        if name in placed:
            raise source.error(f"parameter {name!r} is declared twice", declaration.at, len(name))
        if declaration.type in OPAQUE_TYPES and declaration.count is None:
            placed[name] = opaque_parameter(declaration, end)
            end = placed[name].offset + placed[name].size
            continue
        size = size_of(declaration, source)
        offset = align_up(end, declaration.align or type_bytes(declaration.type) or 1)
        is_struct = declaration.count is not None
        type_ = ScalarType.B8 if is_struct else scalar_type(declaration.type)
        if type_ is None:
            raise UnsupportedInstruction(
                f"parameters of type .{declaration.type} are not supported",
                source.span(declaration.at, len(name)),
            )
        is_local = declaration.pointee == AddressSpace.SHARED.value
        is_pointer = declaration.pointee is not None and not is_local
        placed[name] = Parameter(name, type_, offset, size, is_struct, is_pointer, is_local)
        end = offset + size
    return tuple(placed.values())


def opaque_parameter(declaration: VariableDeclaration, end: int) -> Parameter:
    """A texture, surface or sampler behind the first `end` bytes: it is given by a number."""
    return Parameter(
        declaration.name,
        ScalarType.B64,
        align_up(end, _NUMBER_BYTES),
        _NUMBER_BYTES,
        is_sampler=declaration.type == "samplerref",
        is_texture=declaration.type == "texref",
        is_surface=declaration.type == "surfref",
    )


def parameter_symbols(
    parameters: Iterable[Parameter], addressed: Collection[str]
) -> dict[str, Symbol]:
    """Symbols in PARAM for the parameters whose address the kernel takes."""
    return {
        p.name: Symbol(p.name, AddressSpace.PARAM, p.size, 1, p.offset)
        for p in parameters
        if p.name in addressed
    }
