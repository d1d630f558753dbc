"""Kernels of a few instructions in a loop, as micro-benchmarks have them, without a source."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.timing.kernel.machine_schedule import MachineSchedule
from kernelcast.simcore.timing.kernel.timed_kernel import MemoryLevels, Pipeline, TimedKernel
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.warp_paths import NO_PATTERN, WarpPaths

__all__ = ["Step", "micro_kernel", "scheduled"]


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction of a micro-kernel.

    A global access without `writes` is a store; `passes` and the rest as in TimedKernel and
    MemoryLevels. Its sectors follow one another in whole lines unless it has `lines` of its own,
    each of which lies in another piece of DRAM.
    """

    pipeline: Pipeline
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()
    passes: float = 1.0
    sectors: float = 4.0
    l1_hits: float = 0.0
    l2_hits: float = 0.0
    bytes_per_lane: float = 4.0
    tensor_latency: float = 0.0
    ideal_passes: float = 1.0
    ideal_sectors: float = 4.0
    lines: float = 0.0

    @property
    def touched_lines(self) -> float:
        """Lines of L2 that the access touches."""
        return self.lines or math.ceil(self.sectors / 4)

    @property
    def touched_pieces(self) -> float:
        """Pieces of DRAM that the access touches."""
        return self.lines or math.ceil(self.sectors / 8)


def micro_kernel(
    steps: Sequence[Step],
    trips: int,
    warps: int = 1,
    thread_blocks: int = 1,
    thread_blocks_per_sm: int = 1,
    warp_width: int = 32,
) -> TimedKernel:
    """A kernel of which each warp runs all steps `trips` times."""
    events = len(steps) * trips * warps
    pc = np.tile(np.arange(len(steps), dtype=np.int32), trips * warps)
    is_global = np.array([step.pipeline is Pipeline.GLOBAL for step in steps])
    paths = WarpPaths(
        thread_blocks=np.zeros(1, np.int64),
        warps_per_thread_block=warps,
        start=np.arange(warps + 1, dtype=np.int64) * (len(steps) * trips),
        pc=pc,
        lanes=np.full(events, warp_width, np.uint8),
        pattern=np.full(events, NO_PATTERN, np.int32),
        address=np.zeros(events, np.int64),
        patterns=PatternTable.empty(warp_width),
    )
    return TimedKernel(
        paths=paths,
        pipeline=tuple(step.pipeline for step in steps),
        is_store=is_global & np.array([not step.writes for step in steps]),
        reads=_padded([step.reads for step in steps]),
        writes=_padded([step.writes for step in steps]),
        wavefronts=np.array([step.passes for step in steps])[pc],
        ideal_wavefronts=np.array([step.ideal_passes for step in steps])[pc],
        levels=MemoryLevels(
            sectors=np.where(is_global, [step.sectors for step in steps], 0.0),
            lines=np.where(is_global, [step.touched_lines for step in steps], 0.0),
            pieces=np.where(is_global, [step.touched_pieces for step in steps], 0.0),
            ideal_sectors=np.where(is_global, [step.ideal_sectors for step in steps], 0.0),
            l1_hits=np.array([step.l1_hits for step in steps]),
            l2_hits=np.array([step.l2_hits for step in steps]),
            bytes_per_lane=np.where(is_global, [step.bytes_per_lane for step in steps], 0.0),
            l1_pending=np.zeros(len(steps)),
            l2_waits=1.0 - np.array([step.l2_hits for step in steps]),
            partial_writes=np.zeros(len(steps)),
        ),
        thread_blocks=thread_blocks,
        thread_blocks_per_sm=thread_blocks_per_sm,
        warp_width=warp_width,
        tensor_latency=np.array([step.tensor_latency for step in steps]),
    )


def scheduled(
    kernel: TimedKernel,
    stalls: Sequence[int],
    *,
    reads: Sequence[int] = (),
    addresses: Sequence[int] = (),
    banks: Sequence[tuple[int, int]] = (),
    yields: Sequence[bool] = (),
    unit_turns: Sequence[int] = (),
) -> TimedKernel:
    """The kernel as machine code, with a number for each step; its registers are scoreboards.

    What is left out is nothing: no scoreboard for operands (-1), no read of a bank, no yield, one
    turn of the unit, and code of 16 bytes an instruction in their order.
    """
    count = len(stalls)
    schedule = MachineSchedule(
        stall_cycles=np.array(stalls, np.int64),
        yields=np.array(yields or [False] * count, np.bool_),
        read=np.array(reads or [-1] * count, np.int64),
        address=np.array(addresses or [16 * number for number in range(count)], np.int64),
        bank_reads=np.array(banks or [(0, 0)] * count, np.int64),
        unit_turns=np.array(unit_turns or [1] * count, np.int64),
        bytes=np.full(count, 16, np.int64),
    )
    return replace(kernel, schedule=schedule)


def _padded(registers: Sequence[tuple[int, ...]]) -> npt.NDArray[np.int32]:
    most = max(len(row) for row in registers)
    return np.array([[*row, *[-1] * (most - len(row))] for row in registers], np.int32).reshape(
        len(registers), most
    )
