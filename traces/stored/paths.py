"""Warp paths of a stored trace, to and from its side tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.phase_table import PhaseTable
from kernelcast.traces.stored.tables import SideTables, arrow_table
from kernelcast.traces.trace import Trace
from kernelcast.traces.warp_paths import NO_PATTERN, WarpPaths

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
    """The paths of `trace`; TraceFormatError when they do not fit it."""
    if not rest.has(_EVENTS, "pc"):
        return None
    thread_blocks = rest.vector(_THREAD_BLOCKS, "number", np.int64)
    warps = trace.warps_per_thread_block
    pc = rest.vector(_EVENTS, "pc", np.int32)
    found = WarpPaths(
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
    _check(rest, trace, found)
    return found


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


def _check(rest: SideTables, trace: Trace, paths: WarpPaths) -> None:
    """Simulators index by these numbers without looking."""
    for name, column, first, end in (
        ("thread block of a path", paths.thread_blocks, 0, trace.thread_blocks),
        ("pc of a path", paths.pc, 0, len(trace.instructions)),
        ("number of lanes of a path", paths.lanes, 0, trace.warp_width + 1),
        ("pattern of a path", paths.pattern, NO_PATTERN, len(paths.patterns.mask)),
        ("event of a phase", paths.phases.event, 0, len(paths.pc)),
        ("barrier of a phase", paths.phases.barrier, 0, len(paths.phases.thread_block)),
        ("thread block of a barrier", paths.phases.thread_block, 0, len(paths.thread_blocks)),
    ):
        if len(column) and not first <= int(column.min()) <= int(column.max()) < end:
            raise rest.error(f"a {name} is not below {end}")
    start = paths.start
    if start[0] != 0 or start[-1] != len(paths.pc) or (np.diff(start) < 0).any():
        raise rest.error("the paths do not begin where others end")
    if trace.warp_width < 64 and (paths.patterns.mask >> np.uint64(trace.warp_width)).any():
        raise rest.error(f"a pattern of a path has lanes beyond {trace.warp_width}")
