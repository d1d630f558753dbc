"""Warps of a thread block that lie in one piece of DRAM, against what shapes of thread blocks say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from micro_kernel import Step, micro_kernel

from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline
from kernelcast.simcore.timing.walk.warps_in_pieces import pieces_of_a_warp
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.warp_paths import WarpPaths

PITCH = 1 << 16


def paths_of(threads: tuple[int, int], trips: int = 1) -> WarpPaths:
    """A thread block whose threads read a word each of a matrix, a row further down each trip."""
    wide, high = threads
    warps, warp_width = wide * high // 32, 32
    paths = micro_kernel([Step(Pipeline.GLOBAL, (0,), (1,))], trips, warps).paths
    thread = np.arange(warps * warp_width).reshape(warps, warp_width)
    address = thread % wide * 4 + thread // wide * PITCH
    offsets = address - address[:, :1]
    first = np.repeat(address[:, 0], trips) + np.tile(np.arange(trips), warps) * high * PITCH
    patterns = PatternTable(np.full(warps, (1 << 32) - 1, np.uint64), offsets)
    pattern = np.repeat(np.arange(warps, dtype=np.int32), trips)
    return replace(paths, address=first.astype(np.int64), pattern=pattern, patterns=patterns)


@pytest.mark.parametrize("trips", [1, 3])
@pytest.mark.parametrize(
    ("threads", "pieces"),
    [((256, 1), 4), ((1024, 1), 16), ((64, 4), 4), ((32, 8), 8), ((128, 2), 4), ((32, 32), 32)],
)
def test_warps_share_pieces_of_256_bytes(
    threads: tuple[int, int], pieces: int, trips: int
) -> None:
    warps = threads[0] * threads[1] // 32
    assert pieces_of_a_warp(paths_of(threads, trips), 1)[0] == pytest.approx(pieces / warps)


def test_warps_that_read_one_word_have_one_piece_together() -> None:
    paths = paths_of((256, 1))
    same = replace(paths, address=np.zeros_like(paths.address))
    assert pieces_of_a_warp(same, 1)[0] == pytest.approx(1 / 8)


def test_what_is_no_access_stands_alone() -> None:
    paths = micro_kernel([Step(Pipeline.FP32)], 3, 4).paths
    assert pieces_of_a_warp(paths, 2).tolist() == [1.0, 1.0]
