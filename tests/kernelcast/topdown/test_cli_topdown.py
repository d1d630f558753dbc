"""`kernelcast topdown` on files of both profilers; their numbers are chosen to be easy by hand."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kernelcast as kc
from kernelcast.errors import ModelNotApplicable
from kernelcast.topdown_analysis.simulated import simulated_topdown

DATA = Path(__file__).parents[1] / "data" / "topdown"
DIVERGENT = str(Path(__file__).parents[3] / "examples" / "divergent" / "divergent.toml")
SUMMARY = ("--metrics", str(DATA / "nvprof_summary.csv"), "--device", "gtx-1070")
TRACE = ("--metrics", str(DATA / "nvprof_trace.csv"), "--device", "gtx-1070")
DETAILS = ("--metrics", str(DATA / "ncu_details.csv"), "--compute-capability", "7.5")
RAW = ("--metrics", str(DATA / "ncu_raw.csv"), "--device", "quadro-rtx-4000")

Output = Callable[..., str]


def analysed(output: Output, *arguments: str) -> Any:
    return json.loads(output("topdown", *arguments, "--json"))


def percents(record: Any) -> dict[str, float]:
    """Percent of the parts of all levels by name."""
    found = {}
    for part in record["parts"]:
        found[part["name"]] = part["percent"]
        found |= percents(part)
    return found


def test_json_has_the_documented_shape(output: Output) -> None:
    record = analysed(output, *RAW)
    assert list(record) == ["schema", "kernel", "device", "ipc_max", "parts", "assumptions"]
    assert (record["schema"], record["device"], record["ipc_max"]) == (1, "quadro-rtx-4000", 4.0)
    assert record["kernel"] == "hotspot(float*, int)"
    assert set(record["parts"][0]) == {"name", "ipc", "percent", "parts"}
    assert sum(part["ipc"] for part in record["parts"]) == pytest.approx(4.0, abs=1e-9)


def test_nvprof_summary(output: Output) -> None:
    """The stencil retires 1.6 x 0.75 of IPC_MAX 8 and loses 0.4, 0.4 and 6 to stalls.

    Of these the tables have 95 %: 5 % were not selected.
    """
    record = analysed(output, *SUMMARY, "--kernel", "stencil")
    found = percents(record)
    assert record["kernel"] == "stencil(float const *, float*, int)"
    assert found["Retire"] == pytest.approx(15)
    assert (found["Branch"], found["Replay"]) == pytest.approx((5, 5))
    assert found["Memory Bound"] == pytest.approx(75 * 60 / 95)
    assert found["Core Bound"] == pytest.approx(75 * 20 / 95)
    assert found["Frontend"] == pytest.approx(75 * 15 / 95)


def test_kernels_weigh_by_their_cycles(output: Output) -> None:
    """3 launches of 3 million cycles, 1 of 1 million: 90 % and 10 %."""
    record = analysed(output, *SUMMARY)
    assert record["kernel"] == "all 2 kernels"
    assert record["assumptions"] == ["launches weigh by elapsed_cycles_sm"]
    stencil, reduce = record["kernels"]
    assert (stencil["time_share"], reduce["time_share"]) == pytest.approx((0.9, 0.1))
    assert (stencil["launches"], reduce["launches"]) == (3, 1)
    for name, percent in percents(record).items():
        both = 0.9 * percents(stencil)[name] + 0.1 * percents(reduce)[name]
        assert percent == pytest.approx(both)


def test_ncu_details_with_average_warps(output: Output) -> None:
    """spmv: 10 warps wait, 6 for L1, 1 at barriers, 1 for the MIO, 2 for fixed latencies."""
    record = analysed(output, *DETAILS, "--kernel", "spmv")
    found = percents(record)
    assert record["device"] == "compute capability 7.5"
    assert (found["Retire"], found["Branch"], found["Replay"]) == pytest.approx((10, 10, 5))
    assert (found["L1"], found["MIO Throttle"]) == pytest.approx((45, 7.5))
    assert (found["Barrier"], found["Fixed Latency"]) == pytest.approx((7.5, 15))


def test_kernels_weigh_by_their_times(output: Output) -> None:
    """spmv runs three times as long as axpy."""
    assert percents(analysed(output, *DETAILS))["Retire"] == pytest.approx(0.75 * 10 + 0.25 * 50)


def test_ncu_raw_with_printed_names(output: Output) -> None:
    """10 us at IPC 2, 30 us at IPC 1, 24 of 32 threads: 1.25 x 0.75 of 4 are retired."""
    found = percents(analysed(output, *RAW))
    assert found["Retire"] == pytest.approx(100 * 1.25 * 0.75 / 4)
    stalled = 100 * (4 - 1.1 * 1.25) / 4
    assert found["Backend"] == pytest.approx(stalled * 68 / 80)
    assert found["MIO Throttle"] == pytest.approx(stalled * 12 / 80)


def test_strict_follows_the_print(output: Output) -> None:
    """Three of the metrics, 22 %, are in no sum; 20 % of the warps were selected or eligible."""
    found = percents(analysed(output, *RAW, "--strict"))
    stalled = 100 * (4 - 1.1 * 1.25) / 4
    assert found["Backend"] == pytest.approx(stalled * 0.46)
    assert found["Unattributed"] == pytest.approx(stalled * 0.42)
    assert "MIO Throttle" not in found


@pytest.mark.parametrize(("level", "deepest"), [(1, 1), (2, 2), (3, 3)])
def test_levels(output: Output, level: int, deepest: int) -> None:
    text = output("topdown", *RAW, "--level", str(level), "--csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert max(int(row["level"]) for row in rows) == deepest
    assert sum(float(row["ipc"]) for row in rows if row["level"] == "1") == pytest.approx(4.0)
    assert all(len(row["part"].split("/")) == int(row["level"]) for row in rows)


def test_invocations_one_by_one(output: Output) -> None:
    """A second phase begins after the third invocation of each kernel: 40 us, then 20 us."""
    record = analysed(output, *TRACE, "--per-invocation", "--level", "1")
    first = [item for item in record["invocations"] if item["kernel"].startswith("srad_cuda_1")]
    assert [item["invocation"] for item in first] == [1, 2, 3, 4, 5, 6]
    retired = [percents(item)["Retire"] for item in first]
    assert retired == pytest.approx([95 / 8] * 3 + [20.0] * 3)
    mean = percents(record["kernels"][0])["Retire"]
    assert mean == pytest.approx((2 * 95 / 8 + 20.0) / 3)
    rows = list(csv.DictReader(io.StringIO(output("topdown", *TRACE, "--per-invocation", "--csv"))))
    assert {row["invocation"] for row in rows} == {"", *"123456"}


def test_text_shows_parts_kernels_and_invocations(output: Output) -> None:
    text = output("topdown", *TRACE, "--per-invocation", "--level", "2")
    assert "all 2 kernels on gtx-1070" in text
    assert "of IPC_MAX 8" in text
    assert "  Memory Bound" in text
    assert "Memory Dependency" not in text
    assert "invocation" in text


def test_text_leaves_out_what_has_no_share_on_the_last_level(output: Output) -> None:
    text = output("topdown", *DETAILS, "--kernel", "axpy")
    assert "Pipe Busy" in text
    assert "Decode Bound" not in text
    text = output("topdown", *DETAILS, "--kernel", "axpy", "-v")
    assert "Decode Bound" in text
    assert "Constant Memory" not in text


def test_simulated_kernel(output: Output) -> None:
    """Retired and lost to branches as the lanes that the profile counts; 4 x 2 dispatch units."""
    target = (DIVERGENT, "--device", "gtx-1070", "--json")
    record = json.loads(output("topdown", *target))
    found = percents(record)
    keys = (
        "schema",
        "kernel",
        "device",
        "ipc_max",
        "parts",
        "assumptions",
        "bottleneck",
        "hot_lines",
    )
    assert tuple(record) == keys
    assert 0 < sum(line["percent"] for line in record["hot_lines"]) <= 100
    assert all("divergent.ptx:" in line["place"] for line in record["hot_lines"])
    assert (record["kernel"], record["device"], record["ipc_max"]) == ("collatz", "gtx-1070", 8.0)
    assert sum(part["ipc"] for part in record["parts"]) == pytest.approx(8.0, abs=1e-9)
    active = json.loads(output("profile", *target))["metrics"]["warp_execution_efficiency"]
    assert 100 * found["Retire"] / (found["Retire"] + found["Branch"]) == pytest.approx(active)
    assert found["Memory Bound"] < found["Core Bound"]


def test_kernels_without_recorded_paths_are_not_simulated() -> None:
    device = kc.device("gtx-1070")
    profile = kc.load_workload(DIVERGENT).run(record_paths=False).profile(device)
    with pytest.raises(ModelNotApplicable, match="kernel collatz cannot be simulated: the paths"):
        simulated_topdown(profile, device)


def test_plain_files_may_use_any_names(output: Output, tmp_path: Path) -> None:
    file = tmp_path / "sor.csv"
    file.write_text(
        "metric,value\nipc,1\nissued_ipc,1\nwarp_execution_efficiency,50\nstall_inst_fetch,0\n"
        "stall_sync,0\nstall_other,0\nstall_memory_dependency,90\nstall_pipe_busy,0\n"
        "stall_constant_memory_dependency,0\nstall_memory_throttle,0\nstall_exec_dependency,10\n"
    )
    record = analysed(output, "--metrics", str(file), "--compute-capability", "6.0")
    assert record["kernel"] == "sor"
    assert percents(record)["Memory Bound"] == pytest.approx(75 * 0.9)


def test_launches_without_times_weigh_the_same_and_it_is_said(
    output: Output, tmp_path: Path
) -> None:
    file = tmp_path / "raw.csv"
    text = (DATA / "ncu_raw.csv").read_text()
    file.write_text(text.replace("gpu__time_duration.sum", "gpu__time_active.sum"))
    record = analysed(output, "--metrics", str(file), "--compute-capability", "7.5")
    assert percents(record)["Retire"] == pytest.approx(100 * 1.5 * 0.75 / 4)
    assert record["assumptions"] == [
        "all launches weigh the same: the file has no times (gpu__time_duration.sum)"
    ]


def test_missing_metrics_are_named(error: Output, tmp_path: Path) -> None:
    file = tmp_path / "some.csv"
    lines = (DATA / "ncu_details.csv").read_text().splitlines()
    kept = [line for line in lines if "inst_issued" not in line and "stalled_wait" not in line]
    file.write_text("\n".join(kept))
    message = error("topdown", "--metrics", str(file), "--compute-capability", "7.5")
    assert (
        "kernel spmv(int const *, float const *, float*): these ncu metrics are missing" in message
    )
    assert "sm__inst_issued.avg.per_cycle_active, smsp__average_warps_issue_stalled_wait" in message
    assert message.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "either a workload file or a profiler's file"),
        ((DIVERGENT, *SUMMARY), "either a workload file or a profiler's file"),
        ((DIVERGENT,), "name a GPU with --device"),
        ((DIVERGENT, "--strict"), "--strict goes with --metrics only"),
        ((DIVERGENT, "--compute-capability", "7.5"), "--compute-capability goes with --metrics"),
        ((*SUMMARY, "--size", "small"), "--size goes with a workload file only"),
        (SUMMARY[:2], "name a device or a compute capability"),
        ((*SUMMARY, "--compute-capability", "6.1"), "either --device or --compute-capability"),
        ((*SUMMARY[:2], "--device", "mi210"), "no IPC_MAX for compute capability gfx90a"),
        ((*SUMMARY[:2], "--compute-capability", "2.0"), "no IPC_MAX for compute capability 2.0"),
        ((*SUMMARY, "--kernel", "gemm"), "no kernels fit 'gemm'"),
        ((*SUMMARY, "--per-invocation"), "only the mean of 3 launches"),
        ((*RAW, "--plot", "a.pdf"), "plots are written as"),
        ((*RAW, "--plot", "a.png", "--per-invocation", "--chart", "sunburst"), "no invocations"),
        (("--metrics", "no.csv", "--compute-capability", "7.5"), "no.csv: No such file"),
    ],
)
def test_bad_input(error: Output, arguments: tuple[str, ...], message: str) -> None:
    assert message in error("topdown", *arguments)


def test_metrics_of_another_gpu_are_refused(error: Output, tmp_path: Path) -> None:
    file = tmp_path / "raw.csv"
    file.write_text((DATA / "ncu_raw.csv").read_text().replace('"2.2"', '"5.5"'))
    message = error("topdown", "--metrics", str(file), "--device", "quadro-rtx-4000")
    assert "its issued IPC 5.5 exceeds IPC_MAX 4 of quadro-rtx-4000" in message


@pytest.mark.parametrize("suffix", ["png", "svg"])
@pytest.mark.parametrize(
    "options", [(), ("--chart", "sunburst", "--level", "2"), ("--per-invocation",)]
)
def test_plots_are_written(
    output: Output, tmp_path: Path, suffix: str, options: tuple[str, ...]
) -> None:
    file = tmp_path / f"plot.{suffix}"
    output("topdown", *RAW, *options, "--plot", str(file))
    assert file.stat().st_size > 5000
