"""Memory accesses as the native instruction set makes them: merged parts count once, at full width.

A trace holds the accesses of the source. Where the native counting rules merge neighbouring
accesses, only the merging instruction reaches memory, with the width of all its parts and at the
address that this width divides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.errors import TraceFormatError
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import InstructionRow

__all__ = ["LaneAccesses", "NativeAccesses", "native_accesses"]

Ints = npt.NDArray[np.int64]


class LaneAccesses(NamedTuple):
    """Warp accesses one by one, for compiled code.

    Lane i of those in masks[pattern[row]] touches bytes[row] from
    (start[row] + offsets[pattern[row], i]) & alignment[row].
    """

    start: Ints | npt.NDArray[np.int32]
    pattern: npt.NDArray[np.int32]
    masks: npt.NDArray[np.uint64]
    offsets: Ints
    bytes: Ints
    alignment: Ints


@dataclass(frozen=True)
class NativeAccesses:
    """Widths and alignments of native accesses, by pc.

    `alignment` is -1, or minus the width of a merged access: address & alignment is its start.
    What machine code merges is one instruction, which begins at the address of its first word.
    """

    bytes: npt.NDArray[np.int64]
    alignment: npt.NDArray[np.int64]

    def of_lanes(
        self,
        pc: npt.NDArray[np.int32],
        start: Ints | npt.NDArray[np.int32],
        pattern: npt.NDArray[np.int32],
        patterns: PatternTable,
    ) -> LaneAccesses:
        """Accesses at `pc` whose first lane begins at `start`."""
        return LaneAccesses(
            start, pattern, patterns.mask, patterns.offsets, self.bytes[pc], self.alignment[pc]
        )


def native_accesses(instructions: Sequence[InstructionRow]) -> NativeAccesses:
    """The native accesses by pc; TraceFormatError for parts that merge to an unknown width."""
    widths = np.zeros(len(instructions), np.int64)
    parts = np.zeros(len(instructions), np.int64)
    for row in instructions:
        if row.access_bytes and row.is_native:
            if not 0 <= row.merged_into < len(instructions):
                raise TraceFormatError(f"{row.mnemonic} merges into no instruction of the trace")
            widths[row.merged_into] += row.access_bytes
            parts[row.merged_into] += 1
    is_machine = np.array([row.control is not None for row in instructions], np.bool_)
    merged = (parts > 1) & ~is_machine
    for pc in np.flatnonzero(merged).tolist():
        if int(widths[pc]).bit_count() != 1:
            raise TraceFormatError(
                f"{instructions[pc].mnemonic} merges {parts[pc]} accesses to {widths[pc]} bytes"
            )
    return NativeAccesses(widths, np.where(merged, -widths, -1))
