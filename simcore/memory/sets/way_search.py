"""Vector operations over the ways of a set, which numba does not find for so few elements.

What is one byte for each way is taken `FEW_BYTES` at a time where that is enough for the set, else
`BYTES_AT_ONCE`, words `WORDS_AT_ONCE`: rows of ways are padded (`padded`). Of a line's number a set
keeps a *print*, a byte, so that a search reads a few bytes for each way and the numbers of those
ways only that have the line's print.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from llvmlite import ir

from kernelcast.simcore.host.compiled import compiled, inlined, intrinsic

__all__ = [
    "BYTES_AT_ONCE",
    "EMPTY_PRINT",
    "FEW_BYTES",
    "NOT_FOUND",
    "age_bytes",
    "empty_way",
    "equal_bytes",
    "high_product",
    "lowest",
    "padded",
    "prefetch",
    "print_of",
    "trailing_zeros",
    "way_of",
]

WORDS_AT_ONCE = 8
FEW_BYTES = 16
BYTES_AT_ONCE = 64
NOT_FOUND = -1
EMPTY_PRINT = 0
"""The print of ways without a line; that of no line."""

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

_WORD = ir.IntType(64)
_VECTOR = ir.VectorType(_WORD, WORDS_AT_ONCE)
_BYTE = ir.IntType(8)


def padded(ways: int) -> int:
    """Slots for each set of so many ways."""
    unit = next((few for few in (WORDS_AT_ONCE, FEW_BYTES) if ways <= few), BYTES_AT_ONCE)
    return -(-ways // unit) * unit


def _intrinsic(module: Any, of_type: Any, name: str) -> Any:
    from numba.core import cgutils

    declare: Any = cgutils.get_or_insert_function
    return declare(module, of_type, name)


def _place(context: Any, builder: Any, array_type: Any, array: Any, first: Any, of: Any) -> Any:
    """A pointer to a vector that begins with an array's element `first`."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [first]), of.as_pointer())


def _all_of(builder: Any, byte: Any, vector: Any) -> Any:
    """The byte in all places of a vector."""
    number = ir.IntType(32)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), byte, ir.Constant(number, 0))
    zeros = ir.Constant(ir.VectorType(number, vector.count), None)
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)


def _equal_bytes_of(count: int) -> Callable[..., Any]:
    vector = ir.VectorType(_BYTE, count)

    def equal_bytes(_: Any, array: Any, first: Any, byte: Any) -> Any:
        from numba import types

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = _place(context, builder, signature.args[0], arguments[0], arguments[1], vector)
            sought = _all_of(builder, builder.trunc(arguments[2], _BYTE), vector)
            same = builder.icmp_unsigned("==", builder.load(place, align=1), sought)
            bits = builder.bitcast(same, ir.IntType(count))
            return bits if count == _WORD.width else builder.zext(bits, _WORD)

        return types.int64(array, types.uint64, types.int64), emit

    return equal_bytes


def _age_bytes(_: Any, array: Any, first: Any, limit: Any) -> Any:
    from numba import types

    vector = ir.VectorType(_BYTE, BYTES_AT_ONCE)

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], arguments[0], arguments[1], vector)
        bytes_ = builder.load(place, align=1)
        limits = _all_of(builder, builder.trunc(arguments[2], _BYTE), vector)
        below = builder.icmp_unsigned("<", bytes_, limits)
        other = builder.icmp_unsigned("!=", bytes_, limits)
        aged = builder.add(bytes_, builder.zext(below, vector))
        builder.store(builder.and_(aged, builder.sext(other, vector)), place, align=1)
        return context.get_dummy_value()

    return types.void(array, types.uint64, types.int64), emit


def _lowest_word(_: Any, words: Any, first: Any) -> Any:
    from numba import types

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        reduction = _intrinsic(
            builder.module,
            ir.FunctionType(_WORD, [_VECTOR]),
            f"llvm.vector.reduce.smin.v{WORDS_AT_ONCE}i64",
        )
        array, first = arguments
        place = _place(context, builder, signature.args[0], array, first, _VECTOR)
        return builder.call(reduction, [builder.load(place, align=8)])

    return types.int64(words, types.uint64), emit


def _trailing_zeros(_: Any, bits: Any) -> Any:
    from numba import types

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), emit


def _high_product(_: Any, one: Any, other: Any) -> Any:
    from numba import types

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double = ir.IntType(128)
        product = builder.mul(*(builder.zext(word, double) for word in arguments))
        return builder.trunc(builder.lshr(product, ir.Constant(double, 64)), _WORD)

    return types.uint64(types.uint64, types.uint64), emit


def _prefetch(_: Any, words: Any, at: Any) -> Any:
    from numba import types

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        function = _intrinsic(
            builder.module,
            ir.FunctionType(ir.VoidType(), [byte, number, number, number]),
            "llvm.prefetch.p0i8",
        )
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        builder.call(function, [place, *(ir.Constant(number, flag) for flag in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(words, types.uint64), emit


equal_bytes = cast(Callable[[Any, np.uint64, int], int], intrinsic(_equal_bytes_of(BYTES_AT_ONCE)))
"""A bit for each of BYTES_AT_ONCE bytes from `first` on that is the byte."""
_equal_few = cast(Callable[[Any, np.uint64, int], int], intrinsic(_equal_bytes_of(FEW_BYTES)))
age_bytes = cast(Callable[[Any, np.uint64, int], None], intrinsic(_age_bytes))
"""Adds one to those of BYTES_AT_ONCE bytes that are below a limit; those equal to it become 0."""
lowest_word = cast(Callable[[Ints, np.uint64], int], intrinsic(_lowest_word))
trailing_zeros = cast(Callable[[int], int], intrinsic(_trailing_zeros))
high_product = cast(Callable[[np.uint64, np.uint64], np.uint64], intrinsic(_high_product))
"""The upper half of the 128-bit product."""
prefetch = cast(Callable[[Any, np.uint64], None], intrinsic(_prefetch))
"""Asks for the memory of element `at`, counted through all dimensions, to be brought near."""


@inlined
def print_of(line: int) -> int:
    """The print of a line: a byte of the product with the golden ratio, and not EMPTY_PRINT."""
    mixed = int(np.int64((np.uint64(line) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(56)))
    return mixed if mixed != EMPTY_PRINT else 1


@inlined
def _ways_with(bytes_: Any, first: int, ways: int, byte: int) -> int:
    """A bit for each of at most BYTES_AT_ONCE ways whose byte it is."""
    if ways <= FEW_BYTES:
        return _equal_few(bytes_, np.uint64(first), byte) & ((1 << ways) - 1)
    same = equal_bytes(bytes_, np.uint64(first), byte)
    return same if ways >= BYTES_AT_ONCE else same & ((1 << ways) - 1)


@compiled
def way_of(
    prints: Bytes, first: int, ways: int, tags: Ints, first_tag: int, step: int, line: int
) -> int:
    """The way that holds the line, or NOT_FOUND.

    The ways' prints are those from `first` on, their tags each `step`-th from `first_tag` on.
    `prints` ends BYTES_AT_ONCE after the last way.
    """
    sought = print_of(line)
    for begin in range(0, ways, BYTES_AT_ONCE):
        same = _ways_with(prints, first + begin, ways - begin, sought)
        while same != 0:
            way = begin + trailing_zeros(same)
            if tags[np.uint64(first_tag + way * step)] == line:
                return int(way)
            same &= same - 1
    return NOT_FOUND


@compiled
def empty_way(prints: Bytes, first: int, ways: int) -> int:
    """The first way without a line, or NOT_FOUND."""
    for begin in range(0, ways, BYTES_AT_ONCE):
        same = _ways_with(prints, first + begin, ways - begin, EMPTY_PRINT)
        if same != 0:
            return int(begin + trailing_zeros(same))
    return NOT_FOUND


@compiled
def lowest(stamps: Ints, first: int, ways: int) -> int:
    """The smallest of stamps[first : first + ways]."""
    least = lowest_word(stamps, np.uint64(first))
    for way in range(WORDS_AT_ONCE, ways, WORDS_AT_ONCE):
        least = min(least, lowest_word(stamps, np.uint64(first + way)))
    return least
