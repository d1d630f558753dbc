"""Launches that are estimated from a part of their thread blocks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.cli import main
from kernelcast.errors import LaunchError
from kernelcast.execution import path_samples, runnable, sampler
from kernelcast.execution.runnable import RunnableKernel
from kernelcast.execution.sampling import Sampling
from kernelcast.simcore.engine.path_sample import PathSample, record_paths
from kernelcast.simcore.launch.lazy_buffer import ELEMENTS_PER_CHUNK, LazyBuffer
from kernelcast.simcore.profile.timed import timed_warps

EXAMPLES = Path(__file__).parents[2] / "examples"
GPU = "gtx-1060-6gb"
SECTOR_BYTES = 32


def saxpy_workload(folder: Path, elements: int) -> Path:
    text = (EXAMPLES / "saxpy/saxpy.toml").read_text().partition("[check]")[0]
    text = text.replace('"saxpy.ptx"', f'"{EXAMPLES / "saxpy/saxpy.ptx"}"')
    file = folder / "large.toml"
    file.write_text(text.replace("16_777_216", str(elements)))
    return file


def sgemm(rows: int = 25600) -> tuple[RunnableKernel, dict[str, Any]]:
    """Thread blocks of 256 threads, of tiles of 16 x 16, twenty to a row of tiles."""
    n = 320
    kernel = kc.load(EXAMPLES / "sgemm/sgemm.ptx")
    a, b = (np.ones((size, n), np.float32) for size in (rows, n))
    arguments = {
        "grid": (n // 16, rows // 16),
        "block": (16, 16),
        "args": [a, b, np.zeros((rows, n), np.float32), np.uint32(n)],
    }
    return kernel["sgemm_16x16"], arguments


def test_a_launch_of_a_billion_threads_is_counted_exactly_and_needs_no_buffers(
    tmp_path: Path,
) -> None:
    n = 10**9
    workload = kc.load_workload(saxpy_workload(tmp_path, n))
    trace = workload.run(devices=[GPU], sampling=Sampling.AUTO)  # 8 GB of buffers otherwise
    profile = trace.profile(GPU)
    assert profile.traffic is not None
    assert profile.traffic.dram_read_transactions == pytest.approx(8 * n / SECTOR_BYTES)
    assert profile.traffic.dram_write_transactions == pytest.approx(4 * n / SECTOR_BYTES)
    warps = 8 * -(-n // 256)
    lanes = trace.data.classes.totals()[1]
    stores = [row.pc for row in trace.data.instructions if row.kind == "store"]
    assert lanes[stores].sum() == n
    assert trace.data.classes.totals()[0].max() == warps
    assert any("of the thread blocks" in text for text in profile.assumptions)


def test_paths_of_a_billion_threads_need_no_buffers(tmp_path: Path) -> None:
    workload = kc.load_workload(saxpy_workload(tmp_path, 10**9))
    trace = workload.run(devices=[GPU], sampling=Sampling.AUTO, record_paths=True)
    timed = trace.profile(GPU).derived(timed_warps)
    assert timed is not None
    issues = trace.data.classes.warp_issues[0].sum()
    assert len(timed.paths.pc) == len(timed.paths.thread_blocks) * issues
    assert timed.path_share == pytest.approx(1.0)


def test_counts_of_a_sampled_launch_are_those_of_an_execution_and_traffic_is_near() -> None:
    kernel, launch = sgemm()
    sampled = kernel.run(**launch, devices=[GPU], sampling=Sampling.ALWAYS)
    assert not launch["args"][2].any()
    exact = kernel.run(**launch, devices=[GPU])
    assert launch["args"][2].all()
    counts = zip(sampled.data.classes.totals(), exact.data.classes.totals(), strict=True)
    for sampled_counts, exact_counts in counts:
        np.testing.assert_array_equal(sampled_counts, exact_counts)
    found, expected = (trace.profile(GPU) for trace in (sampled, exact))
    assert found.instructions == expected.instructions
    assert found.shared == expected.shared
    assert found.traffic is not None
    assert expected.traffic is not None
    assert found.traffic.global_load_sectors == expected.traffic.global_load_sectors
    assert found.traffic.dram_read_transactions == pytest.approx(
        expected.traffic.dram_read_transactions, rel=0.02
    )
    sample = sampled.simulated[0].memory.sample
    assert sample is not None
    assert sample.share < 0.5
    assert exact.simulated[0].memory.sample is None


def test_small_launches_are_executed_unless_a_sample_is_asked_for() -> None:
    kernel, launch = sgemm(rows=1600)
    trace = kernel.run(**launch, devices=[GPU], sampling=Sampling.AUTO)
    assert launch["args"][2].all()
    assert trace.simulated[0].memory.sample is None


def test_few_threads_with_much_work_are_sampled() -> None:
    kernel, launch = sgemm()
    assert launch["args"][2].size < 10**7
    trace = kernel.run(**launch, devices=[GPU], sampling=Sampling.AUTO)
    assert not launch["args"][2].any()
    sample = trace.simulated[0].memory.sample
    assert sample is not None


def test_paths_of_few_warps_are_recorded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen warps that issue as much as paths of samples hold are executed in the end."""
    asked: list[int] = []

    def recorded(*given: Any, most_events: int, **options: Any) -> PathSample:
        asked.append(most_events)
        return record_paths(*given, most_events=most_events, **options)

    monkeypatch.setattr(path_samples, "record_paths", recorded)
    monkeypatch.setattr(sampler, "MOST_EVENTS_OF_SAMPLE", 1 << 10)
    monkeypatch.setattr(sampler, "MOST_EVENTS", 1 << 12)
    monkeypatch.setattr(runnable, "MOST_EVENTS", 1 << 12)
    kernel, launch = sgemm(rows=1600)
    few = launch | {"grid": (1, 2)}
    trace = kernel.run(**few, devices=[GPU], sampling=Sampling.AUTO, record_paths=True)
    paths = trace.data.paths
    assert paths is not None
    assert not paths.is_complete
    assert asked == [1 << 12]
    assert len(paths.pc) > 1 << 10


def test_devices_of_both_warp_widths_are_sampled(tmp_path: Path) -> None:
    workload = kc.load_workload(saxpy_workload(tmp_path, 3 * 10**8))
    trace = workload.run(devices=[GPU, "r9-nano"], sampling=Sampling.AUTO)
    assert [item.warp_width for item in trace.traces] == [32, 64]
    for device in (GPU, "r9-nano"):
        assert any("of the thread blocks" in text for text in trace.profile(device).assumptions)


def test_a_grid_too_small_for_samples_is_simulated_whole_and_not_executed() -> None:
    loaded = kc.load_workload(EXAMPLES / "saxpy/saxpy.toml")
    found = loaded.run("small", devices=["gtx-480"], sampling=Sampling.ALWAYS).profile("gtx-480")
    exact = loaded.run("small", devices=["gtx-480"]).profile("gtx-480")
    assert found.traffic == exact.traffic
    assert found.shared == exact.shared
    assert found.assumptions == exact.assumptions


FOLLOW = """
.version 7.0
.target sm_50
.address_size 64
.visible .entry follow(.param .u64 next)
{
    .reg .b32 %r<4>;
    .reg .b64 %d<6>;
    .reg .pred %p;
    ld.param.u64 %d1, [next];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4;
    add.s64 %d3, %d1, %d2;
    ld.global.u32 %r2, [%d3];
    mul.wide.u32 %d4, %r2, 4;
    add.s64 %d5, %d1, %d4;
    st.global.u32 [%d5], %r1;
    ret;
}
"""


def test_thread_blocks_that_read_what_others_write_are_executed(tmp_path: Path) -> None:
    (tmp_path / "follow.ptx").write_text(FOLLOW)
    kernel = kc.load(tmp_path / "follow.ptx")["follow"]
    array = np.arange(32, dtype=np.uint32)[::-1].copy()
    trace = kernel.run(grid=1, block=32, args=[array], devices=[GPU], sampling=Sampling.ALWAYS)
    assert array.tolist() == list(range(31, -1, -1))
    assert trace.simulated[0].memory.sample is None


def test_the_reference_engine_executes_everything() -> None:
    kernel, launch = sgemm()
    with pytest.raises(LaunchError, match="the reference engine executes everything"):
        kernel.run(**launch, devices=[GPU], sampling=Sampling.ALWAYS, engine="reference")


def command(*words: str) -> Sequence[str]:
    return [words[0], str(EXAMPLES / "saxpy/saxpy.toml"), *words[1:]]


def test_a_machine_without_vectors_says_that_the_slow_engine_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernelcast.simcore.host.llvm.host_supports_vectors", lambda: False)
    assert main(command("mix", "--size", "small", "--json")) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["engine"] == "reference"
    assert captured.err.count("\n") == 1
    assert "the slow reference engine executes" in captured.err


def test_exact_and_sample_contradict_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (("mix",), ("profile", "--device", GPU), ("estimate", "--device", GPU)):
        assert main(command(*words, "--exact", "--sample")) == 2
        assert "contradict" in capsys.readouterr().err


def test_mix_of_a_large_launch_is_exact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    n = 2 * 10**8
    assert main(["mix", str(saxpy_workload(tmp_path, n)), "--csv"]) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if "fma" in line)
    assert str(n) in row


def test_a_reference_time_measured_on_another_gpu_has_that_gpu_simulated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = command("estimate", "--size", "small", "--device", GPU, "--measured-on", "gtx-480")
    assert main([*words, "--reference-time", "0.001", "--csv"]) == 0
    assert GPU in capsys.readouterr().out


def test_rows_of_large_inputs_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of eight nonzeros in scattered columns: their accesses depend on a gigabyte of data."""
    monkeypatch.setattr("kernelcast.execution.sampler._MANY_THREADS", 0)
    rows = 1 << 24

    def columns(chunk: int, elements: int) -> np.ndarray[Any, Any]:
        return np.random.default_rng(chunk).integers(0, rows, elements, np.int32)

    def starts(chunk: int, elements: int) -> np.ndarray[Any, Any]:
        return (8 * (chunk * ELEMENTS_PER_CHUNK + np.arange(elements))).astype(np.int32)

    workload = EXAMPLES.parent / "validation/workloads/sparse/spmv_csr_scalar.toml"
    lazy = [
        LazyBuffer((rows + 1,), np.int32, starts),
        LazyBuffer((8 * rows,), np.int32, columns),
        *(LazyBuffer((size,), np.float64) for size in (8 * rows, rows, rows)),
    ]
    trace = (
        kc.load_workload(workload)
        .load_kernel()
        .run(grid=rows // 256, block=256, args=[*lazy, rows], devices=[GPU], sampling=Sampling.AUTO)
    )
    sample = trace.simulated[0].memory.sample
    assert sample is not None
    assert sample.share < 0.1
    assert not any(buffer.is_materialised for buffer in lazy)
    loads = [
        row
        for row in trace.data.instructions
        if row.kind == "load" and row.space == "global" and row.access_bytes == 8
    ]
    lanes = trace.data.classes.totals()[1]
    assert sum(lanes[row.pc] for row in loads) == pytest.approx(2 * 8 * rows, rel=0.001)
