"""Counting, finding, reversing, extracting and permuting bits and bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelcast.simcore.isa.opcodes.columns import Columns, Detour
from kernelcast.simcore.isa.opcodes.llvm import bits as llvm
from kernelcast.simcore.isa.opcodes.rounding import Array
from kernelcast.simcore.isa.opcodes.table import Context, opcode
from kernelcast.simcore.isa.types import WORD_BITS, WORDS, ScalarType, Unit

__all__ = ["reversed_bits"]

_DOT = (ScalarType.S32, ScalarType.U32)
_NOT_FOUND = np.uint32(0xFFFFFFFF)
_SEARCH = Columns(detour=Detour.BIT_SEARCH)
_PRODUCT = Columns(detour=Detour.PRODUCT)


@opcode("popc", "u=t", WORD_BITS, columns=_SEARCH, llvm=llvm.emit_popc)
def _popc(_context: Context, a: Array) -> Array:
    return np.bitwise_count(a).astype(np.uint32)


@opcode("clz", "u=t", WORD_BITS, columns=_SEARCH, llvm=llvm.emit_clz)
def _clz(context: Context, a: Array) -> Array:
    return (np.uint32(context.type.bits) - _bit_length(a)).astype(np.uint32)


@opcode("bfind", "u=t", WORDS, columns=_SEARCH, llvm=llvm.emit_bfind)
def _bfind(_context: Context, a: Array) -> Array:
    """Position of the highest bit that differs from the sign; all ones when there is none."""
    return _bit_length(_magnitude_bits(a)) - np.uint32(1)


@opcode("bfind.shiftamt", "u=t", WORDS, columns=_SEARCH, llvm=llvm.emit_bfind_shiftamt)
def _bfind_shiftamt(context: Context, a: Array) -> Array:
    """How far left to shift to bring that bit to the top."""
    length = _bit_length(_magnitude_bits(a))
    return np.where(length == 0, _NOT_FOUND, np.uint32(context.type.bits) - length)


def _magnitude_bits(a: Array) -> Array:
    if a.dtype.kind == "u":
        return a
    return np.where(a < 0, np.invert(a), a).view(np.dtype(f"u{a.dtype.itemsize}"))


def _bit_length(a: Array) -> Array:
    """Bits up to and including the highest one, as u32: the ones after it is smeared downwards."""
    smeared = np.asarray(a)
    distance = 1
    while distance < 8 * smeared.dtype.itemsize:
        smeared = smeared | (smeared >> smeared.dtype.type(distance))
        distance *= 2
    length: Array = np.bitwise_count(smeared)
    return length.astype(np.uint32)


@opcode("brev", "t=t", WORD_BITS, llvm=llvm.emit_brev)
def _brev(context: Context, a: Array) -> Array:
    return reversed_bits(a, context.type.dtype)


def reversed_bits(a: Array, dtype: np.dtype[Any]) -> Array:
    """Swaps neighbouring bits, pairs, nibbles, and then the bytes."""
    value = np.asarray(a)
    for distance, pattern in ((1, 0x55), (2, 0x33), (4, 0x0F)):
        mask = dtype.type(int.from_bytes(bytes([pattern]) * dtype.itemsize, "little"))
        shift = dtype.type(distance)
        value = np.asarray(((value >> shift) & mask) | ((value & mask) << shift))
    return value.byteswap()


@opcode("bmsk.clamp", "t=uu", (ScalarType.B32,), llvm=llvm.emit_bmsk_clamp)
def _bmsk_clamp(_context: Context, position: Array, length: Array) -> Array:
    return np.left_shift(_mask(np.dtype(np.uint32), length), position)


@opcode("bmsk.wrap", "t=uu", (ScalarType.B32,), llvm=llvm.emit_bmsk_wrap)
def _bmsk_wrap(_context: Context, position: Array, length: Array) -> Array:
    mask = _mask(np.dtype(np.uint32), length & np.uint32(31))
    shifted: Array = np.left_shift(mask, position & np.uint32(31))
    return shifted


@opcode("bfe", "t=tuu", WORDS, llvm=llvm.emit_bfe)
def _bfe(context: Context, a: Array, position: Array, length: Array) -> Array:
    """Bits [position, position + length) of a, zero- or sign-extended; both taken modulo 256."""
    bits = context.type.bits
    start, size = position & np.uint32(255), length & np.uint32(255)
    storage = context.type.storage
    field = np.right_shift(a, np.minimum(start, np.uint32(bits)).astype(context.type.dtype))
    mask = _mask(storage, size)
    value = np.asarray(field).view(storage) & mask
    if context.type.is_signed:
        top = np.minimum(start + size - np.uint32(1), np.uint32(bits - 1)).astype(storage)
        is_set = (np.asarray(a).view(storage) >> top) & storage.type(1) != 0
        value = np.where(is_set & (size != 0), value | np.invert(mask), value)
    return np.asarray(value).view(context.type.dtype)


@opcode("bfi", "t=ttuu", WORD_BITS, llvm=llvm.emit_bfi)
def _bfi(context: Context, a: Array, b: Array, position: Array, length: Array) -> Array:
    """b with its bits [position, position + length) replaced by the low bits of a."""
    dtype = context.type.dtype
    shift = (position & np.uint32(255)).astype(dtype)
    mask = np.left_shift(_mask(dtype, length & np.uint32(255)), shift)
    inserted = np.left_shift(a, shift) & mask
    result: Array = (b & np.invert(mask)) | inserted
    return result


def _mask(dtype: np.dtype[Any], length: Array) -> Array:
    """`length` ones from bit 0; all ones from the width on."""
    ones = np.invert(np.zeros((), dtype))
    mask: Array = np.invert(np.left_shift(ones, length.astype(dtype)))
    return mask


@opcode("prmt", "t=ttu", (ScalarType.B32,), llvm=llvm.emit_prmt)
def _prmt(_context: Context, a: Array, b: Array, selector: Array) -> Array:
    """Each nibble of the selector picks a byte of b:a; its top bit spreads that byte's sign."""
    nibbles = [(selector >> np.uint32(4 * i)) & np.uint32(15) for i in range(4)]
    result = np.zeros((), np.uint32)
    for position, nibble in enumerate(nibbles):
        byte = _byte(a, b, nibble & np.uint32(7))
        sign = (byte >> np.uint32(7)) * np.uint32(255)
        byte = np.where(nibble & np.uint32(8) != 0, sign, byte)
        result = result | (byte << np.uint32(8 * position))
    return result


def _byte(a: Array, b: Array, index: Array) -> Array:
    word = np.right_shift(np.where(index < 4, a, b), (index & np.uint32(3)) * np.uint32(8))
    byte: Array = np.bitwise_and(word, np.uint32(255))
    return byte


_FIXED_PERMUTATIONS: dict[str, tuple[tuple[int, int, int, int], ...]] = {
    # byte taken for result bytes 0 to 3, for selector 0 to 3
    "f4e": ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)),
    "b4e": ((0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)),
    "rc8": ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)),
    "ecl": ((0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)),
    "ecr": ((0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)),
    "rc16": ((0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)),
}


def _register_permutation(mode: str, rows: tuple[tuple[int, int, int, int], ...]) -> None:
    selectors = np.array(
        [sum(byte << (4 * i) for i, byte in enumerate(row)) for row in rows], np.uint32
    )

    emission = llvm.permutation_emission(selectors.tolist())

    @opcode(f"prmt.{mode}", "t=ttu", (ScalarType.B32,), llvm=emission)
    def _prmt_mode(context: Context, a: Array, b: Array, selector: Array) -> Array:
        chosen: Array = np.take(selectors, selector & np.uint32(3))
        permuted: Array = _prmt(context, a, b, chosen)
        return permuted


for _mode, _rows in _FIXED_PERMUTATIONS.items():
    _register_permutation(_mode, _rows)


@opcode(
    "dp4a",
    "t=tst",
    _DOT,
    sources=_DOT,
    unit=Unit.INTEGER,
    columns=_PRODUCT,
    llvm=llvm.emit_dp4a,
)
def _dp4a(context: Context, a: Array, b: Array, c: Array) -> Array:
    """c plus the dot product of the four bytes of a and b, each with the sign of its type."""
    total = np.asarray(c).view(np.int32)
    for index in range(4):
        total = total + _signed_byte(a, index) * _signed_byte(b, index)
    return np.asarray(total).view(context.type.dtype)


def _register_dp2a(half: str, first_byte: int) -> None:
    @opcode(
        f"dp2a.{half}",
        "t=tst",
        _DOT,
        sources=_DOT,
        columns=_PRODUCT,
        llvm=llvm.dp2a_emission(first_byte),
    )
    def _dp2a(context: Context, a: Array, b: Array, c: Array) -> Array:
        """c plus the dot product of the two halves of a and two bytes of b."""
        total = np.asarray(c).view(np.int32)
        for index in range(2):
            product = _signed_half(a, index) * _signed_byte(b, first_byte + index)
            total = total + product
        return np.asarray(total).view(context.type.dtype)


_register_dp2a("lo", 0)
_register_dp2a("hi", 2)


def _signed_half(word: Array, index: int) -> Array:
    """Half `index` as s32, extended as the type of `word` says."""
    dtype = word.dtype.type
    half: Array = np.right_shift(np.left_shift(word, dtype(16 - 16 * index)), dtype(16))
    return half.astype(np.int32)


def _signed_byte(word: Array, index: int) -> Array:
    """Byte `index` as s32, extended as the type of `word` says."""
    dtype = word.dtype.type
    byte: Array = np.right_shift(np.left_shift(word, dtype(24 - 8 * index)), dtype(24))
    return byte.astype(np.int32)
