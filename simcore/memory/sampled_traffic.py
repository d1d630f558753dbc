"""What a launch moves where only a part of its thread blocks was simulated, with the error."""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.simcore.memory.hierarchy import TrafficResult

__all__ = ["SampledCount", "SampledTraffic"]


@dataclass(frozen=True, slots=True)
class SampledCount:
    """An estimated count with its standard error; `low` to `high` holds it with 95 % confidence."""

    value: float
    standard_error: float
    low: float
    high: float

    @property
    def relative_standard_error(self) -> float:
        """The standard error as a share of the value; 0 where that is 0."""
        return self.standard_error / self.value if self.value else 0.0


@dataclass(frozen=True)
class SampledTraffic:
    """`traffic` of the whole launch; `share` of the thread blocks that were simulated.

    DRAM transactions are those of `traffic`, the final write-back included.
    """

    traffic: TrafficResult
    dram_reads: SampledCount
    dram_writes: SampledCount
    share: float
