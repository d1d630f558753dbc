"""Traces joined to twice the warp width, against executions at that width."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from kernelcast.errors import TraceFormatError
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import Trace
from kernelcast.traces.widen import widened

Compile = Callable[..., Kernel]

# Two vectors, the first read at a stride of three words, with a loop that all threads leave late.
STREAM = """
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3; mul.wide.u32 %rd2, %r4, 12; add.u64 %rd3, %rd1, %rd2;
    mov.u32 %r5, 0;
    LOOP: ld.global.u32 %r6, [%rd3]; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 3; @%p1 bra LOOP;
    mul.wide.u32 %rd4, %r4, 4; add.u64 %rd5, %rd1, %rd4; bar.sync 0; st.global.u32 [%rd5+8], %r6;
    ret;
"""
# A guard leaves some lanes of some halves, and none of others; the last warp's lanes part.
GUARDED = """
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 63; mul.lo.u32 %r3, %r1, 1103;
    rem.u32 %r3, %r3, 97; mul.wide.u32 %rd2, %r3, 4; add.u64 %rd3, %rd1, %rd2;
    setp.gt.u32 %p1, %r2, 40; @%p1 st.global.u32 [%rd3], %r1; setp.lt.u32 %p2, %r2, 9;
    @%p2 st.global.u32 [%rd3+64], %r1; and.b32 %r4, %r1, 5; setp.eq.u32 %p3, %r4, 5; @%p3 bra END;
    ld.global.u32 %r5, [%rd3];
    END: ret;
"""
LOCAL = """
    .local .align 4 .b8 mine[64];
    mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 15; shl.b32 %r3, %r2, 2; mov.u32 %r4, mine;
    add.u32 %r5, %r4, %r3; st.local.u32 [%r5], %r1; ld.local.u32 %r6, [%r5]; ret;
"""
SHARED = """
    mov.u32 %r1, %tid.x; mul.lo.u32 %r2, %r1, 8; mov.u32 %r3, tile; add.u32 %r3, %r3, %r2;
    st.shared.u32 [%r3], %r1; bar.sync 0; ld.shared.u32 %r4, [tile]; ret;
"""
TILE = ".shared .align 16 .b8 tile[1024];"
# Warp 0 goes through A, then B; warp 1 through B, then A: the same counts in another order.
SWAPPED = """
    mov.u32 %r1, %tid.x; shr.u32 %r1, %r1, 5; mov.u32 %r2, 0;
    LOOP: add.u32 %r3, %r1, %r2; and.b32 %r3, %r3, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra A;
    add.u32 %r4, %r4, 1; bra NEXT;
    A: add.u32 %r5, %r5, 1;
    NEXT: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 2; @%p2 bra LOOP; ret;
"""


@dataclass
class Runs:
    """A kernel of the `compile_ptx` fixture on the engine that knows which pairs agree."""

    compile_ptx: Compile

    def __call__(self, body: str, width: int, block: int, grid: int = 2, module: str = "") -> Trace:
        kernel = self.compile_ptx(body, "u64 out", module)
        launch = Launch((grid, 1, 1), (block, 1, 1), (np.zeros(3000, np.uint32),))
        return execute(kernel, launch, warp_width=width, engine="reference")


@pytest.fixture
def run(compile_ptx: Compile) -> Runs:
    return Runs(compile_ptx)


def shape(patterns: PatternTable, number: int) -> tuple[int, tuple[int, ...]]:
    return int(patterns.mask[number]), tuple(patterns.offsets[number].tolist())


def described(trace: Trace) -> dict[str, Any]:
    """Everything a trace says but how it came about, with no numbers of classes and patterns."""
    table, counts, of = trace.accesses, trace.pattern_counts, trace.classes.of_thread_block
    columns = (table.warp, table.time, table.pc, table.stage, table.address)
    return {
        "launch": (trace.kernel, trace.grid, trace.thread_block, trace.warp_width),
        "instructions": trace.instructions,
        "issues": trace.classes.warp_issues[of].tolist(),
        "lanes": trace.classes.lane_executions[of].tolist(),
        "stages": trace.stage_warp_issues.tolist(),
        "times": trace.warp_time.tolist(),
        "accesses": sorted(
            (*where, shape(trace.patterns, number))
            for *where, number in zip(
                *(column.tolist() for column in columns), table.pattern, strict=True
            )
        ),
        "counts": Counter(
            {
                (*where, shape(trace.patterns, number)): count
                for *where, number, count in zip(
                    counts.pc.tolist(),
                    counts.stage.tolist(),
                    counts.start.tolist(),
                    counts.pattern,
                    counts.count.tolist(),
                    strict=True,
                )
            }
        ),
    }


@pytest.mark.parametrize(
    ("body", "width", "block"),
    [
        (STREAM, 32, 256),
        (STREAM, 32, 128),
        (STREAM, 16, 64),
        (STREAM, 8, 16),
        (STREAM, 32, 32),
        (STREAM, 32, 20),
        (GUARDED, 32, 256),
        (GUARDED, 32, 128),
        (LOCAL, 32, 64),
    ],
)
def test_joined_warps_are_those_of_a_wide_execution(
    run: Runs, body: str, width: int, block: int
) -> None:
    narrow, wide = run(body, width, block), run(body, 2 * width, block)
    assert narrow.pairs_agree
    assert len(narrow.accesses) >= len(wide.accesses) > 0
    assert described(widened(narrow)) == described(wide)


def test_a_single_warp_keeps_its_shared_accesses(run: Runs) -> None:
    narrow, wide = (run(SHARED, width, 32, module=TILE) for width in (32, 64))
    assert len(narrow.pattern_counts)
    assert described(widened(narrow)) == described(wide)


def test_what_is_joined_once_may_be_joined_again_when_one_warp_is_left(run: Runs) -> None:
    narrow, wide = run(STREAM, 16, 32), run(STREAM, 64, 32)
    assert described(widened(widened(narrow))) == described(wide)
    with pytest.raises(TraceFormatError, match="not known to take the same branches"):
        widened(widened(run(STREAM, 16, 256)))


@pytest.mark.parametrize(
    ("body", "block", "agree"),
    [
        (STREAM, 256, True),
        (STREAM, 96, True),
        (SWAPPED, 32, True),
        (SWAPPED, 64, False),
        ("mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 64; @%p1 bra E; add.u32 %r2, %r1, 1; E: ret;",
         96, True),
        ("mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bra E; add.u32 %r2, %r1, 1; E: ret;",
         96, False),
    ],
)  # fmt: skip
def test_pairs_agree_when_they_take_the_same_branches_in_order(
    run: Runs, body: str, block: int, agree: bool
) -> None:
    assert run(body, 32, block).pairs_agree is agree


@pytest.mark.parametrize(
    ("body", "width", "block", "reason"),
    [
        (STREAM, 64, 128, "no trace holds warps of more than 64"),
        (SWAPPED, 32, 64, "not known to take the same branches"),
        (STREAM, 32, 96, "the last of 3 warps"),
        (LOCAL, 32, 32, "where local memory lies"),
        (SHARED, 32, 128, "not held warp by warp"),
    ],
)
def test_what_only_an_execution_can_tell_is_refused(
    run: Runs, body: str, width: int, block: int, reason: str
) -> None:
    with pytest.raises(TraceFormatError, match=reason):
        widened(run(body, width, block, module=TILE))


@pytest.mark.parametrize("opcode", ["SHFL", "vote"])
def test_lanes_that_exchange_values_are_refused(run: Runs, opcode: str) -> None:
    trace = run(STREAM, 32, 64)
    rows = (replace(trace.instructions[0], opcode=opcode), *trace.instructions[1:])
    with pytest.raises(TraceFormatError, match="exchange values"):
        widened(replace(trace, instructions=rows))


def test_a_trace_whose_halves_contradict_each_other_is_refused(run: Runs) -> None:
    trace = run(STREAM, 32, 64)
    times = trace.warp_time.copy()
    times[1] += 1
    with pytest.raises(TraceFormatError, match="different numbers of instructions"):
        widened(replace(trace, warp_time=times))
    pcs = trace.accesses.pc.copy()
    pcs[0] += 1
    with pytest.raises(TraceFormatError, match="different instructions"):
        widened(replace(trace, accesses=replace(trace.accesses, pc=pcs)))
    twice = np.zeros_like(trace.accesses.time)
    with pytest.raises(TraceFormatError, match="accesses memory twice"):
        widened(replace(trace, accesses=replace(trace.accesses, time=twice)))
