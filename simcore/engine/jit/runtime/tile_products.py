"""Products of whole matrices by compiled code: the same bits as `multiply`, faster."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.host.llvm import compile_module
from kernelcast.simcore.isa.matrix.llvm.tiles import (
    QUICK_RUN,
    general_tiles,
    has_quick_tiles,
    quick_tiles,
)
from kernelcast.simcore.isa.matrix.products import Factors, MatrixProduct

__all__ = ["multiply_compiled"]

Array = npt.NDArray[Any]
_QUICK_ARGUMENTS, _ARGUMENTS = 7, 8
_SIGN_AND_EXPONENT_AT = 52
_BIAS = 1023
_Native = Callable[..., Any]


def multiply_compiled(
    product: MatrixProduct, a: Array, b: Array, c: Array, factors: Factors | None = None
) -> Array:
    """The product of (rows, depth) by (depth, columns), plus (rows, columns), as `multiply`."""
    if has_quick_tiles(product):
        found = _quickly(product, a, b, c, factors)
        if found is not None:
            return found
    return _in_general(product, a, b, c, factors)


def _quickly(
    product: MatrixProduct, a: Array, b: Array, c: Array, factors: Factors | None
) -> Array | None:
    """None where operands are out of the ordinary."""
    run = _compiled(product, factors is not None, True)
    sums = np.array(c, np.uint32)
    arrays = [_turned(a), _runs(b), sums]
    if factors is not None:
        arrays += [
            _turned(factors.a.astype(np.float32)),
            _turned(_exponents(factors.a_powers)),
            _runs(factors.b.astype(np.float32)),
            _runs(_exponents(factors.b_powers)),
        ]
    return None if _call(run, arrays, _QUICK_ARGUMENTS) else sums


def _in_general(
    product: MatrixProduct, a: Array, b: Array, c: Array, factors: Factors | None
) -> Array:
    run = _compiled(product, factors is not None, False)
    result = np.empty(c.shape, product.result.code_type)
    arrays = [np.ascontiguousarray(x) for x in (a, b, c)] + [result]
    if factors is not None:
        scales = (factors.a, factors.a_powers, factors.b, factors.b_powers)
        arrays += [np.ascontiguousarray(x, np.float64) for x in scales]
    _call(run, arrays, _ARGUMENTS)
    return result


def _call(run: _Native, arrays: list[Array], count: int) -> int:
    places = [array.ctypes.data for array in arrays]
    return int(run(*places, *[None] * (count - len(places))) or 0)


def _turned(matrix: Array) -> Array:
    return np.ascontiguousarray(matrix.T)


def _runs(matrix: Array) -> Array:
    """(columns / 16, depth, 16)."""
    depth = len(matrix)
    return np.ascontiguousarray(matrix.reshape(depth, -1, QUICK_RUN).transpose(1, 0, 2))


def _exponents(powers: Array) -> Array:
    """The exponents of powers of two in double precision."""
    bits = np.ascontiguousarray(powers, np.float64).view(np.int64)
    return ((bits >> _SIGN_AND_EXPONENT_AT) - _BIAS).astype(np.int32)


@lru_cache(maxsize=256)
def _compiled(product: MatrixProduct, has_factors: bool, quick: bool) -> _Native:
    text = (quick_tiles if quick else general_tiles)(product, has_factors=has_factors)
    module = compile_module(text)
    count = _QUICK_ARGUMENTS if quick else _ARGUMENTS
    kind = ctypes.CFUNCTYPE(ctypes.c_int32 if quick else None, *[ctypes.c_void_p] * count)
    function = kind(module.address("run"))

    def run(*places: Any) -> Any:
        """Keeps the module, which holds the code."""
        assert module
        return function(*places)

    return run
