"""Formulas over `double` that are written once and computed twice: on arrays and as LLVM IR.

Every step is an operation of IEEE 754 or a call of the C library, so that both give the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from kernelcast.simcore.isa.numerics.fused import fma
from kernelcast.simcore.isa.numerics.lane_code import LaneCode
from kernelcast.simcore.isa.numerics.libm import call_libm, emit_libm

__all__ = ["ArrayArithmetic", "Double", "Formula", "LlvmArithmetic", "Truth", "constant"]

_EXPONENT_BIAS = 1023
_EXPONENT_SHIFT = 52
_ROOT_OF_HALF = 0x3FE6A09E667F3BCD
"""The bits of the square root of 1/2."""


class Arithmetic(Protocol):
    """The steps that a formula may take; values are arrays or the names of LLVM values."""

    def constant(self, value: float) -> Any:
        """The constant in every lane."""

    def binary(self, name: str, a: Any, b: Any) -> Any:
        """`fadd`, `fsub`, `fmul`, `fdiv` or `copysign`."""

    def unary(self, name: str, a: Any) -> Any:
        """`sqrt`, `fabs`, `floor`, `trunc`, `ceil` or `roundeven`."""

    def compare(self, name: str, a: Any, b: Any) -> Any:
        """`oeq`, `olt`, `ogt`, `ole` or `uno` (either is NaN)."""

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """a * b + c, rounded once."""

    def logic(self, name: str, a: Any, b: Any) -> Any:
        """`and` or `or` of truths."""

    def negated(self, condition: Any) -> Any:
        """The logical negation of a condition."""

    def choose(self, condition: Any, a: Any, b: Any) -> Any:
        """`a` where the condition holds, else `b`, lane by lane."""

    def by_libm(self, name: str, *operands: Any) -> Any:
        """The result of the C library's function of that name."""

    def power_of_two(self, exponent: Any) -> Any:
        """2**exponent of integers from -1022 to 1023; any value for others."""

    def exponent(self, a: Any) -> Any:
        """The e for which a / 2**e lies between the roots of 1/2 and 2, of normal positive a."""


@dataclass(frozen=True, slots=True)
class Truth:
    """The outcome of a comparison in every lane."""

    by: Arithmetic
    value: Any

    def __and__(self, other: Truth) -> Truth:
        return Truth(self.by, self.by.logic("and", self.value, other.value))

    def __or__(self, other: Truth) -> Truth:
        return Truth(self.by, self.by.logic("or", self.value, other.value))

    def __invert__(self) -> Truth:
        return Truth(self.by, self.by.negated(self.value))

    def choose(self, a: Double | float, b: Double | float) -> Double:
        """a where it holds, else b."""
        chosen = self.by.choose(self.value, constant(self.by, a).value, constant(self.by, b).value)
        return Double(self.by, chosen)


@dataclass(frozen=True, slots=True)
class Double:
    """A `double` in every lane."""

    by: Arithmetic
    value: Any

    def _binary(self, name: str, a: Double | float, b: Double | float) -> Double:
        operands = (constant(self.by, a).value, constant(self.by, b).value)
        return Double(self.by, self.by.binary(name, *operands))

    def _compare(self, name: str, other: Double | float) -> Truth:
        return Truth(self.by, self.by.compare(name, self.value, constant(self.by, other).value))

    def __add__(self, other: Double | float) -> Double:
        return self._binary("fadd", self, other)

    def __sub__(self, other: Double | float) -> Double:
        return self._binary("fsub", self, other)

    def __rsub__(self, other: float) -> Double:
        return self._binary("fsub", other, self)

    def __mul__(self, other: Double | float) -> Double:
        return self._binary("fmul", self, other)

    def __truediv__(self, other: Double | float) -> Double:
        return self._binary("fdiv", self, other)

    def __rtruediv__(self, other: float) -> Double:
        return self._binary("fdiv", other, self)

    def __neg__(self) -> Double:
        return self._binary("fmul", self, -1.0)

    def __abs__(self) -> Double:
        return self.unary("fabs")

    def __lt__(self, other: Double | float) -> Truth:
        return self._compare("olt", other)

    def __gt__(self, other: Double | float) -> Truth:
        return self._compare("ogt", other)

    def __le__(self, other: Double | float) -> Truth:
        return self._compare("ole", other)

    def equals(self, other: Double | float) -> Truth:
        """Whether both are equal; false where one is NaN."""
        return self._compare("oeq", other)

    @property
    def is_nan(self) -> Truth:
        """Whether the value is a NaN."""
        return self._compare("uno", self)

    @property
    def is_infinite(self) -> Truth:
        """Whether the value is an infinity of either sign."""
        return abs(self).equals(math.inf)

    def unary(self, name: str) -> Double:
        """`sqrt`, `fabs`, `floor`, `trunc`, `ceil` or `roundeven`."""
        return Double(self.by, self.by.unary(name, self.value))

    def by_libm(self, name: str, *others: Double | float) -> Double:
        """A function of the C library, this value the first operand."""
        operands = (constant(self.by, other).value for other in others)
        return Double(self.by, self.by.by_libm(name, self.value, *operands))

    def times_plus(self, factor: Double | float, addend: Double | float) -> Double:
        """Rounded once."""
        operands = (constant(self.by, factor).value, constant(self.by, addend).value)
        return Double(self.by, self.by.fma(self.value, *operands))

    def with_sign_of(self, other: Double) -> Double:
        """The magnitude of this value with the sign of the other."""
        return self._binary("copysign", self, other)

    def like(self, number: float) -> Double:
        """The number, the same in every lane."""
        return constant(self.by, number)

    def power_of_two(self) -> Double:
        """2 to this integer, which lies from -1022 to 1023."""
        return Double(self.by, self.by.power_of_two(self.value))

    def exponent(self) -> Double:
        """The e for which this / 2**e lies between the roots of 1/2 and 2; of positive numbers."""
        return Double(self.by, self.by.exponent(self.value))

    def polynomial(self, coefficients: Sequence[float]) -> Double:
        """The coefficients are those of the powers 0, 1, 2, ..."""
        total = self.like(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            total = total.times_plus(self, coefficient)
        return total


Formula: TypeAlias = Callable[..., Double | tuple[Double, ...]]
"""(*operands: Double) -> result or results."""


def constant(by: Arithmetic, value: Double | float) -> Double:
    """A number as a value; values stay what they are."""
    return value if isinstance(value, Double) else Double(by, by.constant(value))


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "fadd": np.add,
    "fsub": np.subtract,
    "fmul": np.multiply,
    "fdiv": np.divide,
    "copysign": np.copysign,
    "oeq": np.equal,
    "olt": np.less,
    "ogt": np.greater,
    "ole": np.less_equal,
    "uno": lambda a, b: np.isnan(a) | np.isnan(b),
    "and": np.logical_and,
    "or": np.logical_or,
}
_UNARY: dict[str, Callable[[Any], Any]] = {
    "sqrt": np.sqrt,
    "fabs": np.abs,
    "floor": np.floor,
    "trunc": np.trunc,
    "ceil": np.ceil,
    "roundeven": np.rint,
}


class ArrayArithmetic:
    """Values are float64 arrays."""

    def constant(self, value: float) -> Any:
        """A float64 scalar, which NumPy broadcasts."""
        return np.float64(value)

    def binary(self, name: str, a: Any, b: Any) -> Any:
        """Applies the NumPy function of a binary operation."""
        return _BINARY[name](a, b)

    compare = binary
    logic = binary

    def unary(self, name: str, a: Any) -> Any:
        """Applies the NumPy function of a unary operation."""
        return _UNARY[name](a)

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """a * b + c, rounded once."""
        return fma(np.asarray(a), np.asarray(b), np.asarray(c))

    def negated(self, condition: Any) -> Any:
        """The elementwise logical negation of a condition."""
        return np.logical_not(condition)

    def choose(self, condition: Any, a: Any, b: Any) -> Any:
        """`a` where the condition holds, else `b`, element by element."""
        return np.where(condition, a, b)

    def by_libm(self, name: str, *operands: Any) -> Any:
        """The C library's function applied to each element."""
        return call_libm(name, *(np.asarray(operand) for operand in operands))

    def power_of_two(self, exponent: Any) -> Any:
        """2**exponent, by writing the exponent's field; limited to what is a normal number."""
        limited = np.clip(np.nan_to_num(exponent), -_EXPONENT_BIAS, _EXPONENT_BIAS + 1)
        biased = np.asarray(limited).astype(np.int64) + _EXPONENT_BIAS
        return (biased << _EXPONENT_SHIFT).view(np.float64)

    def exponent(self, a: Any) -> Any:
        """The exponent e for which a / 2**e lies between sqrt(1/2) and sqrt(2), of positive a."""
        above = np.asarray(a, np.float64).view(np.int64) - _ROOT_OF_HALF
        return (above >> _EXPONENT_SHIFT).astype(np.float64)


class LlvmArithmetic:
    """Values are names of LLVM values."""

    def __init__(self, code: LaneCode) -> None:
        self._code = code

    def _call(self, name: str, *operands: Any) -> Any:
        kind = self._code.type("double")
        return self._code.intrinsic(name, "double", [(kind, x) for x in operands])

    def constant(self, value: float) -> Any:
        """An LLVM constant, the same in each lane."""
        return self._code.real("double", value)

    def binary(self, name: str, a: Any, b: Any) -> Any:
        """Emits a binary operation on doubles."""
        if name == "copysign":
            return self._call(name, a, b)
        return self._code.binary(name, "double", a, b)

    def compare(self, name: str, a: Any, b: Any) -> Any:
        """Emits `fcmp` with the predicate `name`."""
        return self._code.binary(f"fcmp {name}", "double", a, b)

    def logic(self, name: str, a: Any, b: Any) -> Any:
        """Emits a logical operation on `i1`."""
        return self._code.binary(name, "i1", a, b)

    def unary(self, name: str, a: Any) -> Any:
        """Emits a call of a unary intrinsic."""
        return self._call(name, a)

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """Emits a call of `llvm.fma`."""
        return self._call("fma", a, b, c)

    def negated(self, condition: Any) -> Any:
        """Emits the negation of an `i1`."""
        return self._code.binary("xor", "i1", condition, self._code.splat("i1", "true"))

    def choose(self, condition: Any, a: Any, b: Any) -> Any:
        """Emits a `select` on doubles."""
        return self._code.select("double", condition, a, b)

    def by_libm(self, name: str, *operands: Any) -> Any:
        """Emits calls of the C library's function, lane by lane."""
        return emit_libm(self._code, name, *operands)

    def power_of_two(self, exponent: Any) -> Any:
        """Emits 2**exponent by writing the exponent's field."""
        code, kind = self._code, self._code.type("double")
        suffix = f"{code.mangle('i64')}.{code.mangle('double')}"
        integer = code.intrinsic("fptosi.sat", "i64", [(kind, exponent)], suffix)
        biased = code.binary("add", "i64", integer, code.splat("i64", _EXPONENT_BIAS))
        shifted = code.binary("shl", "i64", biased, code.splat("i64", _EXPONENT_SHIFT))
        return code.cast("bitcast", "i64", shifted, "double")

    def exponent(self, a: Any) -> Any:
        """Emits the exponent e for which a / 2**e lies between sqrt(1/2) and sqrt(2)."""
        code = self._code
        bits = code.cast("bitcast", "double", a, "i64")
        above = code.binary("sub", "i64", bits, code.splat("i64", _ROOT_OF_HALF))
        shifted = code.binary("ashr", "i64", above, code.splat("i64", _EXPONENT_SHIFT))
        return code.cast("sitofp", "i32", code.cast("trunc", "i64", shifted, "i32"), "double")
