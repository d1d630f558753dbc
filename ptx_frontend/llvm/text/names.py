"""Names of LLVM's own functions."""

from __future__ import annotations

__all__ = ["intrinsic_root"]


def intrinsic_root(name: str) -> str:
    """The name without the types at its end: `fma` of `fma.v4f32`."""
    parts = name.split(".")
    while len(parts) > 1 and parts[-1][:1] in "vifp" and parts[-1].lstrip("vifp")[:1].isdigit():
        parts.pop()
    return ".".join(parts)
