"""The memory that compiled code and Python share, one per worker: fields of 8 bytes by name."""

from __future__ import annotations

__all__ = ["FIELDS", "WORKSPACE_BYTES", "field_offset"]

FIELDS: tuple[str, ...] = (
    "limit",  # instructions that a warp may issue; 0 stops every warp at its next loop
    "limit_call",  # compiled function (instructions) -> 1: a warp over the limit may go on; or 0
    "fault_kind",
    "fault_pc",
    "fault_lane",
    "fault_address",
    "fault_warp",
    "ring_next",  # where the next access record goes
    "ring_end",
    "record_from",  # in code that records at some times: of a warp, the first one
    "record_until",  # and the one behind the last
    "warp_order",  # in code that is watched: the warps in the order in which they take turns
    "ring_flush",  # compiled function (workspace) -> void that empties the ring
    "shared",  # host addresses of the address spaces
    "shared_bytes",
    "local",
    "local_bytes",
    "local_stride",
    "params",
    "param_bytes",
    "constants",
    "constant_bytes",
    "pointers",  # a row for each pointer among the parameters, as those of allocations
    "allocations",  # table of `allocation_count` rows, rising: address, bytes, writable bytes, host
    "allocation_count",
    "recent_rows",  # by access whose allocation is looked up: host address of the row found last
    "contexts",  # saved registers, one piece per warp
    "stage_counts",  # (stages, counters) of the thread block at hand
    "access_counts",  # (stages, slots): how often full warps did the accesses that are counted
    "pairs_differ",  # 1: two neighbouring warps of a thread block took different branches
    "grid_x",  # thread blocks along each axis, for code that reads them
    "grid_y",
    "grid_z",
    "repeats",  # by thread block of the call, a byte: whether it counted the same as the one before
    "stage_capacity",
    "stage",
    "warp_times",  # of the thread block at hand
    "thread_block",
    "resume",  # RESUME_*: how to go on with a thread block that was in flight
    "status",
    "vote_held",  # of the barrier stages of even number: threads whose predicate held, and all
    "vote_all",
    "vote_held_odd",
    "vote_all_odd",
    "progress",  # 1: a warp has done more than to wait for others since the round began
    "moved",  # 1: the same since Python looked last
    "arrived",  # threads that came to each of the 16 barriers without waiting there
    "cluster_shared",  # host addresses of the shared memory of each thread block of the cluster
    "cluster_arrivals",  # by thread: how often it came to the cluster's barrier (4 bytes each)
    "cluster_call",  # compiled function (workspace, pc, warp, mask, arguments) -> as host_call
    "host_call",  # compiled function (pc, warp, mask, arguments by lane) -> 0, or 1 for a fault
)
WORKSPACE_BYTES = 8 * len(FIELDS)


def field_offset(name: str) -> int:
    """Bytes from the start of the workspace."""
    return 8 * FIELDS.index(name)
