"""Kernels with one fault each, beside the same kernels without it.

The first advice names the fault, and what it promises is what the mended kernel gains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.models.estimate import Estimate
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.simcore.timing.launch.launch_timing import launch_timing

DEVICES = ("gtx-1060-6gb", "a100-80gb", "mi210")
FULL_RATE_OF_FP64 = "mi210"
"""Double precision is no fault there."""
THREADS = 256
START = """
    .reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<9>; .reg .f32 %f<30>;
    .reg .f64 %fd<30>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1; mov.u32 %r5, %nctaid.x; mul.lo.u32 %r5, %r5, %r3;
    mul.wide.u32 %rd3, %r4, 4; add.u64 %rd2, %rd2, %rd3; cvt.rn.f32.u32 %f1, %r4; mov.u32 %r9, 0;
"""
CHAINS = " ".join(f"fma.rn.f32 %f{i}, %f{i}, %f1, %f1;" for i in (2, 3, 4, 5) * 8)


def loop(body: str, trips: int, end: str = "") -> str:
    return f"""
        L{end}: {body} add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, {trips}; @%p1 bra L{end};
    """


def shared(stride: int) -> str:
    """Lane n loads the word n x stride."""
    loads = " ".join(f"ld.shared.f32 %f{i}, [%r6+{128 * i}];" for i in range(2, 10))
    return f"""
        and.b32 %r6, %r1, 31; mul.lo.u32 %r6, %r6, {4 * stride}; mov.u32 %r7, tile;
        add.u32 %r6, %r6, %r7; {loop(loads, 40)}
    """


def constant(lane: int) -> str:
    """Lane n loads the word n x lane."""
    loads = " ".join(f"ld.const.f32 %f{i}, [%rd4+{4 * i}];" for i in range(2, 10))
    return f"""
        and.b32 %r6, %r1, 31; mul.wide.u32 %rd4, %r6, {4 * lane}; mov.u64 %rd5, table;
        add.u64 %rd4, %rd4, %rd5; {loop(loads, 40)}
    """


def rows(thread: str, step: str) -> str:
    """Each thread loads 32 words, `step` words apart, from the word `thread` on."""
    load = f"""
        mad.lo.u32 %r7, %r9, {step}, %r6; mul.wide.u32 %rd4, %r7, 4; add.u64 %rd4, %rd1, %rd4;
        ld.global.cg.f32 %f2, [%rd4]; add.f32 %f1, %f1, %f2;
    """
    return f"mul.lo.u32 %r6, %r4, {thread}; {loop(load, 32)} st.global.f32 [%rd2], %f1;"


def ways(bit: int) -> str:
    """Four ways through the code, by two bits of the thread's number from `bit` on."""
    branches = " ".join(
        f"""
            setp.ne.u32 %p2, %r6, {way}; @%p2 bra W{way};
            mov.u32 %r9, 0; {loop(CHAINS, 8, str(way))} W{way}:
        """
        for way in range(4)
    )
    return f"shr.u32 %r6, %r1, {bit}; and.b32 %r6, %r6, 3; {branches} st.global.f32 [%rd2], %f2;"


def kept(space: str) -> str:
    """Values of a thread wait in memory, or in registers."""
    turn = "ld.local.f32 %f2, [depot]; fma.rn.f32 %f2, %f2, %f1, %f1; st.local.f32 [depot], %f2;"
    if space == "registers":
        turn = "fma.rn.f32 %f2, %f2, %f1, %f1;"
    return f"{loop(turn, 64)} st.global.f32 [%rd2], %f2;"


@dataclass(frozen=True)
class Fault:
    """A kernel, the same without its fault, and the bytes of shared memory of both."""

    component: Component
    body: str
    mended: str
    shared_bytes: tuple[int, int] = (0, 0)


def chains(kind: str) -> str:
    """Eight values of that type, independent of one another."""
    register = {"f32": "f", "f64": "fd"}[kind]
    first, *rest = (f"%{register}{i}" for i in range(1, 10))
    body = " ".join(f"fma.rn.{kind} {value}, {value}, {first}, {first};" for value in rest * 4)
    return f"cvt.rn.{kind}.u32 {first}, %r4; {loop(body, 16)}"


def stages(warp: str, trips: int) -> str:
    """Code in which the warps that the predicate chooses have so many trips between barriers."""
    body = f"""
        @!%p2 bra W; mov.u32 %r9, 0; {loop(CHAINS, trips)}
        W: bar.sync 0; add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 8; @%p3 bra S;
    """
    return f"mov.u32 %r7, 0; setp.lt.u32 %p2, %r1, {warp}; S: {body} st.global.f32 [%rd2], %f2;"


STREAM = rows("1", "%r5")
FAULTS = (
    Fault(Component.BANK_CONFLICTS, shared(32), shared(1)),
    Fault(Component.CONSTANT_SERIALISATION, constant(1), constant(0)),
    Fault(Component.UNCOALESCED, rows("32", "1"), STREAM),
    Fault(Component.FP64, chains("f64"), chains("f32")),
    Fault(Component.DIVERGENCE, ways(0), ways(6)),
    Fault(Component.LOCAL_MEMORY, kept("local"), kept("registers")),
    Fault(Component.UNEQUAL_WARPS, stages("64", 32), stages("256", 8), (32768, 32768)),
    Fault(Component.OCCUPANCY, STREAM, STREAM, (32768, 0)),
)


def estimated(body: str, name: str, shared_bytes: int) -> Estimate:
    device = kc.device(name)
    text = f"""
        .version 8.0\n.target sm_75\n.address_size 64
        .const .align 4 .b8 table[256]; .shared .align 4 .b8 tile[6144];
        .visible .entry k(.param .u64 a, .param .u64 b) {{
            .local .align 4 .b8 depot[16]; {START} {body} ret;
        }}
    """
    thread_blocks = device.architecture.sm_count * 8
    words = [np.zeros(thread_blocks * THREADS * count, np.float32) for count in (32, 1)]
    trace = kc.load_ptx(text)["k"].run(
        grid=thread_blocks,
        block=THREADS,
        args=words,
        shared_bytes=shared_bytes,
        devices=[device],
        code="as-written",
    )
    return kc.estimate(trace.profile(device))


@pytest.mark.drawn(7)
@pytest.mark.parametrize(
    ("fault", "name"),
    [
        pytest.param(fault, name, id=f"{fault.component.value}, {name}")
        for fault in FAULTS
        for name in DEVICES
        if fault.component is not Component.FP64 or name != FULL_RATE_OF_FP64
    ],
)
def test_the_first_advice_names_the_fault_and_its_gain(fault: Fault, name: str) -> None:
    faulty = estimated(fault.body, name, fault.shared_bytes[0])
    mended = estimated(fault.mended, name, fault.shared_bytes[1])
    first = str(faulty.advice[0])
    assert faulty.bottleneck == fault.component.value
    assert f"without {fault.component.value} " in first
    gain = float(first.rsplit(", ", 1)[1].split()[0])
    assert gain == pytest.approx(faulty.time_s / mended.time_s, rel=0.10)
    assert not any(f"without {fault.component.value} " in str(line) for line in mended.advice)


def test_full_warps_take_as_many_instructions_as_their_lanes_fill() -> None:
    """Four ways of 8 trips of 34 instructions and a branch, in each of the 8 warps.

    A quarter of that without divergence, and no difference where each warp goes one way.
    """
    device = kc.device("gtx-1060-6gb")
    counts = {}
    for bit in (0, 6):
        text = f"""
            .version 8.0\n.target sm_75\n.address_size 64
            .visible .entry k(.param .u64 a, .param .u64 b) {{ {START} {ways(bit)} ret; }}
        """
        kernel = kc.load_ptx(text)["k"]
        words = [np.zeros(THREADS, np.float32)] * 2
        trace = kernel.run(grid=1, block=THREADS, args=words, devices=[device], code="as-written")
        timed = trace.profile(device).derived(timed_warps)
        assert timed is not None
        counts[bit] = [
            launch_timing(timed, device, frozenset(without)).instructions
            for without in ((), (Component.DIVERGENCE,))
        ]
    ways_of_all_warps, loops = 8 * 4, 8 * 35
    split, full = counts[0]
    assert split - full == pytest.approx(ways_of_all_warps * loops * 3 / 4, rel=0.02)
    assert math.isclose(*counts[6], rel_tol=0.03)
