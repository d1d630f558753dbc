"""Conversions between numbers of different types."""

from __future__ import annotations

__all__: list[str] = []
