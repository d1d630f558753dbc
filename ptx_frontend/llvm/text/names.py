"""Names of LLVM's own functions."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["intrinsic_names", "intrinsic_root"]

_BRAIN_FLOAT = "bf16"


def intrinsic_root(name: str) -> str:
    """The name without the types at its end: `fma` of `fma.v4f32`."""
    *_, root = intrinsic_names(name)
    return root


def intrinsic_names(name: str) -> Iterator[str]:
    """The name, then with one type less at its end each time."""
    yield name
    parts = name.split(".")
    while len(parts) > 1 and _is_type(parts[-1]):
        parts.pop()
        yield ".".join(parts)


def _is_type(part: str) -> bool:
    is_plain = part[:1] in "vifp" and part.lstrip("vifp")[:1].isdigit()
    return is_plain or part == _BRAIN_FLOAT
