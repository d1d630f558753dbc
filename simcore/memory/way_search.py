"""Vector comparisons over the ways of a set, which numba does not find for so few words.

Ways are searched `WAYS_AT_ONCE` at a time: rows of ways are padded to a multiple of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from llvmlite import ir

from kernelcast.simcore.host.compiled import compiled, intrinsic

__all__ = [
    "NOT_FOUND",
    "WAYS_AT_ONCE",
    "high_product",
    "lowest",
    "prefetch",
    "trailing_zeros",
    "way_of",
]

WAYS_AT_ONCE = 8
NOT_FOUND = -1

Ints = npt.NDArray[np.int64]

_WORD = ir.IntType(64)
_VECTOR = ir.VectorType(_WORD, WAYS_AT_ONCE)


def _intrinsic(module: Any, of_type: Any, name: str) -> Any:
    from numba.core import cgutils

    declare: Any = cgutils.get_or_insert_function
    return declare(module, of_type, name)


def _load(context: Any, builder: Any, array_type: Any, array: Any, first: Any) -> Any:
    """The words from `first` on as a vector."""
    data = context.make_array(array_type)(context, builder, array).data
    place = builder.bitcast(builder.gep(data, [first]), _VECTOR.as_pointer())
    return builder.load(place, align=8)


def _equal_words(_: Any, words: Any, first: Any, word: Any) -> Any:
    from numba import types

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        loaded = _load(context, builder, signature.args[0], *arguments[:2])
        empty = ir.Constant(_VECTOR, ir.Undefined)
        single = builder.insert_element(empty, arguments[2], ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), WAYS_AT_ONCE), None)
        same = builder.icmp_signed("==", loaded, builder.shuffle_vector(single, empty, zeros))
        return builder.zext(builder.bitcast(same, ir.IntType(WAYS_AT_ONCE)), _WORD)

    return types.int64(words, types.uint64, types.int64), emit


def _lowest_word(_: Any, words: Any, first: Any) -> Any:
    from numba import types

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        reduction = _intrinsic(
            builder.module,
            ir.FunctionType(_WORD, [_VECTOR]),
            f"llvm.vector.reduce.smin.v{WAYS_AT_ONCE}i64",
        )
        return builder.call(reduction, [_load(context, builder, signature.args[0], *arguments)])

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


equal_words = cast(Callable[[Ints, np.uint64, int], int], intrinsic(_equal_words))
lowest_word = cast(Callable[[Ints, np.uint64], int], intrinsic(_lowest_word))
trailing_zeros = cast(Callable[[int], int], intrinsic(_trailing_zeros))
high_product = cast(Callable[[np.uint64, np.uint64], np.uint64], intrinsic(_high_product))
"""The upper half of the 128-bit product."""
prefetch = cast(Callable[[Any, np.uint64], None], intrinsic(_prefetch))
"""Asks for the memory of element `at`, counted through all dimensions, to be brought near."""


@compiled
def way_of(tags: Ints, first: int, ways: int, line: int) -> int:
    """The first way of tags[first : first + ways] that holds the line, or NOT_FOUND."""
    found = NOT_FOUND
    for way in range(0, ways, WAYS_AT_ONCE):
        same = equal_words(tags, np.uint64(first + way), line)
        if same != 0 and found < 0:
            found = way + trailing_zeros(same)
    return found


@compiled
def lowest(stamps: Ints, first: int, ways: int) -> int:
    """The smallest of stamps[first : first + ways]."""
    least = lowest_word(stamps, np.uint64(first))
    for way in range(WAYS_AT_ONCE, ways, WAYS_AT_ONCE):
        least = min(least, lowest_word(stamps, np.uint64(first + way)))
    return least
