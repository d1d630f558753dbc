"""Coordinates to texels: addressing and filters (OpenCL 1.2, 8.2), in single precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernelcast.ptx_frontend.images.code import (
    Condition,
    DescribedImage,
    ImageCode,
    SamplerArgument,
    any_of,
    chosen,
    clamped,
    single,
)
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register
from kernelcast.simcore.launch.image_descriptors import DescriptorField
from kernelcast.simcore.launch.images import Addressing

__all__ = [
    "Axis",
    "axes_of",
    "face_and_place",
    "layer_axis",
    "plain_axis",
]

_EXTENTS = (DescriptorField.WIDTH, DescriptorField.HEIGHT, DescriptorField.DEPTH)


@dataclass(frozen=True, slots=True)
class Axis:
    """Where a read takes texels along one axis: numbers of 32 bits, with a sign.

    `second` with its share `weight` is for the linear filter. `inside` and `second_inside` say
    whether texels are there; None where they must be.
    """

    first: Operand
    second: Operand | None = None
    weight: Operand | None = None
    inside: Operand | None = None
    second_inside: Operand | None = None


def plain_axis(coordinate: Operand) -> Axis:
    """A coordinate that must be that of a texel."""
    return Axis(coordinate)


def layer_axis(call: ImageCode, image: DescribedImage, coordinate: Operand, is_float: bool) -> Axis:
    """The nearest layer that there is."""
    if is_float:
        coordinate = call.compute("cvt.rni.s32.f32", 32, coordinate)
    return Axis(clamped(call, coordinate, image.field(DescriptorField.LAYERS)))


def axes_of(
    call: ImageCode,
    image: DescribedImage,
    sampler: SamplerArgument,
    coordinates: Sequence[Operand],
    is_float: bool,
    offsets: Sequence[Operand] = (),
) -> list[Axis]:
    """The texels and weights of a read along each spatial axis.

    Integer coordinates take the texel itself, or none outside. `offsets` in texels, with a sign,
    are added before coordinates are wrapped, mirrored or clamped.
    """
    found: list[Axis] = []
    for number, (coordinate, place) in enumerate(zip(coordinates, _EXTENTS, strict=False)):
        offset = offsets[number] if offsets else None
        addressing = _Addressing(call, sampler, image.field(place), number, offset)
        if is_float:
            found.append(addressing.axis(coordinate))
        else:
            if offset is not None:
                coordinate = call.compute("add.s32", 32, coordinate, offset)
            found.append(addressing.placed(coordinate, None, None))
    return found


@dataclass(frozen=True, slots=True)
class _Addressing:
    """Axis `number` of an image of `size` texels along it.

    With an `offset` whole texels are wrapped and mirrored, however far outside they are.
    """

    call: ImageCode
    sampler: SamplerArgument
    size: Register
    number: int
    offset: Operand | None = None

    def axis(self, coordinate: Operand) -> Axis:
        call, sampler = self.call, self.sampler
        position = chosen(
            call,
            sampler.is_normalized,
            32,
            lambda: self._scaled(self._repeated(coordinate)),
            lambda: coordinate,
        )
        if self.offset is not None:
            distance = call.compute("cvt.rn.f32.s32", 32, self.offset)
            position = call.compute("add.f32", 32, position, distance)
        linear = sampler.is_linear
        if linear is False:
            return self.placed(self._floor(position), None, None)
        half = single(0.5)
        centred = chosen(
            call,
            linear,
            32,
            lambda: call.compute("sub.f32", 32, position, half),
            lambda: position,
        )
        below = call.compute("cvt.rmi.f32.f32", 32, centred)
        weight = self._weight(call.compute("sub.f32", 32, centred, below))
        first = self._floor(centred)
        second = call.compute("add.s32", 32, first, Immediate(1))
        return self.placed(first, second, weight)

    def placed(self, first: Operand, second: Operand | None, weight: Operand | None) -> Axis:
        """The texels that these numbers mean, outside of the image too."""
        one, inside = self._texel(first)
        if second is None:
            return Axis(one, inside=inside)
        other, second_inside = self._texel(second)
        return Axis(one, other, weight, inside, second_inside)

    def _floor(self, position: Operand) -> Operand:
        return self.call.compute("cvt.rmi.s32.f32", 32, position)

    def _weight(self, fraction: Operand) -> Operand:
        """Rounded to a multiple of 1/256, 1 included, where the filter knows no other."""
        if not self.sampler.has_coarse_weights:
            return fraction
        call = self.call
        steps = call.compute("fma.rn.f32", 32, fraction, single(256.0), single(0.5))
        steps = call.compute("cvt.rmi.f32.f32", 32, steps)
        return call.compute("mul.f32", 32, steps, single(1 / 256))

    def _repeated(self, coordinate: Operand) -> Operand:
        """A normalized coordinate in [0, 1], where the image is repeated."""
        call, sampler = self.call, self.sampler

        def fraction() -> Operand:
            below = call.compute("cvt.rmi.f32.f32", 32, coordinate)
            return call.compute("sub.f32", 32, coordinate, below)

        def mirrored() -> Operand:
            half, two = single(0.5), single(2.0)
            pairs = call.compute("mul.f32", 32, coordinate, half)
            pairs = call.compute("cvt.rni.f32.f32", 32, pairs)
            turning = call.compute("mul.f32", 32, pairs, two)
            distance = call.compute("sub.f32", 32, coordinate, turning)
            return call.compute("abs.f32", 32, distance)

        def unless_repeated() -> Operand:
            if self.offset is not None:
                return coordinate
            mirrors = sampler.addresses(Addressing.MIRRORED_REPEAT, self.number)
            return chosen(call, mirrors, 32, mirrored, lambda: coordinate)

        repeats = sampler.addresses(Addressing.REPEAT, self.number)
        return chosen(call, repeats, 32, fraction, unless_repeated)

    def _scaled(self, coordinate: Operand) -> Operand:
        size = self.call.compute("cvt.rn.f32.s32", 32, self.size)
        return self.call.compute("mul.f32", 32, coordinate, size)

    def _texel(self, number: Operand) -> tuple[Operand, Operand | None]:
        """The texel that a number means, and whether it is in the image if it may be outside."""
        call, sampler = self.call, self.sampler
        found = chosen(
            call,
            sampler.addresses(Addressing.REPEAT, self.number),
            32,
            lambda: self._wrapped(number),
            lambda: number,
        )
        if self.offset is not None:
            number = found
            found = chosen(
                call,
                sampler.addresses(Addressing.MIRRORED_REPEAT, self.number),
                32,
                lambda: self._reflected(number),
                lambda: number,
            )
        clamps = any_of(
            call,
            sampler.addresses(Addressing.CLAMP_TO_EDGE, self.number),
            sampler.addresses(Addressing.MIRRORED_REPEAT, self.number),
        )
        found = chosen(call, clamps, 32, lambda: clamped(call, found, self.size), lambda: found)
        return found, self._inside(found, sampler.addresses(Addressing.CLAMP, self.number))

    def _inside(self, number: Operand, has_border: Condition) -> Operand | None:
        if has_border is False:
            return None
        call = self.call
        inside = call.compute("setp.lt.u32", 1, number, self.size)
        if isinstance(has_border, bool):
            return inside
        needless = call.compute("not.pred", 1, has_border)
        return call.compute("or.pred", 1, inside, needless)

    def _reflected(self, number: Operand) -> Operand:
        """Every second repetition runs backwards."""
        call = self.call
        both = call.compute("add.s32", 32, self.size, self.size)
        within = self._remainder(number, both)
        last = call.compute("sub.s32", 32, both, Immediate(1))
        return call.compute("min.s32", 32, within, call.compute("sub.s32", 32, last, within))

    def _remainder(self, number: Operand, size: Operand) -> Operand:
        """Emits the remainder in [0, size), as a floored division leaves it."""
        call = self.call
        found = call.compute("rem.s32", 32, number, size)
        below = call.compute("setp.lt.s32", 1, found, Immediate(0))
        return call.select(32, below, call.compute("add.s32", 32, found, size), found)

    def _wrapped(self, number: Operand) -> Operand:
        """A number at most one width off, or any with an offset."""
        call, size = self.call, self.size
        if self.offset is not None:
            return self._remainder(number, size)
        below = call.compute("setp.lt.s32", 1, number, Immediate(0))
        more = call.compute("add.s32", 32, number, size)
        found = call.select(32, below, more, number)
        beyond = call.compute("setp.ge.s32", 1, found, size)
        less = call.compute("sub.s32", 32, found, size)
        return call.select(32, beyond, less, found)


def face_and_place(
    call: ImageCode, x: Operand, y: Operand, z: Operand
) -> tuple[Operand, Operand, Operand]:
    """(face, s, t): the face 0 to 5 by the largest coordinate, normalized places on it."""
    far = [call.compute("abs.f32", 32, number) for number in (x, y, z)]
    back = [call.compute("neg.f32", 32, number) for number in (x, y, z)]
    is_x = call.compute(
        "and.pred",
        1,
        call.compute("setp.ge.f32", 1, far[0], far[1]),
        call.compute("setp.ge.f32", 1, far[0], far[2]),
    )
    is_y = call.compute("setp.ge.f32", 1, far[1], far[2])

    def by_axis(of_x: Operand, of_y: Operand, of_z: Operand) -> Operand:
        return call.select(32, is_x, of_x, call.select(32, is_y, of_y, of_z))

    largest = by_axis(x, y, z)
    is_negative = call.compute("setp.lt.f32", 1, largest, single(0.0))

    def by_sign(negative: Operand, positive: Operand) -> Operand:
        return call.select(32, is_negative, negative, positive)

    first = by_axis(Immediate(0), Immediate(2), Immediate(4))
    face = call.compute("add.u32", 32, first, by_sign(Immediate(1), Immediate(0)))
    s = by_axis(by_sign(z, back[2]), x, by_sign(back[0], x))
    t = by_axis(back[1], by_sign(back[2], z), back[1])
    distance = by_axis(*far)
    places: list[Operand] = []
    for side in (s, t):
        share = call.compute("div.rn.f32", 32, side, distance)
        places.append(call.compute("fma.rn.f32", 32, share, single(0.5), single(0.5)))
    return face, places[0], places[1]
