"""Profiles of small kernels whose every count is known by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from kernelcast.errors import LaunchError, TraceFormatError
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.engine import execute
from kernelcast.simcore.profile.metric_names import METRICS, Naming, metrics
from kernelcast.simcore.profile.profile import (
    InstructionCounts,
    KernelProfile,
    MemoryTraffic,
    OccupancyLimiter,
)
from kernelcast.simcore.profile.profiler import profile
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.traces.trace import Trace
from kernelcast.traces.warp_paths import WarpPaths

RunPtx = Callable[..., Trace]

SAXPY = """
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.f32 %f1, [a];
    cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2;
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    mul.wide.s32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
    ld.global.f32 %f2, [%rd4]; ld.global.f32 %f3, [%rd5];
    fma.rn.f32 %f4, %f1, %f2, %f3;
    st.global.f32 [%rd5], %f4;
    ret;
"""
THREADS = 64 * 128

# A column of a 32 x 32 tile written, a row of it read; half of the lanes skip an addition.
TILE = """
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    mul.lo.s32 %r3, %r1, 128; add.s32 %r3, %r2, %r3;
    st.shared.u32 [%r3], %r1;
    bar.sync 0;
    shl.b32 %r4, %r1, 2; add.s32 %r4, %r2, %r4;
    ld.shared.u32 %r5, [%r4];
    setp.lt.u32 %p1, %r1, 16;
    @%p1 bra DONE;
    add.s32 %r5, %r5, 1;
DONE:
    ret;
"""


@pytest.fixture(autouse=True)
def _counting_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the reference engine counts the pairs of warps that make one of a wider device."""
    defaults = execute.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "engine", "reference")


@pytest.fixture
def saxpy(run_ptx: RunPtx) -> Trace:
    x, y = np.ones(THREADS, np.float32), np.ones(THREADS, np.float32)
    parameters = "u64 x, u64 y, f32 a"
    return run_ptx(SAXPY, parameters, [x, y, 2.0], grid=THREADS // 128, block=128)


@pytest.fixture
def tile(run_ptx: RunPtx) -> Trace:
    shared = ".shared .align 4 .b8 tile[4096];"
    return run_ptx(TILE, "u64 out", [np.zeros(1, np.uint32)], module=shared)


def test_instructions_are_counted_natively_by_unit(saxpy: Trace) -> None:
    counts = profile(saxpy, load_device("gtx-480")).instructions
    assert (counts.fma32, counts.fp32) == (THREADS, THREADS)
    assert (counts.fma64, counts.fp64, counts.conversion, counts.special_function) == (0, 0, 0, 0)
    assert counts.integer == 4 * THREADS
    assert counts.load_store == 3 * THREADS
    assert counts.control == THREADS
    # 17 of the source; three parameters and two address conversions are folded.
    assert counts.source_thread_instructions == 17 * THREADS
    assert counts.thread_instructions == 12 * THREADS
    assert counts.warp_instructions == 12 * THREADS / 32
    assert counts.source_warp_instructions == 17 * THREADS / 32


def test_traffic_of_saxpy_is_compulsory(saxpy: Trace) -> None:
    traffic = profile(saxpy, load_device("gtx-480")).traffic
    assert traffic.dram_read_transactions == 2 * THREADS * 4 / 32
    assert traffic.dram_write_transactions == THREADS * 4 / 32
    assert traffic.dram_bytes == 3 * THREADS * 4
    assert (traffic.global_load_requests, traffic.global_store_requests) == (512, 256)
    assert (traffic.requested_load_bytes, traffic.requested_store_bytes) == (
        8 * THREADS,
        4 * THREADS,
    )
    assert traffic.global_load_sectors == traffic.l2_read_sectors == 2 * THREADS * 4 / 32


def test_launch_occupancy_and_repeats(saxpy: Trace) -> None:
    found = profile(saxpy, load_device("gtx-480"), repeats=4)
    assert found.repeats == 4
    assert found.launch is not None
    assert found.launch.thread_blocks == 64
    assert found.occupancy is not None
    assert found.occupancy.thread_blocks_per_sm == 5
    assert found.occupancy.limiter is OccupancyLimiter.GRID
    assert any("registers per thread" in text for text in found.assumptions)


def test_bank_conflicts_and_stages(tile: Trace) -> None:
    found = profile(tile, load_device("gtx-480"))
    assert found.shared is not None
    assert (found.shared.store_requests, found.shared.store_wavefronts) == (1, 32)
    assert (found.shared.load_requests, found.shared.load_wavefronts) == (1, 1)
    assert found.shared.ideal_wavefronts == 2
    assert found.barrier_stages == 2
    worst = found.hot_spots[0]
    assert worst.mnemonic == "st.shared.u32"
    assert (worst.transactions, worst.ideal_transactions) == (32, 1)


def test_divergence_is_the_share_of_active_lanes(tile: Trace) -> None:
    found = profile(tile, load_device("gtx-480"))
    # One of the native instructions, the last addition, has 16 of 32 lanes.
    issued = found.instructions.warp_instructions
    assert found.divergence == pytest.approx((32 * issued - 16) / (32 * issued))


def test_mix_is_unmerged_and_complete(saxpy: Trace) -> None:
    found = profile(saxpy, load_device("gtx-480"))
    rows = {row.opcode: row for row in found.mix}
    assert rows["ld.param"].thread == 3 * THREADS
    assert rows["ld.param"].native_thread == 0
    assert rows["ld.global"].thread == rows["ld.global"].native_thread == 2 * THREADS
    assert rows["ld.global"].warp == 2 * THREADS / 32
    assert sum(row.thread for row in found.mix) == found.instructions.source_thread_instructions
    assert sum(row.native_thread for row in found.mix) == found.instructions.thread_instructions
    counts = [row.thread for row in found.mix]
    assert counts == sorted(counts, reverse=True)


def test_hot_spots_name_line_and_waste(run_ptx: RunPtx) -> None:
    strided = SAXPY.replace("mul.wide.s32 %rd3, %r4, 4;", "mul.wide.s32 %rd3, %r4, 128;")
    x, y = np.ones(32 * 256, np.float32), np.ones(32 * 256, np.float32)
    trace = run_ptx(strided, "u64 x, u64 y, f32 a", [x, y, 2.0], grid=2, block=128)
    spots = profile(trace, load_device("gtx-660")).hot_spots
    assert {spot.mnemonic for spot in spots} == {"ld.global.f32", "st.global.f32"}
    for spot in spots:
        assert (spot.requests, spot.transactions, spot.ideal_transactions) == (8, 256, 32)
        assert spot.place.startswith("test.ptx:")


def test_what_only_models_need_waits_until_one_asks(
    saxpy: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def timed(trace: Trace, *_: object) -> str:
        asked.append(trace.kernel)
        return "timed"

    monkeypatch.setattr("kernelcast.simcore.timing.kernel.from_trace.timed_kernel", timed)
    paths = WarpPaths.__new__(WarpPaths)  # that there are some is all that counts
    found = profile(replace(saxpy, paths=paths), load_device("gtx-480"))
    assert not asked
    assert (
        str(found.derived(timed_warps))
        == str(replace(found, repeats=2).derived(timed_warps))
        == "timed"
    )
    assert asked == [saxpy.kernel]
    assert profile(saxpy, load_device("gtx-480")).derived(timed_warps) is None


def test_traces_must_be_of_the_device_width(run_ptx: RunPtx) -> None:
    x, y = np.ones(128, np.float32), np.ones(128, np.float32)
    wide = run_ptx(SAXPY, "u64 x, u64 y, f32 a", [x, y, 2.0], block=128, warp_width=64)
    found = profile(wide, load_device("r9-nano"))
    assert found.instructions.warp_instructions == 24
    assert found.warp_width == 64
    assert found.traffic.global_load_requests == 4
    with pytest.raises(TraceFormatError, match="warps of 64 threads but gtx-480 has warps of 32"):
        profile(wide, load_device("gtx-480"))


def test_a_launch_that_fits_no_sm_is_refused(run_ptx: RunPtx) -> None:
    trace = run_ptx("ret;", "u64 out", [np.zeros(1, np.uint32)], block=512, warp_width=64)
    with pytest.raises(LaunchError):
        profile(trace, load_device("r9-nano"))


def test_merged_shared_loads_count_once(run_ptx: RunPtx) -> None:
    body = """
        mov.u32 %r1, %tid.x; mov.u32 %r2, tile; shl.b32 %r3, %r1, 4; add.s32 %r4, %r2, %r3;
        ld.shared.f32 %f1, [%r4]; ld.shared.f32 %f2, [%r4+4];
        ld.shared.f32 %f3, [%r4+8]; ld.shared.f32 %f4, [%r4+12];
        ret;
    """
    shared = ".shared .align 16 .b8 tile[512];"
    trace = run_ptx(body, "u64 out", [np.zeros(1, np.uint32)], module=shared)
    found = profile(trace, load_device("gtx-480"))
    assert found.instructions.load_store == 32
    assert found.shared is not None
    assert (found.shared.load_requests, found.shared.load_wavefronts) == (1, 4)


TABLE_4_1 = (
    "flop_count_sp_fma",
    "flop_count_dp_fma",
    "inst_compute_ld_st",
    "inst_executed",
    "inst_fp_32",
    "inst_fp_64",
    "inst_integer",
    "dram_read_transactions",
    "dram_write_transactions",
)


@pytest.mark.parametrize("naming", [Naming.NVPROF, Naming.NCU])
def test_metrics_carry_the_profile(saxpy: Trace, naming: Naming) -> None:
    found = profile(saxpy, load_device("gtx-480"))
    values = {metric.name: metric.value for metric in metrics(found, naming)}
    names = {metric.nvprof: metric.name(naming) for metric in METRICS}
    assert {names[name] for name in TABLE_4_1} <= set(values)
    assert values[names["inst_executed"]] == 12 * THREADS / 32
    assert values[names["flop_count_sp_fma"]] == THREADS
    assert values[names["dram_read_transactions"]] == 2048
    assert values[names["gld_efficiency"]] == values[names["gst_efficiency"]] == 100.0
    assert "" not in values


def test_metrics_that_are_not_known_are_left_out() -> None:
    counts = InstructionCounts(0, 0, 0, 0, 0, 0, 1)
    bare = KernelProfile("k", "gtx-480", "nvprof metrics", counts, MemoryTraffic(8, 4))
    assert {metric.name for metric in metrics(bare, Naming.NVPROF)} == set(TABLE_4_1)


def test_transactions_are_32_bytes_whatever_the_sectors_are() -> None:
    counts = InstructionCounts(0, 0, 0, 0, 0, 0, 1)
    traffic = MemoryTraffic(8, 4, sector_bytes=64)
    bare = KernelProfile("k", "r9-nano", "simulation", counts, traffic)
    values = {metric.name: metric.value for metric in metrics(bare, Naming.NCU)}
    assert values["dram__sectors_read.sum"] == 16
    assert values["dram__sectors_write.sum"] == 8


def test_shares_are_percentages(tile: Trace) -> None:
    found = replace(profile(tile, load_device("gtx-480")), divergence=0.5)
    values = {metric.name: metric.value for metric in metrics(found, Naming.NVPROF)}
    assert values["warp_execution_efficiency"] == 50.0
    assert values["shared_efficiency"] == pytest.approx(100 * 2 / 33)
    assert values["theoretical_occupancy"] == pytest.approx(100 / 48)
    assert "gld_efficiency" not in values
