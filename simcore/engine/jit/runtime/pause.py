"""What a thread block tells when it waits for others."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Pause"]


@dataclass(frozen=True, slots=True)
class Pause:
    """A thread block waits for others; `moved`: it has done something since its last pause."""

    moved: bool
