"""Reads of textures: `tex` and `tld4` (PTX ISA, texture instructions).

A read is one instruction; its arithmetic and its loads, one a texel, are part of it. The linear
filter has the 8 bits of fraction that the CUDA programming guide states (texture fetching).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kernelcast.ptx_frontend.images.code import DescribedImage, SamplerArgument
from kernelcast.ptx_frontend.images.coordinates import Axis, axes_of, face_and_place
from kernelcast.ptx_frontend.images.filtering import Reading
from kernelcast.ptx_frontend.images.levels import level_image, level_of_gradients, read_levels
from kernelcast.ptx_frontend.images.texels import CHANNELS
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
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register
from kernelcast.simcore.isa.types import ScalarType
from kernelcast.simcore.launch.image_descriptors import DescriptorField, ShapeBits
from kernelcast.simcore.launch.images import Addressing, Filter, sampler_word

__all__ = ["lower_texture", "refuse_other_shapes"]

_FACES = 6
_GATHERED = ((0, 1), (1, 1), (1, 0), (0, 0))
"""tld4: counter-clockwise from the lower left; along x and y, whether the second texel."""
_UNIFIED, _INDEPENDENT = 2, 3
_MOST_OPTIONS = 2


def lower_texture(site: Site, builder: BasicBlockBuilder) -> None:
    """Guarded, it becomes a branch around the read."""
    form = texture_form(site.mnemonic)
    if isinstance(form, Refusal):
        raise site.unsupported(form.reason)
    with gone_round(site, builder):
        _Fetch.begun(site, builder, form).write()


def refuse_other_shapes(
    code: TextureCode, image: DescribedImage, shape: int, ignored: int, what: str
) -> None:
    """Ends the kernel where the object is of another shape than the instruction says."""
    found = image.field(DescriptorField.SHAPE)
    if ignored:
        found = code.compute("and.b32", 32, found, Immediate(0xFFFFFFFF ^ ignored))
    fits = code.compute("setp.eq.u32", 1, found, Immediate(shape))
    builder, here = code.code.builder, code.code.new_block()
    code.code.branch(fits, here, builder.trap(code.site.span, what, is_part=True))
    code.code.place(here)


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


@dataclass(frozen=True, slots=True)
class _Fetch:
    """One read: what it names, and its coordinates."""

    code: TextureCode
    form: TextureForm
    image: DescribedImage
    sampler: SamplerArgument
    layer: Operand | None
    places: tuple[Operand, ...]
    offsets: tuple[Operand, ...]
    """Offsets in texels, by axis; empty where there are none."""

    @staticmethod
    def begun(site: Site, builder: BasicBlockBuilder, form: TextureForm) -> _Fetch:
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
            bits = code.compute("or.b32", 32, sampler.bits, Immediate(1))
            sampler = replace(sampler, bits=_clamping(code, bits))
        is_read_as_number = form.element is ScalarType.F32
        refuse_other_shapes(
            code,
            image,
            form.geometry.shape,
            0 if is_read_as_number else ShapeBits.INTEGER,
            f"the texture is no .{form.geometry.title} one"
            + (" that is read as floating-point numbers" if is_read_as_number else ""),
        )
        layer, places = _coordinates(site, form, items[-1])
        return _Fetch(code, form, image, sampler, layer, places, offsets)

    def write(self) -> None:
        if self.form.component is None:
            self._store(self._levels())
        else:
            self._store(self._gathered(self.form.component))

    def _levels(self) -> Sequence[Operand]:
        """The channels of the level that the instruction chooses."""
        site, form = self.code.site, self.form
        if form.choice is LevelChoice.BASE:
            return self._sampled(self.image)
        if form.choice is LevelChoice.LEVEL:
            level = site.source(site.operands[2], 2, form.coordinate)
            if form.coordinate is ScalarType.S32:
                return self._sampled(level_image(self.code, self.image, self._existing(level)))
        else:
            count = form.geometry.numbers
            gradients = [_numbers(site, i, count, ScalarType.F32) for i in (2, 3)]
            is_normalized = self.sampler.is_normalized
            assert not isinstance(is_normalized, bool)
            level = level_of_gradients(self.code, self.image, is_normalized, gradients)
        return read_levels(self.code, self.image, level, self._sampled)

    def _existing(self, level: Operand) -> Operand:
        last = self.code.compute(
            "sub.u32", 32, self.image.field(DescriptorField.LEVELS), Immediate(1)
        )
        return self.code.compute("min.u32", 32, level, last)

    def _sampled(self, image: DescribedImage) -> Sequence[Operand]:
        element, sampler = self.form.element, self.sampler
        axes = self._axes(image, sampler)
        reading = Reading(self.code, image, element, CHANNELS, is_texture=True)
        is_filtered = element is ScalarType.F32 and axes[0].second is not None
        linear = sampler.is_linear if is_filtered else False
        return reading.texel(axes) if linear is False else reading.filtered(axes, linear)

    def _axes(self, image: DescribedImage, sampler: SamplerArgument) -> list[Axis]:
        is_float = self.form.coordinate.is_float
        places, layer = self.places, self.layer
        if self.form.geometry.is_cube:
            face, *places_on_it = face_and_place(self.code, *self.places)
            places = tuple(places_on_it)
            layer = face if layer is None else self._face_of(layer, face)
        axes = axes_of(self.code, image, sampler, places, is_float, self.offsets)
        if layer is not None:
            axes.append(Axis(self._existing_layer(image, layer)))
        return axes

    def _face_of(self, cube: Operand, face: Operand) -> Operand:
        return self.code.compute("mad.lo.u32", 32, cube, Immediate(_FACES), face)

    def _existing_layer(self, image: DescribedImage, layer: Operand) -> Operand:
        layers = image.field(DescriptorField.LAYERS)
        last = self.code.compute("sub.u32", 32, layers, Immediate(1))
        return self.code.compute("min.u32", 32, layer, last)

    def _gathered(self, component: int) -> Sequence[Operand]:
        """One channel of the four texels that the linear filter would take."""
        bits = self.code.compute("or.b32", 32, self.sampler.bits, Immediate(Filter.LINEAR.value))
        axes = self._axes(self.image, replace(self.sampler, bits=bits))
        reading = Reading(self.code, self.image, self.form.element, component + 1, is_texture=True)
        found: list[Operand] = []
        for seconds in _GATHERED:
            corner = [
                Axis(axis.second or axis.first, inside=axis.second_inside) if second else axis
                for axis, second in zip(axes, seconds, strict=False)
            ]
            found.append(reading.texel([*corner, *axes[len(corner) :]])[component])
        return found

    def _store(self, values: Sequence[Operand]) -> None:
        """Writes the destinations, none of them before all sources were read."""
        site, form, code = self.code.site, self.form, self.code
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


def _clamping(code: TextureCode, bits: Operand) -> Register:
    """The sampler's bits with coordinates clamped to the edges."""
    clamps = sampler_word((Addressing.CLAMP_TO_EDGE,), Filter.NEAREST, False)
    other = code.compute("and.b32", 32, bits, Immediate(1 | Filter.LINEAR.value))
    return code.compute("or.b32", 32, other, Immediate(clamps))


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
