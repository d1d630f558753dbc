"""KernelProfile from profiler metrics: the same kernel through every tool's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from kernelcast.errors import MetricsError
from kernelcast.simcore.profile.measured_profile import profile_from_metrics
from kernelcast.simcore.profile.metric_vocabularies import (
    NCU,
    NVPROF,
    REQUIRED,
    ROCPROF,
    Vocabulary,
)
from kernelcast.simcore.profile.profile import InstructionCounts, KernelProfile, LaunchShape
from kernelcast.traces.profilers.metric_table import KernelMetrics, LaunchMetrics, ProfilerTool
from kernelcast.traces.profilers.metrics import read_metrics

FIXTURES = Path(__file__).parents[2] / "traces" / "fixtures"
SHAPE = LaunchShape((65, 2048, 1), (64, 4, 1))


def measured(metrics: Mapping[str, float]) -> KernelMetrics:
    return KernelMetrics("k(int)", ProfilerTool.PLAIN, (LaunchMetrics(metrics),))


def all_of(vocabulary: Vocabulary) -> dict[str, float]:
    """Every metric that the required fields need first, with the value 10."""
    return {name: 10.0 for field in REQUIRED for name in vocabulary.fields[field][0].metrics}


@pytest.mark.parametrize(
    ("file", "shape"),
    [
        ("plain.csv", None),
        ("nvprof_summary.csv", None),
        ("nvprof_trace.csv", SHAPE),
        ("ncu_details.csv", SHAPE),
        ("ncu_raw.csv", SHAPE),
    ],
)
def test_sor_through_every_nvidia_layout(
    file: str, shape: LaunchShape | None, thesis_profile: Callable[[str], KernelProfile]
) -> None:
    """All files hold Table 4.4; the table read directly is the oracle."""
    expected = thesis_profile("sor")
    found = profile_from_metrics(
        read_metrics(FIXTURES / file).kernel("sor_red"), "sor", "gtx-480", repeats=4
    )
    assert replace(found.instructions, thread_instructions=None) == expected.instructions
    assert found.traffic.dram_bytes == pytest.approx(expected.traffic.dram_bytes, rel=1e-12)
    assert found.launch == shape
    assert (found.kernel, found.device, found.repeats) == ("sor", "gtx-480", 4)
    assert found.warp_width == 32


def test_optional_metrics_of_nvprof() -> None:
    found = profile_from_metrics(
        read_metrics(FIXTURES / "nvprof_summary.csv").kernel("sor_red"), "", "gtx-480"
    )
    assert found.kernel.startswith("sor_red(")
    assert found.instructions.thread_instructions == 1_790_000_000
    assert found.divergence == pytest.approx(0.994)
    assert found.instructions.conversion is None  # not collected is not zero
    assert found.shared is None


@pytest.mark.parametrize("efficiency", [0.994, 99.4])
def test_divergence_is_a_share_even_where_the_percent_sign_is_lost(efficiency: float) -> None:
    metrics = {**all_of(NVPROF), "warp_execution_efficiency": efficiency}
    assert profile_from_metrics(measured(metrics), "k", "gtx-480").divergence == pytest.approx(
        0.994
    )


def test_rocprof_counts_wavefronts() -> None:
    """75 % of 64 lanes for vector instructions; FETCH_SIZE and WRITE_SIZE in KiB."""
    found = profile_from_metrics(
        read_metrics(FIXTURES / "rocprof.csv").kernel("scale"), "scale", "mi210"
    )
    lanes = 64 * 0.75
    assert found.instructions == InstructionCounts(
        fma32=40_000 * lanes,
        fma64=0.0,
        fp32=(10_000 + 5_000 + 40_000 + 100) * lanes,
        fp64=0.0,
        integer=32_000 * lanes,
        load_store=(12_000 + 4_000 + 8_000) * lanes,
        warp_instructions=100_000 + 20_000 + 5_000 + 12_000 + 4_000 + 8_000 + 1_000,
        special_function=100 * lanes,
    )
    assert found.traffic.dram_bytes == 3072 * 1024
    assert found.warp_width == 64
    assert found.divergence == 0.75
    assert "75.0% of lanes active" in found.assumptions[0]


def test_rocprof_without_utilization_assumes_full_wavefronts() -> None:
    found = profile_from_metrics(measured(all_of(ROCPROF)), "k", "mi210")
    assert found.instructions.fma32 == 10 * 64
    assert "all lanes active" in found.assumptions[0]


@pytest.mark.parametrize("vocabulary", [NVPROF, NCU, ROCPROF], ids=lambda item: item.tool)
def test_each_missing_metric_is_named_as_the_tool_names_it(vocabulary: Vocabulary) -> None:
    complete = all_of(vocabulary)
    profile_from_metrics(measured(complete), "k", "any")
    for left_out in complete:
        rest = {name: value for name, value in complete.items() if name != left_out}
        with pytest.raises(MetricsError, match=f"these {vocabulary.tool} metrics") as raised:
            profile_from_metrics(measured(rest), "k", "any")
        assert str(raised.value).endswith(left_out)


def test_metric_without_a_value_is_told_apart_from_one_not_asked_for() -> None:
    black = read_metrics(FIXTURES / "nvprof_summary.csv").kernel("sor_black")
    with pytest.raises(MetricsError, match=r"inst_fp_64 \(asked for, without a") as raised:
        profile_from_metrics(black, "sor_black", "gtx-480")
    assert "flop_count_sp_fma" in str(raised.value)
    assert "inst_executed" not in str(raised.value)


def test_multiply_adds_need_no_metric_where_there_are_no_operations() -> None:
    metrics = all_of(NVPROF) | {"inst_fp_64": 0.0}
    del metrics["flop_count_dp_fma"]
    assert profile_from_metrics(measured(metrics), "k", "any").instructions.fma64 == 0


def test_bytes_replace_transactions() -> None:
    metrics = all_of(NVPROF) | {"dram_read_bytes": 640.0}
    del metrics["dram_read_transactions"]
    found = profile_from_metrics(measured(metrics), "k", "any")
    assert found.traffic.dram_read_transactions == 20


def test_shared_memory_needs_requests_and_wavefronts() -> None:
    some = all_of(NCU) | {
        "smsp__inst_executed_op_shared_ld.sum": 1.0,
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": 2.0,
        "smsp__inst_executed_op_shared_st.sum": 3.0,
    }
    assert profile_from_metrics(measured(some), "k", "any").shared is None
    some["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"] = 4.0
    shared = profile_from_metrics(measured(some), "k", "any").shared
    assert shared is not None
    assert (shared.load_requests, shared.load_wavefronts) == (1, 2)
    assert (shared.store_requests, shared.store_wavefronts) == (3, 4)


def test_refusals() -> None:
    with pytest.raises(MetricsError, match="negative"):
        profile_from_metrics(measured(all_of(NVPROF) | {"inst_integer": -1.0}), "k", "any")
    with pytest.raises(MetricsError, match="no metric of nvprof, ncu or rocprof"):
        profile_from_metrics(measured({"something": 1.0}), "k", "any")
