"""Tables of published times: what is read, that launches are the recorded ones, and the line."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kernelcast.api import estimate
from kernelcast.cli import app
from kernelcast.errors import KernelcastError, LaunchError
from kernelcast.execution.sampling import Sampling
from kernelcast.report.kernel_errors import kernel_errors
from kernelcast.simcore.device.file import known_devices
from kernelcast.validation import baseline
from kernelcast.validation.comparison import TimeComparison
from kernelcast.validation.measured_tables import MEASURED_TABLES, validate_table
from kernelcast.validation.outliers import Explanation
from kernelcast.validation.published_tables import TableRow, evenly, read_table, table_names
from kernelcast.validation.report import ValidationReport
from kernelcast.validation.workload_suite import SUITE
from kernelcast.workload.file import load_workload

HEADER = "device,workload,size,sizes,grid,thread_block,launches,printed"
SET = """
table = "mine.csv"
source = "somebody"
licence = "MIT"
timed = "once"
differences = "none"
rounding = 0.0
grows_by = ["n"]
[waves]
few = 8
many = 16
"""


def own_set(folder: Path, *rows: str) -> Path:
    (folder / "mine.toml").write_text(SET)
    (folder / "mine.csv").write_text("\n".join([HEADER, *rows]) + "\n")
    return folder


def row(n: int, workload: str = "multiply", *, launches: int = 1, printed: str = "2 ms") -> str:
    grid = -(-n // 512)
    return (
        f"gtx-480,vector_operators/{workload},{n},n={n} threads=128,{grid}x1x1,128x1x1,"
        f"{launches},{printed}"
    )


def test_every_row_is_taken_and_launched_as_recorded() -> None:
    tables = {name: read_table(name, MEASURED_TABLES) for name in table_names(MEASURED_TABLES)}
    assert {name: len(table.rows) for name, table in tables.items()} == {
        "pytorch-operators": 520,
        "lattice-boltzmann": 36,
    }
    workloads = {}
    for table in tables.values():
        assert all((table.source, table.licence, table.timed, table.differences))
        for found in table.rows:
            assert found.device in known_devices()
            if found.workload not in workloads:
                workloads[found.workload] = load_workload(SUITE / f"{found.workload}.toml")
            workload = workloads[found.workload]
            assert found.sizes.keys() == workload.size().keys(), found
            own = type(workload)(
                workload.path,
                workload.kernel,
                {found.size: found.sizes},
                workload.launch,
                workload.arguments,
                workload.check,
            )
            shape = own.launch_shape(found.size)
            assert (shape.grid, shape.thread_block) == (found.grid, found.thread_block), found


def test_the_launches_of_a_row_cover_its_tensor() -> None:
    """Bytes of an operand of one launch stay within 2^31, the limit that splits tensors."""
    lines = (MEASURED_TABLES / "pytorch-operators.csv").read_text().splitlines()[1:]
    launches = [int(line.split(",")[6]) for line in lines]
    for found, count in zip(
        read_table("pytorch-operators", MEASURED_TABLES).rows, launches, strict=True
    ):
        rows, columns = (int(part) for part in found.size.split("x"))
        if "n" in found.sizes:
            assert found.sizes["n"] * count == rows * columns
            assert found.sizes["n"] * 4 <= 2**31
            assert count == 1 or rows * columns * 4 > 2**31
        else:
            assert (found.sizes["rows"], found.sizes["columns"], count) == (rows, columns, 1)


def test_times_are_those_that_were_printed(tmp_path: Path) -> None:
    own_set(tmp_path, row(5120, launches=4), row(1024, printed="0.5 ms"))
    assert [found.time_s for found in read_table("mine", tmp_path).rows] == [5e-4, 5e-4]
    v100 = {
        found.workload: found.time_s
        for found in read_table("lattice-boltzmann", MEASURED_TABLES).rows
        if found.device == "v100-pcie"
    }
    assert v100["lbm/esoteric_pull_fp32"] == pytest.approx(2**24 / 5128e6)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (row(512, printed="2 h"), "must be ms or MLUPs"),
        (row(512, printed="-1 ms"), "must be positive"),
        (row(512, printed="nan ms"), "must be positive"),
        ("gtx-480,a", "not enough values"),
    ],
)
def test_a_row_that_is_not_well_formed(tmp_path: Path, changed: str, message: str) -> None:
    own_set(tmp_path, row(512), changed)
    with pytest.raises(KernelcastError, match=rf"mine.csv:3: .*{message}"):
        read_table("mine", tmp_path)


def test_a_set_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(KernelcastError, match="no set 'other'; known: mine"):
        read_table("other", own_set(tmp_path))
    (tmp_path / "mine.csv").write_text("device,workload\n")
    with pytest.raises(KernelcastError, match="the first line must be device,workload,size"):
        read_table("mine", tmp_path)


def test_a_sample_has_rows_of_each_kernel_and_device() -> None:
    table = read_table("pytorch-operators", MEASURED_TABLES)
    counts = Counter((found.device, found.workload) for found in evenly(table.rows, 2))
    assert set(counts.values()) == {2}
    assert counts.keys() == {(found.device, found.workload) for found in table.rows}
    assert evenly(table.rows[:20], 30) == table.rows[:20]
    assert evenly(table.rows[:20], 4) == table.rows[0:20:5]


def test_a_launch_that_is_executed_whole_goes_on_along_the_line(tmp_path: Path) -> None:
    """40 waves of 120 thread blocks, whose paths depend on data, all executed beside it."""
    n = 40 * 120 * 512
    own_set(tmp_path, row(n, "power"))
    report = validate_table("mine", ["interval"], tmp_path)
    assert not report.notes
    (point,) = report.times
    workload = load_workload(SUITE / "vector_operators/power.toml")
    whole = type(workload)(
        workload.path,
        workload.kernel,
        {"all": {"n": n, "threads": 128}},
        workload.launch,
        workload.arguments,
        workload.check,
    )
    trace = whole.run("all", devices=["gtx-480"], record_paths=True, sampling=Sampling.NEVER)
    exact = estimate(trace.profile("gtx-480"), "interval")
    assert point.predicted_s == pytest.approx(exact.time_s, rel=0.02)
    assert point.low_s <= point.predicted_s <= point.high_s


@pytest.mark.parametrize(("device", "grids"), [("v100-pcie", 2), ("a100-40gb", 1)])
def test_the_smaller_grid_is_several_times_the_l2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: str, grids: int
) -> None:
    """Eight waves of 5 MB are enough on a V100; an A100 has 40 MB of L2, so that all are run."""
    n = 48 * 1280 * 512 // 2
    line = row(n, "power").replace("gtx-480", device)
    own_set(tmp_path, line)
    sizes = []

    def executed(self: Any, launch: Any, ways: Any) -> Any:
        sizes.append(launch.workload.size(launch.size)["n"])
        if len(ways) == 1:
            raise LaunchError("paths depend on data")
        raise KernelcastError("enough")

    monkeypatch.setattr("kernelcast.validation.measured_tables._Predictions._executed", executed)
    validate_table("mine", ["roofline"], tmp_path)
    least = 4 * {"v100-pcie": 6 << 20, "a100-40gb": 40 << 20}[device]
    assert sizes[-1] * 3 * 4 >= least
    assert (sizes[-1] == n) == (grids == 1)


def test_a_launch_that_differs_from_the_recorded_one_is_not_predicted(tmp_path: Path) -> None:
    own_set(tmp_path, row(5120).replace("10x1x1", "11x1x1"), row(5120, "relu"))
    report = validate_table("mine", ["roofline"], tmp_path)
    assert [point.kernel for point in report.times] == ["vector_operators/relu 5120"]
    assert "launched otherwise than recorded" in report.notes[0]


def test_errors_by_kernel() -> None:
    def point(kernel: str, predicted: float) -> TimeComparison:
        return TimeComparison(kernel, "gpu", "m", predicted, predicted, 1.0, 1.0, "somebody")

    report = ValidationReport("s", (point("a 1", 0.9), point("a 2", 0.6), point("b 1", 0.8)))
    table = kernel_errors(report)
    assert [found[0] for found in table.rows] == ["all", "a", "b"]
    assert table.rows[0][3:] == ("3", "-23.3%", "23.3%", "20.0%", "2", "3")


def test_one_explanation_for_all_sizes() -> None:
    point = TimeComparison("a/b 3x4", "gpu", "m", 1.0, 1.0, 1.0, 2.0, "somebody")
    assert Explanation("s", "a/b *", "*", "m", "T1").covers("s", point)
    assert Explanation("s", "a/b 3x4", "gpu", "m", "T1").covers("s", point)
    for other in ("a/b 3x5", "a/* *", "a *", "*"):
        assert not Explanation("s", other, "*", "m", "T1").covers("s", point)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["measured", "--sample", "2"], "--sample takes rows of a --set"),
        (["thesis", "--set", "pytorch-operators"], "--set is of measured"),
        (["measured", "--set", "x", "--sample", "2", "--accept"], "leave out --sample"),
        (["measured", "--set", "nothing"], "known: lattice-boltzmann, pytorch-operators"),
    ],
)
def test_options_of_the_tables(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(app, ["validate", *arguments])
    assert result.exit_code
    assert message in " ".join(str(result.output or result.exception).split())


def test_rows_name_their_kernel_and_size() -> None:
    found = TableRow("gpu", "a/b", "3x4", {"n": 12}, (3, 2, 1), (4, 1, 1), 1.0)
    assert (found.name, found.thread_blocks) == ("a/b 3x4", 6)
    assert math.isfinite(found.time_s)


def test_a_set_without_a_baseline_is_not_compared_with_one(tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    file.write_text('{"thesis": {}}')
    assert not baseline.knows("measured mine", file)
    point = TimeComparison("a 1", "gpu", "m", 1.0, 1.0, 1.0, 2.0, "somebody")
    baseline.accept(ValidationReport("measured mine", (point,)), file)
    assert baseline.knows("measured mine", file)


def test_kernels_predicted_in_two_processes_are_those_of_one(tmp_path: Path) -> None:
    """Rows of two kernels, one after the other, and a launch that is not the recorded one."""
    other = row(5120).replace("10x1x1", "11x1x1").replace("gtx-480", "gtx-960")
    own_set(tmp_path, row(5120), row(5120, "relu"), row(10240), other)
    report = validate_table("mine", ["roofline"], tmp_path, processes=2)
    assert report == validate_table("mine", ["roofline"], tmp_path)
    assert [point.kernel for point in report.times] == [
        f"vector_operators/{name}" for name in ("multiply 5120", "relu 5120", "multiply 10240")
    ]
    assert len(report.notes) == 1
