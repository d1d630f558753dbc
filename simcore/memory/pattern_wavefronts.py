"""Wavefronts of a trace's shared and constant accesses, by instruction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device import Device
from kernelcast.simcore.memory.banks import Wavefronts, constant_wavefronts, shared_wavefronts
from kernelcast.simcore.memory.native_accesses import native_accesses
from kernelcast.traces.trace import PatternCounts, Trace

__all__ = ["PatternWavefronts", "pattern_wavefronts"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PatternWavefronts:
    """Totals by pc: warp-level requests, the passes that they took, the fewest that could do."""

    requests: Ints
    taken: Ints
    ideal: Ints


def pattern_wavefronts(trace: Trace, device: Device) -> PatternWavefronts:
    """Constant accesses go to the constant cache, all others of the pattern counts to the banks."""
    native = native_accesses(trace.instructions)
    rows, patterns = trace.pattern_counts, trace.patterns
    is_constant = np.array([row.space == "const" for row in trace.instructions], np.bool_)
    reaches_memory = native.bytes[rows.pc] > 0
    totals = PatternWavefronts(*(np.zeros(len(trace.instructions), np.int64) for _ in range(3)))
    banked = _select(rows, reaches_memory & ~is_constant[rows.pc])
    _add(totals, banked, shared_wavefronts(banked, patterns, native, device.shared))
    constant = _select(rows, reaches_memory & is_constant[rows.pc])
    _add(totals, constant, constant_wavefronts(constant, patterns, native, device.constant))
    return totals


def _select(rows: PatternCounts, chosen: npt.NDArray[np.bool_]) -> PatternCounts:
    return PatternCounts(
        rows.pc[chosen],
        rows.stage[chosen],
        rows.phase[chosen],
        rows.pattern[chosen],
        rows.count[chosen],
    )


def _add(totals: PatternWavefronts, rows: PatternCounts, passes: Wavefronts) -> None:
    np.add.at(totals.requests, rows.pc, rows.count)
    np.add.at(totals.taken, rows.pc, rows.count * passes.taken)
    np.add.at(totals.ideal, rows.pc, rows.count * passes.ideal)
