"""Compute benchmarks on a synthetic GPU: known throughputs and latencies, wrong results, limits."""

from __future__ import annotations

import math
import runpy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kernelcast.errors import BenchmarkError
from kernelcast.opencl_bench.benchmark import Effort
from kernelcast.opencl_bench.compute import COMPUTE_BENCHMARKS, arithmetic, work_items
from kernelcast.opencl_bench.compute.arithmetic import latency, throughput
from kernelcast.opencl_bench.compute.chains import settings_for
from kernelcast.opencl_bench.compute.float_operations import basic, functions
from kernelcast.opencl_bench.compute.operations import Operation
from kernelcast.opencl_bench.compute.verification import check_words
from kernelcast.opencl_bench.measurement import Finding, Measurement, Unit

device: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).with_name("synthetic_device.py")))
)

BY_NAME = {benchmark.name: benchmark for benchmark in COMPUTE_BENCHMARKS}
MULTIPLY_ADD = basic("fp32")[0]
PEAK = 2 * device.UNITS * device.LANES_A_CLOCK * device.CLOCK_HZ
LOCAL_PEAK = device.UNITS * device.LOCAL_BYTES_A_CLOCK * device.CLOCK_HZ
SYNTHETIC = (
    "fp32_over_work_groups",
    "fp32_over_warps",
    "fp32_over_work_group_size",
    "fp32_over_chains",
    "fp32_over_divergence",
    "local_bandwidth",
    "local_load_store",
    "local_over_warps",
    "local_over_stride",
    "atomics",
    "barriers",
    "launches",
)


def findings(name: str, effort: Effort = Effort.QUICK, **changes: Any) -> dict[str, Finding]:
    target = device.SyntheticTarget(**changes)
    return {item.name: item for item in BY_NAME[name].measure(target, effort)}


def curve(name: str, finding: str, effort: Effort = Effort.FULL) -> dict[int, float]:
    found: Any = findings(name, effort)[finding]
    return {int(point.x): point.y for point in found.points}


@pytest.mark.parametrize("effort", Effort)
def test_throughput_is_that_of_the_device(effort: Effort) -> None:
    found = throughput(device.SyntheticTarget(), MULTIPLY_ADD, effort)
    assert found.name == "fp32_multiply_add_throughput"
    assert found.unit is Unit.OPERATIONS_PER_S
    assert found.value == pytest.approx(PEAK, rel=1e-9)
    assert found.spread == pytest.approx(0)


def test_latency_is_that_of_one_chain() -> None:
    found = latency(device.SyntheticTarget(), MULTIPLY_ADD, Effort.QUICK)
    assert found.unit is Unit.SECONDS
    assert found.value == pytest.approx(device.LATENCY_CLOCKS / device.CLOCK_HZ, rel=1e-9)


def test_plain_work_items_of_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scalars in work-groups; a GPU's other throughputs are of such work-items already."""
    monkeypatch.setattr(work_items, "_OPERATIONS", (MULTIPLY_ADD,))
    cpu = device.SyntheticTarget(facts=replace(device.FACTS, is_cpu=True, llvm_float_width=16))
    (benchmark,) = work_items.WORK_ITEM_BENCHMARKS
    for effort in Effort:
        found: Any = benchmark.measure(cpu, effort)[0]
        assert found.name == "work_item_fp32_multiply_add_throughput"
        assert found.value == pytest.approx(PEAK)
        assert "chains of 1 lanes" in found.method
    assert {program.defines["LANES_32"] for program in cpu.asked} == {""}
    assert not benchmark.measure(device.SyntheticTarget(), Effort.FULL)


def test_the_best_setting_counts() -> None:
    """More chains than the device keeps in flight lose: the smaller setting is reported."""

    class Spilling(device.SyntheticTarget):  # type: ignore[misc]
        def seconds(self, kernel: Any, *rest: Any) -> Any:
            slow = 3 if kernel.defines["CHAINS"] > 4 else 1
            return slow * super().seconds(kernel, *rest)

    assert throughput(Spilling(), MULTIPLY_ADD, Effort.FULL).value == pytest.approx(PEAK)
    assert throughput(Spilling(), MULTIPLY_ADD, Effort.QUICK).value == pytest.approx(PEAK / 3)


def test_throughput_saturates_over_chains() -> None:
    """One warp for each unit: a chain gives 32 lanes every 6 clocks, until 64 lanes a clock."""
    one_chain = 2 * device.UNITS * device.WARP * device.CLOCK_HZ / device.LATENCY_CLOCKS
    for chains, found in curve(
        "fp32_over_chains", "fp32_multiply_add_throughput_over_chains"
    ).items():
        assert found == pytest.approx(min(chains * one_chain, PEAK))


def test_throughput_saturates_over_warps() -> None:
    one_warp = 2 * device.UNITS * device.WARP * device.CLOCK_HZ / device.LATENCY_CLOCKS
    found = curve("fp32_over_warps", "fp32_multiply_add_throughput_over_warps")
    assert set(range(1, 13)) <= found.keys()
    for warps, value in found.items():
        assert value == pytest.approx(min(warps * one_warp, PEAK))


def test_work_groups_beyond_the_units_wait_for_the_next_round() -> None:
    found = curve("fp32_over_work_groups", "fp32_multiply_add_throughput_over_work_groups")
    assert {1, 2, 3, 4, 5, 8, 16} <= found.keys()
    for groups, value in found.items():
        rounds = math.ceil(groups / device.UNITS)
        assert value == pytest.approx(PEAK * groups / device.UNITS / rounds)


def test_sizes_of_one_work_group_are_not_only_whole_warps() -> None:
    found = curve("fp32_over_work_group_size", "fp32_multiply_add_throughput_over_work_group_size")
    assert {28, 32, 36, 64, 68, 128} <= found.keys()
    assert not findings("fp32_over_work_group_size", Effort.QUICK)


def test_runs_shorter_than_a_warp_take_both_branches() -> None:
    found = curve("fp32_over_divergence", "fp32_throughput_over_divergence_run")
    assert found[16] == pytest.approx(PEAK / 2)
    assert found[32] == pytest.approx(PEAK)


@pytest.mark.parametrize("bits", [32, 64, 128])
def test_local_bandwidth(bits: int) -> None:
    found: Any = findings("local_bandwidth")[f"local_bandwidth_{bits}_bit"]
    assert found.value == pytest.approx(LOCAL_PEAK)


def test_loads_and_stores_count_words() -> None:
    found: Any = findings("local_load_store")["local_load_store_throughput"]
    assert found.unit is Unit.OPERATIONS_PER_S
    assert found.value == pytest.approx(LOCAL_PEAK / 4)
    simd = replace(device.FACTS, is_cpu=True, llvm_float_width=8)
    cpu: Any = findings("local_load_store", facts=simd)["local_load_store_throughput"]
    assert cpu.value == pytest.approx(LOCAL_PEAK / 4)
    assert "swaps of 32 bits" in cpu.method


def test_strides_show_the_banks() -> None:
    found = curve("local_over_stride", "local_load_bandwidth_over_stride", Effort.QUICK)
    assert {1, 2, 3, 16, 32, 33} <= found.keys()
    for stride, value in found.items():
        assert value == pytest.approx(LOCAL_PEAK / math.gcd(stride, device.BANKS))


def test_atomics() -> None:
    found: Any = findings("atomics", warm_ups=3)
    rate = device.CLOCK_HZ / device.ATOMIC_CLOCKS
    contended = device.CLOCK_HZ / device.CONTENDED_CLOCKS
    assert found["global_atomic_throughput"].value == pytest.approx(rate)
    assert found["global_atomic_contended_throughput"].value == pytest.approx(contended)
    assert found["local_atomic_throughput"].value == pytest.approx(device.UNITS * rate)
    assert found["local_atomic_contended_throughput"].value == pytest.approx(
        device.UNITS * contended
    )


def test_barriers() -> None:
    found: Any = findings("barriers", Effort.FULL)
    for size, value in curve("barriers", "barrier_time_over_work_group").items():
        clocks = device.BARRIER_CLOCKS + device.BARRIER_CLOCKS_A_WARP * math.ceil(size / 32)
        assert value == pytest.approx(clocks / device.CLOCK_HZ)
    assert found["barrier_time"].value == pytest.approx((20 + 4 * 8) / device.CLOCK_HZ)


def test_launches() -> None:
    found: Any = findings("launches", Effort.FULL)
    assert found["launch_overhead"].value == pytest.approx(device.LAUNCH_S + device.AWAIT_S)
    assert found["launch_rate"].value == pytest.approx(1 / device.LAUNCH_S, rel=0.01)


@pytest.mark.parametrize("name", SYNTHETIC)
def test_a_wrong_result_is_an_error(name: str) -> None:
    effort = Effort.FULL if name == "fp32_over_work_group_size" else Effort.QUICK
    with pytest.raises(BenchmarkError, match=r"kernel \w+"):
        findings(name, effort, damage=1)


def test_a_wrong_chain_names_its_place() -> None:
    with pytest.raises(BenchmarkError, match=r"fp32_multiply_add_throughput: result \[\d+, 0\]"):
        throughput(device.SyntheticTarget(damage=1), MULTIPLY_ADD, Effort.QUICK)


def test_not_a_number_is_never_near_enough() -> None:
    good = np.array([1.0, 2.0])
    check_words("k", good * (1 + 1e-6), good, tolerance=1e-5)
    for bad in (np.array([1.0, np.nan]), np.array([1.0, np.inf]), good * (1 + 1e-4)):
        with pytest.raises(BenchmarkError, match="kernel k"):
            check_words("k", bad, good, tolerance=1e-5)


def test_small_devices_get_work_groups_that_fit() -> None:
    small = replace(device.FACTS, max_work_group=16, local_bytes=1 << 11)
    for name in SYNTHETIC:
        assert findings(name, facts=small) or name == "fp32_over_work_group_size"


def test_local_memory_too_small_for_a_work_item_is_an_error() -> None:
    for name in ("local_bandwidth", "local_load_store", "local_over_warps"):
        with pytest.raises(BenchmarkError, match="local memory"):
            findings(name, facts=replace(device.FACTS, local_bytes=32))


def test_macros_say_what_the_device_has() -> None:
    target = device.SyntheticTarget(facts=replace(device.FACTS, features=frozenset()))
    throughput(target, MULTIPLY_ADD, Effort.QUICK)
    (program,) = target.asked
    assert program.defines["LANES_32"] == ""
    assert program.defines["LANES_16"] == "2"
    assert not {"HAS_FP64", "HAS_FP16", "IS_CPU"} & program.defines.keys()


def test_functions_try_only_settings_that_differ_for_them() -> None:
    """Functions have a fixed number of chains; a CPU's scalars and vectors remain."""
    cpu = replace(device.FACTS, is_cpu=True, llvm_float_width=16)
    sqrt = next(item for item in functions("fp32") if item.name == "fp32_sqrt")
    lanes = [setting.lanes(4) for setting in settings_for(sqrt, cpu, Effort.FULL)]
    assert lanes == [16, 1]
    assert len(settings_for(sqrt, device.FACTS, Effort.FULL)) == 1
    assert len(settings_for(MULTIPLY_ADD, cpu, Effort.FULL)) > 2


def test_quick_sessions_leave_most_functions_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three throughputs, of which special function throughput is made, are left."""

    def measured(target: object, operation: Operation, effort: Effort) -> Measurement:
        return Measurement(operation.name, 1.0, Unit.OPERATIONS_PER_S, 0.0, 1, "")

    monkeypatch.setattr(arithmetic, "throughput", measured)
    monkeypatch.setattr(arithmetic, "latency", measured)
    assert set(findings("fp32_functions")) == {"fp32_exp", "fp32_log", "fp32_sin"}
    for name in ("fp32_native", "fp64_functions"):
        assert not findings(name)
    full = BY_NAME["fp32_functions"].measure(device.SyntheticTarget(), Effort.FULL)
    assert [item.name for item in full].count("fp32_exp") == 2


def test_names_of_benchmarks_are_unique() -> None:
    assert len(BY_NAME) == len(COMPUTE_BENCHMARKS)
