"""Absolute differences of the two halves or four bytes of a word, or their sum.

The SIMD video instructions that compilers still write; operands and result are of one type, and all
parts take part.
"""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.isa import native_video as native
from kernelcast.simcore.isa.opcodes import Context, opcode
from kernelcast.simcore.isa.packed import Array
from kernelcast.simcore.isa.types import ScalarType

__all__: list[str] = []

_UNSIGNED = (ScalarType.U32,)
_WORDS = (ScalarType.U32, ScalarType.S32)


def _differences(a: Array, b: Array, count: int) -> list[Array]:
    """|a - b| of each part, the lowest first; parts have the sign of the operands' type."""
    width = 32 // count
    found = []
    for index in range(count):
        above, top = (a.dtype.type(x) for x in (32 - width * (index + 1), 32 - width))
        x, y = (np.right_shift(np.left_shift(word, above), top).astype(np.int64) for word in (a, b))
        found.append(np.abs(x - y))
    return found


def _register(count: int) -> None:
    name, width = f"vabsdiff{count}", 32 // count

    @opcode(name, "t=ttt", _WORDS, native=native.differences_emission(count))
    def _each(context: Context, a: Array, b: Array, _merged: Array) -> Array:
        """Side by side; the third operand would fill the parts that a mask leaves out."""
        parts = enumerate(_differences(a, b, count))
        word = sum(((part << (width * index)) for index, part in parts), np.int64(0))
        return np.asarray(word).astype(np.uint32).view(context.type.dtype)

    @opcode(f"{name}.add", "t=ttt", _UNSIGNED, native=native.sum_emission(count))
    def _added(_context: Context, a: Array, b: Array, c: Array) -> Array:
        total = sum(_differences(a, b, count), c.astype(np.int64))
        return np.asarray(total).astype(np.uint32)


for _count in (2, 4):
    _register(_count)
