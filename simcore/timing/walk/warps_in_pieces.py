"""Warps whose requests lie in one piece of DRAM, and so come at the same time.

A thread block of 256 x 1 threads reads four pieces of 256 bytes with its eight warps, one of 32 x 8
threads reads eight: the latest of its loads comes later (`validation/microkernels/lifetimes.cu`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.timing_facts import DRAM_PIECE_BYTES
from kernelcast.simcore.host.compiled import compiled
from kernelcast.traces.warp_paths import WarpPaths

__all__ = ["pieces_of_a_warp"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def pieces_of_a_warp(paths: WarpPaths, instructions: int) -> Floats:
    """How many pieces warps of a thread block have for each, at most 1, shape (instructions,).

    1 where each warp begins in another piece than that in which the warp before it began or ended,
    a half where every other one does.
    """
    looked, joined = np.zeros((2, instructions), np.int64)
    widest = paths.patterns.offsets.max(axis=1, initial=0)
    _count_joined(
        paths.start,
        paths.warps_per_thread_block,
        paths.pc,
        paths.pattern,
        paths.address,
        np.append(widest, 0).astype(np.int64),
        looked,
        joined,
    )
    warps = paths.warps_per_thread_block
    # the first warp of a thread block was not looked at
    apart = 1.0 - joined * (warps - 1) / (np.maximum(1, looked) * warps)
    return np.asarray(np.where(looked > 0, apart, 1.0))


@compiled
def _count_joined(
    start: Ints,
    warps: int,
    pc: npt.NDArray[np.int32],
    pattern: npt.NDArray[np.int32],
    address: Ints,
    widest: Ints,
    looked: Ints,
    joined: Ints,
) -> None:
    """Compares accesses of each warp with those of the one before, on the way that both go."""
    for warp in range(len(start) - 1):
        if warp % warps == 0:
            continue
        before, now = start[warp - 1], start[warp]
        for step in range(min(start[warp] - before, start[warp + 1] - now)):
            if pc[now + step] != pc[before + step]:
                break
            if pattern[now + step] < 0 or pattern[before + step] < 0:
                continue
            piece = address[now + step] // DRAM_PIECE_BYTES
            first = address[before + step]
            last = first + widest[pattern[before + step]]
            looked[pc[now + step]] += 1
            if piece == first // DRAM_PIECE_BYTES or piece == last // DRAM_PIECE_BYTES:
                joined[pc[now + step]] += 1
