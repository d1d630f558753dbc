"""What each instruction of a launch did: executions, memory traffic, passes of shared memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.profile.derived import ProfileSource
from kernelcast.traces.trace import InstructionRow

__all__ = ["InstructionUse", "instruction_use"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class InstructionUse:
    """Counts of one launch by pc, each of shape (instructions,).

    `warps` and `threads`: executions. `requests` of global memory ask the first level for
    `sectors`, where `ideal_sectors` hold the distinct bytes; `dram_transactions` of
    `transaction_bytes`, the write-backs of a store among them. `passes` of shared memory and of
    the constant cache, where `ideal_passes` would do.
    """

    rows: tuple[InstructionRow, ...]
    warps: Ints
    threads: Ints
    requests: Ints
    sectors: Ints
    ideal_sectors: Ints
    l1_hits: Ints
    l2_sectors: Ints
    dram_transactions: Ints
    passes: Ints
    ideal_passes: Ints
    sector_bytes: int
    transaction_bytes: int


def instruction_use(source: ProfileSource) -> InstructionUse:
    """The counts of a simulated launch, for `KernelProfile.derived`."""
    warps, threads = source.trace.classes.totals()
    traffic, wavefronts = source.memory.traffic, source.memory.wavefronts
    counts = traffic.by_instruction
    return InstructionUse(
        rows=source.trace.instructions,
        warps=warps,
        threads=threads,
        requests=counts.requests,
        sectors=counts.sectors,
        ideal_sectors=counts.ideal_sectors,
        l1_hits=counts.l1_hits,
        l2_sectors=counts.l2_reads + counts.l2_writes,
        dram_transactions=counts.dram_reads + counts.dram_writes,
        passes=wavefronts.taken,
        ideal_passes=wavefronts.ideal,
        sector_bytes=traffic.sector_bytes,
        transaction_bytes=traffic.transaction_bytes,
    )
