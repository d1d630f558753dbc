"""Arithmetic of workload files: `ceil((n / 2 + 1) / block.x)` over named sizes.

Everything is computed in exact fractions, so that `ceil(n / 3)` never suffers from rounding. Only
the operators and functions below exist; no text of a workload file is ever executed as Python.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from kernelcast.errors import WorkloadError, nearest
from kernelcast.simcore.host.limits import MOST_EXPRESSION_CHARACTERS, MOST_EXPRESSION_DEPTH

__all__ = ["evaluate", "evaluate_integer", "evaluate_integers", "shown_number"]

_MAX_BITS = 4096
"""The most bits of numerators and denominators: stops `9 ** 9 ** 9` before it fills the memory."""
_SHOWN_CHARACTERS = 100


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1:
        raise ValueError("exponents must be integers")
    size = max(base.numerator.bit_length(), base.denominator.bit_length())
    if size * abs(exponent) > _MAX_BITS:
        raise ValueError("the result is too large")
    return Fraction(base ** int(exponent))


_OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: Fraction(a // b),
    ast.Mod: lambda a, b: a % b,
    ast.Pow: _power,
}
_FUNCTIONS: dict[str, Callable[..., Fraction]] = {
    "ceil": lambda a: Fraction(math.ceil(a)),
    "floor": lambda a: Fraction(math.floor(a)),
    "min": lambda first, *others: min((first, *others)),
    "max": lambda first, *others: max((first, *others)),
}


def evaluate(text: str | float, names: Mapping[str, int], where: str) -> Fraction:
    """The exact value of an expression or number; WorkloadError naming `where` when it has none."""
    if isinstance(text, (int, float)):
        return _number(text, where)  # before its digits are asked for: Python has a limit, too
    return _Evaluation(names, _place(text, where)).value(_parse(text, where))


def evaluate_integer(text: str | float, names: Mapping[str, int], where: str) -> int:
    """Evaluates an expression whose value must be whole; WorkloadError otherwise."""
    return _whole(evaluate(text, names, where), _place(text, where))


def evaluate_integers(text: str, names: Mapping[str, int], where: str) -> tuple[int, ...]:
    """The whole values of a comma-separated list of expressions: `n + 2, ceil(n / 2)`."""
    place = _place(text, where)
    listed = _parse(f"[{text}]", where)
    if not isinstance(listed, ast.List):
        raise WorkloadError(f"{place} is not a list of sizes")
    evaluation = _Evaluation(names, place)
    return tuple(_whole(evaluation.value(item), place) for item in listed.elts)


def _place(text: str | float, where: str) -> str:
    """The start of messages; of a long text its beginning."""
    shown = repr(text)
    if len(shown) > _SHOWN_CHARACTERS:
        shown = f"{shown[:_SHOWN_CHARACTERS]}..."
    return f"{where}: {shown}"


def _parse(text: str, where: str) -> ast.expr:
    if len(text) > MOST_EXPRESSION_CHARACTERS:
        raise WorkloadError(
            f"{_place(text, where)} has {len(text):,} characters, more than "
            f"{MOST_EXPRESSION_CHARACTERS:,}"
        )
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise WorkloadError(f"{_place(text, where)} is not an expression") from None


def _number(value: float, where: str) -> Fraction:
    if isinstance(value, int) and not isinstance(value, bool):
        if value.bit_length() > _MAX_BITS:
            raise WorkloadError(f"{where}: the number is too large")
        return Fraction(value)
    if isinstance(value, bool) or not math.isfinite(value):
        raise WorkloadError(f"{where}: {value!r} is not a finite number")
    # The shortest decimal of a float is what its writer meant: 0.1 is a tenth.
    return Fraction(repr(value))


def _whole(value: Fraction, place: str) -> int:
    if value.denominator != 1:
        raise WorkloadError(f"{place} is {shown_number(value)}, not an integer")
    return int(value)


def shown_number(value: Fraction) -> str:
    """A few digits of it, for messages; any size has some."""
    try:
        return f"{float(value):g}"
    except OverflowError:
        return "more than any float"


class _Evaluation:
    """Evaluates one text; `place` is the start of messages."""

    def __init__(self, names: Mapping[str, int], place: str) -> None:
        self._names = names
        self._place = place

    def value(self, node: ast.expr, depth: int = 0) -> Fraction:
        """The value of a node. WorkloadError where it has none or is nested too deeply."""
        if depth > MOST_EXPRESSION_DEPTH:
            raise WorkloadError(
                f"{self._place} has more than {MOST_EXPRESSION_DEPTH} operators in a row or nested"
            )
        inner = depth + 1
        match node:
            case ast.Constant(value=int() | float() as value):
                return self._checked(_number(value, self._place))
            case ast.Name(id=name):
                return self._named(name)
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                return self._named(f"{name}.{attribute}")
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.value(operand, inner)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.value(operand, inner)
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
                operands = self.value(left, inner), self.value(right, inner)
                return self._apply(_OPERATORS[type(operator)], operands)
            case ast.Call(func=ast.Name(id=name), args=values, keywords=[]) if name in _FUNCTIONS:
                return self._apply(_FUNCTIONS[name], tuple(self.value(v, inner) for v in values))
        raise WorkloadError(
            f"{self._place} uses {self._shown(node)}; known are + - * / // % **, "
            f"{', '.join(_FUNCTIONS)} and the names {', '.join(self._names) or '(none)'}"
        )

    def _named(self, name: str) -> Fraction:
        if name not in self._names:
            raise WorkloadError(
                f"{self._place}: no size is called {name!r}{nearest(name, self._names)}"
            )
        return Fraction(self._names[name])

    def _shown(self, node: ast.expr) -> str:
        """The text of a node; deep ones have none that is worth showing."""
        try:
            shown = repr(ast.unparse(node))
        except RecursionError:
            return "what is nested too deeply"
        return shown if len(shown) <= _SHOWN_CHARACTERS else f"{shown[:_SHOWN_CHARACTERS]}..."

    def _apply(self, function: Callable[..., Fraction], operands: tuple[Fraction, ...]) -> Fraction:
        try:
            return self._checked(function(*operands))
        except ZeroDivisionError:
            raise WorkloadError(f"{self._place} divides by zero") from None
        except TypeError:  # only calls can have too few or too many values
            raise WorkloadError(
                f"{self._place}: ceil and floor take one value, min and max at least one"
            ) from None
        except ValueError as error:
            raise WorkloadError(f"{self._place}: {error}") from None

    def _checked(self, value: Fraction) -> Fraction:
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MAX_BITS:
            raise WorkloadError(f"{self._place}: the result is too large")
        return value
