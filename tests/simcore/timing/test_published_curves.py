"""Published curves of real GPUs against kernels of our own that do the same, executed from PTX.

Bandwidth over occupancy, cycles of L1 over stride, latency over footprint: te42kyfo/gpu-benches and
RRZE-HPC/gpu-benches. Of the bandwidths only `init` has been used to set device data.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import kernelcast as kc
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.launch.launch import Argument
from kernelcast.simcore.memory.l1_passes import data_passes
from kernelcast.simcore.memory.native_accesses import NativeAccesses
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.kernel.timed_kernel import TimedKernel
from kernelcast.simcore.timing.launch.launch_timing import launch_timing
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import PatternCounts

DATA = Path(__file__).parents[1] / "data"
HEAD = """.version 8.0
.target sm_75
.address_size 64
"""
REGISTERS = (
    ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<80>; .reg .f64 %fd<80>;"
)
Buffers = Sequence[npt.NDArray[np.generic]]


@cache
def curves(file: str) -> tuple[dict[str, str], ...]:
    with (DATA / file).open(encoding="utf-8", newline="") as lines:
        return tuple(csv.DictReader(lines))


def with_little_l2(device: Device) -> Device:
    """A short stretch of a stream stands for a long one: L2 keeps none of what it writes."""
    least = device.l2.line_bytes * device.l2.ways * device.l2.partitions
    return replace(device, l2=replace(device.l2, capacity_bytes=least))


def timed(
    source: str, device: Device, buffers: Buffers, grid: int, threads: int, *numbers: int
) -> TimedKernel:
    arguments: list[Argument] = [*buffers, *map(np.uint32, numbers)]
    trace = kc.load_ptx(HEAD + source)["k"].run(
        grid=grid, block=threads, args=arguments, devices=[device], record_paths=True
    )
    found = trace.profile(device).derived(timed_warps)
    assert found is not None
    return found


STREAMS = {  # what each thread does with its element of a, b, c, and how many of them it moves
    "init": ("st.global.f64 [%rd5], %fd5;", 1),
    "read": (
        "ld.global.f64 %fd1, [%rd6]; setp.eq.f64 %p2, %fd1, 0d405EC00000000000; @!%p2 bra END;"
        "st.global.f64 [%rd5], %fd1;",
        1,
    ),
    "scale": (
        "ld.global.f64 %fd1, [%rd6]; mul.f64 %fd2, %fd1, 0d3FF3333333333333;"
        "st.global.f64 [%rd5], %fd2;",
        2,
    ),
    "triad": (
        "ld.global.f64 %fd1, [%rd6]; ld.global.f64 %fd2, [%rd7];"
        "fma.rn.f64 %fd3, %fd2, 0d3FF3333333333333, %fd1; st.global.f64 [%rd5], %fd3;",
        3,
    ),
}
STREAM_GPUS = {
    "v100-pcie": "V100-PCIe",
    "a100-80gb": "A100-80GB",
    "l40": "L40",
    "h100-pcie": "H100-PCIe",
    "mi210": "MI210",
}
TURNS, EVERY = 4000, 4


@cache
def stream_kernel(kind: str, name: str, threads: int) -> TimedKernel:
    """A thread per element, two thread blocks on each SM; all of it comes from DRAM."""
    device = with_little_l2(load_device(name))
    blocks = 2 * device.architecture.sm_count
    source = f""".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {{
        {REGISTERS}
        ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c];
        ld.param.u32 %r5, [n];
        mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
        mad.lo.s32 %r4, %r1, %r2, %r3; setp.ge.u32 %p1, %r4, %r5; @%p1 bra END;
        mul.wide.u32 %rd4, %r4, 8; add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd2, %rd4;
        add.s64 %rd7, %rd3, %rd4; {STREAMS[kind][0]}
        END: ret; }}"""
    arrays = [np.zeros(blocks * threads) for _ in range(3)]
    return timed(source, device, arrays, blocks, threads, blocks * threads)


def stream_bandwidth(kind: str, name: str, threads: int, per_sm: int) -> float:
    """GB/s with `per_sm` thread blocks of so many threads on each SM."""
    device = load_device(name)
    blocks = device.architecture.sm_count * per_sm * TURNS
    kernel = replace(
        stream_kernel(kind, name, threads), thread_blocks=blocks, thread_blocks_per_sm=per_sm
    )
    moved_bytes = 8 * STREAMS[kind][1] * blocks * threads
    return moved_bytes / device.seconds(launch_timing(kernel, device).cycles) / 1e9


def stream_errors(kind: str, name: str) -> list[float]:
    """Relative, of every fourth published point."""
    wanted = STREAM_GPUS[name], f"stream_bw_{kind}"
    rows = [
        row
        for row in curves("stream_bandwidth_over_occupancy.csv")
        if (row["device"], row["metric"]) == wanted
    ][::EVERY]
    errors = []
    for row in rows:
        found = re.search(r"block (\d+)(?:, (\d+) blk/SM)?\)", row["x"])
        assert found is not None
        bandwidth = stream_bandwidth(kind, name, int(found[1]), int(found[2] or 2))
        errors.append(abs(bandwidth / float(row["value"]) - 1))
    assert len(errors) >= 6
    return errors


@pytest.mark.drawn(2)
@pytest.mark.parametrize("name", STREAM_GPUS)
def test_streams_over_occupancy(name: str) -> None:
    """The mean of each device over the three that set no value of its file, and of the one."""
    errors = {kind: float(np.mean(stream_errors(kind, name))) for kind in STREAMS}
    assert errors.pop("init") < 0.15
    assert np.mean(list(errors.values())) < 0.15


L1_GPUS = {"a100-80gb": "A100", "a40": "A40", "gh200": "H200(GH200)"}
LOADS = 32
LINE_BYTES = 128


def strided_kernel(kind: str, stride: int, device: Device, trips: int) -> TimedKernel:
    """32 warps that read elements a stride apart, from another line each time.

    They add up products of two of them; all of it stays in L1.
    """
    size, ptx, value = (4, "f32", "%f") if kind == "float" else (8, "f64", "%fd")
    loads = "".join(
        f"""ld.global.{ptx} {value}{i}, [%rd3+{i * LINE_BYTES}];
        ld.global.{ptx} {value}{i + 1}, [%rd3+{(i + 1) * LINE_BYTES}];
        fma.rn.{ptx} {value}{60 + i // 2 % 8}, {value}{i}, {value}{i + 1}, {value}{60 + i // 2 % 8};
        """
        for i in range(0, LOADS, 2)
    )
    source = f""".visible .entry k(.param .u64 a, .param .u32 trips) {{
        {REGISTERS}
        ld.param.u64 %rd1, [a]; ld.param.u32 %r3, [trips];
        mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31;
        mul.wide.u32 %rd2, %r2, {stride * size}; add.s64 %rd3, %rd1, %rd2;
        L: {loads} sub.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra L; ret; }}"""
    kernel = timed(source, device, [np.zeros((1 << 18) // size, f"f{size}")], 1, 1024, trips)
    count = len(kernel.pipeline)
    return replace(
        kernel, levels=replace(kernel.levels, l1_hits=np.ones(count), l1_pending=np.zeros(count))
    )


def cycles_of_a_load(kind: str, stride: int, device: Device) -> float:
    """Cycles from the difference of two lengths of the loop, without its start and end."""
    few, many = (
        launch_timing(strided_kernel(kind, stride, device, trips), device, is_exact=True).cycles
        for trips in (2, 6)
    )
    return (many - few) / (4 * LOADS * 32)


def l1_rows(name: str, kind: str, quantity: str) -> list[tuple[int, float]]:
    """(stride, value) of each measured row of L1."""
    return [
        (int(row["x"].split()[1]), float(row["value"]))
        for row in curves("l1_passes_over_stride.csv")
        if row["device"] == L1_GPUS[name] and row["metric"] == f"l1_stride_{kind}_{quantity}"
    ]


@pytest.mark.drawn(2)
@pytest.mark.parametrize("name", L1_GPUS)
@pytest.mark.parametrize("kind", ["float", "double"])
def test_l1_cycles_over_stride(kind: str, name: str) -> None:
    """The larger of data and tags; every double of the A40 waits for half a warp's multiply-add."""
    device = load_device(name)
    rows = l1_rows(name, kind, "cycles_per_warpload")
    assert len(rows) >= 16
    chosen = rows[:: len(rows) // 8]
    errors = [cycles_of_a_load(kind, stride, device) / value - 1 for stride, value in chosen]
    assert np.mean(np.abs(errors)) < 0.12


@pytest.mark.parametrize("name", L1_GPUS)
@pytest.mark.parametrize("kind", ["float", "double"])
def test_l1_data_wavefronts_over_stride(kind: str, name: str) -> None:
    """The published number to its digit, for each stride."""
    rows = l1_rows(name, kind, "datapipe_wavefronts")
    size = 4 if kind == "float" else 8
    strides = np.array([stride for stride, _ in rows])
    none = np.zeros(len(rows), np.int32)
    patterns = PatternTable(
        np.full(len(rows), (1 << 32) - 1, np.uint64), size * strides[:, None] * np.arange(32)
    )
    accesses = PatternCounts(
        none, none, none, np.arange(len(rows), dtype=np.int32), np.ones(len(rows), np.int64)
    )
    native = NativeAccesses(np.array([size]), np.array([-1]))
    passes = data_passes(accesses, patterns, native, load_device(name))
    assert passes.tolist() == [value for _, value in rows]


LATENCY_GPUS = {**STREAM_GPUS, "a40": "A40", "gh200": "GH200"}
LINES = {"l1": 64, "l2": 4096, "dram": 8192}
STEPS, UNROLLED = (200, 600), 10
ASK = ".visible .entry k(.param .u64 a) { .reg .b64 %rd<2>; ld.param.u64 %rd1, [a];"


def ring_of_pointers(lines: int) -> npt.NDArray[np.uint64]:
    """A pointer to the next one in each line, in random order, from the first line on."""
    pitch = LINE_BYTES // 8
    ring = np.zeros(lines * pitch, np.uint64)
    ask = kc.load_ptx(HEAD + ASK + "st.global.u64 [%rd1], %rd1; ret; }")["k"]
    ask.run(grid=1, block=1, args=[ring])
    order = np.random.default_rng(1).permutation(lines)
    ring[order * pitch] = ring[0] + np.roll(order, -1).astype(np.uint64) * LINE_BYTES
    return ring


def chase_cycles(device: Device, level: str, steps: int) -> int:
    """Cycles of one thread that follows `steps` pointers.

    All threads together have brought the ring into the cache before; what DRAM has, nobody has
    touched.
    """
    lines = LINES[level]
    threads, kept = {"l1": (lines, "ca"), "l2": (1024, "cg"), "dram": (1, "ca")}[level]
    touched = 0 if level == "dram" else lines // threads
    touches = "".join(
        f"ld.global.{kept}.u64 %rd{3 + i}, [%rd2+{i * threads * LINE_BYTES}];"
        for i in range(touched)
    )
    source = f""".visible .entry k(.param .u64 a, .param .u32 turns) {{
        {REGISTERS}
        ld.param.u64 %rd1, [a]; ld.param.u32 %r2, [turns]; mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd2, %r1, {LINE_BYTES}; add.u64 %rd2, %rd1, %rd2;
        {touches} bar.sync 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra END;
        CHASE: {"ld.global.u64 %rd1, [%rd1];" * UNROLLED}
        sub.u32 %r2, %r2, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra CHASE;
        st.global.u64 [%rd2], %rd1; END: ret; }}"""
    kernel = timed(source, device, [ring_of_pointers(lines)], 1, threads, steps // UNROLLED)
    return launch_timing(kernel, device).cycles


def plateau(name: str, level: str) -> float:
    """Median of the published points in the range of footprints that the device file names."""
    reference = load_device(name).provenance[f"timing.{level}_latency_cycles"].reference
    found = re.search(r"([\d ]+)-([\d ]+) kB at", reference)
    assert found is not None
    low, high = (float(item.replace(" ", "")) for item in found.groups())
    owner = re.search(r"(RRZE-HPC|te42kyfo)/gpu-benches", reference)
    assert owner is not None
    points = [
        float(row["value"])
        for row in curves("pointer_chase_latency.csv")
        if row["device"] == LATENCY_GPUS[name]
        and row["source_file"].startswith(owner[1])
        and low <= float(row["x"].split()[0]) <= high
    ]
    assert len(points) >= 5
    return float(np.median(points))


@pytest.mark.parametrize("name", LATENCY_GPUS)
@pytest.mark.parametrize("level", LINES)
def test_latency_over_footprint(level: str, name: str) -> None:
    device = load_device(name)
    few, many = (chase_cycles(device, level, steps) for steps in STEPS)
    latency = (many - few) / (STEPS[1] - STEPS[0])
    assert latency == pytest.approx(plateau(name, level), rel=0.1)
