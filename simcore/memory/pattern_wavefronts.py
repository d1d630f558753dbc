"""Wavefronts of shared and constant accesses, by instruction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.memory.banks import Wavefronts, banked_wavefronts, constant_wavefronts
from kernelcast.simcore.memory.native_accesses import native_accesses
from kernelcast.simcore.memory.stage_wavefronts import StageWavefronts
from kernelcast.traces.stream import AccessBatch
from kernelcast.traces.trace import InstructionRow, PatternCounts

__all__ = ["PatternWavefronts", "WavefrontCounter"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PatternWavefronts:
    """Totals by pc: warp-level requests, the passes that they took, the fewest that could do.

    `stages`: those of shared memory by barrier stage, where they were counted.
    """

    requests: Ints
    taken: Ints
    ideal: Ints
    stages: StageWavefronts | None = None


class WavefrontCounter:
    """An AccessSink that adds up the wavefronts of shared and constant accesses on `device`."""

    def __init__(self, instructions: Sequence[InstructionRow], device: Device) -> None:
        self._device = device
        self._native = native_accesses(instructions)
        self._is_constant = np.array([row.space == "const" for row in instructions], np.bool_)
        requests, taken, ideal = (np.zeros(len(instructions), np.int64) for _ in range(3))
        self._stages = StageWavefronts(len(instructions))
        self.totals = PatternWavefronts(requests, taken, ideal, self._stages)

    def accept(self, batch: AccessBatch) -> None:
        """Constant accesses go to the constant cache, all others to the banks."""
        rows, patterns = batch.pattern_counts, batch.patterns
        reaches_memory = self._native.bytes[rows.pc] > 0
        is_constant = self._is_constant[rows.pc]
        banked = _select(rows, reaches_memory & ~is_constant)
        passes = banked_wavefronts(banked, patterns, self._native, self._device)
        self._count(banked, passes)
        self._stages.count(banked, patterns, passes, self._native, self._device)
        constant = _select(rows, reaches_memory & is_constant)
        passes = constant_wavefronts(constant, patterns, self._native, self._device.constant)
        self._count(constant, passes)

    def _count(self, rows: PatternCounts, passes: Wavefronts) -> None:
        np.add.at(self.totals.requests, rows.pc, rows.count)
        np.add.at(self.totals.taken, rows.pc, rows.count * passes.taken)
        np.add.at(self.totals.ideal, rows.pc, rows.count * passes.ideal)


def _select(rows: PatternCounts, chosen: npt.NDArray[np.bool_]) -> PatternCounts:
    return PatternCounts(
        rows.pc[chosen],
        rows.stage[chosen],
        rows.start[chosen],
        rows.pattern[chosen],
        rows.count[chosen],
    )
