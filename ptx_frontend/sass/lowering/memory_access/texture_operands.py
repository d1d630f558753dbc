"""What the operands of texture instructions hold, which the listing does not say.

An instruction takes a list of words: the layer, the coordinates, the number of the texture where it
is in a register, the level, the offsets. Up to Ada, `.SCR` deals them out to two operands, the
larger half to the first; otherwise the layer and the coordinates are the first operand and all else
is the second. Found by compiling PTX with each of them in use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernelcast.ptx_frontend.images.geometries import Geometry
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.text.operands import (
    ConstantOperand,
    ImmediateOperand,
    NameOperand,
    RegisterOperand,
    SassOperand,
)
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__ = ["ObjectNumber", "TextureShape", "TextureWords", "object_number", "texture_words"]

_GEOMETRIES = {
    "1D": Geometry.D1,
    "2D": Geometry.D2,
    "3D": Geometry.D3,
    "CUBE": Geometry.CUBE,
    "ARRAY_1D": Geometry.A1D,
    "ARRAY_2D": Geometry.A2D,
    "ARRAY_CUBE": Geometry.ACUBE,
}
_HOPPER = 90
_WORD_BYTES = 4
_ALL_CHANNELS = 0xF
_UNMARKED = Immediate(0x7FFFFFFF)


@dataclass(frozen=True, slots=True)
class TextureShape:
    """What stands in the listing; `first`: how many operands are destinations.

    `end`: where among the operands the geometry stands. `mask`: the channels that are written.
    """

    first: int
    end: int
    geometry: Geometry
    mask: int

    @staticmethod
    def of(site: Site) -> TextureShape:
        """The shape of a statement: `[p,] d, d, words..., geometry[, mask]`."""
        first = 3 if site.is_predicate(0) else 2
        for end, operand in enumerate(site.operands):
            if isinstance(operand, NameOperand):
                geometry = _GEOMETRIES.get(operand.name)
                if geometry is None:
                    raise site.refuse(f"a texture of geometry {operand.name}")
                return TextureShape(first, end, geometry, mask_at(site, end + 1))
        raise site.refuse("a texture without a geometry")


def mask_at(site: Site, position: int) -> int:
    """The mask of channels at a position, all of them where none is."""
    if position >= len(site.operands):
        return _ALL_CHANNELS
    mask = site.word(site.operand(position))
    if not isinstance(mask, Immediate) or mask.bits & ~_ALL_CHANNELS:
        raise site.refuse("a mask of channels that is not known")
    return mask.bits


@dataclass(frozen=True, slots=True)
class ObjectNumber:
    """The number of a texture or surface, and that of a sampler where there is room for one."""

    number: Register
    sampler: Operand | None = None


@dataclass(frozen=True, slots=True)
class TextureWords:
    """The words of an instruction, by what they are."""

    layer: Operand | None
    places: tuple[Operand, ...]
    level: Operand | None
    offsets: Operand | None
    object: ObjectNumber


def texture_words(
    site: Site, shape: TextureShape, *, is_in_register: bool, has_level: bool, has_offsets: bool
) -> TextureWords:
    """The words of TEX, TLD or TLD4."""
    geometry = shape.geometry
    placed = geometry.has_layer + geometry.numbers
    others = is_in_register + has_level + has_offsets
    first = placed
    if site.take("SCR"):
        first = (placed + others + 1) // 2
    words = list(site.words(site.operand(shape.first), first))
    position = shape.first + 1
    if placed + others > first:
        words += site.words(site.operand(position), placed + others - first)
        position += 1
    layer = words.pop(0) if geometry.has_layer else None
    places = tuple(words[: geometry.numbers])
    rest = words[geometry.numbers :]
    number = rest.pop(0) if is_in_register else None
    level = rest.pop(0) if has_level else None
    offsets = rest.pop(0) if has_offsets else None
    found = object_number(site, site.operands[position : shape.end], number)
    return TextureWords(layer, places, level, offsets, found)


def object_number(
    site: Site,
    operands: Sequence[SassOperand],
    in_register: Operand | None = None,
    *,
    has_sampler: bool = True,
) -> ObjectNumber:
    """The number that a register has, or that the operands behind the words name.

    Those are a constant bank and a word in it, or a uniform register, of textures a pair, and up to
    Hopper a zero. The upper one of the pair has the number of a sampler; before Hopper it has the
    upper bits of the lower one, where samplers stand too, so that no texture has that number.
    """
    if in_register is not None:
        if operands:
            raise site.refuse("a texture of no known place")
        return ObjectNumber(_unmarked(site, in_register))
    numbers = [o.value for o in operands if isinstance(o, ImmediateOperand) and o.value is not None]
    first = operands[0] if operands else None
    if isinstance(first, RegisterOperand) and first.file == "UR":
        if len(operands) != 1 + len(numbers) or any(numbers):
            raise site.refuse("what stands behind the number of a texture or surface")
        if site.architecture < _HOPPER:
            return ObjectNumber(_unmarked(site, site.word(first)))
        number, *sampler = site.words(first, 1 + has_sampler)
        return ObjectNumber(_wide(site, number), sampler[0] if sampler else None)
    if len(numbers) != 2 or len(operands) != 2:
        raise site.refuse("a texture of no known place")
    place = ConstantOperand(numbers[0], _WORD_BYTES * numbers[1])
    return ObjectNumber(_wide(site, site.constant(place, _WORD_BYTES)))


def _unmarked(site: Site, number: Operand) -> Register:
    """The number without its highest bit: the assembler so marks those of declared objects."""
    return _wide(site, site.compute("and.b32", 32, number, _UNMARKED))


def _wide(site: Site, number: Operand) -> Register:
    return site.compute("cvt.u64.u32", 64, site.in_register(number, 32))
