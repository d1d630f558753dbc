"""Products in tensor memory (Blackwell)."""

from __future__ import annotations

__all__: list[str] = []
