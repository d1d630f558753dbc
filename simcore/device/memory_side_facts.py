"""A cache between L2 and DRAM that all SMs share: section [memory_side] of a device file."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MemorySideFacts"]


@dataclass(frozen=True, slots=True)
class MemorySideFacts:
    """AMD's Infinity Cache. Its lines and sectors are those of L2, and LRU chooses among `ways`.

    `latency_cycles`: of a load that finds its data there, from the SM on. `bandwidth_bytes_per_s`:
    what it gives to all SMs together.
    """

    capacity_bytes: int
    ways: int
    latency_cycles: float
    bandwidth_bytes_per_s: float
