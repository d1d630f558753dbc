"""Kernels executed for devices with warps of different widths."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import KernelcastError, LaunchError, TraceFormatError
from kernelcast.simcore.launch.lazy_buffer import LazyBuffer
from kernelcast.simcore.profile.profiler import profile
from kernelcast.workload.argument_snapshot import ArgumentSnapshot

THREADS = 256
NARROW, WIDE = "gtx-480", "r9-nano"
# out[i] += i, for the first n threads; then a loop of as many turns as the warp has number.
ADDS = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry adds(.param .u64 out, .param .u64 also, .param .u32 n)
{
    .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x; setp.ge.u32 %p1, %r2, %r1; @%p1 bra END;
    mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r3, [%rd3]; add.u32 %r3, %r3, %r2; st.global.u32 [%rd3], %r3;
    shr.u32 %r4, %r2, 5;
TURN:
    sub.u32 %r4, %r4, 1; setp.gt.s32 %p2, %r4, 0; @%p2 bra TURN;
END:
    ret;
}
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Any:
    (tmp_path / "adds.ptx").write_text(ADDS)
    return kc.load(tmp_path / "adds.ptx")["adds"]


def run(kernel: Any, out: Any = None, also: Any = None, **options: Any) -> kc.KernelTrace:
    if out is None:
        out = np.zeros(THREADS, np.uint32)
    args: list[Any] = [out, np.zeros(1, np.uint32) if also is None else also, THREADS]
    trace: kc.KernelTrace = kernel.run(grid=1, block=THREADS, args=args, **options)
    return trace


def test_one_execution_for_each_width_among_the_devices(kernel: Any) -> None:
    trace = run(kernel, devices=[kc.device(NARROW), WIDE, "gtx-960"])
    assert [item.warp_width for item in trace.traces] == [32, 64]
    assert trace.data is trace.traces[0]
    for device, width in ((NARROW, 32), (WIDE, 64)):
        alone = run(kernel, warp_width=width).traces
        assert [item.warp_width for item in alone] == [width]
        expected = replace(profile(alone[0], kc.device(device)), target=kc.device(device))
        assert trace.profile(device) == expected
        assert not any("the trace has warps" in text for text in expected.assumptions)
    assert trace.profile(WIDE).instructions != trace.profile(NARROW).instructions


def test_by_default_warps_have_32_threads(kernel: Any) -> None:
    trace = run(kernel)
    assert [item.warp_width for item in trace.traces] == [32]
    assert trace.profile(NARROW).warp_width == 32


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_every_width_can_be_asked_for(kernel: Any, width: int) -> None:
    trace = run(kernel, warp_width=width)
    assert trace.data.warp_width == width
    assert len(trace.data.warp_time) == THREADS / width
    with pytest.raises(KernelcastError, match="warp width 24 is not one of"):
        run(kernel, warp_width=24)


def test_the_host_sees_one_execution(kernel: Any) -> None:
    out, numbers = np.ones(THREADS, np.uint32), np.arange(THREADS)
    run(kernel, out, devices=[NARROW, WIDE])
    np.testing.assert_array_equal(out, 1 + numbers)
    lazy = LazyBuffer((THREADS,), np.uint32, lambda _, count: np.full(count, 5, np.uint32))
    run(kernel, lazy, devices=[NARROW, WIDE])
    np.testing.assert_array_equal(lazy.materialise(), 5 + numbers)
    run(kernel, lazy, devices=[NARROW, WIDE])
    np.testing.assert_array_equal(lazy.materialise(), 5 + 2 * numbers)
    run(kernel, out, also=out, devices=[NARROW, WIDE])
    np.testing.assert_array_equal(out, 1 + 2 * numbers)


def test_a_snapshot_leaves_read_only_arrays_and_shared_memory_alone() -> None:
    shared = np.arange(8)
    constant = np.arange(3)
    constant.flags.writeable = False
    snapshot = ArgumentSnapshot((shared[:6], constant, 3, shared[2:]))
    shared[:] = 0
    snapshot.restore()
    np.testing.assert_array_equal(shared, np.arange(8))


def test_progress_covers_all_executions(kernel: Any) -> None:
    shares: list[float] = []
    run(kernel, devices=[NARROW, WIDE], progress=shares.append, engine="reference")
    assert shares == [0.5, 1.0]


def test_a_width_that_is_missing_is_named_with_what_to_do(kernel: Any) -> None:
    with pytest.raises(TraceFormatError) as raised:
        run(kernel).profile(WIDE)
    assert "cannot be joined to warps of 64" in str(raised.value)
    assert "`warp_width=64`" in str(raised.value)
    with pytest.raises(TraceFormatError, match=r"warps of 64 threads, not of 32: .*warp_width=32"):
        run(kernel, warp_width=64).profile(NARROW)


def test_narrow_warps_are_joined_where_that_is_exact(kernel: Any) -> None:
    """A thread block of 32 threads leaves one warp of any width."""
    args: list[Any] = [np.zeros(32, np.uint32), np.zeros(1, np.uint32), 32]
    launch: dict[str, Any] = {"grid": 1, "block": 32, "args": args, "engine": "reference"}
    joined = kernel.run(**launch).profile(WIDE)
    assert joined == kernel.run(**launch, devices=[WIDE]).profile(WIDE)
    assert kernel.run(**launch, warp_width=16).at_width(64).warp_width == 64


@pytest.mark.parametrize("register", ["%laneid", "%warpid", "%nwarpid", "%lanemask_lt"])
def test_kernels_that_can_tell_the_width_are_not_joined(tmp_path: Path, register: str) -> None:
    asks = ADDS.replace("TURN:", f"mov.u32 %r5, {register};\nTURN:")
    (tmp_path / "asks.ptx").write_text(asks)
    args: list[Any] = [np.zeros(32, np.uint32), np.zeros(1, np.uint32), 32]
    kernel = kc.load(tmp_path / "asks.ptx")["adds"]
    with pytest.raises(TraceFormatError, match="not known to take the same branches"):
        kernel.run(grid=1, block=32, args=args, engine="reference").profile(WIDE)


def test_registers_and_repeats_hold_for_all_widths(kernel: Any) -> None:
    trace = run(kernel, devices=[NARROW, WIDE]).with_registers(48).repeated(3)
    for device in (NARROW, WIDE):
        found = trace.profile(device)
        assert found.repeats == 3
        assert found.occupancy is not None
        assert found.occupancy.registers_per_thread == 48


def test_a_launch_that_does_not_fit_a_device_is_refused_before_it_runs(kernel: Any) -> None:
    out = np.zeros(1024, np.uint32)
    with pytest.raises(LaunchError, match="1024 threads per thread block"):
        kernel.run(grid=1, block=1024, args=[out, out, 1024], devices=[NARROW, WIDE])
    assert not out.any()


def test_a_file_holds_one_width(kernel: Any, tmp_path: Path) -> None:
    trace = run(kernel, devices=[NARROW, WIDE])
    with pytest.raises(TraceFormatError, match="warps of one width, the trace those of 32 and 64"):
        kc.save_trace(trace, tmp_path / "t.parquet")
    assert not list(tmp_path.glob("*.parquet"))


def test_the_engine_does_not_depend_on_the_devices(kernel: Any) -> None:
    engines = {
        item.engine for devices in ([], [NARROW], [WIDE], [NARROW, WIDE])
        for item in run(kernel, devices=devices).traces
    }  # fmt: skip
    assert len(engines) == 1
