"""Paths of sampled warps against what the trace of the whole launch counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import ExecutionError
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.simcore.engine.path_sample import PathSample, record_paths
from kernelcast.simcore.isa.ir.kernel import GRID, Kernel, Symbol
from kernelcast.simcore.isa.types import AddressSpace
from kernelcast.simcore.launch.launch import Launch, LazyBuffer, Limits
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import Trace
from kernelcast.traces.warp_paths import NO_PATTERN, WarpPaths, sampled_thread_blocks

Compile = Callable[..., Kernel]

WIDE_KERNEL = """
    .shared .align 8 .b8 tile[800]; .local .align 8 .b8 depot[8];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
    ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [data]; ld.param.u32 %r20, [n];
    mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
    ld.global.u32 %r5, [%rd5]; and.b32 %r6, %r5, 7; mov.u32 %r7, 0;
    LOOP: add.u32 %r7, %r7, %r5; sub.u32 %r6, %r6, 1; setp.gt.s32 %p1, %r6, 0; @%p1 bra LOOP;
    mov.u32 %r8, tile; shl.b32 %r9, %r1, 3; add.u32 %r10, %r8, %r9;
    st.shared.u32 [%r10], %r7; st.shared.u32 [%r10+4], %r1; bar.sync 0;
    ld.shared.u32 %r11, [%r10]; ld.shared.u32 %r12, [%r10+4];
    setp.eq.u32 %p2, %r12, %r20; @%p2 st.local.u32 [depot], %r11; @!%p2 add.u32 %r11, %r11, 1;
    bar.sync 0; setp.gt.u32 %p3, %r1, 70; @%p3 bra END;
    st.global.u32 [%rd4], %r11; atom.global.add.u32 %r13, [%rd5], 1;
    END: ret;
"""
"""Trip counts from data, guards that are false for whole warps, and lanes that leave early."""
PARAMETERS = "u64 out, u64 data, u32 n"
THREADS, THREAD_BLOCKS = 100, 9


def wide_launch(grid: int = THREAD_BLOCKS) -> Launch:
    data = np.random.default_rng(5).integers(0, 1 << 20, grid * THREADS, np.uint32)
    out = np.zeros(grid * THREADS, np.uint32)
    return Launch((grid, 1, 1), (THREADS, 1, 1), (out, data, 33))


def contents(patterns: PatternTable, pattern: int) -> tuple[Any, ...]:
    return int(patterns.mask[pattern]), *patterns.offsets[pattern].tolist()


def copies(launch: Launch) -> list[npt.NDArray[Any]]:
    return [item.copy() for item in launch.arguments if isinstance(item, np.ndarray)]


def recorded(kernel: Kernel, launch: Launch, width: int = 32, **options: Any) -> WarpPaths:
    sample = record_paths(kernel, launch, width, Limits(), **options)
    assert sample.paths is not None, sample.reason
    return sample.paths


def events_of(paths: WarpPaths, warp: int) -> slice:
    return slice(int(paths.start[warp]), int(paths.start[warp + 1]))


@pytest.fixture(params=[8, 32, 64])
def run(request: pytest.FixtureRequest, compile_ptx: Compile) -> tuple[Trace, WarpPaths]:
    """The trace of the whole launch, and the paths recorded before it from the same buffers."""
    kernel, launch = compile_ptx(WIDE_KERNEL, PARAMETERS), wide_launch()
    before = copies(launch)
    paths = recorded(kernel, launch, request.param)
    assert all(map(np.array_equal, copies(launch), before)), "the recording is undone"
    return execute(kernel, launch, warp_width=request.param, engine="reference"), paths


def test_events_are_the_issues_of_the_same_thread_blocks(run: tuple[Trace, WarpPaths]) -> None:
    trace, paths = run
    pcs = len(trace.instructions)
    warps = paths.warps_per_thread_block
    for number, thread_block in enumerate(paths.thread_blocks):
        events = slice(*paths.start[[number * warps, (number + 1) * warps]])
        row = trace.classes.of_thread_block[thread_block]
        pc, lanes = paths.pc[events], paths.lanes[events]
        assert np.array_equal(np.bincount(pc, minlength=pcs), trace.classes.warp_issues[row])
        executions = np.bincount(pc, lanes, minlength=pcs)
        assert np.array_equal(executions, trace.classes.lane_executions[row])


def test_accesses_stand_where_the_table_has_them(run: tuple[Trace, WarpPaths]) -> None:
    """The time of an access is its warp's own count of instructions: its place in the path."""
    trace, paths = run
    table, warps = trace.accesses, paths.warps_per_thread_block
    seen = 0
    for warp in range(len(paths.start) - 1):
        own = np.flatnonzero(
            table.warp == paths.thread_blocks[warp // warps] * warps + warp % warps
        )
        at = int(paths.start[warp]) + table.time[own]
        assert np.array_equal(paths.pc[at], table.pc[own])
        assert np.array_equal(paths.address[at], table.address[own])
        for event, access in zip(at.tolist(), own.tolist(), strict=True):
            found = contents(paths.patterns, int(paths.pattern[event]))
            assert found == contents(trace.patterns, int(table.pattern[access]))
        seen += len(own)
    spaces = np.array([row.space in ("global", "local") for row in trace.instructions])
    assert seen == np.count_nonzero(spaces[paths.pc] & (paths.pattern != NO_PATTERN))


def test_shared_accesses_have_the_patterns_that_the_trace_counts(compile_ptx: Compile) -> None:
    kernel, launch = compile_ptx(WIDE_KERNEL, PARAMETERS), wide_launch(grid=4)
    paths = recorded(kernel, launch)
    assert paths.thread_blocks.tolist() == [0, 1, 2, 3]
    trace = execute(kernel, launch)
    counts, expected = trace.pattern_counts, Counter[tuple[Any, ...]]()
    for row in range(len(counts)):
        shape = contents(trace.patterns, int(counts.pattern[row]))
        expected[int(counts.pc[row]), int(counts.start[row]), *shape] += int(counts.count[row])
    banked = np.array([row.space == "shared" for row in trace.instructions])
    events = np.flatnonzero(banked[paths.pc])
    found = Counter(
        (
            int(paths.pc[event]),
            int(paths.address[event] % 16),
            *contents(paths.patterns, int(paths.pattern[event])),
        )
        for event in events
    )
    assert found == expected


def test_barriers_stand_between_the_stages(run: tuple[Trace, WarpPaths]) -> None:
    """An access is in the stage that as many barriers of its own path precede it."""
    trace, paths = run
    table, warps = trace.accesses, paths.warps_per_thread_block
    is_barrier = np.array([row.kind == "barrier" for row in trace.instructions])
    for warp in range(len(paths.start) - 1):
        passed = np.cumsum(is_barrier[paths.pc[events_of(paths, warp)]])
        assert passed[-1] == 2
        own = np.flatnonzero(
            table.warp == paths.thread_blocks[warp // warps] * warps + warp % warps
        )
        assert np.array_equal(passed[table.time[own]], table.stage[own])


def test_divergent_halves_run_one_after_the_other(compile_ptx: Compile) -> None:
    """Even lanes take the branch: the others run first, then all meet again."""
    body = """
        mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN;
        mov.u32 %r3, 1; bra MEET; EVEN: mov.u32 %r3, 2; mov.u32 %r4, 2; MEET: ret;
    """
    paths = recorded(compile_ptx(body), Launch((1, 1, 1), (32, 1, 1), (np.zeros(1, np.uint32),)))
    assert paths.pc.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert paths.lanes.tolist() == [32, 32, 32, 32, 16, 16, 16, 16, 32]


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_both_engines_lead_to_the_same_paths(compile_ptx: Compile, engine: str) -> None:
    kernel, launch = compile_ptx(WIDE_KERNEL, PARAMETERS), wide_launch()
    expected = recorded(kernel, launch)
    found = RunnableKernel(kernel).run(
        grid=THREAD_BLOCKS, block=THREADS, args=launch.arguments, engine=engine, record_paths=True
    )
    assert found.data.no_paths == ""
    paths = found.data.paths
    assert paths is not None
    for name in ("thread_blocks", "start", "pc", "lanes", "pattern", "address"):
        assert np.array_equal(getattr(paths, name), getattr(expected, name)), name


def test_paths_are_recorded_unless_nobody_wants_them(compile_ptx: Compile) -> None:
    kernel, launch = compile_ptx(WIDE_KERNEL, PARAMETERS), wide_launch()
    run = partial(
        RunnableKernel(kernel).run, grid=THREAD_BLOCKS, block=THREADS, args=launch.arguments
    )
    assert run().data.paths is not None
    for without in (run(record_paths=False), run(record_memory=False)):
        assert without.data.paths is None
        assert without.data.no_paths == ""


def test_each_width_has_its_paths(compile_ptx: Compile) -> None:
    kernel, launch = compile_ptx(WIDE_KERNEL, PARAMETERS), wide_launch()
    trace = RunnableKernel(kernel).run(
        grid=THREAD_BLOCKS, block=THREADS, args=launch.arguments, devices=["gtx-480", "mi210"],
        record_paths=True,
    )  # fmt: skip
    widths = [item.paths.patterns.offsets.shape[1] for item in trace.traces if item.paths]
    assert widths == [32, 64]


def test_a_long_recording_stops(compile_ptx: Compile) -> None:
    kernel, launch = compile_ptx(WIDE_KERNEL, PARAMETERS), wide_launch()
    whole, part = recorded(kernel, launch), recorded(kernel, launch, most_events=500)
    assert whole.is_complete
    assert not part.is_complete
    assert 0 < len(part.pc) <= 500
    for warp in range(len(part.start) - 1):
        own = part.pc[events_of(part, warp)]
        assert np.array_equal(own, whole.pc[events_of(whole, warp)][: len(own)])


def test_paths_that_read_no_data_make_no_buffers(compile_ptx: Compile) -> None:
    body = """
        mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4;
        add.u64 %rd1, %rd1, %rd2; ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd1], %r2; ret;
    """
    buffer = LazyBuffer((1 << 28,), np.uint32)
    launch = Launch((1, 1, 1), (32, 1, 1), (buffer,))
    assert len(recorded(compile_ptx(body), launch, reads_data=False).pc) == 7
    assert not buffer.is_materialised


def test_a_buffer_that_does_not_fit_is_a_reason(compile_ptx: Compile) -> None:
    body = "ld.param.u64 %rd1, [out]; ld.global.u32 %r2, [%rd1]; ret;"
    launch = Launch((1, 1, 1), (32, 1, 1), (LazyBuffer((1 << 45,), np.uint32),))
    sample = record_paths(compile_ptx(body), launch, 32, Limits(), reads_data=False)
    assert "no memory for a buffer" in sample.reason


@pytest.mark.parametrize(
    ("grid", "threads", "wanted"),
    [(1, 32, 1), (3, 1024, 3), (1000, 1024, 4), (1000, 256, 16), (1000, 32, 128), (1000, 1, 128)],
)
def test_the_sample_fills_an_sm_twice(grid: int, threads: int, wanted: int) -> None:
    numbers = sampled_thread_blocks(grid, threads, -(-threads // 32))
    assert len(numbers) == wanted
    assert (np.diff(numbers) > 0).all()
    assert 0 <= numbers[0] <= numbers[-1] < grid


def test_the_sample_is_spread_over_grid_and_rows() -> None:
    numbers = sampled_thread_blocks(64 * 64, 256, 8)
    assert len(numbers) == 16
    for place in (numbers // 64, numbers % 64):
        assert (np.bincount(place // 16, minlength=4) >= 1).all()


WAITS_FOR_THE_LAST = """
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; sub.u32 %r2, %r2, 1;
    setp.eq.u32 %p1, %r1, %r2; @%p1 bra RAISE;
    WAIT: ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra WAIT; ret;
    RAISE: mov.u32 %r4, 1; st.volatile.global.u32 [%rd1], %r4; ret;
"""


def test_thread_blocks_that_wait_for_others_have_no_paths(compile_ptx: Compile) -> None:
    kernel, flag = compile_ptx(WAITS_FOR_THE_LAST), np.zeros(1, np.uint32)
    launch = Launch((1000, 1, 1), (32, 1, 1), (flag,))
    sample = record_paths(kernel, launch, 32, Limits())
    assert sample.paths is None
    assert "do not run without the others: endless loop" in sample.reason
    assert flag.tolist() == [0]


def test_barriers_of_the_whole_grid_leave_no_paths(compile_ptx: Compile) -> None:
    grid = Symbol(GRID, AddressSpace.GLOBAL, 4, 4, 0)
    kernel = replace(compile_ptx("ret;"), symbols={GRID: grid})
    sample = record_paths(kernel, Launch((9, 1, 1), (32, 1, 1), (0,)), 32, Limits())
    assert sample == PathSample(None, "all thread blocks of the grid wait for each other")


def test_those_that_count_while_they_wait_have_none_either(compile_ptx: Compile) -> None:
    """Registers change in every round, so that nothing but the length tells."""
    body = WAITS_FOR_THE_LAST.replace("WAIT:", "WAIT: add.u32 %r9, %r9, 1;")
    launch = Launch((1000, 1, 1), (32, 1, 1), (np.zeros(1, np.uint32),))
    sample = record_paths(compile_ptx(body), launch, 32, Limits(), most_events=20_000)
    assert sample.paths is None
    assert sample.reason == "thread blocks wait for what others write"


def test_thread_blocks_that_do_the_work_of_others_have_no_paths(compile_ptx: Compile) -> None:
    """A queue: alone, a few thread blocks take all of its pieces."""
    body = """
        ld.param.u64 %rd1, [out]; mov.u32 %r2, %tid.x; setp.ne.u32 %p2, %r2, 0; @%p2 bra END;
        NEXT: atom.global.add.u32 %r1, [%rd1], 1; setp.lt.u32 %p1, %r1, 8192; @%p1 bra NEXT;
        END: ret;
    """
    kernel, queue = compile_ptx(body), np.zeros(1, np.uint32)
    trace = RunnableKernel(kernel).run(
        grid=2048, block=32, args=[queue], engine="reference", record_paths=True
    )
    assert queue[0] == 8192 + 2048
    assert trace.data.paths is None
    assert "thread blocks depend on each other" in trace.data.no_paths


def test_errors_are_left_to_the_launch(compile_ptx: Compile) -> None:
    kernel = compile_ptx("mov.u64 %rd1, 0; ld.global.u32 %r1, [%rd1]; ret;")
    sample = record_paths(kernel, Launch((1, 1, 1), (32, 1, 1), (0,)), 32, Limits())
    assert isinstance(sample, PathSample)
    assert "address 0x0" in sample.reason
    with pytest.raises(ExecutionError, match="address 0x0"):
        RunnableKernel(kernel).run(grid=1, block=32, args=[0], record_paths=True)
