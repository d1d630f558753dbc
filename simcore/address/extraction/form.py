"""Forms of addresses: an offset in a buffer, and global coordinates where threads count them."""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.errors import ModelNotApplicable
from kernelcast.simcore.address.expression import AXES, AddressExpression, Monomial
from kernelcast.simcore.address.extraction.launch import LaunchValues, base_name
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["Located", "in_cells", "offset_in_buffer"]


@dataclass(frozen=True, slots=True)
class Located:
    """`offset` in bytes behind the beginning of `buffer`."""

    buffer: str
    offset: AddressExpression


def offset_in_buffer(address: AddressExpression, values: LaunchValues) -> Located | None:
    """None in shared, local and constant memory.

    ModelNotApplicable where the address is not a buffer's plus an offset.
    """
    pointers = [name for name in address.variables if base_name(name) is not None]
    if len(pointers) != 1 or dict(address.terms).get((pointers[0],)) != 1:
        raise ModelNotApplicable(f"address {address} is not one of a buffer")
    (pointer,) = pointers
    offset = address - AddressExpression.of({(pointer,): 1})
    if pointer in offset.variables:
        raise ModelNotApplicable(f"address {address} is not one of a buffer")
    if values.spaces[pointer] is not AddressSpace.GLOBAL:
        return None
    return Located(pointer[1:], offset)


def in_cells(expression: AddressExpression) -> AddressExpression:
    """The expression with x in the place of `ctaid.x * ntid.x + tid.x`, and so on."""
    terms = dict(expression.terms)
    for axis in AXES:
        thread, block, size = f"tid.{axis}", f"ctaid.{axis}", f"ntid.{axis}"
        for monomial in [item for item in terms if item.count(thread) == 1]:
            rest = _without(monomial, thread)
            far = tuple(sorted((*rest, block, size)))
            if terms.get(far) == terms[monomial]:
                factor = terms.pop(monomial)
                del terms[far]
                cell = tuple(sorted((*rest, axis)))
                terms[cell] = terms.get(cell, 0) + factor
    return AddressExpression.of(terms)


def _without(monomial: Monomial, name: str) -> Monomial:
    position = monomial.index(name)
    return (*monomial[:position], *monomial[position + 1 :])
