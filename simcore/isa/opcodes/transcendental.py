"""Reciprocals, roots and transcendental functions.

PTX bounds the error of its approximations and leaves the value to the hardware; here every
approximation is the exact value rounded to its type, up to the last place in double precision.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernelcast.simcore.isa.opcodes import ptx_forms
from kernelcast.simcore.isa.opcodes.columns import Columns, Detour, Expansion, PtxForms
from kernelcast.simcore.isa.opcodes.llvm import transcendental as llvm
from kernelcast.simcore.isa.opcodes.rounding import (
    FLUSH,
    ROUNDINGS,
    Array,
    directed_mode,
    divide,
    square_root,
    with_float_modes,
)
from kernelcast.simcore.isa.opcodes.table import Context, opcode, unit_of
from kernelcast.simcore.isa.types import HALVES, WIDE_FLOATS, ScalarType, Unit

__all__: list[str] = []

_ACCURACIES = ("approx", *ROUNDINGS, *FLUSH)


def _unit(context: Context) -> Unit:
    return Unit.SPECIAL_FUNCTION if "approx" in context.modifiers else unit_of(context)


def _inverse(flops: int, forms: PtxForms) -> Columns:
    return Columns(flops=flops, expansion=Expansion.ROUNDED, detour=Detour.QUOTIENT, forms=forms)


@opcode(
    "rcp",
    "t=t",
    WIDE_FLOATS,
    unit=_unit,
    modifiers=_ACCURACIES,
    columns=_inverse(0, ptx_forms.RECIPROCAL),
    llvm=llvm.emit_rcp,
)
@with_float_modes
def _rcp(context: Context, a: Array) -> Array:
    return divide(np.ones((), a.dtype), a, directed_mode(context))


@opcode(
    "sqrt",
    "t=t",
    WIDE_FLOATS,
    unit=_unit,
    modifiers=_ACCURACIES,
    columns=_inverse(1, ptx_forms.ROOT),
    llvm=llvm.emit_sqrt,
)
@with_float_modes
def _sqrt(context: Context, a: Array) -> Array:
    return square_root(a, directed_mode(context))


def _rsqrt(a: Array) -> Array:
    return np.reciprocal(np.sqrt(a))


_Function = tuple[Callable[[Array], Array], tuple[ScalarType, ...], Columns]


def _series(forms: PtxForms) -> Columns:
    return Columns(expansion=Expansion.APPROXIMATED, forms=forms)


_APPROXIMATED = _series(ptx_forms.APPROXIMATED)
_FUNCTIONS: dict[str, _Function] = {
    "rsqrt": (_rsqrt, WIDE_FLOATS, _series(ptx_forms.INVERSE_ROOT)),
    "sin": (np.sin, (ScalarType.F32,), _APPROXIMATED),
    "cos": (np.cos, (ScalarType.F32,), _APPROXIMATED),
    "ex2": (np.exp2, (ScalarType.F16, ScalarType.F32, *HALVES), _series(ptx_forms.POWER)),
    "lg2": (np.log2, (ScalarType.F32,), _APPROXIMATED),
    "tanh": (np.tanh, (ScalarType.F16, ScalarType.F32, *HALVES), Columns(forms=ptx_forms.TANGENT)),
}


def _register(name: str) -> None:
    function, types, columns = _FUNCTIONS[name]
    emission = llvm.function_emission(llvm.FUNCTIONS[name])

    @opcode(
        name,
        "t=t",
        types,
        unit=Unit.SPECIAL_FUNCTION,
        modifiers=("approx", *FLUSH),
        columns=columns,
        llvm=emission,
    )
    @with_float_modes
    def _compute(context: Context, a: Array) -> Array:
        return function(a.astype(np.float64)).astype(context.type.dtype)


for _name in _FUNCTIONS:
    _register(_name)
