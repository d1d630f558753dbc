"""Cycles of texture units: how long reads of images occupy the way to L1.

A read of an image is one instruction and the accesses that follow as its parts, one for each texel:
one, or with linear filtering two, four or eight.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.isa.types import Unit
from kernelcast.simcore.memory.native_accesses import NativeAccesses
from kernelcast.traces.trace import InstructionRow
from kernelcast.traces.warp_paths import WarpPaths

__all__ = ["is_texel", "texture_passes"]

_TOGETHER = 4
"""Texels that a unit filters at a time."""

Floats = npt.NDArray[np.float64]


def texture_passes(
    instructions: Sequence[InstructionRow],
    paths: WarpPaths,
    native: NativeAccesses,
    device: Device,
) -> Floats:
    """Cycles that each event of the paths takes of the SM's texture units, shape (events,).

    The accesses of one read share its cycles equally; 0 for all that is no part of a read.
    """
    cycles = np.zeros(len(paths.pc))
    facts = device.texture
    loads = np.array([is_texel(row) for row in instructions], np.bool_)
    if facts is None or not loads.any():
        return cycles
    is_read = np.array([row.unit == Unit.TEXTURE.value for row in instructions], np.bool_)
    read = np.cumsum(is_read[paths.pc])
    texels = np.flatnonzero(loads[paths.pc] & (read > 0))
    of_read = np.bincount(read[texels], minlength=int(read.max(initial=0)) + 1)[read[texels]]
    widths = native.bytes[paths.pc[texels]]
    wide = np.where(of_read > 1, np.maximum(1.0, widths / facts.filtered_bytes), 1.0)
    rounds = np.maximum(1.0, of_read / _TOGETHER)
    lanes = paths.lanes[texels].astype(np.float64)
    cycles[texels] = lanes * rounds * wide / (facts.texels_per_cycle * of_read)
    return cycles


def is_texel(row: InstructionRow) -> bool:
    """Whether the instruction loads a texel, as a part of a read."""
    return row.is_part and row.kind == "load" and row.cache == "nc" and row.access_bytes > 0
