"""Paths of a source form in the order that an assembler would give its instructions.

Each step of a region becomes an instruction of its own, as iterations of an unrolled loop are, and
events of one execution of a region change places together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel
from kernelcast.traces.static_schedule import (
    Names,
    ScheduledRegion,
    StaticSchedule,
    region_keys,
    region_starts,
)

__all__ = ["scheduled_kernel"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Placed:
    """A region with the number of its first instruction and the events that it begins with."""

    region: ScheduledRegion
    first: int
    starts: Ints


def scheduled_kernel(kernel: TimedKernel, schedule: StaticSchedule | None) -> TimedKernel:
    """The kernel in the order of its schedule; itself where there is none.

    Warps that wait for phases keep their order: nothing moves across a loop of looks.
    """
    if schedule is None or not schedule.regions or len(kernel.paths.phases):
        return kernel
    placed = list(_placed(kernel, schedule))
    source = np.concatenate(
        [
            np.arange(len(kernel.pipeline)),
            *(np.array(item.region.pcs)[list(item.region.order)] for item in placed),
        ]
    )
    numbered = _with_steps(kernel.of(source), placed)
    return _reordered(_with_sequences(numbered, source, schedule), placed)


def _placed(kernel: TimedKernel, schedule: StaticSchedule) -> Iterator[_Placed]:
    block_of = np.array([row.basic_block for row in kernel.instructions], np.intp)
    pcs, paths = len(block_of), kernel.paths
    starts = region_starts(paths, block_of, schedule)
    keys, _ = region_keys(paths.pc, starts, pcs)
    first = pcs
    for region in schedule.regions:
        wanted, _ = region_keys(np.array(region.pcs, np.int32), np.zeros(1, np.int64), pcs)
        chosen = starts[keys == wanted[0]]
        if len(chosen):
            yield _Placed(region, first, chosen)
            first += len(region.pcs)


def _with_steps(kernel: TimedKernel, placed: list[_Placed]) -> TimedKernel:
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


def _reordered(kernel: TimedKernel, placed: list[_Placed]) -> TimedKernel:
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
