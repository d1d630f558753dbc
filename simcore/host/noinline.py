"""Parts of compiled functions that are called, because they are large and rarely needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

__all__ = ["noinline"]

Function = TypeVar("Function", bound=Callable[..., Any])


def noinline(function: Function) -> Function:
    """Compiles a function once instead of at each call, which shortens compilation.

    A call hands over the descriptors of all arrays, and takes as long as a few instructions of a
    kernel.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
    options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(Function, numba.njit(**options)(function))
