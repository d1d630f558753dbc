"""Warp paths of a stored trace, to and from its side tables."""

from __future__ import annotations

from dataclasses import replace
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
_LONGEST = "longest_"
"""What the names of the tables begin with that are of the longest thread block."""


def path_tables(paths: WarpPaths | None, prefix: str = "") -> dict[str, Any]:
    """Arrow tables by name; none without paths."""
    if paths is None:
        return {}
    columns = ("pc", "lanes", "pattern", "address")
    phases = paths.phases
    found = {
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
    own = {prefix + name: table for name, table in found.items()}
    return own | path_tables(paths.longest, prefix + _LONGEST)


def paths_of(
    rest: SideTables, trace: Trace, *, is_complete: bool, longest_is_complete: bool
) -> WarpPaths | None:
    """The paths of `trace`; TraceFormatError for columns that are missing or too short."""
    longest = _paths_of(rest, trace, _LONGEST, is_complete=longest_is_complete)
    found = _paths_of(rest, trace, "", is_complete=is_complete)
    return found and replace(found, longest=longest)


def _paths_of(
    rest: SideTables, trace: Trace, prefix: str, *, is_complete: bool
) -> WarpPaths | None:
    events, patterns = prefix + _EVENTS, prefix + _PATTERNS
    if not rest.has(events, "pc"):
        return None
    thread_blocks = rest.vector(prefix + _THREAD_BLOCKS, "number", np.int64)
    warps = trace.warps_per_thread_block
    starts = warps * len(thread_blocks) + 1
    pc = rest.vector(events, "pc", np.int32)
    return WarpPaths(
        thread_blocks=thread_blocks,
        warps_per_thread_block=warps,
        start=rest.vector(prefix + _WARPS, "start", np.int64, rows=starts),
        pc=pc,
        lanes=rest.vector(events, "lanes", np.uint8, rows=len(pc)),
        pattern=rest.vector(events, "pattern", np.int32, rows=len(pc)),
        address=rest.vector(events, "address", np.int64, rows=len(pc)),
        patterns=PatternTable(
            rest.vector(patterns, "mask", np.uint64),
            rest.matrix(patterns, "offsets", np.int64, trace.warp_width),
        ),
        is_complete=is_complete,
        phases=_phases(rest, prefix),
    )


def _phases(rest: SideTables, prefix: str) -> PhaseTable:
    phases = prefix + _PHASES
    if not rest.has(phases, "event"):
        return PhaseTable.empty()
    event = rest.vector(phases, "event", np.int64)
    return PhaseTable(
        event,
        rest.vector(phases, "barrier", np.int32, rows=len(event)),
        rest.vector(phases, "phase", np.int32, rows=len(event)),
        rest.vector(phases, "is_wait", np.uint8, rows=len(event)).astype(np.bool_),
        rest.vector(prefix + _BARRIERS, "thread_block", np.int32),
    )
