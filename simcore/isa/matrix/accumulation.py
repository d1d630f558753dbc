"""How tensor units add up products: how many at a time, and how many bits of each they keep.

Khattak, Mikaitis, "Accurate Models of NVIDIA Tensor Cores" (arXiv 2512.07004, 2025), whose models
(MATLAB-tensor-core: `V100TC`, `A100TC`, `AdaTC`, `H100TC`, `B200TC`) give both numbers; those of
sm_75 are assumed. docs/matrix.md says what each row rests on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from kernelcast.simcore.isa.matrix.formats import ElementFormat

__all__ = ["FUSED", "INTEGER", "WIDE", "Accumulation", "Summation", "accumulation_of"]


class Summation(Enum):
    """How a tensor unit rounds while it adds the products of a dot product."""

    ALIGNED = "aligned"
    """Products and accumulator, cut to the same last place, are added as integers."""
    FUSED = "fused"
    """One fused multiply-add after the other, in the order of the depth."""
    INTEGER = "integer"
    WIDE = "wide"
    """Every product exact, the sum in twice the places of a double, rounded once to nearest."""


@dataclass(frozen=True, slots=True)
class Accumulation:
    """How many products are added at a time, and in how many bits.

    `terms`: products added at a time; `fraction_bits`: places kept below the leading bit of the
    largest exponent among them (ALIGNED only).
    """

    summation: Summation
    terms: int = 0
    fraction_bits: int = 0


FUSED = Accumulation(Summation.FUSED)
INTEGER = Accumulation(Summation.INTEGER)
WIDE = Accumulation(Summation.WIDE)

_HALF = (ElementFormat.F16, ElementFormat.BF16)
_GENERATIONS: tuple[tuple[int, tuple[int, int], tuple[int, int], tuple[int, int]], ...] = (
    (100, (16, 25), (8, 25), (32, 25)),
    (90, (16, 25), (8, 25), (32, 13)),
    (89, (8, 24), (4, 24), (16, 13)),
    (80, (8, 24), (4, 24), (16, 13)),
    (75, (4, 24), (4, 24), (16, 13)),
    (0, (4, 23), (4, 23), (16, 13)),
)
"""(terms, fraction bits) of 16-bit formats, tf32 and fp8, by the least compute capability."""
_DEFAULT_CAPABILITY = 80


def accumulation_of(target: str, format_: ElementFormat) -> Accumulation:
    """How a target (`sm_80`) adds up products of elements of a format."""
    if not format_.is_float:
        return INTEGER
    if format_ is ElementFormat.F64:
        return FUSED
    found = re.match(r"(?:sm|compute)_(\d+)", target)
    capability = int(found.group(1)) if found else _DEFAULT_CAPABILITY
    row = next(row for row in _GENERATIONS if capability >= row[0])
    _, halves, tf32, smaller = row
    terms, bits = halves if format_ in _HALF else tf32 if format_ is ElementFormat.TF32 else smaller
    return Accumulation(Summation.ALIGNED, terms, bits)
