"""Levels of a mipmap: which one a read takes, and what two of them give together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce

from kernelcast.ptx_frontend.images.code import DescribedImage, ImageCode, single
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register
from kernelcast.simcore.launch.image_descriptors import DESCRIPTOR_BYTES, DescriptorField

__all__ = ["level_image", "level_of_gradients", "read_levels"]

_EXTENTS = (DescriptorField.WIDTH, DescriptorField.HEIGHT, DescriptorField.DEPTH)
_WEIGHTS = 256.0
_CHANNELS = 4


def level_of_gradients(
    call: ImageCode,
    image: DescribedImage,
    is_normalized: Operand,
    gradients: Sequence[Sequence[Operand]],
) -> Operand:
    """log2 of the longer gradient in texels; `gradients`: one number for each axis, in x and y."""
    lengths: list[Operand] = []
    for gradient in gradients:
        squares: list[Operand] = []
        for number, field in zip(gradient, _EXTENTS, strict=False):
            size = call.compute("cvt.rn.f32.u32", 32, image.field(field))
            scale = call.select(32, is_normalized, size, single(1.0))
            texels = call.compute("mul.f32", 32, number, scale)
            squares.append(call.compute("mul.f32", 32, texels, texels))
        lengths.append(reduce(lambda a, b: call.compute("add.f32", 32, a, b), squares))
    longest = reduce(lambda a, b: call.compute("max.f32", 32, a, b), lengths)
    # the logarithm of a square is twice that of the length
    return call.compute("mul.f32", 32, call.compute("lg2.approx.f32", 32, longest), single(0.5))


def level_image(call: ImageCode, image: DescribedImage, level: Operand) -> DescribedImage:
    """The level of that number, which there must be."""
    step = Immediate(DESCRIPTOR_BYTES)
    handle = call.code.compute("mad.wide.u32", 64, level, step, image.handle)
    return replace(image, handle=handle)


def read_levels(
    call: ImageCode,
    image: DescribedImage,
    level: Operand,
    read: Callable[[DescribedImage], Sequence[Operand]],
    is_base: Operand | None = None,
) -> tuple[Register, ...]:
    """The nearest level, or both around `level` where the texture says so; weights of 1/256.

    The largest level alone where `is_base` holds.
    """
    code = call.code
    first, weight, is_linear = _chosen_levels(call, image, level)
    if is_base is not None:
        first = call.select(32, is_base, Immediate(0), first)
        is_other = call.compute("not.pred", 1, is_base)
        is_linear = code.compute("and.pred", 1, is_linear, is_other)
    last = call.compute("sub.u32", 32, image.field(DescriptorField.LEVELS), Immediate(1))
    second = call.compute("add.u32", 32, first, Immediate(1))
    second = call.compute("min.u32", 32, second, last)
    rest = call.compute("sub.f32", 32, single(1.0), weight)
    values = tuple(code.register(32) for _ in range(_CHANNELS))
    number, is_second = code.register(32), code.register(1)
    for register in values:
        code.move(register, Immediate(0))
    code.move(number, first)
    code.move(is_second, Immediate(0))
    head, after = code.new_block(), code.new_block()
    code.place(head)
    found = read(level_image(call, image, number))
    for register, value in zip(values, found, strict=False):
        share = call.compute("mul.f32", 32, rest, register)
        both = call.compute("fma.rn.f32", 32, weight, value, share)
        code.move(register, call.select(32, is_second, both, value))
    is_first = call.compute("not.pred", 1, is_second)
    goes_on = code.compute("and.pred", 1, is_linear, is_first)
    code.move(number, second)
    code.move(is_second, Immediate(1))
    code.branch(goes_on, head, after)
    code.place(after)
    return values[: len(found)]


def _chosen_levels(
    call: ImageCode, image: DescribedImage, level: Operand
) -> tuple[Operand, Operand, Operand]:
    """The first level, the weight of the one behind it, and whether that is read too."""
    level = call.compute("add.f32", 32, level, image.field(DescriptorField.LEVEL_BIAS))
    level = call.compute("max.f32", 32, level, image.field(DescriptorField.LEAST_LEVEL))
    level = call.compute("min.f32", 32, level, image.field(DescriptorField.LARGEST_LEVEL))
    flag = image.field(DescriptorField.IS_LEVEL_LINEAR)
    is_linear = call.compute("setp.ne.u32", 1, flag, Immediate(0))
    rounding = call.select(32, is_linear, single(0.0), single(0.5))
    below = call.compute("cvt.rmi.f32.f32", 32, call.compute("add.f32", 32, level, rounding))
    fraction = call.compute("sub.f32", 32, level, below)
    steps = call.compute("fma.rn.f32", 32, fraction, single(_WEIGHTS), single(0.5))
    steps = call.compute("cvt.rmi.f32.f32", 32, steps)
    weight = call.compute("mul.f32", 32, steps, single(1 / _WEIGHTS))
    return call.compute("cvt.rzi.u32.f32", 32, below), weight, is_linear
