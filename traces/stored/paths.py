"""Warp paths of a stored trace, to and from its side tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.phase_table import PhaseTable
from kernelcast.traces.stored.tables import SideTables, arrow_table
from kernelcast.traces.trace import Trace
from kernelcast.traces.warp_paths import WarpPaths

__all__ = ["path_tables", "paths_of"]

_EVENTS, _WARPS = "path_events", "path_warps"
_THREAD_BLOCKS, _PATTERNS = "path_thread_blocks", "path_patterns"
_PHASES, _BARRIERS = "path_phases", "path_barriers"


def path_tables(paths: WarpPaths | None) -> dict[str, Any]:
    """Arrow tables by name; none without paths."""
    if paths is None:
        return {}
    columns = ("pc", "lanes", "pattern", "address")
    phases = paths.phases
    return {
        _PHASES: arrow_table(
            {
                "event": phases.event,
                "barrier": phases.barrier,
                "phase": phases.phase,
                "is_wait": phases.is_wait.astype(np.uint8),
            }
        ),
        _BARRIERS: arrow_table({"thread_block": phases.thread_block}),
        _THREAD_BLOCKS: arrow_table({"number": paths.thread_blocks}),
        _WARPS: arrow_table({"start": paths.start}),
        _EVENTS: arrow_table({name: getattr(paths, name) for name in columns}),
        _PATTERNS: arrow_table({"mask": paths.patterns.mask, "offsets": paths.patterns.offsets}),
    }


def paths_of(rest: SideTables, trace: Trace, *, is_complete: bool) -> WarpPaths | None:
    """The paths of `trace`; TraceFormatError for columns that are missing or too short."""
    if not rest.has(_EVENTS, "pc"):
        return None
    thread_blocks = rest.vector(_THREAD_BLOCKS, "number", np.int64)
    warps = trace.warps_per_thread_block
    pc = rest.vector(_EVENTS, "pc", np.int32)
    return WarpPaths(
        thread_blocks=thread_blocks,
        warps_per_thread_block=warps,
        start=rest.vector(_WARPS, "start", np.int64, rows=warps * len(thread_blocks) + 1),
        pc=pc,
        lanes=rest.vector(_EVENTS, "lanes", np.uint8, rows=len(pc)),
        pattern=rest.vector(_EVENTS, "pattern", np.int32, rows=len(pc)),
        address=rest.vector(_EVENTS, "address", np.int64, rows=len(pc)),
        patterns=PatternTable(
            rest.vector(_PATTERNS, "mask", np.uint64),
            rest.matrix(_PATTERNS, "offsets", np.int64, trace.warp_width),
        ),
        is_complete=is_complete,
        phases=_phases(rest),
    )


def _phases(rest: SideTables) -> PhaseTable:
    if not rest.has(_PHASES, "event"):
        return PhaseTable.empty()
    event = rest.vector(_PHASES, "event", np.int64)
    return PhaseTable(
        event,
        rest.vector(_PHASES, "barrier", np.int32, rows=len(event)),
        rest.vector(_PHASES, "phase", np.int32, rows=len(event)),
        rest.vector(_PHASES, "is_wait", np.uint8, rows=len(event)).astype(np.bool_),
        rest.vector(_BARRIERS, "thread_block", np.int32),
    )
