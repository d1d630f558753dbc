"""Arithmetic of half precision, two numbers a register."""

from __future__ import annotations

__all__: list[str] = []
