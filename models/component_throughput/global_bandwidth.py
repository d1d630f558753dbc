"""Global memory throughput over thread blocks, threads, transactions (Zhang, Owens, Figure 3)."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["GlobalBandwidth"]


@dataclass(frozen=True, slots=True)
class GlobalBandwidth:
    """Thread blocks are dealt to `clusters`, each with its share of `peak_bytes_per_s`.

    The time is `latency_s`, which more work hides, plus what the cluster with most thread blocks
    transfers: linear far below the peak, a sawtooth of period `clusters` near it.
    """

    clusters: int
    latency_s: float
    peak_bytes_per_s: float
    access_bytes: float
    residual: float = 0.0

    def bytes_per_s(self, thread_blocks: int, threads: int, transactions: float) -> float:
        """Each of `threads` in each of `thread_blocks` makes `transactions` accesses."""
        per_thread_block = threads * transactions * self.access_bytes
        rounds = -(-thread_blocks // self.clusters)
        busiest = rounds * per_thread_block * self.clusters / self.peak_bytes_per_s
        return thread_blocks * per_thread_block / (self.latency_s + busiest)
