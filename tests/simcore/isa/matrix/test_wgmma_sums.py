"""Sums of tensor units against the published models of them, written out with Python's integers.

F. A. Khattak, M. Mikaitis, "Accurate Models of NVIDIA Tensor Cores" (arXiv 2512.07004, 2025): the
products of significands are normalised, aligned to the largest exponent with some extra places,
added as integers and cut. How many products and extra places: their models of V100, A100, Ada, H100
and B200.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.simcore.isa.matrix.accumulation import accumulation_of
from kernelcast.simcore.isa.matrix.formats import ElementFormat
from kernelcast.simcore.isa.matrix.products import MatrixProduct, multiply

Array = npt.NDArray[Any]
F = ElementFormat
SINGLE_PLACES = 23
MODELS = [
    ("V100", "sm_70", F.F16, 4, 0),
    ("A100", "sm_80", F.F16, 8, 1),
    ("A100", "sm_80", F.BF16, 8, 1),
    ("A100", "sm_80", F.TF32, 4, 1),
    ("Ada", "sm_89", F.E4M3, 16, -10),
    ("Ada", "sm_89", F.E5M2, 16, -10),
    ("H100", "sm_90a", F.F16, 16, 2),
    ("H100", "sm_90a", F.TF32, 8, 2),
    ("H100", "sm_90a", F.E4M3, 32, -10),
    ("B200", "sm_100a", F.BF16, 16, 2),
    ("B200", "sm_100a", F.E5M2, 32, 2),
]
ROWS = 200


def split(value: float, least: int) -> tuple[int, int]:
    """(significand in 2**-23, exponent) of a number that is not zero."""
    _, exponent = np.frexp(abs(value))
    power = max(int(exponent) - 1, least)
    return int(abs(value) * 2.0 ** (SINGLE_PLACES - power)), power


def shifted(number: int, places: int) -> int:
    return number << places if places >= 0 else number >> -places


def modelled(x: Array, y: Array, c: float, least: int, extra: int) -> float:
    """One block of products and the accumulator, before the result is cut."""
    terms: list[tuple[int, int, int]] = []
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        if a * b:
            (a_digits, a_power), (b_digits, b_power) = split(a, least), split(b, least)
            product = a_digits * b_digits >> SINGLE_PLACES
            terms.append((product, a_power + b_power, 1 if a * b > 0 else -1))
    two = 2 << SINGLE_PLACES
    has_extra_place = False
    if terms:
        top = max(power for _, power, _ in terms)
        largest = max(digits for digits, power, _ in terms if power == top)
        has_extra_place = largest >= two and (not c or top >= split(c, -126)[1])
    terms = [(d >> 1, p + 1, s) if d >= two else (d, p, s) for d, p, s in terms]
    if c:
        terms.append((*split(c, -126), 1 if c > 0 else -1))
    if not terms:
        return 0.0
    places = extra + has_extra_place
    top = max(power for _, power, _ in terms)
    total = sum(sign * (shifted(digits, places) >> (top - power)) for digits, power, sign in terms)
    return total * 2.0 ** (top - SINGLE_PLACES - places)


def cut(value: float) -> float:
    """The value in single precision, rounded towards zero."""
    nearest = np.float32(value)
    if abs(float(nearest)) > abs(value):
        nearest = np.nextafter(nearest, np.float32(0))
    return float(nearest)


def random_codes(format_: ElementFormat, shape: tuple[int, ...], random: Any) -> Array:
    """Numbers of many sizes, some of them zero; their codes."""
    if format_.bits == 8:
        codes = random.integers(0, 256, shape).astype(np.uint8)
        codes[~np.isfinite(format_.decode(codes))] = 0
        return np.asarray(codes)
    values = random.standard_normal(shape) * 2.0 ** random.integers(-6, 7, shape)
    values[random.random(shape) < 0.1] = 0
    if format_ is F.F16:
        return np.asarray(values.astype(np.float16)).view(np.uint16)
    words: Array = np.asarray(values.astype(np.float32)).view(np.uint32)
    if format_ is F.TF32:
        return words & np.uint32(0xFFFFE000)
    return (words >> 16).astype(np.uint16)


@pytest.mark.parametrize(("gpu", "target", "format_", "terms", "extra"), MODELS)
def test_sums_are_those_of_the_published_models(
    gpu: str, target: str, format_: ElementFormat, terms: int, extra: int
) -> None:
    random = np.random.default_rng(len(gpu) + terms)
    depth = 2 * terms
    a, b = (random_codes(format_, (ROWS, depth), random) for _ in range(2))
    c = (random.standard_normal(ROWS) * 2.0 ** random.integers(-8, 9, ROWS)).astype(np.float32)
    c[::7] = 0
    rule = accumulation_of(target, format_)
    product = MatrixProduct(1, 1, depth, format_, format_, F.F32, F.F32, rule)
    codes = c.view(np.uint32).reshape(ROWS, 1, 1)
    found = multiply(product, a[:, None, :], b[:, :, None], codes).view(np.float32).reshape(-1)
    x, y = format_.decode(a), format_.decode(b)
    for row in range(ROWS):
        total = float(c[row])
        for first in range(0, depth, terms):
            part = slice(first, first + terms)
            total = cut(modelled(x[row, part], y[row, part], total, format_.least_exponent, extra))
        assert found[row] == total
