"""What the loop over thread blocks must know of a program."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ThreadBlockShape"]


@dataclass(frozen=True, slots=True)
class ThreadBlockShape:
    """What the loop over thread blocks must know of a kernel's warp function.

    `mixed_state` is the warp function's state for lanes that wait at several places, of which
    `mixed_offsets` says where a context holds the lanes of each. `yield_state`: its state for lanes
    that yielded, None when there are no spin loops; `opened` and `numbers`: where a context holds
    the lanes whose counted barriers have opened and the number of each lane's barrier, None when
    there are no such barriers; `access_slots`: counters a stage of accesses that are not recorded;
    `digest_offset`: where a context holds the digest of the warp's branches, None when all warps
    branch alike.
    """

    width: int
    warps: int
    grid: tuple[int, int, int]
    counters: int
    context_bytes: int
    shared_bytes: int
    local_bytes: int
    mixed_state: int
    mixed_offsets: tuple[int, ...]
    has_barriers: bool
    access_slots: int
    record_bytes: int
    digest_offset: int | None
    yield_state: int | None
    opened_offset: int | None
    numbers_offset: int | None
    is_in_cluster: bool = False
    """Whether shared memory is of a cluster, which clears it."""

    @property
    def takes_turns(self) -> bool:
        """Whether some warps may run on while others wait."""
        return self.yield_state is not None or self.opened_offset is not None
