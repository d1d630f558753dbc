"""Wavefronts of shared memory by barrier stage."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.memory.banks import Wavefronts
from kernelcast.simcore.memory.native_accesses import NativeAccesses
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import PatternCounts

__all__ = ["StageWavefronts"]

_COLUMNS = ("requests", "taken", "ideal", "partial")

Ints = npt.NDArray[np.int64]


@dataclass
class StageWavefronts:
    """Shared accesses by stage and pc, shape (stages, instructions).

    Holds warp-level requests, passes, passes without any conflict, and the requests that not all
    lanes of a warp take part in.
    """

    instructions: int
    requests: Ints = field(init=False)
    taken: Ints = field(init=False)
    ideal: Ints = field(init=False)
    partial: Ints = field(init=False)

    def __post_init__(self) -> None:
        for name in _COLUMNS:
            setattr(self, name, np.zeros((0, self.instructions), np.int64))

    def count(
        self,
        rows: PatternCounts,
        patterns: PatternTable,
        passes: Wavefronts,
        native: NativeAccesses,
        device: Device,
    ) -> None:
        """Adds accesses whose `passes` are known, all of them to shared memory."""
        if not len(rows):
            return
        self._reach(int(rows.stage.max()) + 1)
        where = rows.stage * np.int64(self.instructions) + rows.pc
        masks, width = patterns.mask[rows.pattern], patterns.offsets.shape[1]
        is_partial = masks != np.uint64((1 << width) - 1)
        ideal = np.maximum(passes.ideal, _requests(masks, width, native.bytes[rows.pc], device))
        np.add.at(self.requests.reshape(-1), where, rows.count)
        np.add.at(self.taken.reshape(-1), where, rows.count * passes.taken)
        np.add.at(self.ideal.reshape(-1), where, rows.count * np.minimum(ideal, passes.taken))
        np.add.at(self.partial.reshape(-1), where, rows.count * is_partial)

    def scaled(self, factor: npt.NDArray[np.float64]) -> StageWavefronts:
        """All counts of each pc times its factor, shape (instructions,)."""
        found = StageWavefronts(self.instructions)
        for name in _COLUMNS:
            setattr(found, name, np.rint(getattr(self, name) * factor).astype(np.int64))
        return found

    def of_whole_warps(self) -> npt.NDArray[np.float64]:
        """Passes if warps were whole, shape (stages, instructions).

        Where only parts of warps access, an instruction keeps the passes of the stage before, if
        those were more: the steps of Zhang and Owens' section 5.2 that have less than a warp of
        work are like the last one that has it.
        """
        whole = self.taken.astype(np.float64)
        passes = np.ones(self.instructions)
        for stage, requests in enumerate(self.requests):
            is_partial = (self.partial[stage] == requests) & (requests > 0)
            whole[stage] = np.where(
                is_partial, np.maximum(requests * passes, whole[stage]), whole[stage]
            )
            passes = np.where(requests > 0, whole[stage] / np.maximum(requests, 1), passes)
        return whole

    def _reach(self, stages: int) -> None:
        """Columns are views of arrays with room for as many stages again."""
        if stages <= len(self.requests):
            return
        for name in _COLUMNS:
            column: Ints = getattr(self, name)
            room = column if column.base is None else column.base
            if len(room) < stages:
                room = np.zeros((2 * stages, self.instructions), np.int64)
                room[: len(column)] = column
            setattr(self, name, room[:stages])


def _requests(
    masks: npt.NDArray[np.uint64], width: int, access_bytes: Ints, device: Device
) -> Ints:
    """Groups of lanes that a device serves one after the other whatever they want.

    These are half-warps or smaller; 1 where the device joins them.
    """
    found = np.ones(len(masks), np.int64)
    if device.segments is None:
        return found
    pass_bytes = device.shared.banks * device.shared.bank_bytes
    room = np.maximum(pass_bytes // np.maximum(access_bytes, 1), 1)
    lanes = 2 ** np.floor(np.log2(room)).astype(np.int64)
    lanes = np.minimum(lanes, device.segments.request_threads)
    for together in np.unique(lanes).tolist():
        chosen = lanes == together
        group = np.uint64((1 << together) - 1)
        starts = np.arange(0, width, together, dtype=np.uint64)
        found[chosen] = ((masks[chosen, None] >> starts) & group > 0).sum(axis=1)
    return found
