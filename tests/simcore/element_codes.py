"""Codes of the elements of matrices: random ones, and the numbers that they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
FIELDS = {"e4m3": (4, 3), "e5m2": (5, 2), "e3m2": (3, 2), "e2m3": (2, 3), "e2m1": (2, 1)}
"""Bits of the exponent and of the fraction."""
LARGEST = {"s8": (-128, 128), "u8": (0, 256), "s4": (-8, 8), "u4": (0, 16), "b1": (0, 2)}


def small_value(code: int, exponent: int, mantissa: int) -> float:
    """What a code of fp8, fp6 or fp4 stands for, infinities and NaNs apart."""
    fraction, field = code & (1 << mantissa) - 1, code >> mantissa & (1 << exponent) - 1
    sign = -1.0 if code >> (exponent + mantissa) else 1.0
    bias = (1 << (exponent - 1)) - 1
    if field == 0:
        return sign * fraction * 2.0 ** (1 - bias - mantissa)
    return sign * (1 + fraction / (1 << mantissa)) * 2.0 ** (field - bias)


def drawn(name: str, shape: tuple[int, int], rng: np.random.Generator, whole: bool) -> Array:
    """Codes of random small integers, or of random numbers that the type has."""
    if name in LARGEST:
        return rng.integers(*LARGEST[name], shape)
    if name in FIELDS:
        exponent, mantissa = FIELDS[name]
        codes = np.arange(1 << (1 + exponent + mantissa))
        values = np.array([small_value(c, exponent, mantissa) for c in codes.tolist()])
        usable = (values == np.round(values)) if whole else (abs(values) > 0.1)
        codes = codes[usable & (abs(values) <= 8)]
        return rng.choice(codes, shape) << (2 if name == "e2m1" else 0)
    numbers = rng.integers(-4, 5, shape) if whole else rng.standard_normal(shape)
    return encoded(numbers, name)


def encoded(numbers: Array, name: str) -> Array:
    match name:
        case "f64":
            return numbers.astype(np.float64).view(np.uint64)
        case "f16":
            return numbers.astype(np.float16).view(np.uint16)
        case "bf16":
            return numbers.astype(np.float32).view(np.uint32) >> 16
        case "tf32":
            return numbers.astype(np.float32).view(np.uint32) & np.uint32(0xFFFFE000)
        case "f32":
            return numbers.astype(np.float32).view(np.uint32)
    return numbers.astype(np.int64)


def decoded(codes: Array, name: str) -> Array:
    match name:
        case "f64":
            return codes.astype(np.uint64).view(np.float64)
        case "f16":
            return codes.astype(np.uint16).view(np.float16).astype(np.float64)
        case "bf16":
            return (codes.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        case "tf32" | "f32":
            return codes.astype(np.uint32).view(np.float32).astype(np.float64)
        case "s32":
            return codes.astype(np.uint32).view(np.int32).astype(np.float64)
    if name in FIELDS:
        exponent, mantissa = FIELDS[name]
        shift = 2 if name == "e2m1" else 0
        values = [small_value(c >> shift, exponent, mantissa) for c in codes.reshape(-1).tolist()]
        return np.array(values).reshape(codes.shape)
    return codes.astype(np.float64)
