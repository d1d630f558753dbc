"""Two warps executed as one of twice the lanes, against the reference engine and one by one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import LimitExceeded
from kernelcast.simcore.engine import execute
from kernelcast.simcore.engine.jit.codegen.launch_facts import LaunchFacts, launch_facts
from kernelcast.simcore.engine.jit.codegen.warp_pairs import in_pairs
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, Limits
from kernelcast.simcore.launch.launch_memory import LaunchMemory
from kernelcast.simcore.launch.local_arrays import shared_bytes
from tests.simcore.trace_comparison import run_on_both

Compile = Callable[..., Kernel]
HEAD = """
    .shared .align 16 .b8 tile[1024];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1; ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r4, 4;
    add.s64 %rd3, %rd1, %rd2; mov.u32 %r5, tile; shl.b32 %r6, %r1, 2; add.u32 %r7, %r5, %r6;
    ld.global.u32 %r8, [%rd3];
"""
"""%rd3: this thread's word of `out`; %r7: the same of shared memory; %r8: what `out` holds."""
END = "st.global.u32 [%rd3], %r9; ret;"
LOOP = """mov.u32 %r9, 0; L: add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, %r10; @%p1 bra L;"""
JOINT = {
    "straight": "add.u32 %r9, %r8, %r1;",
    "lanes part": "mov.u32 %r9, 1; and.b32 %r10, %r8, 1; setp.eq.u32 %p1, %r10, 0;"
    "@%p1 bra E; add.u32 %r9, %r8, 7; E:",
    "warps part": "mov.u32 %r9, 1; setp.lt.u32 %p1, %r1, 32; @%p1 bra E; add.u32 %r9, %r8, 7; E:",
    "one lane parts": "mov.u32 %r9, 1; setp.ne.u32 %p1, %r1, 40; @%p1 bra E; mov.u32 %r9, 2; E:",
    "rounds by lane": f"and.b32 %r10, %r8, 7; {LOOP}",
    "rounds by warp": f"setp.lt.u32 %p2, %r1, 32; selp.u32 %r10, 2, 5, %p2; {LOOP}",
    "some end early": "mov.u32 %r9, 3; setp.gt.u32 %p1, %r1, 37; @%p1 ret;",
    "a warp ends early": "mov.u32 %r9, 3; setp.lt.u32 %p1, %r1, 32; @%p1 ret; add.u32 %r9, %r9, 1;",
    "guards": "mov.u32 %r9, 3; setp.lt.u32 %p1, %r1, 9; @%p1 add.u32 %r9, %r9, %r8;",
    "barriers": "st.shared.u32 [%r7], %r8; bar.sync 0; xor.b32 %r10, %r6, 128;"
    "add.u32 %r10, %r10, %r5; ld.shared.u32 %r9, [%r10]; bar.sync 0; add.u32 %r9, %r9, 1;",
    "lanes part, then wait": "st.shared.u32 [%r7], %r8; setp.gt.u32 %p1, %r1, 45; @%p1 bra E;"
    "st.shared.u32 [%r7], %r1; E: bar.sync 0; xor.b32 %r10, %r6, 252; add.u32 %r10, %r10, %r5;"
    "ld.shared.u32 %r9, [%r10];",
}


def launch_of(
    blocks: int, threads: int, words: int | None = None
) -> tuple[Launch, npt.NDArray[np.uint32]]:
    """A launch whose argument is random numbers, one for each thread where no number is given."""
    count = blocks * threads if words is None else words
    out = np.random.default_rng(4).integers(0, 1 << 20, count).astype(np.uint32)
    return Launch((blocks, 1, 1), (threads, 1, 1), (out,)), out


def facts_of(kernel: Kernel, launch: Launch) -> LaunchFacts:
    memory = LaunchMemory(kernel, launch)
    facts = launch_facts(kernel, launch, memory, 32, shared_bytes(kernel, launch))
    return in_pairs(kernel, facts)


@pytest.mark.drawn(10)
@pytest.mark.parametrize("threads", [64, 128])
@pytest.mark.parametrize("name", JOINT)
def test_each_warp_counts_for_itself(compile_ptx: Compile, name: str, threads: int) -> None:
    kernel = compile_ptx(f"{HEAD}{JOINT[name]}{END}", "u64 out")
    launch, _ = launch_of(3, threads)
    assert facts_of(kernel, launch).together == 2
    trace = run_on_both(kernel, launch)
    counted = execute(kernel, launch, engine="jit", record_memory=False)
    apart = execute(kernel, launch, engine="jit", record_memory=True)
    assert counted.pairs_agree == apart.pairs_agree
    assert trace.has_memory


def test_times_differ_within_a_pair(compile_ptx: Compile) -> None:
    kernel = compile_ptx(f"{HEAD}{JOINT['rounds by warp']}{END}", "u64 out")
    launch, _ = launch_of(2, 64)
    times = execute(kernel, launch, engine="jit", record_memory=False).warp_time
    # a round is three instructions, add, setp and the branch: five rounds and two
    assert np.diff(times.reshape(2, 2), axis=1).tolist() == [[9], [9]]


@pytest.mark.parametrize("more", [0, 1])
def test_the_limit_is_that_of_each_warp(compile_ptx: Compile, more: int) -> None:
    """Warps that loop in turn take twice as long together as each may."""
    body = """mov.u32 %r9, 0; setp.lt.u32 %p2, %r1, 32; @%p2 bra M;
        L: add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 50; @%p1 bra L; bra E;
        M: add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 50; @%p1 bra M; E:"""
    kernel = compile_ptx(f"{HEAD}{body}{END}", "u64 out")
    launch, _ = launch_of(1, 64)
    assert facts_of(kernel, launch).together == 2
    # the last look at the clock is before the last of 50 rounds of three instructions
    start = len(kernel.blocks[0].body) + 1
    limits = Limits(instructions_per_warp=start + 49 * 3 - more)
    if not more:
        execute(kernel, launch, engine="jit", record_memory=False, limits=limits)
        return
    with pytest.raises(LimitExceeded):
        execute(kernel, launch, engine="jit", record_memory=False, limits=limits)


@pytest.mark.parametrize(
    ("body", "threads"),
    [
        ("mov.u32 %r9, %laneid;", 64),
        ("mov.u32 %r9, %warpid;", 64),
        ("mov.u32 %r9, %clock;", 64),
        ("shfl.sync.idx.b32 %r9, %r8, 1, 31, -1;", 64),
        ("mov.u32 %r9, 1;", 96),
        ("mov.u32 %r9, 1;", 32),
        # lanes of one warp read one word: those of two would each take an address of their own
        (
            "shr.u32 %r10, %r1, 5; mul.lo.u32 %r10, %r10, %r8; ld.shared.u32 %r11, [tile];"
            "shr.u32 %r12, %r1, 5; mul.lo.u32 %r12, %r12, %r11; mul.wide.u32 %rd4, %r12, 4;"
            "add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r9, [%rd5];",
            64,
        ),
    ],
)
def test_what_tells_warps_apart_is_executed_apart(
    compile_ptx: Compile, body: str, threads: int
) -> None:
    kernel = compile_ptx(f"{HEAD}{body}{END}", "u64 out")
    launch, _ = launch_of(2, threads)
    assert facts_of(kernel, launch).together == 1
