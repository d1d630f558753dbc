"""Accesses of warps in which no lane's guard is true: they are issued and ask for nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel

__all__ = ["without_idle_accesses"]

_ACCESSES = (Pipeline.SHARED, Pipeline.CONSTANT, Pipeline.GLOBAL)
_NO_REGISTER = -1


def without_idle_accesses(kernel: TimedKernel) -> TimedKernel:
    """The kernel with such events told apart from those that ask for something.

    They take an issue slot, wait for what the instruction waits for, and hold up nobody.
    """
    paths = kernel.paths
    is_access = np.array([item in _ACCESSES for item in kernel.pipeline], np.bool_)
    idle = np.flatnonzero(is_access[paths.pc] & (paths.lanes == 0))
    if not len(idle):
        return kernel
    known = len(kernel.pipeline)
    found, number = np.unique(paths.pc[idle], return_inverse=True)
    numbered = kernel.of(np.concatenate([np.arange(known), found]))
    pc, writes = paths.pc.copy(), numbered.writes.copy()
    pc[idle] = known + number
    writes[known:] = _NO_REGISTER
    return replace(
        numbered,
        paths=replace(paths, pc=pc),
        pipeline=(*kernel.pipeline, *(Pipeline.WAIT,) * len(found)),
        writes=writes,
    )
