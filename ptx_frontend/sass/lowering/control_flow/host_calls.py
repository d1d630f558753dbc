"""Calls of the vendor's runtime library."""

from __future__ import annotations

__all__: list[str] = []
