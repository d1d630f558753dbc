"""The value of a read: of one texel, or of those around a place and their weights.

The linear filter adds texels in the order of the formula in OpenCL's specification and CUDA's
programming guide, which are the same; weights and sums are in single precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernelcast.ptx_frontend.images.code import (
    Condition,
    DescribedImage,
    ImageCode,
    chosen,
    single,
)
from kernelcast.ptx_frontend.images.coordinates import Axis
from kernelcast.ptx_frontend.images.texels import channel_values, load_texel, texel_address
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register
from kernelcast.simcore.isa.types import ScalarType
from kernelcast.simcore.launch.image_descriptors import ChannelField, DescriptorField

__all__ = ["Reading"]

_COLOURS = 3
_SRGB_LINEAR_END, _SRGB_SLOPE = 0.04045, 12.92
_SRGB_OFFSET, _SRGB_EXPONENT = 0.055, 2.4


@dataclass(frozen=True, slots=True)
class Reading:
    """Reads the first `count` channels as `element`: f32, s32, u32, or b32 for what they are.

    `is_texture`: the descriptor of the image tells of sRGB and of the border's colour. `is_line`:
    whether the image has one dimension although two are given.
    """

    call: ImageCode
    image: DescribedImage
    element: ScalarType
    count: int
    is_texture: bool = False
    is_line: Operand | None = None

    def texel(self, axes: Sequence[Axis]) -> tuple[Operand, ...]:
        """The channels of the texel at the first place of each axis, or those of the border."""
        call, image = self.call, self.image
        address = texel_address(call, image, [axis.first for axis in axes])
        inside = self._all([axis.inside for axis in axes])
        texel = load_texel(call, image, address, inside)
        values = channel_values(call, image, texel, self.element, self.count)
        if not self.is_texture:
            return values
        if self.element in (ScalarType.F32, ScalarType.B32):
            values = self._linear_colours(values)
        return values if inside is None else self._bordered(values, inside)

    def filtered(self, axes: Sequence[Axis], linear: Condition) -> tuple[Operand, ...]:
        """A loop over the corners around a place, or once where the filter is the nearest texel."""
        call, code = self.call, self.call.code
        sums = tuple(code.register(32) for _ in range(self.count))
        corner = code.register(32)
        for register in (corner, *sums):
            code.move(register, Immediate(0))
        corners: Operand = Immediate(1 << self.image.kind.dimensions)
        if self.is_line is not None:
            corners = call.select(32, self.is_line, Immediate(2), corners)
        most = chosen(call, linear, 32, lambda: corners, lambda: Immediate(1))
        head, after = code.new_block(), code.new_block()
        code.place(head)
        here, weight = self._corner(axes, corner)
        for total, value in zip(sums, self.texel(here), strict=True):
            share = call.compute("mul.f32", 32, weight, value)
            added = call.compute("add.f32", 32, total, share)
            if not isinstance(linear, bool):
                added = call.select(32, linear, added, value)
            code.move(total, added)
        code.assign("add.u32", corner, corner, Immediate(1))
        code.branch(code.compute("setp.lt.u32", 1, corner, most), head, after)
        code.place(after)
        return sums

    def _all(self, conditions: Sequence[Operand | None]) -> Operand | None:
        found: Operand | None = None
        for one in conditions:
            if one is not None:
                found = one if found is None else self.call.compute("and.pred", 1, found, one)
        return found

    def _corner(self, axes: Sequence[Axis], corner: Register) -> tuple[list[Axis], Operand]:
        """The axes at one corner, and its weight; bit n of its number says which side of axis n."""
        call = self.call
        found: list[Axis] = []
        weight: Operand | None = None
        for number, axis in enumerate(axes):
            if axis.second is None or axis.weight is None:
                found.append(axis)
                continue
            bit = call.compute("and.b32", 32, corner, Immediate(1 << number))
            is_second = call.compute("setp.ne.u32", 1, bit, Immediate(0))
            rest = call.compute("sub.f32", 32, single(1.0), axis.weight)
            share = call.select(32, is_second, axis.weight, rest)
            weight = share if weight is None else call.compute("mul.f32", 32, weight, share)
            place = call.select(32, is_second, axis.second, axis.first)
            found.append(Axis(place, inside=self._inside_of_corner(axis, is_second)))
        assert weight is not None
        return found, weight

    def _inside_of_corner(self, axis: Axis, is_second: Operand) -> Operand | None:
        if axis.inside is None or axis.second_inside is None:
            return None
        call = self.call
        second = call.compute("and.pred", 1, is_second, axis.second_inside)
        is_first = call.compute("not.pred", 1, is_second)
        first = call.compute("and.pred", 1, is_first, axis.inside)
        return call.compute("or.pred", 1, first, second)

    def _linear_colours(self, values: tuple[Operand, ...]) -> tuple[Operand, ...]:
        """Red, green and blue from sRGB, where the texture says so (IEC 61966-2-1)."""
        call, code = self.call, self.call.code
        held = tuple(code.in_register(value, 32) for value in values)
        flag = self.image.field(DescriptorField.IS_SRGB)
        convert, after = code.new_block(), code.new_block()
        code.branch(code.compute("setp.ne.u32", 1, flag, Immediate(0)), convert, after)
        code.place(convert)
        for register in held[:_COLOURS]:
            slope = call.compute("mul.f32", 32, register, single(1 / _SRGB_SLOPE))
            raised = call.compute("add.f32", 32, register, single(_SRGB_OFFSET))
            raised = call.compute("mul.f32", 32, raised, single(1 / (1 + _SRGB_OFFSET)))
            power = call.compute("lg2.approx.f32", 32, raised)
            power = call.compute("mul.f32", 32, power, single(_SRGB_EXPONENT))
            power = call.compute("ex2.approx.f32", 32, power)
            is_dark = call.compute("setp.le.f32", 1, register, single(_SRGB_LINEAR_END))
            code.move(register, call.select(32, is_dark, slope, power))
        code.go(after)
        code.place(after)
        return held

    def _bordered(self, values: tuple[Operand, ...], inside: Operand) -> tuple[Operand, ...]:
        """Emits the values, or outside the border's colour in the channels that texels have."""
        call, found = self.call, []
        for number, value in enumerate(values):
            colour = self.image.field(DescriptorField.BORDER + 4 * number)
            bits = self.image.channel(number, ChannelField.BITS)
            lacks = call.compute("setp.eq.u32", 1, bits, Immediate(0))
            takes = call.compute("or.pred", 1, inside, lacks)
            found.append(call.select(32, takes, value, colour))
        return tuple(found)
