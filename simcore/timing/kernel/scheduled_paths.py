"""Paths of a source form in the order that an assembler would give its instructions.

Each step of a region becomes an instruction of its own, as iterations of an unrolled loop are, and
events of one execution of a region change places together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel
from kernelcast.traces.static_schedule import Names, PlacedRegion, StaticSchedule

__all__ = ["scheduled_kernel"]

Ints = npt.NDArray[np.int64]


def scheduled_kernel(
    kernel: TimedKernel, schedule: StaticSchedule | None, placed: Sequence[PlacedRegion]
) -> TimedKernel:
    """The kernel in the order of its schedule, whose regions are `placed`; itself without one.

    Warps that wait for phases keep their order: nothing moves across a loop of looks.
    """
    if schedule is None or not schedule.regions or len(kernel.paths.phases):
        return kernel
    source = np.concatenate(
        [
            np.arange(len(kernel.pipeline)),
            *(np.array(item.region.pcs)[list(item.region.order)] for item in placed),
        ]
    )
    numbered = _with_steps(kernel.of(source), placed)
    return _reordered(_with_sequences(numbered, source, schedule), placed)


def _with_steps(kernel: TimedKernel, placed: Sequence[PlacedRegion]) -> TimedKernel:
    """Folded steps take nothing, and registers have the names that the schedule gives them."""
    pipeline, reads, writes = list(kernel.pipeline), kernel.reads, kernel.writes
    for item in placed:
        for step, is_folded in enumerate(item.region.is_folded):
            number = item.first + step
            if is_folded:
                pipeline[number] = Pipeline.NONE
            _rename(reads[number], item.region.reads[step])
            _rename(writes[number], item.region.writes[step])
    return replace(kernel, pipeline=tuple(pipeline))


def _rename(registers: npt.NDArray[np.int32], names: Names) -> None:
    known = dict(names)
    if known:
        registers[:] = [known.get(register, register) for register in registers.tolist()]


def _with_sequences(kernel: TimedKernel, source: Ints, schedule: StaticSchedule) -> TimedKernel:
    known = dict(schedule.sequences)
    if not known:
        return kernel
    return replace(
        kernel,
        instructions=tuple(
            replace(row, sequence=known[pc]) if pc in known and row.sequence else row
            for row, pc in zip(kernel.instructions, source.tolist(), strict=True)
        ),
    )


def _reordered(kernel: TimedKernel, placed: Sequence[PlacedRegion]) -> TimedKernel:
    paths = kernel.paths
    event = np.arange(len(paths.pc))
    pc = paths.pc.copy()
    for item in placed:
        steps = np.arange(len(item.region.pcs))
        to = item.starts[:, None] + steps
        event[to] = item.starts[:, None] + np.array(item.region.order)
        pc[to] = item.first + steps
    place = np.empty_like(event)
    place[event] = np.arange(len(event))
    return replace(
        kernel,
        paths=replace(
            paths,
            pc=pc,
            lanes=paths.lanes[event],
            pattern=paths.pattern[event],
            address=paths.address[event],
            phases=replace(paths.phases, event=place[paths.phases.event]),
        ),
        wavefronts=kernel.wavefronts[event],
        ideal_wavefronts=kernel.ideal_wavefronts[event],
    )
