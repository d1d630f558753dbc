"""Barriers in shared memory that count arrivals and bytes (Hopper)."""

from __future__ import annotations

__all__: list[str] = []
