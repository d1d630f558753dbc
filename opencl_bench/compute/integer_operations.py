"""Integer operations and conversions."""

from __future__ import annotations

import numpy as np

from kernelcast.opencl_bench.compute.operations import SEEDS, Operation, States, Step
from kernelcast.opencl_bench.target import Feature

__all__ = ["CONVERSIONS", "INT32", "INT64"]

_COUNT = np.arange(SEEDS)
_DIVISORS = np.array((3, 5, 7, 9, 11, 13, 16, 22), np.uint32)
_MULTIPLE = 720_720
"""A multiple of all divisors, so that twice a quotient is the divisor again."""


def _top_bits(dtype: type[np.unsignedinteger], odd: bool) -> States:
    """Multiples of 2^24 (2^56), plus 1 for products: their sums and products repeat soon."""
    shift = np.iinfo(dtype).bits - 8
    return np.asarray((_COUNT.astype(dtype) << dtype(shift)) + dtype(odd))


def _pair_sum(name: str, dtype: type[np.unsignedinteger]) -> Operation:
    return Operation(
        name,
        _top_bits(dtype, odd=False),
        np.zeros(4, dtype),
        lambda x, y, o: (x + y, y),
        lambda x, y, o: (x, y + x),
        "x = x + y and y = y + x in turn",
    )


def _pair_product(name: str, dtype: type[np.unsignedinteger]) -> Operation:
    return Operation(
        name,
        _top_bits(dtype, odd=True),
        np.zeros(4, dtype),
        lambda x, y, o: (x * y, y),
        lambda x, y, o: (x, y * x),
        "x = x * y and y = y * x in turn",
    )


def _int32(
    name: str,
    what: str,
    seeds: States,
    operands: tuple[int, int, int, int],
    odd: Step,
    even: Step,
    counts: tuple[int, int] = (1, 1),
    is_function: bool = False,
) -> Operation:
    """`counts`: operations of a step that are counted, and those that wait for each other."""
    return Operation(
        f"int32_{name}",
        seeds.astype(np.uint32),
        np.array(operands, np.uint32),
        odd,
        even,
        what,
        *counts,
        is_function=is_function,
    )


def _bit_count(x: States) -> States:
    return np.bitwise_count(x).astype(x.dtype)


INT32 = (
    _int32(
        "multiply_add",
        "x = x * a + b",
        _COUNT,
        (0xFFFF_FFFF, 1_000_003, 0xFFFF_FFFF, 1_000_003),
        lambda x, y, o: (x * o[0] + o[1], y),
        lambda x, y, o: (x * o[2] + o[3], y),
        counts=(2, 1),
    ),
    _pair_sum("int32_add", np.uint32),
    _pair_product("int32_multiply", np.uint32),
    _int32(
        "shift",
        "x = x << a and x = x >> b in turn",
        _COUNT * 40_503,
        (5, 5, 0, 0),
        lambda x, y, o: (x << o[0], y),
        lambda x, y, o: (x >> o[1], y),
    ),
    _int32(
        "logic",
        "x = (x & a) ^ b, two operations; a device may have one instruction for both",
        _COUNT * 40_503,
        (0x0FFF_FFFF, 0x00FF_00FF, 0x0FFF_FFF7, 0x0F0F_0F0F),
        lambda x, y, o: ((x & o[0]) ^ o[1], y),
        lambda x, y, o: ((x & o[2]) ^ o[3], y),
        counts=(2, 2),
    ),
    _int32(
        "compare",
        "x = x < a ? y : b, a comparison with its selection",
        _COUNT,
        (30, 17, 40, 90),
        lambda x, y, o: (np.where(x < o[0], y, o[1]), y),
        lambda x, y, o: (np.where(x < o[2], o[3], y), y),
    ),
    _int32(
        "popcount",
        "x = popcount(x ^ a), so with an exclusive or",
        _COUNT * 40_503,
        (0x1234_5678, 0x0F0F_7777, 0, 0),
        lambda x, y, o: (_bit_count(x ^ o[0]), y),
        lambda x, y, o: (_bit_count(x ^ o[1]), y),
        is_function=True,
    ),
    _int32(
        "division",
        "x = a / x",
        np.resize(_DIVISORS, SEEDS),
        (_MULTIPLE, _MULTIPLE, 0, 0),
        lambda x, y, o: (o[0] // x, y),
        lambda x, y, o: (o[1] // x, y),
        is_function=True,
    ),
)
INT64 = (_pair_sum("int64_add", np.uint64), _pair_product("int64_multiply", np.uint64))


CONVERSIONS = (
    Operation(
        "int32_fp32_conversion",
        (_COUNT * 9_973).astype(np.int32),
        np.array((1000, -1000, 0, 0), np.int32),
        lambda x, y, o: (x.astype(np.float32).astype(np.int32) + o[0], y),
        lambda x, y, o: (x.astype(np.float32).astype(np.int32) + o[1], y),
        "int to float to int, two operations, and an addition of integers",
        counted=2,
        dependent=2,
    ),
    Operation(
        "fp32_fp64_conversion",
        _COUNT / 8,
        np.array((0.5, -0.5, 0.0, 0.0)),
        lambda x, y, o: (x.astype(np.float32).astype(np.float64) + o[0], y),
        lambda x, y, o: (x.astype(np.float32).astype(np.float64) + o[1], y),
        "double to float to double, two operations, and an addition of doubles",
        counted=2,
        dependent=2,
        needs=frozenset({Feature.FP64}),
    ),
)
