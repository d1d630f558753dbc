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

__all__ = ["evaluate", "evaluate_integer", "evaluate_integers"]

_MAX_BITS = 4096  # stops `9 ** 9 ** 9` before it fills the memory


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
        return _number(text, where)
    return _value(_parse(text, where), names, f"{where}: {text!r}")


def evaluate_integer(text: str | float, names: Mapping[str, int], where: str) -> int:
    """Evaluates an expression whose value must be whole; WorkloadError otherwise."""
    return _whole(evaluate(text, names, where), f"{where}: {text!r}")


def evaluate_integers(text: str, names: Mapping[str, int], where: str) -> tuple[int, ...]:
    """The whole values of a comma-separated list of expressions: `n + 2, ceil(n / 2)`."""
    place = f"{where}: {text!r}"
    listed = _parse(f"[{text}]", where)
    if not isinstance(listed, ast.List):
        raise WorkloadError(f"{place} is not a list of sizes")
    return tuple(_whole(_value(item, names, place), place) for item in listed.elts)


def _parse(text: str, where: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise WorkloadError(f"{where}: {text!r} is not an expression") from None


def _number(value: float, where: str) -> Fraction:
    if isinstance(value, bool) or not math.isfinite(value):
        raise WorkloadError(f"{where}: {value!r} is not a finite number")
    # The shortest decimal of a float is what its writer meant: 0.1 is a tenth.
    return Fraction(repr(value))


def _whole(value: Fraction, place: str) -> int:
    if value.denominator != 1:
        raise WorkloadError(f"{place} is {float(value):g}, not an integer")
    return int(value)


def _value(node: ast.expr, names: Mapping[str, int], place: str) -> Fraction:
    match node:
        case ast.Constant(value=int() | float() as value):
            return _number(value, place)
        case ast.Name() | ast.Attribute():
            return _named(ast.unparse(node), names, place)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, names, place)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand, names, place)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            operands = _value(left, names, place), _value(right, names, place)
            return _apply(_OPERATORS[type(operator)], operands, place)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            values = tuple(_value(item, names, place) for item in arguments)
            return _apply(_FUNCTIONS[name], values, place)
    raise WorkloadError(
        f"{place} uses {ast.unparse(node)!r}; known are + - * / // % **, "
        f"{', '.join(_FUNCTIONS)} and the names {', '.join(names) or '(none)'}"
    )


def _named(name: str, names: Mapping[str, int], place: str) -> Fraction:
    if name not in names:
        raise WorkloadError(f"{place}: no size is called {name!r}{nearest(name, names)}")
    return Fraction(names[name])


def _apply(
    function: Callable[..., Fraction], operands: tuple[Fraction, ...], place: str
) -> Fraction:
    try:
        return function(*operands)
    except ZeroDivisionError:
        raise WorkloadError(f"{place} divides by zero") from None
    except TypeError:  # only calls can have too few or too many values
        raise WorkloadError(
            f"{place}: ceil and floor take one value, min and max at least one"
        ) from None
    except ValueError as error:
        raise WorkloadError(f"{place}: {error}") from None
