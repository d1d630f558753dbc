"""Passes that data of shared memory take on their way to the registers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.memory.native_accesses import NativeAccesses
from kernelcast.simcore.timing.kernel.timed_kernel import timing_facts
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import PatternCounts

__all__ = ["shared_returns"]

_REGISTER_BYTES = 4


def shared_returns(
    rows: PatternCounts, patterns: PatternTable, native: NativeAccesses, device: Device
) -> npt.NDArray[np.int64]:
    """Passes of one load of each row, shape (rows,): each hands on a word of every bank.

    A broadcast, which the banks serve at once, still fills registers of every lane. Where
    `shared_paired_lanes` is 2, data return once for two lanes of one address when all lanes have
    such a neighbour, the next one or the one after that.
    """
    timing, width = timing_facts(device), patterns.offsets.shape[1]
    registers = -(-native.bytes[rows.pc] // _REGISTER_BYTES)
    returned = registers * _REGISTER_BYTES * width
    if timing.shared_paired_lanes == 2:
        returned = np.where(_are_paired(patterns)[rows.pattern], -(-returned // 2), returned)
    passes: npt.NDArray[np.int64] = -(-returned // (device.shared.banks * device.shared.bank_bytes))
    return np.maximum(passes, 1)


def _are_paired(patterns: PatternTable) -> npt.NDArray[np.bool_]:
    """Whether lanes n and n ^ 1, or n and n ^ 2, ask for the same wherever active, by pattern."""
    lanes = np.arange(patterns.offsets.shape[1])
    is_active = (patterns.mask[:, None] >> lanes.astype(np.uint64)) & np.uint64(1) != 0
    paired = np.zeros(len(patterns.mask), np.bool_)
    for distance in (1, 2):
        other = lanes ^ distance
        differs = patterns.offsets != patterns.offsets[:, other]
        paired |= ~(differs & is_active & is_active[:, other]).any(axis=1)
    return paired
