"""Arithmetic of double precision."""

from __future__ import annotations

__all__: list[str] = []
