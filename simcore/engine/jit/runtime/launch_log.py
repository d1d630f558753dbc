"""The log that a worker of a launch keeps of memory accesses."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelcast.simcore.engine.jit.codegen.runtime_functions import SPACES
from kernelcast.simcore.engine.jit.runtime.task import Task
from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows

__all__ = ["FIRST_STAGES", "launch_log"]

FIRST_STAGES = 16
"""Barrier stages of a thread block that there is room for at first."""


def launch_log(task: Task) -> Any:
    """An empty log of the accesses of a launch: that of who watches it, if somebody does."""
    if task.watcher is not None:
        return task.watcher.new_log(task)
    kernel, launch, facts, source = task.kernel, task.launch, task.facts, task.source
    # the compiled decoder is slow to import and runs without records do not need it
    from kernelcast.simcore.engine.jit.codegen.memory.counted_accesses import CountedAccesses
    from kernelcast.simcore.engine.jit.recording.access_log import AccessLog
    from kernelcast.simcore.engine.jit.recording.access_rows import PcFacts

    table = instruction_rows(kernel)
    spaces = {space.value: number for space, number in SPACES.items()}
    space = np.array([spaces.get(row.space, -1) for row in table], np.int64)
    size = np.array([row.access_bytes for row in table], np.int64)
    lanes = facts.warps * facts.width * launch.thread_blocks
    slots = source.layout.access_slots
    counted = CountedAccesses(source.counted, slots, facts.width, FIRST_STAGES)
    is_load = np.array([row.kind == "load" and row.space == "global" for row in table], np.bool_)
    return AccessLog(
        *(facts.width, facts.warps, PcFacts(space, size, lanes), source.lane_offsets, counted),
        is_load,
    )
