"""Calculate periods of hand-made streams, and what PTX operations a kernel's streams hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.models.mpd_cpd.calculate_periods import (
    ACCESS,
    InstructionStream,
    PtxOperation,
    calculate_periods,
    computation_proportion,
    executions,
)
from kernelcast.models.mpd_cpd.derived_ptx_costs import ptx_costs
from kernelcast.models.mpd_cpd.instruction_stream import instruction_stream
from kernelcast.simcore.device.file import load_device
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.warp_paths import NO_PATTERN, WarpPaths

DEVICE = load_device("gtx-260")
FOUND = ptx_costs(DEVICE)
assert FOUND is not None
COSTS = FOUND
MUL = PtxOperation("mul", "float_reg")  # 65 clocks
ADD = PtxOperation("add", "int_const")  # 22 clocks
MOV = PtxOperation("mov", "int_const")  # in no table: 22 clocks
FMA = PtxOperation("fma", "float_reg")  # 44 clocks

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u32 n)
{
    .reg .pred %p<3>;
    .reg .f32 %f<5>;
    .reg .b32 %r<7>;
    .reg .b64 %rd<4>;
    .shared .align 4 .f32 tile[32];
    ld.param.u64 %rd1, [in];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r3, 0;
LOOP:
    ld.global.f32 %f1, [%rd3];
    add.f32 %f2, %f1, 0f3F800000;
    mul.f32 %f3, %f2, %f2;
    st.global.f32 [%rd3], %f3;
    add.s32 %r3, %r3, 1;
    setp.lt.s32 %p1, %r3, %r1;
    @%p1 bra LOOP;
    st.shared.f32 [tile], %f3;
    ret;
}
"""
TRIPS = 3


def stream(warps: Sequence[Sequence[PtxOperation | None]]) -> InstructionStream:
    """Each warp executes its operations; every access moves 4 bytes a thread, 2 transactions."""
    kinds = list(dict.fromkeys(item for warp in warps for item in warp))
    pc = np.array([kinds.index(item) for warp in warps for item in warp], np.int32)
    is_access = np.array([item == ACCESS for item in kinds])
    ends = np.cumsum([len(warp) for warp in warps])
    paths = WarpPaths(
        thread_blocks=np.zeros(1, np.int64),
        warps_per_thread_block=len(warps),
        start=np.array([0, *ends], np.int64),
        pc=pc,
        lanes=np.full(len(pc), 32, np.uint8),
        pattern=np.full(len(pc), NO_PATTERN, np.int32),
        address=np.zeros(len(pc), np.int64),
        patterns=PatternTable.empty(32),
    )
    return InstructionStream(
        paths=paths,
        operations=tuple(kinds),
        bytes_per_thread=np.where(is_access, 4.0, 0.0),
        transactions=np.where(is_access[pc], 2.0, 0.0),
        thread_blocks=1,
        thread_blocks_per_sm=1,
        warp_width=32,
    )


def executed() -> InstructionStream:
    trace = kc.load_ptx(KERNEL)["k"].run(
        grid=3, block=64, args=[np.zeros(64, np.float32), TRIPS], record_paths=True
    )
    found = trace.profile(DEVICE).derived(instruction_stream)
    assert found is not None
    return found


def test_tasks_alternate_and_make_periods() -> None:
    found = calculate_periods(stream([[ADD, MUL, ACCESS, ACCESS, FMA, ACCESS, MOV]]), COSTS)
    assert found.start.tolist() == [0, 3]
    assert found.computation_clocks.tolist() == [87.0, 44.0, 22.0]
    assert found.access_clocks.tolist() == [400.0, 200.0, 0.0]
    assert found.bytes_per_thread.tolist() == [8.0, 4.0, 0.0]
    assert found.transactions.tolist() == [4.0, 2.0, 0.0]
    assert found.is_first.tolist() == [True, False, False]


def test_a_stream_that_begins_with_an_access_has_a_period_without_computation() -> None:
    found = calculate_periods(stream([[ACCESS, ADD, ACCESS]]), COSTS)
    assert found.computation_clocks.tolist() == [0.0, 22.0]
    assert found.access_clocks.tolist() == [200.0, 200.0]


def test_each_warp_has_its_own_periods() -> None:
    found = calculate_periods(stream([[ADD, ACCESS], [ACCESS], [MUL], []]), COSTS)
    assert found.start.tolist() == [0, 1, 2, 3, 3]
    assert found.computation_clocks.tolist() == [22.0, 0.0, 65.0]
    assert found.access_clocks.tolist() == [200.0, 200.0, 0.0]
    assert found.is_first.all()


def test_what_the_source_does_not_have_costs_nothing() -> None:
    found = calculate_periods(stream([[ADD, None, ACCESS, None, ACCESS, MUL]]), COSTS)
    assert found.computation_clocks.tolist() == [22.0, 65.0]
    assert found.access_clocks.tolist() == [400.0, 0.0]


def test_nothing_at_all() -> None:
    found = calculate_periods(stream([[], []]), COSTS)
    assert found.start.tolist() == [0, 0, 0]
    assert found.computation_clocks.size == 0
    assert not found.is_first.size


@pytest.mark.parametrize(
    ("counts", "proportion"),
    [
        ({ADD: 10}, 1.0),
        ({ACCESS: 3}, 0.0),
        ({}, 0.0),
        ({ADD: 2, MUL: 4, FMA: 1, MOV: 1, ACCESS: 2}, 370 / 770),
        ({PtxOperation("div", "float_const"): 1, ACCESS: 1}, 748 / 948),
        ({PtxOperation("sqrt", "float_reg"): 1, ACCESS: 1}, 22 / 222),
    ],
)
def test_proportion_of_a_histogram(counts: dict[PtxOperation, int], proportion: float) -> None:
    assert computation_proportion(counts, COSTS) == pytest.approx(proportion, rel=1e-15)


def test_operations_of_a_kernel_with_its_loop_unrolled() -> None:
    """Two thread blocks or more of two warps: counts of a warp are whole fractions."""
    found = executed()
    warps = len(found.paths.start) - 1
    once = {item: count / warps for item, count in executions(found).items()}
    assert once == {
        PtxOperation("ld"): 2.0,
        PtxOperation("mov", "int_reg"): 1.0,
        PtxOperation("mul", "int_const"): 1.0,
        PtxOperation("add", "int_reg"): 1.0,
        PtxOperation("mov", "int_const"): 1.0,
        ACCESS: 2.0 * TRIPS,
        PtxOperation("add", "float_const"): TRIPS,
        PtxOperation("mul", "float_reg"): TRIPS,
        PtxOperation("add", "int_const"): TRIPS,
        PtxOperation("setp", "int_reg"): TRIPS,
        PtxOperation("bra"): TRIPS,
        PtxOperation("st"): 1.0,
        PtxOperation("ret"): 1.0,
    }


def test_periods_of_a_kernel() -> None:
    """Shared memory and parameters are computation; a period for each global access."""
    found = executed()
    periods = calculate_periods(found, COSTS)
    warps = len(found.paths.start) - 1
    before = 2 * 22 + 22 + 44 + 65 + 22
    between, after = 22 + 65, 3 * 22
    once = [before, *[between, after] * TRIPS]
    once[-1] += 2 * 22
    assert periods.computation_clocks.tolist() == [float(item) for item in once] * warps
    assert periods.access_clocks.tolist() == [*[200.0] * 2 * TRIPS, 0.0] * warps
    assert periods.bytes_per_thread.tolist() == [*[4.0] * 2 * TRIPS, 0.0] * warps
    halves = 2.0  # 64 bytes of each half-warp
    assert periods.transactions.tolist() == [*[halves] * 2 * TRIPS, 0.0] * warps
    assert found.thread_blocks == 3


def test_a_trace_without_paths_has_no_stream() -> None:
    kernel, buffer = kc.load_ptx(KERNEL)["k"], np.zeros(64, np.float32)
    trace = kernel.run(grid=1, block=32, args=[buffer, 1], record_paths=False)
    assert trace.profile(DEVICE).derived(instruction_stream) is None
