"""Reads of textures: `tex` and `tld4` (PTX ISA, texture instructions)."""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.ptx_frontend.images.code import DescribedImage, SamplerArgument
from kernelcast.ptx_frontend.images.fetches import Fetch, clamping
from kernelcast.ptx_frontend.ptx.legal.texture_forms import LevelChoice, TextureForm, texture_form
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.guards import gone_round
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.ptx_frontend.ptx.text.mnemonics import Refusal
from kernelcast.ptx_frontend.ptx.textures.objects import (
    TextureCode,
    declared_sampler,
    object_number,
    vector_items,
)
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand
from kernelcast.simcore.isa.types import ScalarType
from kernelcast.simcore.launch.image_descriptors import DescriptorField, ShapeBits

__all__ = ["lower_texture"]

_UNIFIED, _INDEPENDENT = 2, 3
_MOST_OPTIONS = 2


def lower_texture(site: Site, builder: BasicBlockBuilder) -> None:
    """Guarded, it becomes a branch around the read."""
    form = texture_form(site.mnemonic)
    if isinstance(form, Refusal):
        raise site.unsupported(form.reason)
    with gone_round(site, builder):
        code, fetch = _begun(site, builder, form)
        _store(code, form, _channels(site, form, fetch))


def _offsets(site: Site, form: TextureForm, known: int) -> tuple[Operand, ...]:
    """The offsets in `{, offsets}{, depth}` behind the operands that every form has."""
    options = site.operands[known:]
    if not options or len(options) > _MOST_OPTIONS:
        return ()
    if not isinstance(options[-1], syntax.VectorOperand):
        what = "a comparison of depth (samplers of CUDA name none)"
        raise site.refused(what)
    if form.geometry.is_cube:
        raise site.refused("texel offsets")
    count = form.geometry.numbers
    return tuple(_numbers(site, known, count, ScalarType.S32))


def _begun(site: Site, builder: BasicBlockBuilder, form: TextureForm) -> tuple[TextureCode, Fetch]:
    counts = _operand_counts(form)
    offsets = _offsets(site, form, max(counts))
    site.expect_operands(*(count + bool(offsets) for count in counts))
    object_ = site.operands[1]
    items = object_.items if isinstance(object_, syntax.BracketOperand) else ()
    if len(items) not in (_UNIFIED, _INDEPENDENT):
        raise site.error(f"{site.mnemonic!r} takes [texture, coordinates] here", 1)
    code = TextureCode.begun(site, builder)
    handle = code.accessed(items[0], 1)
    image = DescribedImage(code.code, handle, form.geometry.kind, False, True)
    sampler = _sampler(code, image, items[1] if len(items) == _INDEPENDENT else None)
    if form.geometry.is_cube:
        sampler = clamping(code, sampler)
    is_number = form.element is ScalarType.F32
    code.end_unless(
        image.has_shape(form.geometry.shape, 0 if is_number else ShapeBits.INTEGER),
        f"the texture is no .{form.geometry.title} one"
        + (" that is read as floating-point numbers" if is_number else ""),
    )
    layer, places = _coordinates(site, form, items[-1])
    is_float = form.coordinate.is_float
    fetch = Fetch(
        code, form.geometry, form.element, image, sampler, is_float, layer, places, offsets
    )
    return code, fetch


def _channels(site: Site, form: TextureForm, fetch: Fetch) -> Sequence[Operand]:
    """The channels of the level that the instruction chooses, or what it gathers."""
    if form.component is not None:
        return fetch.gathered(form.component)
    if form.choice is LevelChoice.BASE:
        return fetch.sampled(fetch.image)
    if form.choice is LevelChoice.LEVEL:
        level = site.source(site.operands[2], 2, form.coordinate)
        is_number = form.coordinate is ScalarType.S32
        return fetch.at_existing_level(level) if is_number else fetch.at_level(level)
    count = form.geometry.numbers
    return fetch.at_gradients([_numbers(site, i, count, ScalarType.F32) for i in (2, 3)])


def _store(code: TextureCode, form: TextureForm, values: Sequence[Operand]) -> None:
    """Writes the destinations, none of them before all sources were read."""
    site = code.site
    items = vector_items(site.operands[0])
    if len(items) != form.vector:
        raise site.error(f"{site.mnemonic!r} gives {form.vector} values, got {len(items)}", 0)
    if form.is_packed or form.type is ScalarType.F16:
        values = [code.compute("cvt.rn.f16.f32", 16, value) for value in values]
    if form.is_packed:
        values = [code.packed(values[n : n + 2]) for n in (0, 2)]
    for item, value in zip(items, values, strict=True):
        register = site.destination(item, 0, form.type)
        if register is not None:
            code.code.move(register, value)
    operand = site.operands[0]
    if isinstance(operand, syntax.VectorOperand) and operand.predicate:
        is_there = site.destination_named(operand.predicate, 0, ScalarType.PRED)
        if is_there is not None:
            code.code.move(is_there, Immediate(1))


def _operand_counts(form: TextureForm) -> tuple[int, ...]:
    return {LevelChoice.BASE: (2,), LevelChoice.LEVEL: (3,), LevelChoice.GRADIENTS: (4,)}[
        form.choice
    ]


def _sampler(
    code: TextureCode, image: DescribedImage, operand: syntax.Operand | None
) -> SamplerArgument:
    """The texture's own, one that the instruction names, or one that stands in the file."""
    bits: Operand
    declared = None if operand is None else declared_sampler(code.site, operand)
    if operand is None:
        bits = image.field(DescriptorField.SAMPLER)
    elif declared is None:
        bits = code.compute("cvt.u32.u64", 32, object_number(code, operand, 1))
    else:
        number, is_forced = declared
        bits = code.code.in_register(Immediate(number), 32)
        if not is_forced:
            own = image.field(DescriptorField.SAMPLER)
            own = code.compute("and.b32", 32, own, Immediate(1))
            bits = code.compute("or.b32", 32, bits, own)
    return SamplerArgument(code, bits, has_axes=True, has_coarse_weights=True)


def _coordinates(
    site: Site, form: TextureForm, operand: syntax.Operand
) -> tuple[Operand | None, tuple[Operand, ...]]:
    """(layer, places); vectors may hold one more element, which says nothing."""
    items, geometry = vector_items(operand), form.geometry
    first = int(geometry.has_layer)
    needed = first + geometry.numbers
    if not needed <= len(items) <= max(needed, 4):
        raise site.error(f"{site.mnemonic!r} takes {needed} coordinates, got {len(items)}", 1)
    layer = site.source(items[0], 1, ScalarType.U32) if first else None
    return layer, tuple(site.source(item, 1, form.coordinate) for item in items[first:needed])


def _numbers(site: Site, index: int, count: int, type_: ScalarType) -> list[Operand]:
    items = vector_items(site.operands[index])
    if len(items) < count:
        raise site.error(f"{site.mnemonic!r} takes {count} numbers here", index)
    return [site.source(item, index, type_) for item in items[:count]]
