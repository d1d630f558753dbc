"""How fast an SM issues, waits and moves data, as data."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DRAM_PIECE_BYTES", "PipelineFacts", "TimingFacts"]

DRAM_PIECE_BYTES = 256
"""Aligned bytes that DRAM begins to move at once (`dram_pieces_per_s`)."""
_VECTOR = "vector"


@dataclass(frozen=True, slots=True)
class PipelineFacts:
    """One kind of functional unit: `lanes` threads of an SM a cycle, all its schedulers together.

    `latency_cycles`: from the issue of an instruction to that of one that needs its result.
    """

    lanes: float
    latency_cycles: float


@dataclass(frozen=True, slots=True)
class TimingFacts:
    """How an SM issues, waits and moves data; cycles are those of `architecture.clock_hz`.

    `issues_per_scheduler`: instructions of one warp that a scheduler issues together (2: dual
    issue); `issue_cycles`: cycles from one issue of a scheduler to its next. Latencies of memory
    are those of a load without contention, to first use, by the level that has the data.
    `l1_wavefront_bytes` a cycle and SM; `l2_bytes_per_cycle` per SM, `l2_bandwidth_bytes_per_s` of
    all; `outstanding_sectors` per SM, requested and not there yet; `thread_block_launch_cycles`
    until a thread block that follows another one on its SM begins, `warp_launch_cycles` more for
    each of its warps; the place of the other one is free `store_retire_cycles` after its last store
    at the soonest (0: stores hold nothing). The GPU begins one thread block in `dispatch_cycles`,
    on whichever SM (0: as many as there is room for). A barrier opens `barrier_latency_cycles`
    after the last warp came, and `barrier_warp_cycles` for each warp that it counted. An SM takes
    addresses of `load_store_lanes` a cycle for shared memory (0: of a whole warp). A scheduler
    issues a scalar instruction every `scalar_issue_cycles` (0: there is no scalar unit), whose
    result is there after `scalar_latency_cycles` (0: as soon). Of machine code a scheduler issues
    `mixed_issues` instructions of different kinds and warps a cycle (0: none beside another).
    """

    issues_per_scheduler: int
    issue_cycles: int
    fp32: PipelineFacts
    fp64: PipelineFacts
    half: PipelineFacts
    integer: PipelineFacts
    integer_multiply: PipelineFacts
    conversion: PipelineFacts
    special_function: PipelineFacts
    shuffle: PipelineFacts
    branch_latency_cycles: float
    barrier_latency_cycles: float
    fence_latency_cycles: float
    shared_latency_cycles: float
    constant_latency_cycles: float
    l1_latency_cycles: float
    l2_latency_cycles: float
    dram_latency_cycles: float
    l1_wavefront_bytes: float
    l2_bytes_per_cycle: float
    l2_bandwidth_bytes_per_s: float
    dram_efficiency: float
    """Attainable share of the theoretical DRAM bandwidth, where nothing is measured."""
    outstanding_sectors: float
    instruction_cache_bytes: float
    instruction_bytes: float
    fetch_latency_cycles: float
    launch_overhead_s: float
    thread_block_launch_cycles: float
    reconvergence_latency_cycles: float = 0.0
    """Cycles from a `BSYNC` of machine code to its warp's next instruction (0: its stall alone)."""
    store_retire_cycles: float = 0.0
    dram_mixed_efficiency: float = 1.0
    """Share of `dram_efficiency` that is left at equal reads and writes."""
    warp_launch_cycles: float = 0.0
    dispatch_cycles: float = 0.0
    dram_latency_deviation_cycles: float = 0.0
    """Standard deviation of the latency of a request to DRAM that is alone."""
    dram_queue_cycles: float = 0.0
    """What a load waits at DRAM for others while it is half busy; `mixed`: as much is written."""
    dram_mixed_queue_cycles: float = 0.0
    dram_queue_deviation_cycles: float = 0.0
    """Standard deviation of that; its square grows with the others in the queue (0: not known)."""
    dram_mixed_deviation_cycles: float = 0.0
    dram_turn_cycles: float = 0.0
    """What a load waits longer at DRAM where as much is written as read, if that is always busy."""
    dram_pieces_per_s: float = 0.0
    """Pieces of 256 aligned bytes that DRAM begins to move, however little of them (0: any)."""
    l2_requests_per_s: float = 0.0
    """Lines of which L2 is asked by all SMs for one sector each (0: as many as sectors)."""
    l2_write_bandwidth_bytes_per_s: float = 0.0
    """What L2 takes of whole lines that all SMs write (0: as much as they read)."""
    l2_partial_writes_per_s: float = 0.0
    """Sectors that L2 takes of all SMs when each is written in part, or alone of its line."""
    barrier_warp_cycles: float = 0.0
    shared_paired_lanes: int = 1
    """2 where data of two lanes that load the same return together."""
    load_store_lanes: int = 0
    scalar_issue_cycles: float = 0.0
    scalar_latency_cycles: float = 0.0
    mixed_issues: int = 0

    def lanes_of(self, pipeline: str) -> float:
        """Lanes of a unit by its name, 0 for the scalar unit, which has none.

        The vector unit of AMD's GPUs has those of fp32 that one instruction can take.
        """
        facts = self._facts(pipeline)
        if facts is None:
            return 0.0
        return facts.lanes / (self.issues_per_scheduler if pipeline == _VECTOR else 1)

    def latency_of(self, pipeline: str) -> float:
        """Cycles from the issue to a result, by the name of the unit."""
        facts = self._facts(pipeline)
        if facts is None:
            return self.scalar_latency_cycles or self.scalar_issue_cycles
        return facts.latency_cycles

    def _facts(self, pipeline: str) -> PipelineFacts | None:
        if pipeline == "scalar":
            return None
        found: PipelineFacts = getattr(self, "fp32" if pipeline == _VECTOR else pipeline)
        return found
