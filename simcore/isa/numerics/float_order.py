"""f32 as integers of the same order, so that the smallest of many lanes is that of integers.

For `redux.sync.min{.abs}{.NaN}.f32` (PTX ISA 8.6): -0 is below +0; a NaN is left out unless `.NaN`
is there, and what has nothing but NaN gives the canonical one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.numerics.lane_code import LaneCode

__all__ = ["FloatOrder"]

Array = npt.NDArray[Any]

_SIGN = 0x80000000
_NAN = 0x7FFFFFFF
_HIGHEST = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class FloatOrder:
    """The keys of a reduction: NaN is a number beyond all others, 0 or the highest."""

    is_minimum: bool
    is_of_magnitudes: bool
    keeps_nan: bool

    @property
    def _nan_key(self) -> int:
        """The key of a NaN: at the end that is chosen when a NaN is to stay, else at the other."""
        return 0 if self.is_minimum == self.keeps_nan else _HIGHEST

    def keys(self, numbers: Array) -> Array:
        """float32 to uint32."""
        magnitudes = np.abs(numbers) if self.is_of_magnitudes else numbers
        bits = magnitudes.view(np.uint32)
        keys = np.where(bits >> np.uint32(31), ~bits, bits | np.uint32(_SIGN))
        return np.where(np.isnan(numbers), np.uint32(self._nan_key), keys)

    def numbers(self, keys: Array) -> Array:
        """The inverse of `keys`."""
        bits = np.where(keys >> np.uint32(31), keys & np.uint32(_NAN), ~keys)
        is_nan = (keys == 0) | (keys == np.uint32(_HIGHEST))
        return np.where(is_nan, np.uint32(_NAN), bits).view(np.float32)

    def emit_keys(self, code: LaneCode, numbers: str) -> str:
        """`float` to i32: the twin of `keys`."""
        bits = code.cast("bitcast", "float", numbers, "i32")
        if self.is_of_magnitudes:
            bits = code.binary("and", "i32", bits, code.splat("i32", _NAN))
        negative = code.binary("icmp slt", "i32", bits, code.splat("i32", 0))
        inverse = code.binary("xor", "i32", bits, code.splat("i32", -1))
        above = code.binary("or", "i32", bits, code.splat("i32", _SIGN))
        keys = code.select("i32", negative, inverse, above)
        is_nan = code.binary("fcmp uno", "float", numbers, numbers)
        return code.select("i32", is_nan, code.splat("i32", self._nan_key), keys)

    def emit_numbers(self, code: LaneCode, keys: str) -> str:
        """i32 to `float`: the twin of `numbers`."""
        positive = code.binary("icmp slt", "i32", keys, code.splat("i32", 0))
        below = code.binary("and", "i32", keys, code.splat("i32", _NAN))
        inverse = code.binary("xor", "i32", keys, code.splat("i32", -1))
        bits = code.select("i32", positive, below, inverse)
        for end in (0, _HIGHEST):
            is_end = code.binary("icmp eq", "i32", keys, code.splat("i32", end))
            bits = code.select("i32", is_end, code.splat("i32", _NAN), bits)
        return code.cast("bitcast", "i32", bits, "float")
