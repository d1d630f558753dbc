"""Where in a file with nested keys something stands, as messages name it."""

from __future__ import annotations

__all__ = ["dotted", "place"]


def dotted(key: str, name: str) -> str:
    """`kernel.source`; either part may be empty."""
    return ".".join(part for part in (key, name) if part)


def place(file: str, key: str) -> str:
    """`file: kernel.source`, the start of every message; without a key the file alone."""
    return f"{file}: {key}" if key else file
