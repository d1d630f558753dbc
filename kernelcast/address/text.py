"""Accesses as people type them: `src[z, y, x - 4..4]`.

Indices are in the order of C, the last one adjacent; `a..b` stands for each integer from a to b.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from kernelcast.errors import KernelcastError, WorkloadError, nearest
from kernelcast.simcore.address.expression import AXES, AddressExpression
from kernelcast.simcore.address.expression_sources import address_expression
from kernelcast.simcore.address.kernel import Access, Field
from kernelcast.simcore.isa.types import Kind, ScalarType

__all__ = [
    "IndexNames",
    "element_bytes",
    "expanded",
    "index_bounds",
    "make_access",
    "split_indices",
]

_RANGE = re.compile(r"(?P<sign>[+-]?)\s*(?P<first>\d+)\s*\.\.\s*(?P<last>[+-]?\d+)")
_MOST_EXPANDED = 4096
_ELEMENTS = {item.ptx_name: item for item in ScalarType if item.kind is not Kind.PREDICATE}


@dataclass(frozen=True, slots=True)
class IndexNames:
    """What an index may name: sizes with their values, loops with their trips."""

    sizes: Mapping[str, int]
    loops: Mapping[str, int]

    def check(self, index: AddressExpression, where: str) -> None:
        """Raises WorkloadError for a name that stands for nothing."""
        known = (*AXES, *self.sizes, *self.loops)
        for name in sorted(index.variables):
            if name not in known and "." not in name:
                raise WorkloadError(
                    f"{where}: no size or loop is called {name!r}{nearest(name, known)}"
                )


def element_bytes(name: str, where: str) -> int:
    """Bytes of a type such as `f64` or `s32`; WorkloadError for anything else."""
    if name not in _ELEMENTS:
        raise WorkloadError(f"{where}: {name!r} is not a type such as f64, f32 or s32")
    return _ELEMENTS[name].bytes


def split_indices(text: str, where: str) -> tuple[str, ...]:
    """Splits indices at commas outside of parentheses; WorkloadError for an empty index."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            parts.append(text[start:position])
            start = position + 1
    parts = [part.strip() for part in (*parts, text[start:])]
    if not all(parts):
        raise WorkloadError(f"{where}: an index is missing in {text!r}")
    return tuple(parts)


def expanded(indices: Sequence[str], where: str) -> Iterator[tuple[str, ...]]:
    """The indices with every combination of the values of their ranges."""
    values = [tuple(_values(index, where)) for index in indices]
    count = 1
    for item in values:
        count *= len(item)
    if count > _MOST_EXPANDED:
        raise WorkloadError(f"{where}: the ranges make {count} accesses of one")
    return product(*values)


def _values(index: str, where: str) -> Iterator[str]:
    found = _RANGE.search(index)
    if found is None:
        yield index
        return
    first, last = int(f"{found['sign']}{found['first']}"), int(found["last"])
    if last < first:
        raise WorkloadError(f"{where}: the range {found[0].strip()!r} is empty")
    if _RANGE.search(index, found.end()):
        raise WorkloadError(f"{where}: two ranges in the index {index!r}")
    for value in range(first, last + 1):
        yield f"{index[: found.start()]}+({value}){index[found.end() :]}"


def make_access(field: Field, indices: Sequence[str], names: IndexNames, where: str) -> Access:
    """The access to one element; WorkloadError where the indices do not fit the field."""
    if len(indices) != len(field.shape):
        raise WorkloadError(
            f"{where}: {len(indices)} indices, {field.name} has {len(field.shape)} dimensions"
        )
    try:
        index = address_expression(tuple(reversed(indices)), field.strides)
    except WorkloadError:
        raise
    except KernelcastError as error:
        raise WorkloadError(f"{where}: {error.message}") from None
    names.check(index, where)
    loops = tuple(name for name in names.loops if name in index.variables)
    return Access(field.name, index * field.element_bytes, field.element_bytes, loops)


def index_bounds(
    text: str, domain: Sequence[int], names: IndexNames, where: str
) -> tuple[int, int]:
    """The least and the greatest value of an index over the cells.

    WorkloadError unless it is affine in x, y, z and the loops.
    """
    try:
        index = address_expression(text)
    except KernelcastError as error:
        raise WorkloadError(f"{where}: {error.message}") from None
    names.check(index, where)
    extents = {**dict(zip(AXES, domain, strict=True)), **names.loops}
    low = high = 0
    for monomial, factor in index.substitute(names.sizes).terms:
        if len(monomial) > 1 or (monomial and monomial[0] not in extents):
            raise WorkloadError(f"{where}: give the field's sizes, {text!r} is not affine in cells")
        reach = factor * (extents[monomial[0]] - 1) if monomial else factor
        low += reach if not monomial else min(0, reach)
        high += reach if not monomial else max(0, reach)
    return low, high
