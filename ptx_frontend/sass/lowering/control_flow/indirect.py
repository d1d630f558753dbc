"""Branches and calls whose target stands in a register."""

from __future__ import annotations

__all__: list[str] = []
