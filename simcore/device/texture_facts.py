"""How fast the texture units of an SM are: section [texture] of a device file."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["TextureFacts"]


@dataclass(frozen=True, slots=True)
class TextureFacts:
    """Reads of textures and surfaces by the units of one SM.

    `texels_per_cycle`: reads that an SM answers a cycle, each of one texel or, linearly filtered,
    of up to four. Filtered texels that are wider than `filtered_bytes` take as many times longer.
    """

    texels_per_cycle: float
    filtered_bytes: int
