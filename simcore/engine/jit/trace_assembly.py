"""Counters and access logs of all workers as one Trace."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.jit.program import SourceProgram
from kernelcast.simcore.isa.instruction_rows import instruction_rows
from kernelcast.simcore.isa.kernel import Kernel
from kernelcast.simcore.launch import Launch
from kernelcast.simcore.resources import resource_needs
from kernelcast.traces.trace import (
    AccessTable,
    PatternCounts,
    PatternTable,
    ThreadBlockClasses,
    Trace,
)

__all__ = ["Counted", "assemble"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Counted:
    """`counts` (thread blocks, counters), `times` (thread blocks, warps); by worker the `totals`
    (stages, counters) and the access logs, none when nothing was recorded."""

    counts: Ints
    times: Ints
    totals: list[Ints]
    logs: list[Any]


def assemble(
    kernel: Kernel,
    launch: Launch,
    warp_width: int,
    source: SourceProgram,
    counted: Counted,
    started: float,
) -> Trace:
    patterns, accesses, pattern_counts = _memory(warp_width, counted.logs)
    return Trace(
        kernel=kernel.name,
        grid=launch.grid,
        thread_block=launch.thread_block,
        warp_width=warp_width,
        resources=resource_needs(kernel, launch),
        instructions=instruction_rows(kernel),
        classes=_classes(kernel, source, counted.counts),
        stage_warp_issues=_stages(kernel, source, counted),
        warp_time=counted.times.reshape(-1).astype(np.int32),
        patterns=patterns,
        accesses=accesses,
        pattern_counts=pattern_counts,
        engine="jit",
        elapsed_s=time.monotonic() - started,
        has_memory=bool(counted.logs),
    )


def _block_of_pc(kernel: Kernel) -> npt.NDArray[np.intp]:
    found = np.zeros(len(kernel.instructions), np.intp)
    for block in kernel.blocks:
        for instruction in (*block.body, block.terminator):
            if instruction.mnemonic:
                found[instruction.pc] = block.index
    return found


def _classes(kernel: Kernel, source: SourceProgram, counts: Ints) -> ThreadBlockClasses:
    """Thread blocks with equal counters, told apart by a 64-bit hash of them."""
    random = np.random.default_rng(20170101)
    multipliers = random.integers(1, 2**63, counts.shape[1], np.int64) | 1
    hashes = (counts * multipliers).sum(axis=1)
    _, example, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    order = np.argsort(example, kind="stable")  # classes in the order of their first thread block
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    rows = counts[example[order]]
    blocks = _block_of_pc(kernel)
    issues, lanes = rows[:, 2 * blocks], rows[:, 2 * blocks + 1]
    for position, pc in enumerate(source.guarded):
        lanes[:, pc] -= rows[:, 2 * len(kernel.blocks) + position]
    return ThreadBlockClasses(number[inverse.reshape(-1)], issues, lanes, None)


def _stages(kernel: Kernel, source: SourceProgram, counted: Counted) -> Ints:
    """Warp issues by stage and instruction; stages that nothing ran in are cut off."""
    columns = 2 * _block_of_pc(kernel)
    if not source.shape.has_barriers:
        issued: Ints = counted.counts.sum(axis=0)[columns][None]
        return issued
    stages = max(len(total) for total in counted.totals)
    table = np.zeros((stages, source.shape.counters), np.int64)
    for total in counted.totals:
        table[: len(total)] += total
    used = np.flatnonzero(table.any(axis=1))
    return table[: int(used.max(initial=0)) + 1, columns]


def _memory(width: int, logs: list[Any]) -> tuple[PatternTable, AccessTable, PatternCounts]:
    """Logs with pattern numbers of their own, brought together."""
    masks, offsets = [np.zeros(0, np.uint64)], [np.zeros((0, width), np.int64)]
    columns: list[list[Ints]] = [[] for _ in range(6)]
    counts: Counter[tuple[int, int, int, int]] = Counter()
    known = 0
    for log in logs:
        log_masks, log_offsets = log.patterns
        for part in log.parts:
            for column, values in zip(columns, part, strict=True):
                column.append(values)
            columns[5][-1] = part[5] + known
        for (pc, stage, phase, pattern), number in log.pattern_counts.items():
            counts[pc, stage, phase, pattern + known] += number
        masks.append(log_masks)
        offsets.append(log_offsets)
        known += len(log_masks)
    mask, offset, number_of = _distinct(np.concatenate(masks), np.concatenate(offsets))
    columns[5] = [number_of[part] for part in columns[5]]
    merged: Counter[tuple[int, int, int, int]] = Counter()
    for (pc, stage, phase, pattern), number in counts.items():
        merged[pc, stage, phase, int(number_of[pattern])] += number
    kinds = (np.int32, np.int32, np.int32, np.int32, np.int64, np.int32)
    table = AccessTable(
        *(
            np.concatenate(parts).astype(kind) if parts else np.zeros(0, kind)
            for parts, kind in zip(columns, kinds, strict=True)
        )
    )
    ordered = sorted(merged.items())
    keys = np.array([key for key, _ in ordered], np.int64).reshape(-1, 4)
    pc, stage, phase, pattern = (keys[:, i].astype(np.int32) for i in range(4))
    often = np.array([value for _, value in ordered], np.int64)
    counted = PatternCounts(pc, stage, phase, pattern, often)
    return PatternTable(mask, offset), table, counted


def _distinct(
    masks: npt.NDArray[np.uint64], offsets: Ints
) -> tuple[npt.NDArray[np.uint64], Ints, Ints]:
    """The same patterns once each, told apart by a 64-bit hash, and the new number of each row."""
    random = np.random.default_rng(20170102)
    multipliers = random.integers(1, 2**63, offsets.shape[1] + 1, np.int64) | 1
    hashes = (offsets * multipliers[1:]).sum(axis=1) + masks.view(np.int64) * multipliers[0]
    _, example, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    order = np.argsort(example, kind="stable")
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    chosen = example[order]
    return masks[chosen], offsets[chosen], number[inverse.reshape(-1)]
