"""Analyses of kernels: made once for each kernel, however often it runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from kernelcast.simcore.isa.ir.kernel import Kernel

__all__ = ["once_per_kernel"]

Result = TypeVar("Result")
_ITSELF = object()


def once_per_kernel(analysis: Callable[[Kernel], Result]) -> Callable[[Kernel], Result]:
    """Remembers what `analysis` found as long as the kernel lives; callers share the result."""
    known: WeakKeyDictionary[Kernel, Any] = WeakKeyDictionary()

    @wraps(analysis)
    def remembered(kernel: Kernel) -> Result:
        if kernel not in known:
            made: Any = analysis(kernel)
            # a kernel that is kept here would live for ever
            known[kernel] = _ITSELF if made is kernel else made
        found: Any = known[kernel]
        return kernel if found is _ITSELF else found  # type: ignore[return-value]

    return remembered
