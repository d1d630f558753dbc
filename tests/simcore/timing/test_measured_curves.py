"""What an H100 takes for micro-kernels of validation/microkernels, against the timing model."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numba
import numpy as np
import numpy.typing as npt
import pytest
from micro_kernel import Step, micro_kernel
from scipy import stats

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline
from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming, launch_timing
from kernelcast.simcore.timing.walk.random_times import gumbel, latest_of

H100 = load_device("h100-sxm")
FOLDER = Path(__file__).resolve().parents[3] / "validation/measured/microkernels/h100-sxm"

FAR = Step(Pipeline.GLOBAL, (9,), (0,), sectors=1.0)
USE = Step(Pipeline.FP32, (0, 1), (1,))
MEET = Step(Pipeline.BARRIER)
TRIPS = 400
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def measured(file: str, name: str, unit: str) -> dict[str, float]:
    """Values of one micro-kernel by its settings."""
    with (FOLDER / f"{file}.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    return {
        row["settings"]: float(row["value"])
        for row in rows
        if (row["name"], row["unit"]) == (name, unit)
    }


def run(steps: list[Step], trips: int, warps: int, blocks: int, resident: int = 1) -> LaunchTiming:
    return launch_timing(micro_kernel(steps, trips, warps, blocks, resident), H100)


def without(device: Device, **values: float) -> Device:
    assert device.timing is not None
    return replace(device, timing=replace(device.timing, **values))  # type: ignore[arg-type]


@pytest.mark.parametrize("warps", [1, 4, 8, 16, 32])
def test_barriers_take_longer_the_more_warps_they_count(warps: int) -> None:
    expected = measured("instructions", "barrier", "cycles of a step")
    timing = run([Step(Pipeline.BARRIER)], 500, warps, 1)
    cycles = expected[f"threads={32 * warps} blocks=1"]
    assert timing.cycles / 500 == pytest.approx(cycles, rel=0.12)


@pytest.mark.parametrize(("warps", "resident"), [(1, 32), (4, 16), (8, 8)])
def test_the_gpu_begins_thread_blocks_one_after_the_other(warps: int, resident: int) -> None:
    expected = measured("launches", "nothing", "s")

    def settings(blocks: int) -> str:
        return f"blocks={blocks} threads={32 * warps} shared_kib=0"

    few, many = 64 * 132, 512 * 132
    more_s = expected[settings(many)] - expected[settings(few)]
    steps = [Step(Pipeline.INTEGER, (0,), (0,))]
    found = [run(steps, 1, warps, blocks, resident).seconds for blocks in (few, many)]
    assert found[1] - found[0] == pytest.approx(more_s, rel=0.1)


@pytest.mark.parametrize("threads", [128, 256, 512, 1024, 2048])
def test_bandwidth_rises_with_what_is_on_its_way_as_it_does_at_dram(threads: int) -> None:
    expected = measured("memory", "stream", "bytes/s")
    warps, resident = min(32, threads // 32), max(1, threads // 1024)
    # a load of 16 bytes a lane, the sum that waits for it, the loop
    load = Step(Pipeline.GLOBAL, (9,), (0,), sectors=16.0, passes=4.0, bytes_per_lane=16.0)
    steps = [load, Step(Pipeline.FP32, (0, 1), (1,)), Step(Pipeline.BRANCH)]
    trips = 300
    timing = run(steps, trips, warps, 132 * resident, resident)
    moved = trips * threads * 132 * 16
    settings = f"reads=1 writes=0 mib_each=1024 threads_of_sm={threads}"
    assert moved / timing.seconds == pytest.approx(expected[settings], rel=0.12)


def test_the_gpu_without_these_facts_reaches_more() -> None:
    """The tests above would pass with any model otherwise."""
    load = Step(Pipeline.GLOBAL, (9,), (0,), sectors=16.0, passes=4.0, bytes_per_lane=16.0)
    kernel = micro_kernel([load, Step(Pipeline.FP32, (0, 1), (1,))], 300, 16, 132, 1)
    even = without(H100, dram_queue_deviation_cycles=0.0, dram_mixed_deviation_cycles=0.0)
    assert launch_timing(kernel, even).seconds < 0.93 * launch_timing(kernel, H100).seconds


def test_loads_wait_for_the_bus_where_as_much_is_written() -> None:
    """Four warps an SM read, or read and write: 849 and 1049 cycles a round were measured."""
    expected = measured("memory", "stream", "bytes/s")
    load = Step(Pipeline.GLOBAL, (9,), (0,), sectors=16.0, passes=4.0, bytes_per_lane=16.0)
    store = Step(Pipeline.GLOBAL, (0,), (), sectors=16.0, passes=4.0, bytes_per_lane=16.0)
    use, back = Step(Pipeline.FP32, (0, 1), (0,)), Step(Pipeline.BRANCH)
    pure = run([load, use, back], 300, 4, 132).cycles
    mixed = run([load, use, store, back], 300, 4, 132).cycles

    def cycles(writes: int) -> float:
        rate = expected[f"reads=1 writes={writes} mib_each=1024 threads_of_sm=128"]
        return (1 + writes) * 128 * 16 * 132 * 1.98e9 / rate

    assert mixed / pure == pytest.approx(cycles(1) / cycles(0), rel=0.08)


@pytest.mark.parametrize(("piece_bytes", "rel"), [(32, 0.05), (64, 0.05), (128, 0.1), (256, 0.1)])
def test_random_pieces_take_as_long_as_256_bytes_of_dram(piece_bytes: int, rel: float) -> None:
    """DRAM moves 64 bytes at least, two sectors; of arrays of 1 GiB."""
    expected = measured("scattered", "pieces", "bytes/s")
    load = Step(Pipeline.GLOBAL, (9,), (0,), sectors=16.0, passes=4.0, bytes_per_lane=16.0)
    trips, warps = 100, 32
    kernel = micro_kernel([load, USE], trips, warps, 2 * 132, 2)
    sectors = max(2, piece_bytes // 32)
    seconds = launch_timing(replace(kernel, sectors_per_piece=sectors), H100).seconds
    rate = 2 * 132 * trips * warps * 16 * 32 / seconds * piece_bytes / (32 * sectors)
    settings = f"mib=1024 piece_bytes={piece_bytes} group=1 spread=1"
    assert rate == pytest.approx(expected[settings], rel=rel)


def _fill(drawn: Floats, numbers: Ints) -> None:
    for at in range(len(drawn)):
        drawn[at] = gumbel(numbers[at, 0], numbers[at, 1], numbers[at, 2])


def _latest(times: float, deviation: float, drawn: Floats) -> None:
    for at in range(len(drawn)):
        drawn[at] = latest_of(times, deviation, drawn[at])


_fill = cast(Any, numba).njit(_fill)
_latest = cast(Any, numba).njit(_latest)


def drawn_for(numbers: Ints) -> Floats:
    drawn = np.empty(len(numbers))
    _fill(drawn, numbers)
    return drawn


def test_random_times_are_of_gumbel_whichever_number_counts() -> None:
    for column in range(3):
        numbers = np.full((3000, 3), 7, np.int64)
        numbers[:, column] = np.arange(3000)
        drawn = drawn_for(numbers)
        assert stats.kstest(drawn, stats.gumbel_r.cdf).pvalue > 0.01
        assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.06


@pytest.mark.parametrize("times", [1, 2, 4, 32])
def test_the_latest_of_random_times_is_as_late_as_that_of_as_many_drawn(times: int) -> None:
    """SciPy draws them, each with mean 0 and standard deviation 100."""
    scale = 100.0 * math.sqrt(6.0) / math.pi
    made = stats.gumbel_r(-np.euler_gamma * scale, scale).rvs((20_000, times), random_state=1)
    numbers = np.zeros((20_000, 3), np.int64)
    numbers[:, 0] = np.arange(20_000)
    late = drawn_for(numbers)
    _latest(float(times), 100.0, late)
    assert late.mean() == pytest.approx(made.max(axis=1).mean(), abs=3.0)
    assert late.std() == pytest.approx(made.max(axis=1).std(), rel=0.05)


def latency(lines: int, others: str, warps: int) -> float:
    """Mean cycles of a request for so many lines, beside warps of the other SMs."""
    rows = measured("latencies", "beside", "cycles")
    return rows[f"lines={lines} others={others} warps={warps} mib=4096 mean"]


@pytest.mark.parametrize(
    ("lines", "warps", "moved"),
    [
        *((lines, 1, 0.94e12) for lines in (1, 2, 4, 8)),
        *((lines, 2, 1.73e12) for lines in (1, 2, 4, 8)),
        *((lines, 4, 2.59e12) for lines in (2, 4, 8)),
    ],
)
def test_requests_wait_for_their_lines_and_for_others_as_at_dram(
    lines: int, warps: int, moved: float
) -> None:
    """Others read `moved` bytes a second there; here all SMs ask for as much, `lines` a warp.

    With DRAM five sixths busy requests of one SM wait for each other a little more than measured.
    """
    load = Step(Pipeline.GLOBAL, (0,), (0,), sectors=4.0 * lines, lines=float(lines))
    latencies, rates = [], []
    for asking in range(1, 65, 3):
        cycles = launch_timing(micro_kernel([load], 200, asking, 132), H100).cycles / 200
        latencies.append(cycles)
        rates.append(132 * asking * 128 * lines * 1.98e9 / cycles)
    found = np.interp(moved, rates, latencies)
    rel = 0.08 if warps == 4 else 0.05
    assert found == pytest.approx(latency(lines, "read", warps), rel=rel)


@pytest.mark.parametrize("lines", [1, 2, 4, 8, 16, 32])
def test_l2_takes_requests_for_one_sector_no_faster_than_for_two(lines: int) -> None:
    expected = measured("requests", "gather_l2", "cycles")
    sectors = float(max(lines, 4))
    facts = {"sectors": sectors, "lines": float(lines), "l2_hits": 1.0}
    loads = [Step(Pipeline.GLOBAL, (9,), (to,), **facts) for to in range(8)]
    trips, warps = 20, 32
    timing = run(loads, trips, warps, 132)
    cycles = expected[f"lines={lines} banks=apart blocks=132 threads=1024"]
    assert timing.cycles / trips / warps / len(loads) == pytest.approx(cycles, rel=0.08)


@pytest.mark.parametrize("lines", [1, 2, 4])
def test_l2_takes_longer_for_what_is_written(lines: int) -> None:
    """Two sectors of each of two lines took 17 % longer than the rule says."""
    expected = measured("requests", "scatter", "cycles")
    store = Step(Pipeline.GLOBAL, (9,), (), sectors=4.0, lines=float(lines), l2_hits=1.0)
    trips, warps = 100, 32
    cycles = run([store], trips, warps, 132).cycles / trips / warps
    settings = f"lines={lines} blocks=132 threads=1024"
    assert cycles == pytest.approx(expected[settings], rel=0.18 if lines == 2 else 0.08)


@pytest.mark.parametrize("warps", [2, 8, 16])
def test_a_barrier_waits_for_the_latest_of_its_warps(warps: int) -> None:
    """The mean of the largest of n times of Gumbel's distribution grows with the logarithm of n."""
    spread = 60.0
    device = without(
        H100,
        dram_queue_cycles=0.0,
        dram_queue_deviation_cycles=1e-9,
        dram_latency_deviation_cycles=spread,
    )
    even = without(device, dram_latency_deviation_cycles=0.0)

    def cycles(steps: list[Step], gpu: Device) -> float:
        kernel = micro_kernel(steps, TRIPS, warps, 1)
        return launch_timing(kernel, gpu, is_exact=True).cycles / TRIPS

    late = cycles([FAR, USE, MEET], device) - cycles([FAR, USE, MEET], even)
    assert late == pytest.approx(math.sqrt(6.0) / math.pi * spread * math.log(warps), rel=0.15)
