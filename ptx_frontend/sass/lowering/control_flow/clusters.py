"""Thread blocks of a cluster."""

from __future__ import annotations

__all__: list[str] = []
