"""Analyses of kernels: made once for each kernel, however often it runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from kernelcast.simcore.isa.ir.kernel import Kernel

__all__ = ["once_per_kernel"]

Result = TypeVar("Result")


def once_per_kernel(analysis: Callable[[Kernel], Result]) -> Callable[[Kernel], Result]:
    """Remembers what `analysis` found as long as the kernel lives; callers share the result."""
    known: WeakKeyDictionary[Kernel, Result] = WeakKeyDictionary()

    @wraps(analysis)
    def remembered(kernel: Kernel) -> Result:
        if kernel not in known:
            known[kernel] = analysis(kernel)
        return known[kernel]

    return remembered
