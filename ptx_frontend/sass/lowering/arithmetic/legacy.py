"""Opcodes that only Maxwell and Pascal have."""

from __future__ import annotations

__all__: list[str] = []
