"""A kernel whose warps share the work between two barriers of their thread block equally."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel
from kernelcast.traces.warp_paths import GOLDEN

__all__ = ["OF_WHOLE_WARPS", "equal_warps", "longest_share"]

OF_WHOLE_WARPS = (Pipeline.BARRIER, Pipeline.EXIT, Pipeline.COMMIT, Pipeline.WAIT)
"""Each warp has its own, whatever work it has."""

Ints = npt.NDArray[np.int64]


def longest_share(kernel: TimedKernel) -> float:
    """Instructions of a mean warp over those of the longest, stage by stage.

    1 where all warps have as many, or where warps wait for phases.
    """
    if len(kernel.paths.phases) or Pipeline.BARRIER not in kernel.pipeline:
        return 1.0
    longest = executed = 0
    for stages in _stages(kernel):
        lengths = np.diff(stages, axis=1)
        longest += int(lengths.max(axis=0).sum())
        executed += int(lengths.sum())
    return executed / (kernel.paths.warps_per_thread_block * longest) if longest else 1.0


def equal_warps(kernel: TimedKernel) -> TimedKernel:
    """The kernel with equal work for all warps of a thread block.

    In each stage all warps follow the path of the longest, of each of its instructions as many as a
    mean warp has of all.
    """
    paths = kernel.paths
    if longest_share(kernel) == 1.0:
        return kernel
    warps = paths.warps_per_thread_block
    chosen: list[Ints] = []
    ends = [0]
    for stages in _stages(kernel):
        lengths = np.diff(stages, axis=1)
        mean = lengths.sum(axis=0) / np.maximum(1, warps * lengths.max(axis=0))
        leaders = lengths.argmax(axis=0)
        parts = [
            _thinned(kernel, int(stages[warp, stage]), int(stages[warp, stage + 1]), mean[stage])
            for stage, warp in enumerate(leaders)
        ]
        path = np.concatenate(parts)
        chosen += [path] * warps
        ends += [ends[-1] + len(path) * (warp + 1) for warp in range(warps)]
    events = np.concatenate(chosen)
    return replace(
        kernel,
        paths=replace(
            paths,
            start=np.array(ends, np.int64),
            pc=paths.pc[events],
            lanes=paths.lanes[events],
            pattern=paths.pattern[events],
            address=paths.address[events],
        ),
        wavefronts=kernel.wavefronts[events],
        ideal_wavefronts=kernel.ideal_wavefronts[events],
    )


def _stages(kernel: TimedKernel) -> Iterator[Ints]:
    """Where barrier stages of warps begin, and the last ones end, by recorded thread block.

    The shape is (warps, stages + 1) each; stages of warps that have ended are empty.
    """
    paths, warps = kernel.paths, kernel.paths.warps_per_thread_block
    is_barrier = np.array([item is Pipeline.BARRIER for item in kernel.pipeline], np.bool_)
    after = np.flatnonzero(is_barrier[paths.pc]) + 1
    for number in range(len(paths.thread_blocks)):
        ends = paths.start[number * warps : (number + 1) * warps + 1]
        within = [
            after[np.searchsorted(after, first, "right") : np.searchsorted(after, last, "right")]
            for first, last in pairwise(ends)
        ]
        table = np.repeat(ends[1:, None], max(map(len, within)) + 2, axis=1)
        table[:, 0] = ends[:-1]
        for row, found in zip(table, within, strict=True):
            row[1 : 1 + len(found)] = found
        yield table


def _thinned(kernel: TimedKernel, first: int, last: int, share: float) -> Ints:
    """The events of a stretch that are left of it: of each instruction that share, in turn."""
    pc = kernel.paths.pc[first:last]
    order = np.argsort(pc, kind="stable")
    is_first = np.diff(pc[order], prepend=-1) != 0
    position = np.arange(len(pc))
    turn = np.empty(len(pc), np.int64)
    turn[order] = position - np.maximum.accumulate(np.where(is_first, position, 0))
    begins = (pc * GOLDEN) % 1.0
    kept = np.floor((turn + 1) * share + begins) > np.floor(turn * share + begins)
    is_whole = np.array([item in OF_WHOLE_WARPS for item in kernel.pipeline], np.bool_)
    return np.flatnonzero(kept | is_whole[pc]) + first
