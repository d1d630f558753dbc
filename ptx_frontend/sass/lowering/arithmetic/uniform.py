"""Opcodes of the uniform datapath that have no vector twin."""

from __future__ import annotations

__all__: list[str] = []
