"""Copies from global to shared memory that are waited for later."""

from __future__ import annotations

__all__: list[str] = []
