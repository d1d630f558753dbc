"""Addresses as integer polynomials of thread and thread-block index, exact and in normal form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Union

from kernelcast.errors import ModelNotApplicable

__all__ = [
    "AXES",
    "AddressExpression",
    "AffineForm",
    "Monomial",
    "constant",
    "thread_block_index",
    "thread_block_size",
    "thread_index",
    "variable",
]

AXES = ("x", "y", "z")

Monomial = tuple[str, ...]
"""Variables in alphabetical order, each as often as its power; the empty one is 1."""

Operand = Union["AddressExpression", int]


@dataclass(frozen=True, slots=True)
class AffineForm:
    """Constant and coefficient of each variable, in the units of the expression; none is 0.

    Variables are `tid.x`, `ctaid.x`, `fold.x` (cell of a thread that works on several) and so on,
    and those of loops.
    """

    constant: int
    coefficients: tuple[tuple[str, int], ...]

    def coefficient(self, name: str) -> int:
        """0 for a variable that the address does not depend on."""
        return dict(self.coefficients).get(name, 0)

    def value(self, indices: Mapping[str, int]) -> int:
        """The value at the given indices; those that are missing are 0."""
        return self.constant + sum(
            factor * indices.get(name, 0) for name, factor in self.coefficients
        )


@dataclass(frozen=True, slots=True)
class AddressExpression:
    """A polynomial: coefficient, never 0, by monomial, in alphabetical order.

    Variables: `x`, `y`, `z` (global coordinates of a cell), `tid.x`, `ctaid.x`, `ntid.x` (thread
    index, thread-block index, thread-block size) and so on, `fold.x` (which cell of its thread),
    loops and parameters under names of their own. Two expressions are equal when they are the same
    polynomial.
    """

    terms: tuple[tuple[Monomial, int], ...] = ()

    @classmethod
    def of(cls, coefficients: Mapping[Monomial, int]) -> AddressExpression:
        """Brings monomials into normal form and adds up equal ones."""
        found: dict[Monomial, int] = {}
        for monomial, factor in coefficients.items():
            ordered = tuple(sorted(monomial))
            found[ordered] = found.get(ordered, 0) + factor
        return cls(tuple(sorted((item, factor) for item, factor in found.items() if factor)))

    @property
    def variables(self) -> frozenset[str]:
        """Names of all variables that occur."""
        return frozenset(name for monomial, _ in self.terms for name in monomial)

    @property
    def as_constant(self) -> int | None:
        """The value of an expression without variables; None of others."""
        if not self.terms:
            return 0
        (monomial, factor), *rest = self.terms
        return factor if not monomial and not rest else None

    def substitute(self, values: Mapping[str, Operand]) -> AddressExpression:
        """The polynomial with expressions or integers in the place of variables."""
        total = AddressExpression()
        for monomial, factor in self.terms:
            product = constant(factor)
            for name in monomial:
                product *= values.get(name, variable(name))
            total += product
        return total

    def bind(
        self,
        block: tuple[int, int, int],
        parameters: Mapping[str, int] | None = None,
        folding: tuple[int, int, int] = (1, 1, 1),
        loops: Iterable[str] = (),
    ) -> AffineForm:
        """Affine in thread and thread-block index for a thread-block size.

        Coordinate x is (ctaid.x ntid.x + tid.x) folding.x + fold.x. ModelNotApplicable, naming the
        term, where a product of indices or an unknown name is left.
        """
        values = {f"ntid.{axis}": threads for axis, threads in zip(AXES, block, strict=True)}
        values.update(parameters or {})
        found: dict[Monomial, int] = {}
        for monomial, factor in self.terms:
            rest = []
            for name in monomial:
                if name in values:
                    factor *= values[name]
                else:
                    rest.append(name)
            if len(rest) > 1:
                raise ModelNotApplicable(f"address is not affine: {'*'.join(monomial)}")
            for item, cells in _cells(rest[0] if rest else "", block, folding):
                found[item] = found.get(item, 0) + factor * cells
        allowed = {*loops, *_INDICES}
        for item in found:
            if item and item[0] not in allowed:
                raise ModelNotApplicable(f"address needs a value of {item[0]}")
        coefficients = sorted(
            (item[0], factor) for item, factor in found.items() if item and factor
        )
        return AffineForm(found.get((), 0), tuple(coefficients))

    def __add__(self, other: Operand) -> AddressExpression:
        found = dict(self.terms)
        for monomial, factor in _operand(other).terms:
            found[monomial] = found.get(monomial, 0) + factor
        return AddressExpression.of(found)

    def __mul__(self, other: Operand) -> AddressExpression:
        found: dict[Monomial, int] = {}
        for left, left_factor in self.terms:
            for right, right_factor in _operand(other).terms:
                product = tuple(sorted((*left, *right)))
                found[product] = found.get(product, 0) + left_factor * right_factor
        return AddressExpression.of(found)

    def __neg__(self) -> AddressExpression:
        return self * -1

    def __sub__(self, other: Operand) -> AddressExpression:
        return self + _operand(other) * -1

    def __rsub__(self, other: int) -> AddressExpression:
        return -self + other

    def __pow__(self, power: int) -> AddressExpression:
        product = constant(1)
        for _ in range(power):
            product *= self
        return product

    __radd__ = __add__
    __rmul__ = __mul__

    def __str__(self) -> str:
        shown = (_term(monomial, factor) for monomial, factor in self.terms)
        return " + ".join(shown).replace("+ -", "- ") or "0"


_INDICES = frozenset(f"{kind}.{axis}" for kind in ("tid", "ctaid", "fold") for axis in AXES)


def constant(value: int) -> AddressExpression:
    """The expression of an integer."""
    return AddressExpression.of({(): value})


def variable(name: str) -> AddressExpression:
    """The expression of one variable."""
    return AddressExpression(terms=(((name,), 1),))


def thread_index(axis: str) -> AddressExpression:
    """`threadIdx` of CUDA, `tid` of PTX, along `x`, `y` or `z`."""
    return variable(f"tid.{axis}")


def thread_block_index(axis: str) -> AddressExpression:
    """`blockIdx` of CUDA, `ctaid` of PTX."""
    return variable(f"ctaid.{axis}")


def thread_block_size(axis: str) -> AddressExpression:
    """`blockDim` of CUDA, `ntid` of PTX."""
    return variable(f"ntid.{axis}")


def _operand(value: Operand) -> AddressExpression:
    return value if isinstance(value, AddressExpression) else constant(value)


def _cells(
    name: str, block: tuple[int, int, int], folding: tuple[int, int, int]
) -> tuple[tuple[Monomial, int], ...]:
    """A variable as sum of monomials with factors; a coordinate is made of its indices."""
    if name not in AXES:
        return (((name,) if name else (), 1),)
    threads, cells = block[AXES.index(name)], folding[AXES.index(name)]
    fold = (((f"fold.{name}",), 1),) if cells > 1 else ()
    return ((f"ctaid.{name}",), threads * cells), ((f"tid.{name}",), cells), *fold


def _term(monomial: Monomial, factor: int) -> str:
    product = "*".join(monomial)
    if not monomial or abs(factor) != 1:
        return "*".join(part for part in (str(factor), product) if part)
    return product if factor == 1 else f"-{product}"
