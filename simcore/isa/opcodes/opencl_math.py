"""OpenCL's mathematical functions: `opencl.exp`, `opencl.pow`, ... of f32 and f64.

f32 is computed in double precision and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelcast.simcore.isa.numerics.double_formulas import ArrayArithmetic, Double, Formula
from kernelcast.simcore.isa.opcodes.llvm import opencl_math as llvm
from kernelcast.simcore.isa.opcodes.opencl_formulas import formulas
from kernelcast.simcore.isa.opcodes.rounding import Array
from kernelcast.simcore.isa.opcodes.table import Context, opcode, unit_of
from kernelcast.simcore.isa.types import WIDE_FLOATS, Unit

__all__: list[str] = []

_PLAIN = frozenset(
    (
        *("fdim", "fract", "frexp", "ilogb", "ldexp", "logb", "maxmag", "minmag", "modf", "round"),
        "nextafter",
    )
)
"""What takes comparisons, sums and bits only."""


def _unit(name: str) -> Callable[[Context], Unit]:
    return unit_of if name in _PLAIN else lambda _context: Unit.SPECIAL_FUNCTION


def _register(name: str, signature: str, formula: Callable[[Context], Formula]) -> None:
    results, operands = signature.split("=")

    @opcode(
        f"opencl.{name}",
        signature,
        WIDE_FLOATS,
        unit=_unit(name),
        llvm=llvm.formula_emission(formula, signature),
    )
    def _compute(context: Context, *arrays: Array) -> Array | tuple[Array, ...]:
        arithmetic = ArrayArithmetic()
        values = [
            Double(arithmetic, _double(array, letter))
            for array, letter in zip(arrays, operands, strict=True)
        ]
        found = formula(context)(*values)
        parts = found if isinstance(found, tuple) else (found,)
        kept = tuple(
            _result(context, np.asarray(part.value), letter)
            for part, letter in zip(parts, results, strict=True)
        )
        return kept if len(kept) > 1 else kept[0]


def _double(array: Array, letter: str) -> Array:
    signed = np.asarray(array).view(np.int32) if letter == "u" else array
    return signed.astype(np.float64)


def _result(context: Context, value: Array, letter: str) -> Array:
    """The result in its type; integers are clamped: the library's marks of infinity are larger."""
    if letter == "t":
        return value.astype(context.type.dtype)
    limits = np.iinfo(np.int32)
    clamped = np.clip(np.nan_to_num(value), limits.min, limits.max)
    return np.asarray(clamped.astype(np.int32)).view(np.uint32)


for _name, _signature, _formula in formulas():
    _register(_name, _signature, _formula)


@opcode(
    "opencl.nextafter",
    "t=tt",
    WIDE_FLOATS,
    unit=_unit("nextafter"),
    llvm=llvm.emit_nextafter,
)
def _nextafter(_context: Context, a: Array, b: Array) -> Array:
    return np.nextafter(a, b)
