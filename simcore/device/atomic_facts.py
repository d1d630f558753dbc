"""How operations of several threads on one address follow one another: [atomics] of a file."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AtomicFacts"]


@dataclass(frozen=True, slots=True)
class AtomicFacts:
    """Atomics of global memory happen at L2, one after the other where they are on one address.

    `address_cycles`: from one operation on an address to the next on the same. `combined_lanes`:
    how many lanes of a warp with one address L2 serves by one operation, where it is of integers
    and no exchange. `shared_lane_passes`: passes of shared memory that each lane takes of those
    with one address. `request_cycles`: what L2 takes at least for a request to one sector, where
    requests to the same place of it take turns (0: not known).
    """

    address_cycles: float = 1.0
    combined_lanes: int = 1
    shared_lane_passes: int = 1
    request_cycles: float = 0.0
