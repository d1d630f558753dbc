"""Loads that repeat others of their thread block, beside sets of sectors made in plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.simcore.engine.jit.runtime.run import CompiledLaunch
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.traces.stream import ALWAYS, AccessBatch, GridPart

SECTOR = 32
WARPS = 3
LOADS = """
.version 7.0
.target sm_50
.address_size 64
.visible .entry loads(.param .u64 x, .param .u64 y)
{
    .reg .b32 %r<9>;
    .reg .b64 %d<12>;
    .reg .f32 %f<5>;
    .reg .pred %p<3>;
    ld.param.u64 %d1, [x];
    ld.param.u64 %d2, [y];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mul.lo.u32 %r3, %r1, 100;
    mul.wide.u32 %d3, %r3, 4;
    add.s64 %d4, %d1, %d3;
    mul.wide.u32 %d5, %r2, 64;
    add.s64 %d6, %d1, %d5;
    and.b32 %r6, %r1, 15;
    mul.lo.u32 %r6, %r6, %r6;
    mul.wide.u32 %d8, %r6, 4;
    add.s64 %d9, %d1, %d8;
    mul.wide.u32 %d10, %r1, 4;
    add.s64 %d11, %d2, %d10;
    setp.lt.u32 %p2, %r1, 70;
    mov.u32 %r4, 0;
LOOP:
    ld.global.f32 %f1, [%d4];
    ld.global.f32 %f2, [%d6];
    @%p2 ld.global.f32 %f3, [%d9];
    st.global.f32 [%d11], %f1;
    add.s64 %d4, %d4, 4;
    add.s64 %d6, %d6, 128;
    add.s64 %d9, %d9, 12;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, 40;
    @%p1 bra LOOP;
    ret;
}
"""


class Kept:
    """All batches."""

    def __init__(self) -> None:
        self.batches: list[AccessBatch] = []

    def accept(self, batch: AccessBatch) -> None:
        """Keeps one."""
        self.batches.append(batch)


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return kc.load_ptx(LOADS)["loads"].kernel


@pytest.fixture(scope="module")
def launch(kernel: Kernel) -> CompiledLaunch:
    x, y = np.zeros(20_000, np.float32), np.zeros(32 * WARPS, np.float32)
    return CompiledLaunch(kernel, Launch((5, 1, 1), (32 * WARPS, 1, 1), (x, y)), 32)


def rows(launch: CompiledLaunch, part: GridPart) -> tuple[list[tuple[int, ...]], Counter[int]]:
    """(pc, thread block, time, then addresses of active lanes) by access; and what was left out."""
    kept = Kept()
    launch.run_parts([part], Limits(), [kept])
    found, left_out = [], Counter[int]()
    for batch in kept.batches:
        table, patterns = batch.accesses, batch.patterns
        for pc, warp, time, address, pattern in zip(
            *(table.pc, table.warp, table.time, table.address, table.pattern), strict=True
        ):
            mask = int(patterns.mask[pattern])
            lanes = [lane for lane in range(32) if mask >> lane & 1]
            addresses = (int(address + patterns.offsets[pattern, lane]) for lane in lanes)
            found.append((int(pc), int(warp) // WARPS, int(time), *addresses))
        left_out.update(dict(enumerate(batch.left_out[:, 0].tolist())))
        assert batch.left_out[:, 1].sum() <= 32 * batch.left_out[:, 0].sum()
    return found, +left_out


def asked(found: list[tuple[int, ...]], loads: set[int], period: int) -> set[tuple[int, int, int]]:
    """(thread block, period, sector) of all that is loaded."""
    return {
        (row[1], row[2] // period, address // SECTOR)
        for row in found
        if row[0] in loads
        for address in row[3:]
    }


@pytest.mark.parametrize("period", [1, 7, 64, 1000])
def test_what_is_left_out_was_asked_for_by_what_is_kept(
    launch: CompiledLaunch, period: int
) -> None:
    everything, none = rows(launch, GridPart(0, 5))
    assert not none
    pcs = sorted({row[0] for row in everything})
    loads = set(pcs[:3])
    kept, left_out = rows(launch, GridPart(0, 5, 0, ALWAYS, period, True))
    assert Counter(row[0] for row in kept) + left_out == Counter(row[0] for row in everything)
    assert asked(kept, loads, period) == asked(everything, loads, period)
    assert sum(row[0] not in loads for row in kept) == 5 * WARPS * 40  # stores all stay
    if period == 1000:
        # of what the warps of a thread block share, one of them asks for each sector
        assert Counter(row[0] for row in kept)[pcs[1]] <= 5 * 40


def test_repeats_are_told_apart_in_the_order_of_time(
    launch: CompiledLaunch, kernel: Kernel
) -> None:
    size = len(kernel.instructions)
    everything, _ = rows(launch, GridPart(0, 5, 40, 200))
    marked, left_out = rows(launch, GridPart(0, 5, 40, 200, 64))
    assert not left_out
    assert sorted((row[0] % size, *row[1:]) for row in marked) == sorted(everything)
    store = max(row[0] for row in everything)
    known: set[tuple[int, int, int]] = set()
    for row in sorted(marked, key=lambda row: (row[1], row[2])):
        sectors = {(row[1], row[2] // 64, address // SECTOR) for address in row[3:]}
        is_load = row[0] % size != store
        assert (row[0] >= size) == (is_load and sectors <= known)
        known |= sectors if is_load else set()
