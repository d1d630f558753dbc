"""The 128 bytes of a tensor map.

`tensormap.replace` writes single fields of it, which the assembler does with ordinary stores: they
are where those stores put them (each compiled for sm_90a and sm_100a, and read back). What it has
no instruction for, the fields of im2col maps and a mark, stands in the second half as we like it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "BOX_FIELDS",
    "ELEMENT_FIELD",
    "FILL_FIELD",
    "INTERLEAVE_FIELD",
    "MOST_DIMENSIONS",
    "RANK_FIELD",
    "ROUNDED_FIELD",
    "SIZE_PLACE",
    "STEP_FIELDS",
    "STRIDE_FIELDS",
    "STRIDE_PLACE",
    "STRIDE_UNIT_BITS",
    "SWIZZLE_FIELD",
    "TENSOR_MAP_BYTES",
    "BitField",
    "TensorMapWords",
    "element_codes",
]

TENSOR_MAP_BYTES = 128
MOST_DIMENSIONS = 5
STRIDE_PLACE, SIZE_PLACE = 0x0C, 0x20
STRIDE_UNIT_BITS = 4
"""Strides count pieces of 16 bytes, 32 bits of them in a word each and four elsewhere."""
_MODES, _STEPS, _BOX = 0x08, 0x34, 0x38
_MARK = 0x70616D74
_OURS = struct.Struct("<3b3bHHxxI")
_OURS_AT = 0x40
_ROUNDED = {11: 7, 12: 8}
"""Numbers of tf32, plain and flushed, and those of f32."""
_PACKED_FROM, _PACKED_CODE = 13, 11


@dataclass(frozen=True, slots=True)
class BitField:
    """`bits` of a word of 32 bits at byte `place`, from bit `shift` on."""

    place: int
    shift: int
    bits: int

    @property
    def mask(self) -> int:
        """The field's bits within its word."""
        return ((1 << self.bits) - 1) << self.shift


RANK_FIELD = BitField(_MODES, 4, 3)
"""One less than the number of dimensions."""
ELEMENT_FIELD, ROUNDED_FIELD = BitField(_MODES, 7, 4), BitField(_MODES, 16, 1)
"""The type of elements, and whether it is tf32 instead of f32."""
INTERLEAVE_FIELD = BitField(_MODES, 11, 2)
SWIZZLE_FIELD = BitField(_MODES, 13, 2)
FILL_FIELD = BitField(_MODES, 15, 1)
STRIDE_FIELDS = tuple(BitField(0x1C, 4 * index, 4) for index in range(MOST_DIMENSIONS - 1))
"""The upper bits of strides."""
STEP_FIELDS = tuple(BitField(_STEPS, 3 * index, 3) for index in range(MOST_DIMENSIONS))
BOX_FIELDS = (
    BitField(_STEPS, 24, 8),
    *(BitField(_BOX, 8 * index, 8) for index in range(MOST_DIMENSIONS - 1)),
)
"""Steps, sizes of a box and of the tensor are stored less one."""


def element_codes(number: int) -> tuple[int, int]:
    """What stands in both fields for the number of a type (PTX ISA 9.0, tensormap.replace)."""
    if number in _ROUNDED:
        return _ROUNDED[number], 1
    return (number if number < _PACKED_FROM else number - _PACKED_FROM + _PACKED_CODE), 0


def _element_number(code: int, is_rounded: int) -> int:
    if is_rounded:
        return next((number for number, own in _ROUNDED.items() if own == code), code)
    return code if code < _PACKED_CODE else code - _PACKED_CODE + _PACKED_FROM


@dataclass(frozen=True, slots=True)
class TensorMapWords:
    """All fields as numbers: sizes, box and steps of five dimensions, four strides in bytes."""

    address: int
    strides: tuple[int, ...]
    sizes: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...]
    rank: int
    element: int
    interleave: int
    swizzle: int
    fill: int
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    channels: int
    pixels: int
    mark: int = _MARK

    @property
    def is_map(self) -> bool:
        """Whether we have made it, or a kernel, which had to say at least where the tensor is."""
        return self.mark == _MARK or (self.mark == 0 and self.address != 0)

    def packed(self) -> bytes:
        """The 128 bytes."""
        content = bytearray(TENSOR_MAP_BYTES)
        struct.pack_into("<Q", content, 0, self.address)
        units = [stride >> STRIDE_UNIT_BITS for stride in self.strides]
        struct.pack_into("<4I", content, STRIDE_PLACE, *(unit & 0xFFFFFFFF for unit in units))
        struct.pack_into("<5I", content, SIZE_PLACE, *(size - 1 for size in self.sizes))
        _put(content, STRIDE_FIELDS, [unit >> 32 for unit in units])
        _put(content, STEP_FIELDS, [step - 1 for step in self.steps])
        _put(content, BOX_FIELDS, [size - 1 for size in self.box])
        modes = (self.rank - 1, self.interleave, self.swizzle, self.fill)
        _put(content, (RANK_FIELD, INTERLEAVE_FIELD, SWIZZLE_FIELD, FILL_FIELD), modes)
        _put(content, (ELEMENT_FIELD, ROUNDED_FIELD), element_codes(self.element))
        corners = (*self.lower, *self.upper)
        _OURS.pack_into(content, _OURS_AT, *corners, self.channels, self.pixels, self.mark)
        return bytes(content)

    @classmethod
    def read(cls, content: bytes) -> TensorMapWords:
        """The fields of 128 bytes, whatever they are."""
        low = struct.unpack_from("<4I", content, STRIDE_PLACE)
        high = _get(content, STRIDE_FIELDS)
        ours = _OURS.unpack_from(content, _OURS_AT)
        rank, interleave, swizzle, fill = _get(
            content, (RANK_FIELD, INTERLEAVE_FIELD, SWIZZLE_FIELD, FILL_FIELD)
        )
        element = _element_number(*_get(content, (ELEMENT_FIELD, ROUNDED_FIELD)))
        return cls(
            address=struct.unpack_from("<Q", content)[0],
            strides=tuple(
                (h << 32 | word) << STRIDE_UNIT_BITS for h, word in zip(high, low, strict=True)
            ),
            sizes=tuple(n + 1 for n in struct.unpack_from("<5I", content, SIZE_PLACE)),
            box=tuple(n + 1 for n in _get(content, BOX_FIELDS)),
            steps=tuple(n + 1 for n in _get(content, STEP_FIELDS)),
            rank=min(rank + 1, MOST_DIMENSIONS),
            element=element,
            interleave=interleave,
            swizzle=swizzle,
            fill=fill,
            lower=ours[0:3],
            upper=ours[3:6],
            channels=ours[6],
            pixels=ours[7],
            mark=ours[8],
        )


def _put(content: bytearray, fields: Sequence[BitField], values: Sequence[int]) -> None:
    """Sets the bits of fields that were zero."""
    for field, value in zip(fields, values, strict=True):
        (word,) = struct.unpack_from("<I", content, field.place)
        word |= value << field.shift & field.mask
        struct.pack_into("<I", content, field.place, word)


def _get(content: bytes, fields: Sequence[BitField]) -> tuple[int, ...]:
    return tuple(
        (struct.unpack_from("<I", content, field.place)[0] & field.mask) >> field.shift
        for field in fields
    )
