"""Finding the n-th set bit and extending the sign of a field."""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.isa.numerics.packed import Array
from kernelcast.simcore.isa.opcodes.bits import reversed_bits
from kernelcast.simcore.isa.opcodes.llvm import bit_search as llvm
from kernelcast.simcore.isa.opcodes.table import Context, opcode
from kernelcast.simcore.isa.types import ScalarType

__all__: list[str] = []

_NOT_FOUND = np.uint32(0xFFFFFFFF)


@opcode("fns", "t=tut", (ScalarType.B32,), llvm=llvm.emit_fns)
def _fns(_context: Context, mask: Array, base: Array, offset: Array) -> Array:
    """Position of the |offset|-th set bit from `base` on; all ones where there is none.

    The search goes upwards or, where offset is negative, downwards; offset 0 looks at `base` alone.
    """
    distance = np.asarray(offset).view(np.int32)
    goes_down, stays = distance < 0, distance == 0
    start = base & np.uint32(31)
    top = np.uint32(31)
    bits = np.where(goes_down, reversed_bits(mask, np.dtype(np.uint32)), mask)
    start = np.where(goes_down, top - start, start)
    seen = bits >> start
    seen = np.where(stays, seen & np.uint32(1), seen)
    wanted = np.where(goes_down, np.negative(offset), np.where(stays, np.uint32(1), offset))
    position = start + _position(seen, wanted)
    position = np.where(goes_down, top - position, position)
    return np.where(wanted > np.bitwise_count(seen), _NOT_FOUND, position)


def _position(bits: Array, count: Array) -> Array:
    """The position of the `count`-th set bit, by halving; any value when there are fewer."""
    position: Array = np.zeros((), np.uint32)
    for width in (16, 8, 4, 2, 1):
        low = np.bitwise_count(bits & np.uint32((1 << width) - 1)).astype(np.uint32)
        is_above = count > low
        count = np.where(is_above, count - low, count)
        bits = np.where(is_above, bits >> np.uint32(width), bits)
        position = position + np.where(is_above, np.uint32(width), np.uint32(0))
    return position


_SZEXT_TYPES = (ScalarType.U32, ScalarType.S32)


@opcode("szext.wrap", "t=tu", _SZEXT_TYPES, llvm=llvm.szext_emission(clamps=False))
def _szext_wrap(context: Context, a: Array, length: Array) -> Array:
    """The low bits of a, sign- or zero-extended; the length counts modulo 32."""
    return _extended(context, a, length & np.uint32(31))


@opcode("szext.clamp", "t=tu", _SZEXT_TYPES, llvm=llvm.szext_emission(clamps=True))
def _szext_clamp(context: Context, a: Array, length: Array) -> Array:
    """All of a where the length is 32 or more."""
    return _extended(context, a, np.minimum(length, np.uint32(32)))


def _extended(context: Context, a: Array, length: Array) -> Array:
    dtype = context.type.dtype
    amount = (np.uint32(32) - length).astype(dtype)
    # NumPy shifts everything out at the width
    extended: Array = np.right_shift(np.left_shift(a, amount), amount)
    return extended.astype(dtype)
