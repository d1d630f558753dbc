"""Texels in memory: their addresses, and what their bits mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernelcast.ptx_frontend.images.code import DescribedImage, ImageCode, single
from kernelcast.simcore.isa.ir.kernel import Address, Guard, Immediate, Operand, Register
from kernelcast.simcore.isa.types import AddressSpace, ScalarType
from kernelcast.simcore.launch.image_descriptors import (
    ChannelField,
    DescriptorField,
    EncodingCode,
    ShapeBits,
)

__all__ = [
    "CHANNELS",
    "Texel",
    "channel_values",
    "holds_integers",
    "load_texel",
    "store_texel",
    "stored_texel",
    "texel_address",
]

CHANNELS = 4
_ALPHA = 3
_SIZES = (4, 16, 8, 1, 2)
"""Sizes of texels in bytes, the most frequent ones first."""
_HALF_TEXEL = 64
_ALL_ONES = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Texel:
    """The bits of a texel, 64 in each half; all zero for the colour of the border."""

    low: Operand
    high: Operand


def texel_address(call: ImageCode, image: DescribedImage, places: Sequence[Operand]) -> Register:
    """Emits the address of the texel at (x[, y][, z or layer])."""
    address = image.texels()
    steps = [DescriptorField.TEXEL_BYTES]
    if image.kind.dimensions > 1:
        steps.append(DescriptorField.ROW_PITCH)
    if image.kind.axes > image.kind.dimensions or image.kind.dimensions > 2:
        steps.append(DescriptorField.SLICE_PITCH)
    for number, field in zip(places, steps, strict=True):
        address = call.code.compute("mad.wide.s32", 64, number, image.field(field), address)
    return address


def load_texel(
    call: ImageCode, image: DescribedImage, address: Register, inside: Operand | None
) -> Texel:
    """One load of the size that the descriptor says, in the lanes where `inside` holds."""
    code = call.code
    low, high = code.register(64), code.register(64)
    code.move(low, Immediate(0))
    code.move(high, Immediate(0))
    guard = None if inside is None else Guard(code.in_register(inside, 1), negated=False)
    cache = "nc" if image.is_read_only else ""
    place = Address(AddressSpace.GLOBAL, address, 0)
    size, done = image.field(DescriptorField.TEXEL_BYTES), code.new_block()
    for number, wanted in enumerate(_SIZES):
        following = _unless(call, size, wanted, number)
        if wanted > 4:
            code.load(ScalarType.B64, place, (low, high)[: wanted // 8], cache=cache, guard=guard)
        else:
            # an unsigned load fills the register
            code.load(ScalarType.named(f"u{8 * wanted}"), place, (low,), cache=cache, guard=guard)
        code.go(done)
        if following is not None:
            code.place(following)
    code.place(done)
    return Texel(low, high)


def _unless(call: ImageCode, size: Register, wanted: int, number: int) -> int | None:
    """Begins the basic block for texels of a size; gives that for all others."""
    if number == len(_SIZES) - 1:
        return None
    code, here, following = call.code, call.code.new_block(), call.code.new_block()
    is_it = code.compute("setp.eq.u32", 1, size, Immediate(wanted))
    code.branch(is_it, here, following)
    code.place(here)
    return following


def store_texel(call: ImageCode, image: DescribedImage, address: Register, texel: Texel) -> None:
    """Emits the store of a texel, as wide as the image's format says."""
    code = call.code
    place = Address(AddressSpace.GLOBAL, address, 0)
    size, done = image.field(DescriptorField.TEXEL_BYTES), code.new_block()
    for number, wanted in enumerate(_SIZES):
        following = _unless(call, size, wanted, number)
        if wanted > 4:
            code.store(ScalarType.B64, place, (texel.low, texel.high)[: wanted // 8])
        else:
            bits = max(8 * wanted, 16)
            narrow = code.compute(f"cvt.u{bits}.u64", bits, texel.low)
            code.store(ScalarType.named(f"u{8 * wanted}"), place, (narrow,))
        code.go(done)
        if following is not None:
            code.place(following)
    code.place(done)


def channel_values(
    call: ImageCode, image: DescribedImage, texel: Texel, element: ScalarType, count: int
) -> tuple[Operand, ...]:
    """The first `count` channels as `element`: f32, s32, u32, or b32 for what the texels are."""
    if element is ScalarType.B32:
        return _own_values(call, image, texel, count)
    is_float = element is ScalarType.F32
    one = single(1.0) if is_float else Immediate(1)
    found: list[Operand] = []
    for number in range(count):
        bits = _bits_of(call, image, texel, number)
        if is_float:
            value = _as_float(call, image, bits, number)
        elif element is ScalarType.S32:
            value = _with_sign(call, image, bits, number)
        else:
            value = bits
        if number == _ALPHA:
            width = image.channel(number, ChannelField.BITS)
            is_there = call.compute("setp.ne.u32", 1, width, Immediate(0))
            value = call.select(32, is_there, value, one)
        found.append(value)
    return tuple(found)


def _own_values(
    call: ImageCode, image: DescribedImage, texel: Texel, count: int
) -> tuple[Operand, ...]:
    """Integers where the texels are integers, else numbers of single precision."""
    code = call.code
    values = tuple(code.register(32) for _ in range(count))
    integers, numbers, after = code.new_block(), code.new_block(), code.new_block()
    code.branch(holds_integers(call, image), integers, numbers)
    for block, element in ((integers, ScalarType.S32), (numbers, ScalarType.F32)):
        code.place(block)
        found = channel_values(call, image, texel, element, count)
        for value, channel in zip(values, found, strict=True):
            code.move(value, channel)
        code.go(after)
    code.place(after)
    return values


def holds_integers(call: ImageCode, image: DescribedImage) -> Register:
    """Whether texels are integers, which are no shares of the largest one."""
    shape = image.field(DescriptorField.SHAPE)
    bit = call.code.compute("and.b32", 32, shape, Immediate(ShapeBits.INTEGER))
    return call.code.compute("setp.ne.u32", 1, bit, Immediate(0))


def _bits_of(call: ImageCode, image: DescribedImage, texel: Texel, number: int) -> Operand:
    """The bits of a channel; shifts by 64 and more leave nothing."""
    position = image.channel(number, ChannelField.POSITION)
    above = call.compute("sub.u32", 32, position, Immediate(_HALF_TEXEL))
    low = call.compute("shr.u64", 64, texel.low, position)
    high = call.compute("shr.u64", 64, texel.high, above)
    both = call.compute("cvt.u32.u64", 32, call.compute("or.b64", 64, low, high))
    width = image.channel(number, ChannelField.BITS)
    return call.compute("bfe.u32", 32, both, Immediate(0), width)


def _with_sign(call: ImageCode, image: DescribedImage, bits: Operand, number: int) -> Operand:
    """The sign is the bit above the largest number."""
    largest = image.channel(number, ChannelField.LARGEST)
    mask = image.field(DescriptorField.SIGN_MASK)
    sign = call.compute("add.u32", 32, largest, Immediate(1))
    sign = call.compute("and.b32", 32, sign, mask)
    flipped = call.compute("xor.b32", 32, bits, sign)
    return call.compute("sub.s32", 32, flipped, sign)


def _as_float(call: ImageCode, image: DescribedImage, bits: Operand, number: int) -> Operand:
    largest = image.channel(number, ChannelField.LARGEST)
    # a channel that the texel lacks is 0, whatever divides it
    divisor = call.compute("max.u32", 32, largest, Immediate(1))
    divisor = call.compute("cvt.rn.f32.u32", 32, divisor)
    whole = call.compute("cvt.rn.f32.s32", 32, _with_sign(call, image, bits, number))
    normalized = call.compute("div.rn.f32", 32, whole, divisor)
    least = single(-1.0)
    normalized = call.compute("max.f32", 32, normalized, least)
    half = call.compute("cvt.f32.f16", 32, call.compute("cvt.u16.u32", 16, bits))
    return _by_encoding(call, image, normalized, half, bits)


def _by_encoding(
    call: ImageCode, image: DescribedImage, normalized: Operand, half: Operand, plain: Operand
) -> Operand:
    code = image.field(DescriptorField.ENCODING)
    is_half = call.compute("setp.eq.u32", 1, code, Immediate(EncodingCode.HALF))
    is_float = call.compute("setp.eq.u32", 1, code, Immediate(EncodingCode.FLOAT))
    found = call.select(32, is_half, half, normalized)
    return call.select(32, is_float, plain, found)


def stored_texel(
    call: ImageCode, image: DescribedImage, values: Sequence[Operand], element: ScalarType
) -> Texel:
    """The texel that holds the channels' values, as near as its numbers come."""
    low: Operand = Immediate(0)
    high: Operand = Immediate(0)
    for number, value in enumerate(values):
        bits = _stored_bits(call, image, value, element, number)
        mask = image.channel(number, ChannelField.STORED_MASK)
        kept = call.compute("and.b32", 32, bits, mask)
        wide = call.compute("cvt.u64.u32", 64, kept)
        position = image.channel(number, ChannelField.POSITION)
        above = call.compute("sub.u32", 32, position, Immediate(_HALF_TEXEL))
        low = call.compute("or.b64", 64, low, call.compute("shl.b64", 64, wide, position))
        high = call.compute("or.b64", 64, high, call.compute("shl.b64", 64, wide, above))
    return Texel(low, high)


def _stored_bits(
    call: ImageCode, image: DescribedImage, value: Operand, element: ScalarType, number: int
) -> Operand:
    largest = image.channel(number, ChannelField.LARGEST)
    if element is ScalarType.U32:
        return call.compute("min.u32", 32, value, largest)
    if element is ScalarType.S32:
        mask = image.field(DescriptorField.SIGN_MASK)
        has_sign = call.compute("setp.ne.u32", 1, mask, Immediate(0))
        below = call.compute("min.u32", 32, value, largest)
        return call.select(32, has_sign, _saturated(call, image, value, largest), below)
    scale = call.compute("cvt.rn.f32.u32", 32, largest)
    scaled = call.compute("mul.f32", 32, value, scale)
    whole = _saturated(call, image, call.compute("cvt.rni.s32.f32", 32, scaled), largest)
    half = call.compute("cvt.rn.f16.f32", 16, value)
    half = call.compute("cvt.u32.u16", 32, half)
    return _by_encoding(call, image, whole, half, value)


def _saturated(call: ImageCode, image: DescribedImage, value: Operand, largest: Operand) -> Operand:
    """Emits the value clamped to between the least number, 0 if unsigned, and the largest."""
    mask = image.field(DescriptorField.SIGN_MASK)
    least = call.compute("xor.b32", 32, largest, Immediate(_ALL_ONES))
    least = call.compute("and.b32", 32, least, mask)
    below = call.compute("min.s32", 32, value, largest)
    return call.compute("max.s32", 32, below, least)
