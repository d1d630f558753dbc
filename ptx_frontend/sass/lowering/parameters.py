"""Parameters of a kernel, and the textures, surfaces and samplers that its file declares.

The number of a declared object is a word of constant bank 0 behind the parameters; a relocation
says of which object (found by compiling kernels that name objects).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from kernelcast.ptx_frontend.ptx.lowering.variables import align_up
from kernelcast.ptx_frontend.sass.container.cubin import Cubin, CubinFunction, Relocation
from kernelcast.simcore.isa.ir.kernel import Kernel, Parameter
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["object_places", "parameters_of"]

_TYPES = {1: ScalarType.B8, 2: ScalarType.B16, 4: ScalarType.B32, 8: ScalarType.B64}
_NOWHERE = 0xFFFF
"""The place of a parameter that is an object: its number stands elsewhere."""
_NUMBER_BYTES = 8
_TEXTURE, _SURFACE, _SAMPLER = 0x06, 0x34, 0x65
"""Kinds of relocations. Before Hopper a sampler shares the word of its texture, by another."""


def parameters_of(
    cubin: Cubin, function: CubinFunction, source: Kernel | None
) -> tuple[Parameter, ...]:
    """What a cubin tells of parameters, places and sizes, with names and types of the source.

    The assembler aligns places within the whole constant bank, so that they may lie further on.
    Objects come behind what the cubin tells of: the source's, else those that the code uses.
    """
    told = [item for item in function.info.parameters if item.offset != _NOWHERE]
    end = max((item.offset + item.size for item in told), default=0)
    if source is not None:
        known = [parameter for parameter in source.parameters if not _is_placed_behind(parameter)]
        if len(known) != len(told):
            return source.parameters
        places = iter(sorted(item.offset for item in told))
        behind = _numbers_behind(end, len(source.parameters) - len(known))
        return tuple(
            replace(parameter, offset=next(behind if _is_placed_behind(parameter) else places))
            for parameter in source.parameters
        )
    parameters = [
        Parameter(
            name=f"{function.name}_param_{item.ordinal}",
            type=_TYPES.get(item.size, ScalarType.B8),
            offset=item.offset,
            size=item.size,
            is_struct=item.size not in _TYPES,
        )
        for item in told
    ]
    used = _declared(cubin, function)
    objects = {item.symbol: item for item in used.values()}
    behind = _numbers_behind(end, len(objects))
    return tuple(chain(parameters, (_object(item, next(behind)) for item in objects.values())))


def object_places(
    cubin: Cubin, function: CubinFunction, parameters: Sequence[Parameter]
) -> Mapping[int, int]:
    """Places in bank 0 of the numbers of objects, and the places of these as parameters."""
    offsets = {parameter.name: parameter.offset for parameter in parameters}
    return {
        place: offsets[item.symbol]
        for place, item in _declared(cubin, function).items()
        if item.symbol in offsets
    }


def _is_placed_behind(parameter: Parameter) -> bool:
    return parameter.is_texture or parameter.is_surface or parameter.is_sampler


def _numbers_behind(end: int, count: int) -> Iterator[int]:
    first = align_up(end, _NUMBER_BYTES)
    return iter(range(first, first + count * _NUMBER_BYTES, _NUMBER_BYTES))


def _declared(cubin: Cubin, function: CubinFunction) -> dict[int, Relocation]:
    """The objects of words that stand for one each, by place."""
    found: dict[int, list[Relocation]] = {}
    for item in cubin.relocations.get(f".nv.constant0.{function.name}", ()):
        found.setdefault(item.offset, []).append(item)
    return {
        place: items[0]
        for place, items in sorted(found.items())
        if len(items) == 1 and items[0].kind in (_TEXTURE, _SURFACE, _SAMPLER)
    }


def _object(item: Relocation, offset: int) -> Parameter:
    return Parameter(
        item.symbol,
        ScalarType.B64,
        offset,
        _NUMBER_BYTES,
        is_sampler=item.kind == _SAMPLER,
        is_texture=item.kind == _TEXTURE,
        is_surface=item.kind == _SURFACE,
    )
