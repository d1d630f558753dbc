"""What equations 1 to 13 of Luo and Suda say of one wave of resident warps on a multiprocessor."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from kernelcast.models.mpd_cpd.calculate_periods import CalculatePeriods
from kernelcast.models.mpd_cpd.equations import (
    Floats,
    PeriodClocks,
    PeriodType,
    Reading,
    computation_parallel_degree,
    memory_parallel_degree,
    period_clocks,
    period_types,
    saturated_degree_slope,
    warp_bandwidth,
)
from kernelcast.models.mpd_cpd.ptx_costs import PtxCostFacts
from kernelcast.simcore.device.device import Device

__all__ = ["Wave", "WavePart"]


class WavePart(Enum):
    """Where the time of a wave goes."""

    COMPUTATION = "computation"
    PREVIOUS_MEMORY = "wait for the period before"
    OWN_MEMORY = "wait for own memory"
    ONE_WARP = "latency of one warp"


@dataclass(frozen=True)
class Wave:
    """A wave of `active_warps` (N_act) on each multiprocessor of `device`.

    Each warp has the periods of one of the recorded warps; means are over those. `proportion` is P.
    """

    periods: CalculatePeriods
    proportion: float
    active_warps: int
    device: Device
    costs: PtxCostFacts
    reading: Reading = Reading.USUAL

    @cached_property
    def computation_degree(self) -> float:
        """CPD."""
        return computation_parallel_degree(
            self.proportion,
            self.active_warps,
            self.costs.parallel_degree,
            self.reading,
        )

    @cached_property
    def memory_degrees(self) -> Floats:
        """MPD of each period's memory task."""
        architecture = self.device.architecture
        each = warp_bandwidth(
            architecture.warp_width,
            self.periods.bytes_per_thread,
            self.periods.transactions,
            self.costs.access_cycles,
        )
        return memory_parallel_degree(
            self.active_warps,
            architecture.sm_count,
            self.device.dram.bandwidth_bytes_per_s / architecture.clock_hz,
            each,
            self.reading,
        )

    @cached_property
    def clocks(self) -> PeriodClocks:
        """The clocks of each period."""
        constants = self.costs.parallel_degree
        printed = saturated_degree_slope(self.proportion, constants)
        return period_clocks(
            self.periods.computation_clocks,
            self.periods.access_clocks,
            self.memory_degrees,
            self.periods.is_first,
            self.active_warps,
            self.computation_degree,
            printed if self.reading is Reading.STRICT else None,
        )

    @property
    def parts(self) -> dict[WavePart, float]:
        """Clocks of a wave, by what they are spent on.

        Where many warps compute at a time, the equations hide more memory than there is time, and
        give less than one warp takes alone: then the rest is its own part.
        """
        clocks, alone = self.clocks, self.periods.computation_clocks + self.periods.access_clocks
        found = {
            WavePart.COMPUTATION: self._mean(clocks.computation),
            WavePart.PREVIOUS_MEMORY: self._mean(clocks.previous_memory),
            WavePart.OWN_MEMORY: self._mean(clocks.own_memory),
        }
        rest = self._mean(alone) - sum(found.values())
        is_short = self.reading is Reading.USUAL and rest > 0
        return {**found, WavePart.ONE_WARP: rest if is_short else 0.0}

    def _mean(self, clocks: Floats) -> float:
        return float(clocks.sum()) / max(len(self.periods.start) - 1, 1)

    @property
    def total_clocks(self) -> float:
        """Clocks of the whole wave."""
        return sum(self.parts.values())

    @property
    def mean_memory_degree(self) -> float:
        """MPD over the memory tasks; N_act where there are none."""
        degrees = self.memory_degrees[self.periods.access_clocks > 0]
        return float(degrees.mean()) if degrees.size else float(self.active_warps)

    @property
    def type_shares(self) -> dict[PeriodType, float]:
        """How many of the periods have each type."""
        periods = self.periods
        kinds = period_types(periods.computation_clocks, periods.access_clocks, periods.is_first)
        found = np.bincount(kinds, minlength=len(PeriodType) + 1) / max(len(kinds), 1)
        return {kind: float(found[kind.value]) for kind in PeriodType}
