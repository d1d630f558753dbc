"""Barriers of a thread block, and memory fences."""

from __future__ import annotations

__all__: list[str] = []
