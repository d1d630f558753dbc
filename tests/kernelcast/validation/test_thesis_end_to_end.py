"""The thesis's three kernels executed from PTX at full size, against its tables.

Counters and times of Tables 4.4 to 6.5, and how busy parts of six GPUs were: nvprof's ratings in
Tables 5.8, 5.13 and 5.15, against the interval model.
Exact figures follow from the kernels' definitions; tolerances cover what an ideal cache and PTX
instead of the GPU's own instructions change (docs/deviations.md).
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from kernelcast.api import estimate
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.launch.launch_timing import launch_timing
from kernelcast.simcore.timing.launch.utilization import nvprof_ratings, utilization
from kernelcast.validation.thesis import (
    CASES,
    ThesisCase,
    measured_devices,
    published_times,
)
from kernelcast.workload.file import load_workload

EXAMPLES = Path(__file__).parents[3] / "examples"
RATINGS = Path(__file__).parents[1] / "data" / "thesis_utilization.csv"
RATED = {"sor/sor.toml": "SOR", "lmsor/lmsor.toml": "LMSOR", "sgemm/sgemm32.toml": "SGEMM 32x32"}
EXPLAINED = {
    ("SOR", "gtx-480", "alu_fu"),
    ("SOR", "tesla-k20c", "l2"),
    ("LMSOR", "tesla-k20c", "l2"),
    ("LMSOR", "gtx-660", "l2"),
}
"""Deviations of more than two tenths: docs/deviations.md, T4 and T5."""


def ratings(workload: str) -> list[dict[str, str]]:
    with RATINGS.open(newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["kernel"] == RATED.get(workload)]


@pytest.fixture(scope="module", params=["sor/sor", "lmsor/lmsor", "sgemm/sgemm32", "sgemm/sgemm16"])
def executed(request: pytest.FixtureRequest) -> tuple[str, KernelTrace]:
    name: str = request.param
    file = f"{name}.toml"
    rated = {row["device"] for row in ratings(file)}
    devices = sorted({"gtx-480", *measured_devices(file), *rated})
    return file, load_workload(EXAMPLES / file).run(devices=devices, record_paths=bool(rated))


def between(value: float, reference: float, below: float, above: float) -> bool:
    return reference * (1 - below) <= value <= reference * (1 + above)


def check_sor(profile: KernelProfile) -> None:
    counts, traffic = profile.instructions, profile.traffic
    assert counts.fma64 == 8192 * 4096
    assert counts.load_store == 2 * 4097 * 8192 + 4 * 4097 * 2048 + 2 * 65 * 8192 + 6 * 8192 * 4096
    assert counts.load_store == 303_079_424
    assert traffic.dram_write_transactions == 8_392_704
    assert between(counts.fp64, 218_107_904, 0.08, 0.08)
    assert between(traffic.dram_read_transactions, 17_660_604, 0.06, 0.06)


def check_lmsor(profile: KernelProfile) -> None:
    counts, traffic = profile.instructions, profile.traffic
    assert counts.fma64 == 5 * 3840 * 1920 == 36_864_000
    assert counts.fp64 == 18 * 3840 * 1920
    assert between(counts.fp64, 132_964_096, 0.002, 0.002)
    assert between(traffic.dram_write_transactions, 1_854_478, 0.01, 0.01)
    assert between(traffic.dram_read_transactions, 9_577_528, 0.05, 0.05)


def check_sgemm32(profile: KernelProfile) -> None:
    counts, traffic = profile.instructions, profile.traffic
    threads = 1280 * 640
    assert counts.fma32 == counts.fp32 == threads * 640 == 524_288_000
    assert counts.load_store == threads * (20 * (2 + 2 + 32 + 8) + 1) == 721_715_200
    assert between(counts.warp_instructions, 46_208_000, 0.05, 0.05)
    assert between(counts.integer, 164_659_200, 0.2, 0.2)
    assert traffic.dram_write_transactions == threads * 4 // 32 == 102_400
    assert 153_600 <= traffic.dram_read_transactions <= 2_250_000


def check_sgemm16(profile: KernelProfile) -> None:
    counts = profile.instructions
    assert counts.load_store / (1280 * 640) == 961
    assert profile.occupancy is not None
    assert profile.occupancy.thread_blocks_per_sm * 15 == 90
    assert between(profile.traffic.dram_bytes, 61_806_400, 0.1, 0.1)
    assert between(counts.warp_instructions * 32 / (1280 * 640), 2120, 0.05, 0.05)


CHECKS = {
    "sor/sor.toml": check_sor,
    "lmsor/lmsor.toml": check_lmsor,
    "sgemm/sgemm32.toml": check_sgemm32,
    "sgemm/sgemm16.toml": check_sgemm16,
}


def tolerance(case: ThesisCase, device: str) -> float:
    """PTX has more integer instructions than the GTX-480's own code; that GPU is near balance."""
    return 0.15 if device == "gtx-480" and case.kernel in ("SOR", "LMSOR") else 0.10


def test_counters_and_predicted_times(executed: tuple[str, KernelTrace]) -> None:
    workload, trace = executed
    CHECKS[workload](trace.profile(load_device("gtx-480")))
    compared = 0
    for case in (case for case in CASES if case.workload == workload):
        for device, predicted_s, _ in published_times(case):
            profile = trace.profile(load_device(device))
            found = estimate(profile, "quantitative-roofline").time_s
            assert found == pytest.approx(predicted_s, rel=tolerance(case, device)), device
            compared += 1
    assert compared == {"sor/sor.toml": 7, "sgemm/sgemm16.toml": 1}.get(workload, 6)


def rated(trace: KernelTrace, device: Device) -> dict[str, int]:
    """The ratings of an estimate, without all the rest of it."""
    kernel = trace.profile(device).derived(timed_warps)
    assert kernel is not None
    return nvprof_ratings(utilization(kernel, device, launch_timing(kernel, device)), device)


def test_ratings_are_within_two_tenths(executed: tuple[str, KernelTrace]) -> None:
    """The smaller thread blocks of SGEMM have none."""
    workload, trace = executed
    rows = ratings(workload)
    assert bool(rows) == (workload in RATED)
    predicted = {name: rated(trace, load_device(name)) for name in {row["device"] for row in rows}}
    far = set()
    for row in rows:
        if abs(predicted[row["device"]][row["metric"]] - float(row["rating"])) > 2:
            far.add((row["kernel"], row["device"], row["metric"]))
    assert far <= EXPLAINED
