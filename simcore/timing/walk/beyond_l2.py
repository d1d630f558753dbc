"""What an SM sees of DRAM and of a cache before it: latency, bandwidth, turns and queues."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.timing_facts import TimingFacts
from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.simcore.timing.kernel.timed_kernel import TimedKernel

__all__ = ["DramWaits", "dram_cycles", "dram_waits", "latency_beyond_l2", "sectors_past"]

Floats = npt.NDArray[np.float64]


def latency_beyond_l2(kernel: TimedKernel, device: Device, timing: TimingFacts) -> float:
    """The mean latency of what L2 lacks: of DRAM, or of the cache between."""
    facts = device.memory_side
    if facts is None:
        return timing.dram_latency_cycles
    share = kernel.memory_side.read
    return share * facts.latency_cycles + (1.0 - share) * timing.dram_latency_cycles


def dram_cycles(kernel: TimedKernel, device: Device, timing: TimingFacts, busy_sms: float) -> float:
    """Cycles of a sector at the SM's share of the DRAM bandwidth.

    The bandwidth is what is attainable with the kernel's mix of reads and writes, and with as many
    pieces of DRAM as it begins. A cache between L2 and DRAM passes all sectors on at its own
    bandwidth, of which DRAM moves what it lacks.
    """
    bandwidth = device.dram.bandwidth_bytes_per_s * timing.dram_efficiency
    bandwidth *= 1.0 - (1.0 - timing.dram_mixed_efficiency) * _mixed(kernel)
    seconds = device.l2.sector_bytes / bandwidth
    if timing.dram_pieces_per_s:
        seconds = max(seconds, 1.0 / (timing.dram_pieces_per_s * kernel.sectors_per_piece))
    if device.memory_side is not None:
        seconds *= 1.0 - kernel.memory_side.moved
        passing = device.l2.sector_bytes / device.memory_side.bandwidth_bytes_per_s
        seconds = max(seconds, passing)
    return seconds * busy_sms * device.running_clock_hz


class DramWaits(NamedTuple):
    """What loads wait at DRAM: those of a `Machine` whose names begin with `dram_`, in cycles."""

    queue: float
    turn: float
    deviation: float
    queue_deviation: float


def dram_waits(
    kernel: TimedKernel, timing: TimingFacts, without: frozenset[Component]
) -> DramWaits:
    """What loads wait at DRAM for requests of others and for it to turn, and how much that varies.

    Between the facts of reads and those of equal reads and writes they change with the mix of the
    kernel.
    """
    mixed = _mixed(kernel)
    is_still = bool(without & {Component.MEMORY_LATENCY, Component.DRAM_BANDWIDTH})

    def between(read: float, written: float) -> float:
        return read + max(0.0, written - read) * mixed

    return DramWaits(
        queue=between(timing.dram_queue_cycles, timing.dram_mixed_queue_cycles),
        turn=0.0 if is_still else timing.dram_turn_cycles * mixed,
        deviation=timing.dram_latency_deviation_cycles,
        queue_deviation=between(
            timing.dram_queue_deviation_cycles, timing.dram_mixed_deviation_cycles
        ),
    )


def _mixed(kernel: TimedKernel) -> float:
    """How evenly DRAM is read and written: 0 for one of them only, 1 for as much of both."""
    _, sectors = sectors_past(kernel)
    total = float(sectors.sum())
    writes = float(sectors[kernel.is_store].sum())
    return 2.0 * min(writes, total - writes) / total if total > 0.0 else 0.0


def sectors_past(kernel: TimedKernel) -> tuple[Floats, Floats]:
    """Sectors past L1 and past L2 of all recorded thread blocks, by pc."""
    levels = kernel.levels
    counts = np.zeros(len(kernel.pipeline))
    counts[: len(kernel.paths.events_by_pc)] = kernel.paths.events_by_pc
    past_l1 = counts * levels.sectors * (1.0 - levels.l1_hits)
    return past_l1, past_l1 * (1.0 - levels.l2_hits)
