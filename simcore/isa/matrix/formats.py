"""The formats of matrix elements, and what their codes mean."""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ElementFormat"]

Array = npt.NDArray[Any]
_TF32_MASK = np.uint32(0xFFFFE000)


class Special(Enum):
    """What the largest exponent of a small floating-point format stands for."""

    IEEE = "infinities and NaNs"
    NAN_ONLY = "numbers, and one NaN of each sign"
    NONE = "numbers"


class ElementFormat(Enum):
    """A format: its PTX name, the bits that an element takes in a register, and its fields.

    `exponent`, `mantissa`: bits of a floating-point format. `shift`: where the element's lowest bit
    is in what it takes (E2M1 in the middle of a byte; PTX ISA, `mma` with `.kind::f8f6f4`). B1
    elements are handled as words of 32: a product of words is a number of bits.
    """

    F16 = ("f16", 16, 5, 10)
    BF16 = ("bf16", 16, 8, 7)
    TF32 = ("tf32", 32, 8, 10)
    F32 = ("f32", 32, 8, 23)
    F64 = ("f64", 64, 11, 52)
    E4M3 = ("e4m3", 8, 4, 3, Special.NAN_ONLY)
    E5M2 = ("e5m2", 8, 5, 2)
    E3M2 = ("e3m2", 8, 3, 2, Special.NONE)
    E2M3 = ("e2m3", 8, 2, 3, Special.NONE)
    E2M1 = ("e2m1", 8, 2, 1, Special.NONE, 2)
    E2M1_PAIRS = ("e2m1x2", 4, 2, 1, Special.NONE)
    """E2M1 without the empty bits beside it (`.kind::mxf4`, `.kind::mxf4nvf4`)."""
    S8 = ("s8", 8)
    U8 = ("u8", 8)
    S4 = ("s4", 4)
    U4 = ("u4", 4)
    S32 = ("s32", 32)
    B1 = ("b1", 32)

    def __init__(
        self,
        ptx_name: str,
        bits: int,
        exponent: int = 0,
        mantissa: int = 0,
        special: Special = Special.IEEE,
        shift: int = 0,
    ) -> None:
        self.ptx_name = ptx_name
        self.bits = bits
        self.exponent = exponent
        self.mantissa = mantissa
        self.special = special
        self.shift = shift

    @property
    def is_float(self) -> bool:
        """Whether elements are floating-point numbers."""
        return self.exponent > 0

    @property
    def is_signed(self) -> bool:
        """Whether elements are signed integers."""
        return self in (ElementFormat.S8, ElementFormat.S4, ElementFormat.S32)

    @property
    def register_bits(self) -> int:
        """Bits of the register that elements are packed into: 32, or 64 for f64."""
        return max(32, self.bits)

    @property
    def elements_per_word(self) -> int:
        """How many elements share a register."""
        return self.register_bits // self.bits

    @property
    def least_exponent(self) -> int:
        """The exponent of subnormal numbers, and the smallest one of normal numbers."""
        return 2 - (1 << (self.exponent - 1)) if self.exponent else 0

    @property
    def code_type(self) -> np.dtype[Any]:
        """The NumPy type that holds a code; one of four bits takes a byte."""
        return np.dtype(f"u{max(8, self.bits) // 8}")

    def decode(self, codes: Array) -> Array:
        """The values: float64, or int64 for integers and words of bits."""
        match self:
            case ElementFormat.F16:
                return codes.astype(np.uint16).view(np.float16).astype(np.float64)
            case ElementFormat.BF16:
                return (codes.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
            case ElementFormat.TF32:
                return (codes.astype(np.uint32) & _TF32_MASK).view(np.float32).astype(np.float64)
            case ElementFormat.F32:
                return codes.astype(np.uint32).view(np.float32).astype(np.float64)
            case ElementFormat.F64:
                return codes.astype(np.uint64).view(np.float64)
        if self.is_float:
            return small_values(self)[codes]
        wide = codes.astype(np.int64)
        if not self.is_signed:
            return wide
        half = 1 << (self.bits - 1)
        return (wide ^ half) - half

    @staticmethod
    def named(ptx_name: str) -> ElementFormat | None:
        """The format with that PTX name; None where there is none."""
        return _BY_NAME.get(ptx_name)


_BY_NAME = {member.ptx_name: member for member in ElementFormat}


@cache
def small_values(format_: ElementFormat) -> Array:
    """The value of every code of a format of at most eight bits, float64 of shape (256,)."""
    width = 1 + format_.exponent + format_.mantissa
    codes = (np.arange(256) >> format_.shift) & ((1 << width) - 1)
    fraction = codes & ((1 << format_.mantissa) - 1)
    top = (1 << format_.exponent) - 1
    field = (codes >> format_.mantissa) & top
    exponent = np.maximum(field, 1) + format_.least_exponent - 1 - format_.mantissa
    values = np.ldexp(
        (fraction + np.where(field > 0, 1 << format_.mantissa, 0)).astype(float), exponent
    )
    if format_.special is Special.IEEE:
        values = np.where(field == top, np.where(fraction == 0, np.inf, np.nan), values)
    elif format_.special is Special.NAN_ONLY:
        largest = (1 << format_.mantissa) - 1
        values = np.where((field == top) & (fraction == largest), np.nan, values)
    signed: Array = np.where(codes >> (width - 1), -values, values)
    return signed
