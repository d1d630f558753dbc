"""Integers wide enough for exact intermediate results, in NumPy and in LLVM IR.

Formulas that are written with one of these once serve both engines.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from kernelcast.simcore.isa.numerics.lane_code import LaneCode

__all__ = ["Algebra", "LlvmIntegers", "NumpyIntegers"]

Value = Any
"""What an algebra computes with: an array, or the text of an LLVM operand."""
_FUNCTIONS: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "shl": np.left_shift,
    "shr": np.right_shift,
    "min": np.minimum,
    "max": np.maximum,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_WORD = (1 << 32) - 1


class Algebra(Protocol):
    """Operations on signed integers that never overflow; amounts of shifts are below the width."""

    def widened(self, word: Value) -> Value:
        """Zero-extends an unsigned word of 32 bits."""

    def narrowed(self, value: Value) -> Value:
        """The lowest 32 bits as an unsigned word."""

    def do(self, name: str, a: Value, b: Value | int) -> Value:
        """Computes `add`, `sub`, `mul`, `and`, `or`, `shl`, `shr`, `min`, `max` or a comparison.

        `shr` is arithmetic: it keeps the sign.
        """

    def select(self, condition: Value, a: Value | int, b: Value | int) -> Value:
        """Lane by lane."""


class NumpyIntegers:
    """int64, or Python's own integers where 64 bits are too few."""

    def __init__(self, *, is_wide: bool) -> None:
        self._dtype: Any = object if is_wide else np.int64

    def widened(self, word: Value) -> Value:
        """Converts unsigned words of 32 bits to the wide integers."""
        return np.asarray(word).astype(self._dtype)

    def narrowed(self, value: Value) -> Value:
        """The lowest 32 bits as uint32."""
        return np.asarray(np.bitwise_and(value, _WORD)).astype(np.uint32)

    def do(self, name: str, a: Value, b: Value | int) -> Value:
        """Applies the NumPy function of an operation or comparison."""
        return _FUNCTIONS[name](a, b)

    def select(self, condition: Value, a: Value | int, b: Value | int) -> Value:
        """`a` where the condition holds, else `b`, element by element."""
        return np.where(np.asarray(condition, np.bool_), a, b)


class LlvmIntegers:
    """i64, or i128 where that is too few."""

    def __init__(self, code: LaneCode, *, is_wide: bool) -> None:
        self._code = code
        self._lane = "i128" if is_wide else "i64"

    def _value(self, value: Value | int) -> str:
        return self._code.splat(self._lane, value) if isinstance(value, int) else str(value)

    def widened(self, word: Value) -> Value:
        """Emits the zero extension of 32-bit words."""
        return self._code.cast("zext", "i32", word, self._lane)

    def narrowed(self, value: Value) -> Value:
        """Emits the truncation to the lowest 32 bits."""
        return self._code.cast("trunc", self._lane, value, "i32")

    def do(self, name: str, a: Value, b: Value | int) -> Value:
        """Emits a signed operation or comparison on wide integers."""
        operands = self._value(a), self._value(b)
        if name in ("min", "max"):
            kind = self._code.type(self._lane)
            return self._code.intrinsic(f"s{name}", self._lane, [(kind, x) for x in operands])
        if name in ("eq", "ne"):
            return self._code.binary(f"icmp {name}", self._lane, *operands)
        if name in ("lt", "le", "gt", "ge"):
            return self._code.binary(f"icmp s{name}", self._lane, *operands)
        return self._code.binary({"shr": "ashr"}.get(name, name), self._lane, *operands)

    def select(self, condition: Value, a: Value | int, b: Value | int) -> Value:
        """Emits a `select` on wide integers."""
        return self._code.select(self._lane, condition, self._value(a), self._value(b))
