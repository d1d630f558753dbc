"""Copies in bulk and of tensors (Hopper)."""

from __future__ import annotations

__all__: list[str] = []
