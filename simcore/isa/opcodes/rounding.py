"""Directed rounding, flushing of subnormals and saturation: what float modifiers do to a result.

NumPy rounds to nearest even only. A directed result is the nearest one moved by one unit in the
last place when the exact value lies on the other side; the side comes from exact arithmetic on
expansions of floating-point numbers (Shewchuk 1997).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.numerics.fused import fma
from kernelcast.simcore.isa.numerics.packed import TO_ODD
from kernelcast.simcore.isa.opcodes.element_types import element_by_element, in_single_precision
from kernelcast.simcore.isa.opcodes.table import Context, Meaning

__all__ = [
    "FLUSH",
    "FLUSH_SATURATE",
    "ROUNDINGS",
    "Array",
    "directed_mode",
    "divide",
    "exact_sign",
    "flush",
    "multiply_add",
    "rectified",
    "rounding_mode",
    "saturate",
    "square_root",
    "toward",
    "with_float_modes",
]

Array = npt.NDArray[Any]

FLUSH = ("ftz",)
FLUSH_SATURATE = ("ftz", "sat")
ROUNDINGS = ("rn", "rz", "rm", "rp")
_DIRECTED = frozenset(("rz", "rm", "rp"))
_RESULT_MODES = frozenset((*FLUSH_SATURATE, "relu"))

_NO_EXPONENT = -5000
"""A number below the exponent of every product of two float64: stands for that of zero."""
_NEGLIGIBLE = -400
"""Binary orders that keep a term's sign and can no longer change a sum of float64."""


def directed_mode(context: Context) -> str:
    """`rz`, `rm` or `rp`; empty for rounding to nearest even."""
    return next(iter(context.modifiers & _DIRECTED), "")


def rounding_mode(context: Context) -> str:
    """`directed_mode`, or rounding to odd where another rounding follows."""
    return TO_ODD if TO_ODD in context.modifiers else directed_mode(context)


def multiply_add(a: Array, b: Array, c: Array, mode: str) -> Array:
    """a*b + c, rounded once as `mode` says; an exact zero is -0 under `rm` (IEEE 754, 6.3)."""
    if not mode:
        return fma(a, b, c)
    nearest = np.negative(fma(-a, b, -c)) if mode == "rm" else fma(a, b, c)
    narrow = nearest.dtype.itemsize < 8
    side = _narrow_side(a, b, c, nearest) if narrow else exact_sign(a, b, c, -nearest)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    return toward(nearest, side, finite, mode)


def _narrow_side(a: Array, b: Array, c: Array, nearest: Array) -> Array:
    """Sign of a*b + c - nearest for float16 and float32, whose products float64 holds exactly."""
    product = np.multiply(a, b, dtype=np.float64)
    total, error = _two_sum(product, c.astype(np.float64))
    difference = total - nearest
    return np.sign(np.where(difference != 0, difference, error))


def divide(a: Array, b: Array, mode: str) -> Array:
    """The quotient, rounded as `mode` says; to nearest where it is empty."""
    nearest = np.divide(a, b)
    if not mode:
        return nearest
    side = exact_sign(-nearest, b, a) * np.where(np.signbit(b), -1, 1)
    return toward(nearest, side, np.isfinite(a) & np.isfinite(b) & (b != 0), mode)


def square_root(a: Array, mode: str) -> Array:
    """The square root, rounded as `mode` says; to nearest where it is empty."""
    nearest = np.sqrt(a)
    if not mode:
        return nearest
    return toward(nearest, exact_sign(-nearest, nearest, a), np.isfinite(a), mode)


def exact_sign(a: Array | float, b: Array | float, *terms: Array) -> Array:
    """Sign of a*b + sum(terms), computed without rounding; 0 where an operand is not finite.

    Holds where every term is 0, or within 2**400 of the largest, or far too small to matter.
    """
    mantissa_a, exponent_a = np.frexp(np.asarray(a, np.float64))
    mantissa_b, exponent_b = np.frexp(np.asarray(b, np.float64))
    product = np.asarray(mantissa_a * mantissa_b)
    residue = fma(mantissa_a, mantissa_b, -product)
    parts = [(product, exponent_a + exponent_b), (residue, exponent_a + exponent_b)]
    parts += [np.frexp(np.asarray(term, np.float64)) for term in terms]
    exponents = [np.where(part == 0, _NO_EXPONENT, exponent) for part, exponent in parts]
    largest = exponents[0]
    for exponent in exponents[1:]:
        largest = np.maximum(largest, exponent)
    scaled = [
        np.ldexp(part, np.maximum(exponent - largest, _NEGLIGIBLE))
        for (part, _), exponent in zip(parts, exponents, strict=True)
    ]
    finite = np.logical_and.reduce(np.broadcast_arrays(*(np.isfinite(part) for part, _ in parts)))
    return np.where(finite, _sign_of_sum(scaled), 0)


def _sign_of_sum(terms: Sequence[Array]) -> Array:
    expansion: list[Array] = []
    for term in terms:
        grown, rest = [], term
        for component in expansion:
            rest, error = _two_sum(rest, component)
            grown.append(error)
        expansion = [*grown, rest]
    sign = np.zeros((), np.int64)
    for component in expansion:  # from the least significant to the most significant
        sign = np.where(component != 0, np.sign(component), sign)
    return sign


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Rounded sum and its exact error (Knuth)."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def toward(nearest: Array, side: Array, finite: Array, mode: str) -> Array:
    """The neighbour of `nearest` that `mode` asks for; `side` is the sign of exact - nearest.

    `finite` marks the lanes whose exact value is finite: an infinity there is an overflow.
    """
    side = np.where(np.isinf(nearest) & finite, -np.sign(nearest), side)
    infinity = nearest.dtype.type(np.inf)
    if mode == TO_ODD:
        bits = np.asarray(nearest).view(np.dtype(f"u{nearest.dtype.itemsize}"))
        is_even = bits & bits.dtype.type(1) == 0
        lower, upper = is_even & (side < 0), is_even & (side > 0)
    else:
        lower = (side < 0) & ((mode == "rm") | ((mode == "rz") & (nearest > 0)))
        upper = (side > 0) & ((mode == "rp") | ((mode == "rz") & (nearest < 0)))
    moved = np.where(lower, np.nextafter(nearest, -infinity), nearest)
    return np.where(upper, np.nextafter(nearest, infinity), moved)


def flush(value: Array) -> Array:
    """Subnormals become zeros of their sign."""
    magnitude = np.abs(value)
    is_subnormal = (magnitude < np.finfo(value.dtype).tiny) & (magnitude > 0)
    if not is_subnormal.any():
        return value
    return np.where(is_subnormal, np.copysign(np.zeros((), value.dtype), value), value)


def saturate(value: Array) -> Array:
    """Clamps to [0, 1]; NaN becomes +0."""
    zero, one = np.zeros((), value.dtype), np.ones((), value.dtype)
    # adding +0 turns -0 into +0
    clamped: Array = np.fmin(np.fmax(value, zero) + zero, one)
    return clamped


def rectified(value: Array) -> Array:
    """`.relu`: negative results become +0, and so does -0; NaN stays."""
    if value.dtype.kind != "f":
        positive: Array = np.maximum(value, value.dtype.type(0))
        return positive
    return np.where(value <= 0, np.zeros((), value.dtype), value)


def with_float_modes(compute: Meaning) -> Meaning:
    """Adds packed types, bf16, `.ftz`, `.sat` and `.relu` to the meaning of an opcode.

    `.ftz` applies to floating-point operands and results, `.sat` and `.relu` to results.
    """

    @element_by_element
    @in_single_precision
    @wraps(compute)
    def with_modes(context: Context, *operands: Array) -> Any:
        if context.modifiers.isdisjoint(_RESULT_MODES):
            return compute(context, *operands)
        flushes = "ftz" in context.modifiers
        result = compute(context, *(_flushed(x) if flushes else x for x in operands))
        if isinstance(result, tuple) or result.dtype.kind == "b":
            return result
        if "relu" in context.modifiers:
            result = rectified(result)
        if result.dtype.kind != "f":
            return result
        if flushes:
            result = flush(result)
        return saturate(result) if "sat" in context.modifiers else result

    return with_modes


def _flushed(value: Array) -> Array:
    return flush(value) if value.dtype.kind == "f" else value
