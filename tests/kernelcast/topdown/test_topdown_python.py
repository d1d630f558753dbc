"""`kernelcast.topdown`: traces, profiles and profilers' files, as a script uses them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import kernelcast as kc
from kernelcast.errors import KernelcastError, MetricsError, ModelNotApplicable
from kernelcast.simcore.profile.timed import timed_warps
from kernelcast.simcore.timing.launch.launch_timing import launch_timing

DATA = Path(__file__).parents[1] / "data" / "topdown"
SAXPY = Path(__file__).parents[3] / "examples" / "saxpy" / "saxpy.toml"
GPU = "quadro-rtx-4000"


@pytest.fixture(scope="module")
def trace() -> kc.KernelTrace:
    return kc.load_workload(SAXPY).run("small", record_paths=True)


def test_a_trace_is_divided_on_a_device(trace: kc.KernelTrace) -> None:
    """The retired part is what the simulation issued, with the active lanes that were counted."""
    found = kc.topdown(trace, GPU)
    profile = trace.profile(GPU)
    timed = profile.derived(timed_warps)
    assert timed is not None
    timing = launch_timing(timed, kc.device(GPU))
    retired = timing.issued / timing.full_cycles * (profile.divergence or 1.0)
    assert found.total["Retire"].ipc == pytest.approx(retired)
    assert found.total.ipc_max == 4.0
    assert sum(part.ipc for part in found.total.parts) == pytest.approx(4.0, abs=1e-9)
    assert any("saxpy" in line.place for line in found.hot_lines)


def test_a_profile_is_divided_on_its_own_device_or_another(trace: kc.KernelTrace) -> None:
    profile = trace.profile(GPU)
    assert kc.topdown(profile).total == kc.topdown(trace, GPU).total
    other = kc.topdown(profile, kc.device("gtx-1070")).total
    assert (other.device, other.ipc_max) == ("gtx-1070", 8.0)


def test_a_file_says_the_same_as_the_command_line(output: Callable[..., str]) -> None:
    file = str(DATA / "nvprof_summary.csv")
    found = kc.topdown(file, "gtx-1070")
    record = json.loads(output("topdown", "--metrics", file, "--device", "gtx-1070", "--json"))
    percents = {part["name"]: part["percent"] for part in record["parts"]}
    assert {part.name: part.percent for part in found.total.parts} == pytest.approx(percents)
    assert len(found.kernels) == 2
    one = kc.topdown(DATA / "nvprof_summary.csv", "gtx-1070", kernel="stencil")
    assert one.total["Retire"].percent == pytest.approx(15)


def test_strict_and_capability_are_for_files() -> None:
    found = kc.topdown(DATA / "ncu_raw.csv", compute_capability="7.5", strict=True)
    assert "Unattributed" in [part.name for part in found.total.parts]
    assert found.total.device == "compute capability 7.5"


def test_it_prints_itself(trace: kc.KernelTrace) -> None:
    text = str(kc.topdown(trace, GPU))
    assert text.startswith("saxpy on quadro-rtx-4000: IPC_MAX 4")
    assert "\n    Memory Bound" in text
    assert "\n      DRAM" in text
    assert "FP64 Pipe" not in text, "no share on the last level"
    assert "where warps wait" in text
    assert "assumed: one SM, until" in text


def test_what_does_not_go_together_is_said(trace: kc.KernelTrace) -> None:
    with pytest.raises(KernelcastError, match="name the GPU to simulate"):
        kc.topdown(trace)
    with pytest.raises(KernelcastError, match="for a profiler's file, not for a simulation"):
        kc.topdown(trace, GPU, strict=True)
    with pytest.raises(KernelcastError, match="either a device or a compute capability"):
        kc.topdown(DATA / "ncu_raw.csv", GPU, compute_capability="7.5")
    with pytest.raises(MetricsError, match=r"no\.csv: No such file"):
        kc.topdown("no.csv", GPU)
    with pytest.raises(ModelNotApplicable, match="cannot be simulated"):
        kc.topdown(kc.load_workload(SAXPY).run("small", record_paths=False), GPU)


def test_separate_tables_of_events_and_metrics_are_one_kernel(tmp_path: Path) -> None:
    """nvprof --events --metrics prints a table each, with text of its own between them."""
    stalls = "inst_fetch sync other memory_dependency constant_memory_dependency memory_throttle"
    rows = {f"stall_{name}": "5.0%" for name in (*stalls.split(), "pipe_busy")}
    rows |= {"stall_exec_dependency": "65.0%", "warp_execution_efficiency": "100.00%"}
    rows |= {"ipc": "2.0", "issued_ipc": "2.0"}
    place = '"GeForce GTX 1070 (0)","k(int)",3'
    header = '"Device","Kernel","Invocations"'
    file = tmp_path / "both.csv"
    file.write_text(
        "==7== NVPROF is profiling process 7\n==7== Event result:\n"
        f'{header},"Event Name","Min","Max","Avg","Total"\n'
        f'{place},"elapsed_cycles_sm",10,30,20,60\n\n==7== Metric result:\n'
        f'{header},"Metric Name","Metric Description","Min","Max","Avg"\n'
        + "".join(f'{place},"{name}","d",{value},{value},{value}\n' for name, value in rows.items())
    )
    found = kc.topdown(file, "gtx-1070")
    assert [kernel.launch_count for kernel in found.kernels] == [3]
    assert found.kernels[0].weight == 60
    assert found.total["Retire"].percent == pytest.approx(25)
    assert found.total["Core Bound"].percent == pytest.approx(75 * 0.70)
