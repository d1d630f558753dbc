"""Products of matrices by four warps together (Hopper)."""

from __future__ import annotations

__all__: list[str] = []
