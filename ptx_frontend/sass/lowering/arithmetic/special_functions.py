"""Functions that a unit of its own approximates."""

from __future__ import annotations

__all__: list[str] = []
