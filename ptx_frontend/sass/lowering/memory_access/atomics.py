"""Atomic operations and reductions in memory."""

from __future__ import annotations

__all__: list[str] = []
