"""Exchanges between the lanes of a warp."""

from __future__ import annotations

__all__: list[str] = []
