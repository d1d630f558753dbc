"""Address expressions from what people have at hand: callables, text, SymPy, index tuples."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from kernelcast.errors import KernelcastError
from kernelcast.simcore.address.expression import AXES, AddressExpression, constant, variable

__all__ = ["AddressSource", "address_expression"]


@runtime_checkable
class SymbolicExpression(Protocol):
    """What of an expression of SymPy is needed."""

    func: Any
    args: Any
    is_Symbol: bool  # noqa: N815


Index = AddressExpression | int | str | SymbolicExpression
AddressSource = Index | Sequence[Index] | Callable[..., Any]
"""One index, or one for each dimension of the field, x first, or a callable that returns either."""

_KINDS = {
    "tid": ("t", "threadIdx.", "tid."),
    "ctaid": ("b", "blockIdx.", "ctaid."),
    "ntid": ("d", "blockDim.", "ntid."),
    "fold": ("f", "fold."),
}
_NAMES = {
    f"{prefix}{axis}": f"{kind}.{axis}"
    for kind, prefixes in _KINDS.items()
    for prefix in prefixes
    for axis in AXES
}
"""Names of callables, of CUDA and of PTX, by the variable that they stand for."""

_DOTTED = re.compile(r"(threadIdx|blockIdx|blockDim|%?n?tid|%?ctaid|fold)\.([xyz])\b")


def address_expression(source: AddressSource, strides: Sequence[int] = ()) -> AddressExpression:
    """One expression; a tuple of indices is made linear with `strides`, x first.

    Names: `x`, `y`, `z` for the cell, `tx`, `bx`, `dx` or `threadIdx.x`, `blockIdx.x`,
    `blockDim.x` and so on, all others are parameters or loops. A callable is called with a variable
    for each of its parameters. KernelcastError for what is not a polynomial with integers.
    """
    if callable(source) and not isinstance(source, SymbolicExpression):
        names = inspect.signature(source).parameters
        source = source(*(variable(_NAMES.get(name, name)) for name in names))
    if isinstance(source, Sequence) and not isinstance(source, str):
        return _linear([_index(item) for item in source], strides)
    return _index(source)


def _linear(indices: Sequence[AddressExpression], strides: Sequence[int]) -> AddressExpression:
    if len(indices) != len(strides):
        raise KernelcastError(
            f"{len(indices)} indices for a field of {len(strides)} dimensions: give its shape"
        )
    return sum(
        (index * stride for index, stride in zip(indices, strides, strict=True)), constant(0)
    )


def _index(source: Any) -> AddressExpression:
    if isinstance(source, AddressExpression):
        return source
    if isinstance(source, str):
        return _from_text(source)
    if isinstance(source, SymbolicExpression):
        return _from_sympy(source)
    try:
        return constant(source.__index__())
    except AttributeError:
        raise KernelcastError(f"{source!r} is not an index of integers") from None


def _from_text(text: str) -> AddressExpression:
    plain = _DOTTED.sub(lambda found: f"{found[1].lstrip('%')}_{found[2]}", text)
    try:
        tree = ast.parse(plain.strip(), mode="eval").body
    except SyntaxError:
        raise KernelcastError(f"address expression {text!r} is not arithmetic") from None
    return _from_tree(tree, text)


def _from_tree(tree: ast.expr, text: str) -> AddressExpression:
    match tree:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return constant(value)
        case ast.Name(id=name):
            dotted = re.sub(r"^(\w+)_([xyz])$", r"\1.\2", name)
            return variable(_NAMES.get(dotted, _NAMES.get(name, name)))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_from_tree(operand, text)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _from_tree(operand, text)
        case ast.BinOp(left=left, op=operation, right=right):
            return _combined(_from_tree(left, text), operation, _from_tree(right, text), text)
    raise KernelcastError(f"address expression {text!r} has more than +, -, * and integers")


def _combined(
    left: AddressExpression, operation: ast.operator, right: AddressExpression, text: str
) -> AddressExpression:
    match operation:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Pow() if (power := right.as_constant) is not None and power >= 0:
            return left**power
    raise KernelcastError(f"address expression {text!r} has more than +, -, * and integers")


def _from_sympy(source: Any) -> AddressExpression:
    """Converts by the names of SymPy's classes, so that it need not be imported."""
    if source.is_Symbol:
        return _index(str(source))
    parts = [_from_sympy(part) for part in source.args]
    match source.func.__name__:
        case "Add":
            return sum(parts, constant(0))
        case "Mul":
            product = constant(1)
            for part in parts:
                product *= part
            return product
        case "Pow" if (power := parts[1].as_constant) is not None and power >= 0:
            return parts[0] ** power
    if getattr(source, "is_Integer", False):
        return constant(int(source))
    raise KernelcastError(f"{source} is not a polynomial with integers: {source.func.__name__}")
