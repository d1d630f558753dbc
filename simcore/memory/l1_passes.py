"""Passes of a global access through L1: its data stage and its tag stage, whichever needs more.

Since Volta the data of L1 lie in the banks of shared memory. Tags lie in four banks; the bank of a
line is the exclusive or of all pairs of bits of its number. That rule reproduces the curves that
te42kyfo/gpu-benches (gpu-strides) measured on A100, A40 and GH200. Older L1s, and those of
other vendors, are taken to serve one line a pass. Where global memory has no cache but is reached
in segments (compute capability 1.x), each transaction is a pass.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.banked_l1 import has_banked_l1
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.host.compiled import compiled
from kernelcast.simcore.memory.banks import shared_wavefronts
from kernelcast.simcore.memory.bitmask import ONE, ZERO
from kernelcast.simcore.memory.native_accesses import LaneAccesses, NativeAccesses
from kernelcast.simcore.memory.segments import makes_segments
from kernelcast.simcore.memory.sets.way_search import trailing_zeros
from kernelcast.simcore.memory.transactions import transactions_of
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import PatternCounts

__all__ = ["data_passes", "tag_passes"]

_TAG_BANKS = 4

Ints = npt.NDArray[np.int64]


def data_passes(
    rows: PatternCounts, patterns: PatternTable, native: NativeAccesses, device: Device
) -> Ints:
    """Passes of L1's data stage for each of `rows`; without banks none counts but the tags."""
    if not has_banked_l1(device):
        return np.ones(len(rows), np.int64)
    facts, alone = device.shared, np.ones(len(rows), np.int64)
    return shared_wavefronts(rows, patterns, native, facts, joined_groups=alone).taken


def tag_passes(
    pc: npt.NDArray[np.int32],
    address: Ints,
    pattern: npt.NDArray[np.int32],
    patterns: PatternTable,
    native: NativeAccesses,
    device: Device,
) -> Ints:
    """Passes of L1's tag stage for each access; without banks one for each line."""
    if makes_segments(device):
        return np.maximum(transactions_of(pc, address, pattern, patterns, native, device).count, 1)
    passes = np.empty(len(pc), np.int64)
    line_bytes = (device.l1 or device.l2).line_bytes
    banks = _TAG_BANKS if has_banked_l1(device) else 1
    lanes, widest = patterns.offsets.shape[1], int(native.bytes.max(initial=1))
    _look_up(
        native.of_lanes(pc, address, pattern, patterns),
        line_bytes.bit_length() - 1,
        np.empty(lanes * (widest // line_bytes + 2), np.int64),
        np.empty(banks, np.int64),
        passes,
    )
    return passes


@compiled
def _bank_of(line: int, banks: int) -> int:
    """The tag bank of a line, where there are one or four."""
    if banks == 1:
        return 0
    for shift in (32, 16, 8, 4, 2):
        line ^= line >> shift
    return line & (banks - 1)


@compiled
def _is_known(line: int, lines: Ints, found: int) -> bool:
    """Neighbouring lanes mostly ask for the line found last."""
    at = found - 1
    while at >= 0 and lines[np.uint64(at)] != line:
        at -= 1
    return at >= 0


@compiled
def _look_up(
    accesses: LaneAccesses,
    line_shift: int,
    lines: Ints,
    load: Ints,
    passes: Ints,
) -> None:
    """`lines`, `load`: working space for the distinct lines of an access and those of each bank."""
    pattern, offsets, masks = accesses.pattern, accesses.offsets, accesses.masks
    address, access_bytes, alignment = accesses.start, accesses.bytes, accesses.alignment
    for row in range(len(address)):
        places, lanes = offsets[pattern[row]], masks[pattern[row]]
        load[:] = 0
        found, most = 0, 1
        while lanes != ZERO:
            lane = np.uint64(trailing_zeros(int(np.int64(lanes))))
            lanes &= np.uint64(lanes - ONE)
            start = (address[row] + places[lane]) & alignment[row]
            last = (start + max(access_bytes[row], 1) - 1) >> line_shift
            for line in range(start >> line_shift, last + 1):
                if not _is_known(line, lines, found):
                    lines[np.uint64(found)] = line
                    found += 1
                    bank = np.uint64(_bank_of(line, len(load)))
                    load[bank] += 1
                    most = max(most, load[bank])
        passes[row] = most
