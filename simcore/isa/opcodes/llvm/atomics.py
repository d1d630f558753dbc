"""How LLVM IR calls atomic operations."""

from __future__ import annotations

from kernelcast.simcore.isa.types import ScalarType

__all__ = ["atomic_name"]

_OTHER_NAMES = {"exch": "xchg", "inc": "uinc_wrap", "dec": "udec_wrap"}


def atomic_name(operation: str, type_: ScalarType) -> str:
    """The operation of `atomicrmw` for an operation of PTX on numbers of a type."""
    if operation in ("min", "max"):
        return operation if type_.is_signed else f"u{operation}"
    if type_.holds_floats and operation != "exch":
        return f"f{operation}"
    return _OTHER_NAMES.get(operation, operation)
