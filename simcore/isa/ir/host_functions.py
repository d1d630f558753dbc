"""Functions of the vendor's runtime library that kernels call."""

from __future__ import annotations

from enum import Enum

__all__ = ["HostFunction"]


class HostFunction(Enum):
    """What the vendor's runtime library gives every kernel, by its name there."""

    PRINT = "vprintf"
    ASSERT = "__assertfail"
    ALLOCATE = "malloc"
    FREE = "free"
