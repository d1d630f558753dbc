"""Products of matrices by tensor units, and the moves of their tiles."""

from __future__ import annotations

__all__: list[str] = []
