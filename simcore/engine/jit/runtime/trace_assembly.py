"""Counters and access logs of all workers as one Trace."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.jit.runtime.generated_code import GeneratedCode
from kernelcast.simcore.isa.analysis.instruction_rows import (
    basic_block_of_each_pc,
    instruction_rows,
)
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.launch.local_arrays import resource_needs
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import AccessTable, PatternCounts, ThreadBlockClasses, Trace

__all__ = ["Counted", "assemble"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Counted:
    """What workers counted.

    `class_of`, the class of each thread block, and `counts` of one of them, shape (classes,
    counters); `times` (thread blocks, warps); by worker the `totals`, shape (stages, counters).
    `pairs_agree` as in a trace.
    """

    class_of: npt.NDArray[np.int32]
    counts: Ints
    times: npt.NDArray[np.int32]
    totals: list[Ints]
    pairs_agree: bool


def assemble(
    kernel: Kernel,
    launch: Launch,
    warp_width: int,
    source: GeneratedCode,
    counted: Counted,
    started: float,
) -> Trace:
    """The trace without its memory tables."""
    return Trace(
        kernel=kernel.name,
        grid=launch.grid,
        thread_block=launch.thread_block,
        warp_width=warp_width,
        resources=resource_needs(kernel, launch),
        instructions=instruction_rows(kernel),
        classes=_classes(kernel, source, counted),
        stage_warp_issues=_stages(kernel, source, counted),
        warp_time=counted.times.reshape(-1),
        patterns=PatternTable.empty(warp_width),
        accesses=AccessTable.empty(),
        pattern_counts=PatternCounts.empty(),
        engine="jit",
        code=kernel.code,
        elapsed_s=time.monotonic() - started,
        has_memory=False,
        pairs_agree=counted.pairs_agree,
    )


def _classes(kernel: Kernel, source: GeneratedCode, counted: Counted) -> ThreadBlockClasses:
    """The classes of thread blocks, with counts by instruction instead of by basic block."""
    rows = counted.counts
    blocks = basic_block_of_each_pc(kernel)
    issues, lanes = rows[:, 2 * blocks], rows[:, 2 * blocks + 1]
    for pc, word in source.columns.guarded:
        lanes[:, pc] -= rows[:, word]
    later = np.zeros_like(issues)
    for pc, word in source.columns.later:
        later[:, pc] += rows[:, word]
    return ThreadBlockClasses(counted.class_of, issues, lanes, later if later.any() else None)


def _stages(kernel: Kernel, source: GeneratedCode, counted: Counted) -> Ints:
    """Warp issues by stage and instruction; stages that nothing ran in are cut off."""
    columns = 2 * basic_block_of_each_pc(kernel)
    if not source.layout.has_barriers:
        sizes = np.bincount(counted.class_of, minlength=len(counted.counts))
        issued: Ints = (sizes @ counted.counts)[columns][None]
        return issued
    stages = max(len(total) for total in counted.totals)
    table = np.zeros((stages, source.layout.counters), np.int64)
    for total in counted.totals:
        table[: len(total)] += total
    used = np.flatnonzero(table.any(axis=1))
    return table[: int(used.max(initial=0)) + 1, columns]
