"""Trace x Device -> InstructionStream: recorded warps as PTX instructions, with transactions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernelcast.models.mpd_cpd.calculate_periods import (
    ACCESS,
    InstructionStream,
    PtxOperation,
    is_off_chip,
)
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.memory.native_accesses import NativeAccesses, native_accesses
from kernelcast.simcore.profile.derived import ProfileSource
from kernelcast.traces.trace import InstructionRow
from kernelcast.traces.warp_paths import NO_PATTERN, WarpPaths

__all__ = ["instruction_stream"]

_ACCESS_KINDS = ("load", "store", "atomic")
_OFF_CHIP = ("global", "local", "generic")

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def instruction_stream(source: ProfileSource) -> InstructionStream | None:
    """The recorded warps of a launch on `device` as a stream of PTX instructions.

    Each multiprocessor holds `thread_blocks_per_sm` thread blocks. TraceFormatError when the trace
    has no paths.
    """
    trace, device = source.trace, source.device
    if trace.paths is None:
        return None
    operations = tuple(_operation(row) for row in trace.instructions)
    native = native_accesses(trace.instructions)
    issued = float(trace.classes.totals()[0].sum()) * len(trace.paths.thread_blocks)
    return InstructionStream(
        paths=trace.paths,
        operations=operations,
        bytes_per_thread=native.bytes.astype(np.float64),
        transactions=_transactions(trace.paths, is_off_chip(operations), native, device),
        thread_blocks=trace.thread_blocks,
        thread_blocks_per_sm=source.memory.thread_blocks_per_sm,
        warp_width=trace.warp_width,
        path_share=len(trace.paths.pc) * trace.thread_blocks / issued if issued else 1.0,
    )


def _transactions(
    paths: WarpPaths, accesses: Flags, native: NativeAccesses, device: Device
) -> Floats:
    # Imports the compiled simulators, which what comes from a profiler's file does without.
    from kernelcast.simcore.memory.transactions import transactions_of

    found: Floats = np.zeros(len(paths.pc), np.float64)
    events = np.flatnonzero(accesses[paths.pc] & (paths.pattern != NO_PATTERN))
    where = paths.pc[events], paths.address[events], paths.pattern[events]
    found[events] = transactions_of(*where, paths.patterns, native, device).count
    return found


def _operation(row: InstructionRow) -> PtxOperation | None:
    if not row.is_source:
        return None
    if row.kind in _ACCESS_KINDS and row.space in _OFF_CHIP:
        return ACCESS
    return PtxOperation(row.opcode.partition(".")[0], row.operand_kind)
