"""Reads of textures, in PTX and in machine code: coordinates, level and filter to channels.

A read is one instruction; its arithmetic and its loads, one a texel, are part of it. The linear
filter has the 8 bits of fraction that the CUDA programming guide states (texture fetching).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kernelcast.ptx_frontend.images.code import DescribedImage, ObjectCode, SamplerArgument
from kernelcast.ptx_frontend.images.coordinates import Axis, axes_of, face_and_place
from kernelcast.ptx_frontend.images.filtering import Reading
from kernelcast.ptx_frontend.images.geometries import Geometry
from kernelcast.ptx_frontend.images.levels import level_image, level_of_gradients, read_levels
from kernelcast.ptx_frontend.images.texels import CHANNELS
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register
from kernelcast.simcore.isa.types import ScalarType
from kernelcast.simcore.launch.image_descriptors import DescriptorField
from kernelcast.simcore.launch.images import Addressing, Filter, sampler_word

__all__ = ["Fetch", "clamping"]

_FACES = 6
_GATHERED = ((0, 1), (1, 1), (1, 0), (0, 0))
"""tld4: counter-clockwise from the lower left; along x and y, whether the second texel."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """One read: its texture, how that is sampled, and the coordinates.

    `element`: what texels are read as; B32 for what the texture says. `offsets` in texels, by axis;
    empty where there are none. `is_line`: whether the texture has one dimension although the
    instruction names two.
    """

    code: ObjectCode
    geometry: Geometry
    element: ScalarType
    image: DescribedImage
    sampler: SamplerArgument
    is_float: bool
    layer: Operand | None
    places: tuple[Operand, ...]
    offsets: tuple[Operand, ...] = ()
    is_line: Operand | None = None

    def sampled(self, image: DescribedImage) -> Sequence[Operand]:
        """The channels at the coordinates, in one level."""
        axes = self._axes(image, self.sampler)
        reading = self._reading(image, CHANNELS)
        is_filtered = self.element is not ScalarType.S32 and axes[0].second is not None
        linear = self.sampler.is_linear if is_filtered else False
        return reading.texel(axes) if linear is False else reading.filtered(axes, linear)

    def at_level(self, level: Operand, is_base: Operand | None = None) -> Sequence[Operand]:
        """The channels of the nearest level or of two; of the largest one where `is_base` holds."""
        return read_levels(self.code, self.image, level, self.sampled, is_base)

    def at_existing_level(self, level: Operand) -> Sequence[Operand]:
        """The channels of the level of that number, or of the smallest there is."""
        levels = self.image.field(DescriptorField.LEVELS)
        last = self.code.compute("sub.u32", 32, levels, Immediate(1))
        existing = self.code.compute("min.u32", 32, level, last)
        return self.sampled(level_image(self.code, self.image, existing))

    def at_gradients(self, gradients: Sequence[Sequence[Operand]]) -> Sequence[Operand]:
        """The channels of the level that two gradients choose: numbers by axis, in x and in y."""
        is_normalized = self.sampler.is_normalized
        assert not isinstance(is_normalized, bool)
        level = level_of_gradients(self.code, self.image, is_normalized, gradients)
        return self.at_level(level)

    def gathered(self, component: int) -> Sequence[Operand]:
        """One channel of the four texels that the linear filter would take."""
        bits = self.code.compute("or.b32", 32, self.sampler.bits, Immediate(Filter.LINEAR.value))
        axes = self._axes(self.image, replace(self.sampler, bits=bits))
        reading = self._reading(self.image, component + 1)
        found: list[Operand] = []
        for seconds in _GATHERED:
            corner = [
                Axis(axis.second or axis.first, inside=axis.second_inside) if second else axis
                for axis, second in zip(axes, seconds, strict=False)
            ]
            found.append(reading.texel([*corner, *axes[len(corner) :]])[component])
        return found

    def _reading(self, image: DescribedImage, count: int) -> Reading:
        return Reading(self.code, image, self.element, count, True, self.is_line)

    def _axes(self, image: DescribedImage, sampler: SamplerArgument) -> list[Axis]:
        places, layer = self.places, self.layer
        if self.geometry.is_cube:
            face, *places_on_it = face_and_place(self.code, *self.places)
            places = tuple(places_on_it)
            layer = face if layer is None else self._face_of(layer, face)
        axes = axes_of(self.code, image, sampler, places, self.is_float, self.offsets)
        if self.is_line is not None:
            axes[1] = self._unless_line(axes[1], self.is_line)
        if layer is not None:
            axes.append(Axis(self._existing_layer(image, layer)))
        return axes

    def _unless_line(self, axis: Axis, is_line: Operand) -> Axis:
        """The axis that a line does not have: all of it is at 0."""

        def zero_or(number: Operand | None) -> Operand | None:
            if number is None:
                return None
            return self.code.select(32, is_line, Immediate(0), number)

        def true_or(inside: Operand | None) -> Operand | None:
            return None if inside is None else self.code.compute("or.pred", 1, is_line, inside)

        first = self.code.select(32, is_line, Immediate(0), axis.first)
        second, weight = zero_or(axis.second), zero_or(axis.weight)
        return Axis(first, second, weight, true_or(axis.inside), true_or(axis.second_inside))

    def _face_of(self, cube: Operand, face: Operand) -> Operand:
        return self.code.compute("mad.lo.u32", 32, cube, Immediate(_FACES), face)

    def _existing_layer(self, image: DescribedImage, layer: Operand) -> Operand:
        layers = image.field(DescriptorField.LAYERS)
        last = self.code.compute("sub.u32", 32, layers, Immediate(1))
        return self.code.compute("min.u32", 32, layer, last)


def clamping(code: ObjectCode, sampler: SamplerArgument) -> SamplerArgument:
    """The sampler of a cube: coordinates are normalized and clamped to the edges of a face."""
    clamps = sampler_word((Addressing.CLAMP_TO_EDGE,), Filter.NEAREST, True)
    bits: Register = code.compute("and.b32", 32, sampler.bits, Immediate(Filter.LINEAR.value))
    return replace(sampler, bits=code.compute("or.b32", 32, bits, Immediate(clamps)))
