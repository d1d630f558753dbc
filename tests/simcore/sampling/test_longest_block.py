"""A thread block that issues much more than all that are walked is found, and ends the launch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.execution.sampling import Sampling
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming, launch_timing
from kernelcast.traces.stored.parquet import read_trace, write_trace

GPU = "v100-pcie"
THREAD_BLOCKS, SHORT, LONG = 2000, 20, 6000
SPENDS = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry spends(.param .u64 trips, .param .u64 out)
{
    .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<5>; .reg .f32 %f<3>;
    ld.param.u64 %rd1, [trips]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r2, [%rd4];
    mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f3F000000;
L:  fma.rn.f32 %f1, %f1, %f2, %f2; fma.rn.f32 %f1, %f1, %f2, %f2; fma.rn.f32 %f1, %f1, %f2, %f2;
    fma.rn.f32 %f1, %f1, %f2, %f2; fma.rn.f32 %f1, %f1, %f2, %f2; fma.rn.f32 %f1, %f1, %f2, %f2;
    sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;
    mov.u32 %r3, 1; st.global.u32 [%rd4], %r3;
    add.s64 %rd4, %rd2, %rd3; st.global.f32 [%rd4], %f1; ret;
}
"""


def _run(
    trips: np.ndarray[tuple[int], np.dtype[np.uint32]], devices: Sequence[str] = (GPU,)
) -> KernelTrace:
    """Executes so many rounds of a chain as `trips` says, which is 1 everywhere afterwards."""
    args = [trips, np.zeros(len(trips), np.float32)]
    spends = kc.load_ptx(SPENDS)["spends"]
    return spends.run(grid=len(trips), block=32, args=args, devices=devices)


def _timing(trace: KernelTrace, *without: Component) -> LaunchTiming:
    timed = trace.profile(GPU).derived(timed_warps)
    assert timed is not None
    return launch_timing(timed, kc.device(GPU), frozenset(without))


def _cycles(timing: LaunchTiming) -> float:
    """Cycles of all that the launch does, of which recorded thread blocks are a sample."""
    return timing.cycles * timing.scale


def _trips(place: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    trips = np.full(THREAD_BLOCKS, SHORT, np.uint32)
    trips[place] = LONG
    return trips


@cache
def _alone() -> float:
    return _timing(_run(np.array([LONG], np.uint32))).cycles


@pytest.mark.parametrize("place", [1, 777, THREAD_BLOCKS - 2])
def test_a_launch_lasts_as_long_as_one_thread_block_of_thousands(place: int) -> None:
    """Whichever it is: it waits for its turn, and the others are done long before it."""
    trace = _run(_trips(place))
    paths = trace.data.paths
    assert paths is not None
    assert place not in paths.thread_blocks
    assert paths.longest is not None
    assert paths.longest.thread_blocks.tolist() == [place]
    lasts = _cycles(_timing(trace))
    others = _cycles(_timing(trace, Component.IMBALANCE))
    assert others < 0.2 * _alone()
    assert _alone() <= lasts * 1.01
    assert lasts <= (_alone() + others) * 1.01


def test_buffers_are_as_the_launch_leaves_them() -> None:
    """The path is recorded from what the launch has found, which is no longer there."""
    trips = _trips(777)
    _run(trips)
    assert (trips == 1).all()


def test_sampled_launches_find_it_too() -> None:
    """Counts say which it is; nothing is executed but what tells addresses."""
    keeps = SPENDS.replace("    mov.u32 %r3, 1; st.global.u32 [%rd4], %r3;\n", "")
    args = [_trips(777), np.zeros(THREAD_BLOCKS, np.float32)]
    kernel = kc.load_ptx(keeps)["spends"]
    trace = kernel.run(
        grid=THREAD_BLOCKS, block=32, args=args, devices=[GPU], sampling=Sampling.ALWAYS
    )
    paths = trace.data.paths
    assert paths is not None
    assert paths.longest is not None
    assert paths.longest.thread_blocks.tolist() == [777]
    assert not args[1].any()


def test_equal_thread_blocks_have_no_longest() -> None:
    paths = _run(np.full(THREAD_BLOCKS, SHORT, np.uint32)).data.paths
    assert paths is not None
    assert paths.longest is None


def test_of_equally_long_ones_it_is_the_last() -> None:
    trips = _trips(5)
    trips[900], trips[1500] = LONG, LONG // 2
    paths = _run(trips).data.paths
    assert paths is not None
    assert paths.longest is not None
    assert paths.longest.thread_blocks.tolist() == [900]


def test_it_is_written_and_read_again(tmp_path: Path) -> None:
    trace = _run(_trips(777), devices=())
    write_trace(tmp_path / "t.parquet", trace.data)
    found, expected = read_trace(tmp_path / "t.parquet").trace.paths, trace.data.paths
    assert found is not None
    assert expected is not None
    assert found.longest is not None
    assert expected.longest is not None
    for name in ("thread_blocks", "start", "pc", "lanes", "pattern", "address"):
        assert np.array_equal(getattr(found.longest, name), getattr(expected.longest, name)), name
