"""Sweeps: rows are what `kc.estimate` says, work is shared, and nothing is computed again."""

from __future__ import annotations

import errno
import json
import os
import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.dataset
import pytest

import kernelcast as kc
from kernelcast.cli import main
from kernelcast.errors import InputError, UnfitDevice
from kernelcast.execution import kept_run, runnable
from kernelcast.partial_files import ReplacedFile
from kernelcast.simcore import engine
from kernelcast.simcore.device.changed import changed_device
from kernelcast.simcore.memory import simulated_memory
from kernelcast.studies import data_set, executors, tasks
from kernelcast.studies.kernels import trace_of_fitting
from kernelcast.studies.plan import Plan
from kernelcast.studies.tasks import Task
from tests.kernelcast.studies.conftest import SAXPY

PlanFile = Callable[..., Path]
BANDWIDTHS = "[architecture.vary]\ndram.bandwidth = [1e12, 2e12, 3e12]"


def content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def test_rows_are_what_an_estimate_says(plan: PlanFile, tmp_path: Path) -> None:
    file = plan(
        "[architecture.vary]\nl2.capacity = [1048576]\ndram.bandwidth = [2e12]",
        'devices = ["a100-40gb", "mi210"]\nmodels = ["interval", "quantitative-roofline"]',
    )
    rows = kc.Sweep.read(file).run(tmp_path / "out", jobs=1).rows
    assert [row["point"] for row in rows] == list(range(8))
    workload = kc.load_workload(SAXPY)
    for row in rows:
        device = kc.device(row["device"])
        if row["changes"]:
            device = changed_device(device, {"l2.bytes": 2**20, "dram.bandwidth": 2e12})
            assert row["l2_bytes"] == 2**20
        trace = workload.run(
            "small", devices=[device], code="source", sampling=kc.Sampling.AUTO, record_paths=True
        )
        own: dict[str, Any] = {"explained": "no"} if row["model"] == "interval" else {}
        expected = kc.estimate(trace.profile(device), row["model"], device, **own)
        assert row["time_s"] == expected.time_s
        assert row["bottleneck"] == expected.bottleneck
        assert row["error"] is None


def test_ranges_are_those_of_an_estimate_where_they_are_asked_for(
    plan: PlanFile, tmp_path: Path
) -> None:
    file = plan("", 'devices = ["a100-40gb"]\nranges = true')
    (row,) = kc.Sweep.read(file).run(tmp_path / "out", jobs=1).rows
    device = kc.device("a100-40gb")
    trace = kc.load_workload(SAXPY).run(
        "small", devices=[device], code="source", sampling=kc.Sampling.AUTO, record_paths=True
    )
    expected = kc.estimate(trace.profile(device), explained="no")
    assert (row["time_low_s"], row["time_high_s"]) == (expected.time_low_s, expected.time_high_s)


def test_points_that_share_work_share_it(
    plan: PlanFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One execution, and one memory for changes that caches do not depend on."""
    runs: list[int] = []
    memories: list[object] = []
    executed, simulated = engine.execute, simulated_memory.SimulatedMemory.__init__

    def execute(*given: Any, **named: Any) -> Any:
        runs.append(named["warp_width"])
        return executed(*given, **named)

    def simulate(self: Any, *given: Any, **named: Any) -> None:
        memories.append(given)
        simulated(self, *given, **named)

    monkeypatch.setattr(runnable, "execute", execute)
    monkeypatch.setattr(simulated_memory.SimulatedMemory, "__init__", simulate)
    file = plan(BANDWIDTHS, 'devices = ["a100-40gb", "mi210"]\nmodels = ["roofline", "interval"]')
    result = kc.Sweep.read(file).run(tmp_path / "out", jobs=1)
    assert len(result.good) == 2 * 4 * 2
    assert sorted(runs) == [32, 64]
    assert len(memories) == 2


def test_clocks_and_registers_execute_nothing_again(
    plan: PlanFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clocks change latencies in cycles; the grid leaves an SM one thread block in any case."""
    memories: list[int] = []
    simulated = simulated_memory.SimulatedMemory.__init__

    def simulate(self: Any, *given: Any, **named: Any) -> None:
        memories.append(given[4])
        simulated(self, *given, **named)

    monkeypatch.setattr(simulated_memory.SimulatedMemory, "__init__", simulate)
    monkeypatch.setattr(kept_run, "_LEAST_SECONDS", 0.0)
    monkeypatch.setenv("KERNELCAST_STORE", "1GB")
    monkeypatch.setenv("KERNELCAST_CACHE", str(tmp_path / "cache"))
    file = plan(
        "vary = { registers = [16, 32, 24] }\n[architecture.vary]\nsm.clock_hz = [1e9, 2e9]",
        'devices = ["a100-40gb"]',
    )
    rows = kc.Sweep.read(file).run(tmp_path / "out", jobs=1).rows
    assert len(memories) == 1
    workload = kc.load_workload(SAXPY)
    for row in rows:
        device = kc.device("a100-40gb")
        if row["changes"]:
            device = changed_device(device, {"sm.clock_hz": row["set.sm.clock_hz"]})
        trace = workload.run(
            "small",
            devices=[device],
            code="source",
            sampling=kc.Sampling.AUTO,
            registers=int(row["launch.registers"]),
            store=False,
        )
        expected = kc.estimate(trace.profile(device), explained="no")
        assert (row["error"], row["time_s"]) == (None, expected.time_s)


def test_what_is_there_is_not_computed_again(
    plan: PlanFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = kc.Sweep.read(plan("vary = { block = [64, 128, 256] }"))
    whole = sweep.run(tmp_path / "out", jobs=1)
    before = content(tmp_path / "out")
    (tmp_path / "out" / "part-000001.parquet").unlink()
    (tmp_path / "out" / "part-000002.parquet").write_bytes(b"PAR1 but cut off")
    (tmp_path / "out" / ".part-000000.parquet.00000000-1-0000000000000000.partial").touch()
    made: list[int] = []
    rows_of = tasks.rows_of

    def counted(given: Plan, task: Task) -> Any:
        made.append(task.number)
        return rows_of(given, task)

    monkeypatch.setattr(executors, "rows_of", counted)
    again = sweep.run(tmp_path / "out", jobs=1)
    assert made == [1, 2]
    assert list(again.rows) == list(whole.rows)
    assert {k: v for k, v in content(tmp_path / "out").items() if k[0] != "."} == before


def test_a_full_disk_loses_nothing(
    plan: PlanFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = kc.Sweep.read(plan("vary = { block = [64, 128] }"))
    expected = sweep.run(tmp_path / "undisturbed", jobs=1)

    class FullDisk(ReplacedFile):
        def publish(self) -> None:
            if "000001" in self._path.name:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            super().publish()

    with monkeypatch.context() as patch:
        patch.setattr(data_set, "ReplacedFile", FullDisk)
        with pytest.raises(InputError, match="No space left on device"):
            sweep.run(tmp_path / "out", jobs=1)
    assert "part-000000.parquet" in content(tmp_path / "out")
    assert list(sweep.run(tmp_path / "out", jobs=1).rows) == list(expected.rows)
    assert content(tmp_path / "out") == content(tmp_path / "undisturbed")


def test_failures_are_rows_and_the_others_go_on(plan: PlanFile, tmp_path: Path) -> None:
    file = plan(
        "vary = { registers = [32, 64] }\n[architecture.vary]\nl2.capacity = [4194304, 1000]"
    )
    result = kc.Sweep.read(file).run(tmp_path / "out", jobs=1)
    errors = [(row["device"], row["launch.registers"], row["error"]) for row in result.rows]
    for device, registers, error in errors[2::3]:
        assert "lines and ways do not divide the capacity" in error, (device, registers)
    unfit = [item for item in errors if item[:2] == ("gtx-480", 64)]
    assert "64 registers per thread" in unfit[0][2]
    assert result.failed == 4 + 2
    assert all(row["time_s"] > 0 for row in result.good)
    assert all(row["time_s"] is None for row in result.rows if row["error"])


def test_devices_that_a_launch_does_not_fit_are_found_at_once(tmp_path: Path) -> None:
    """Python makes the kernel: each time it is called takes long."""
    devices = [kc.device(name) for name in ("gtx-480", "a100-40gb", "gtx-660")]
    asked: list[int] = []
    workload = kc.load_workload(SAXPY)

    def run(options: kc.RunOptions) -> kc.KernelTrace:
        asked.append(len(options.devices))
        return workload.run("small", options=replace(options, registers=100))

    found = trace_of_fitting(run, devices, kc.RunOptions(code="source", results=False))
    assert asked == [3, 1]
    assert sorted(found.unfit) == [0, 2]
    assert all("100 registers per thread" in why for why in found.unfit.values())
    assert found.trace is not None


def test_a_process_tells_another_which_devices_do_not_fit() -> None:
    error = UnfitDevice([("one", "too many registers"), ("other", "too many threads")])
    told = pickle.loads(pickle.dumps(error))
    assert told.reasons == error.reasons
    assert str(told) == "too many registers"


def test_another_plan_needs_another_folder(plan: PlanFile, tmp_path: Path) -> None:
    kc.Sweep.read(plan()).run(tmp_path / "out", jobs=1)
    with pytest.raises(InputError, match="another plan"):
        kc.Sweep.read(plan(BANDWIDTHS)).run(tmp_path / "out", jobs=1)


def test_the_folder_is_a_data_set_for_others(plan: PlanFile, tmp_path: Path) -> None:
    result = kc.Sweep.read(plan("vary = { block = [64, 128] }")).run(tmp_path / "out", jobs=1)
    files = sorted(map(str, (tmp_path / "out").glob("*.parquet")))
    table = pyarrow.dataset.dataset(files).to_table()
    assert table.column("time_s").to_pylist() == [row["time_s"] for row in result.rows]
    frame = result.to_frame()
    assert list(frame["launch.block"]) == [64, 64, 128, 128]
    assert list(kc.Sweep.results(tmp_path / "out").rows) == list(result.rows)


def test_functions_of_python_are_kernels(tmp_path: Path) -> None:
    """Kernels of Triton come in so: a function gets RunOptions and the varied values."""
    (tmp_path / "kernels.py").write_text(
        "import kernelcast as kc\n"
        "def saxpy(options, block):\n"
        f"    workload = kc.load_workload({str(SAXPY)!r})\n"
        "    return workload.run('small', options=options)\n"
    )
    (tmp_path / "plan.toml").write_text(
        'devices = ["a100-40gb"]\ncode = "source"\n'
        '[[kernels]]\npython = "kernels.py:saxpy"\nvary = { block = [64, 128] }\n'
        '[[kernels]]\npython = "kernels.py:saxpy"\nname = "wrong"\nvary = { shape = [64] }\n'
    )
    rows = kc.Sweep.read(tmp_path / "plan.toml").run(tmp_path / "out", jobs=1).rows
    assert rows[0]["time_s"] == rows[1]["time_s"] > 0
    assert "unexpected keyword argument 'shape'" in rows[2]["error"]


def test_tasks_are_stretches_of_devices_and_add_up() -> None:
    changes = kc.Space({"dram.bandwidth": [1e12 + n for n in range(60)]})
    kernels = [kc.SweptKernel("a", str(SAXPY), launches=kc.Space({"block": [64, 128]}))]
    sweep = kc.Sweep(kernels, ["a100-40gb", "gtx-480"], ["roofline", "interval"], changes)
    found: Sequence[Task] = list(tasks.tasks_of(sweep))
    assert sum(task.points for task in found) == sweep.points == 2 * 2 * 61 * 2
    assert [task.first_point for task in found] == [
        sum(task.points for task in found[:number]) for number in range(len(found))
    ]
    assert [(task.launch, task.first == 0) for task in found] == [
        (0, True), (0, False), (0, False), (1, True), (1, False), (1, False),
    ]  # fmt: skip


def test_the_command_line(plan: PlanFile, capsys: pytest.CaptureFixture[str]) -> None:
    file = plan(BANDWIDTHS)
    assert main(["sweep", str(file), "--dry-run", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["points"], told["done"], told["memories"]) == (8, 0, 2)
    assert not file.with_suffix("").exists()
    assert main(["sweep", str(file), "--jobs", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["points"], told["done"], told["failed"]) == (8, 8, 0)
    assert main(["sweep", str(file)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) <= 25
    assert "saxpy" in shown[2]
    assert "a100-40gb" in shown[2]


def test_progress_has_a_rate_and_the_time_that_is_left(plan: PlanFile, tmp_path: Path) -> None:
    told: list[tuple[str, float]] = []
    sweep = kc.Sweep.read(plan("vary = { block = [64, 128] }"))
    sweep.run(tmp_path / "out", jobs=1, progress=lambda text, share: told.append((text, share)))
    assert told[0] == ("0 of 4 points", 0.0)
    assert told[-1][1] == 1.0
    assert "2 of 4 points, " in told[1][0]
    assert told[1][0].endswith(" left")
