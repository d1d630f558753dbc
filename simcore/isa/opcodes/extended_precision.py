"""Additions and multiply-adds that take and give the carry flag: numbers of several words.

The flag is a register of the thread that the source does not name (`c` in signatures). After a
subtraction it holds the borrow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelcast.simcore.isa.numerics.packed import Array
from kernelcast.simcore.isa.opcodes.columns import Columns, Detour
from kernelcast.simcore.isa.opcodes.llvm import extended_precision as llvm
from kernelcast.simcore.isa.opcodes.multiplication import high_product
from kernelcast.simcore.isa.opcodes.table import Context, Meaning, opcode
from kernelcast.simcore.isa.types import WORDS, ScalarType

__all__: list[str] = []

_SHORTS = (ScalarType.U16, ScalarType.S16)
"""The 16-bit types, which take a carry and never give one."""
_SUM = Columns()
_PRODUCT_SUM = Columns(detour=Detour.PRODUCT)


def _sum(a: Array, b: Array, *carry: Array) -> tuple[Array, Array]:
    """The wrapped sum of unsigned words and whether it wrapped."""
    total = np.add(a, b)
    wrapped = total < a
    if not carry:
        return total, wrapped
    full = np.add(total, carry[0].astype(total.dtype))
    return full, wrapped | (full < total)


def _difference(a: Array, b: Array, *borrow: Array) -> tuple[Array, Array]:
    total = np.subtract(a, b)
    wrapped = a < b
    if not borrow:
        return total, wrapped
    taken = borrow[0].astype(total.dtype)
    return np.subtract(total, taken), wrapped | (total < taken)


def _low_product(_context: Context, a: Array, b: Array) -> Array:
    return np.multiply(a, b)


def _unsigned(context: Context, value: Array) -> Array:
    return np.asarray(value).view(context.type.storage)


def _added(step: Any) -> Meaning:
    """(a, b[, carry]) -> (result, carry)."""

    def meaning(context: Context, a: Array, b: Array, *carry: Array) -> tuple[Array, Array]:
        total, wrapped = step(_unsigned(context, a), _unsigned(context, b), *carry)
        return total.view(context.type.dtype), wrapped

    return meaning


def _multiplied(product: Meaning) -> Meaning:
    """(a, b, c[, carry]) -> (result, carry): a word of the product, and c."""

    def meaning(
        context: Context, a: Array, b: Array, c: Array, *carry: Array
    ) -> tuple[Array, Array]:
        word = _unsigned(context, product(context, a, b))
        total, wrapped = _sum(word, _unsigned(context, c), *carry)
        return total.view(context.type.dtype), wrapped

    return meaning


def _register(
    name: str, operands: str, meaning: Meaning, with_carry: str, columns: Columns = _SUM
) -> None:
    """`name` gives the carry (`.cc`), `with_carry` takes it, and with `.cc` does both."""
    emission = llvm.EMISSIONS[name]
    opcode(f"{name}.cc", f"tc={operands}", WORDS, columns=columns, llvm=emission)(meaning)
    opcode(f"{with_carry}.cc", f"tc={operands}c", WORDS, columns=columns, llvm=emission)(meaning)

    def without_flag(context: Context, *values: Array) -> Array:
        result: Array = meaning(context, *values)[0]
        return result

    types, first = (*WORDS, *_SHORTS), llvm.first_of(emission)
    opcode(with_carry, f"t={operands}c", types, columns=columns, llvm=first)(without_flag)


_register("add", "tt", _added(_sum), "addc")
_register("sub", "tt", _added(_difference), "subc")
_register("mad.lo", "ttt", _multiplied(_low_product), "madc.lo", _PRODUCT_SUM)
_register("mad.hi", "ttt", _multiplied(high_product), "madc.hi", _PRODUCT_SUM)
