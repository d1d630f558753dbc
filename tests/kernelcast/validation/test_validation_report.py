"""Error statistics, rankings, explanations and the baseline: arithmetic and forms."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path

import pytest
from rich.console import Console

from kernelcast.errors import KernelcastError
from kernelcast.report.data_table import DataTable, as_html, as_markdown, as_text
from kernelcast.report.plots.validation import validation_plot, validation_svg
from kernelcast.report.validation import (
    validation_record,
    validation_rows,
    validation_tables,
)
from kernelcast.validation import baseline
from kernelcast.validation.comparison import CounterComparison, TimeComparison
from kernelcast.validation.error_statistics import error_statistics, rankings
from kernelcast.validation.outliers import explain, read_explanations
from kernelcast.validation.report import ValidationReport


def point(
    predicted: float,
    measured: float,
    *,
    kernel: str = "k",
    device: str = "a",
    interval: tuple[float, float] = (0.8, 1.5),
    is_calibration: bool = False,
) -> TimeComparison:
    low, high = (factor * predicted for factor in interval)
    return TimeComparison(
        kernel, device, "m", predicted, low, high, measured, "here", is_calibration=is_calibration
    )


def test_errors_are_relative_to_the_measured_time() -> None:
    first = TimeComparison("k", "a", "m", 0.9e-3, 0.8e-3, 1.2e-3, 1.0e-3, "T", published_s=1.1e-3)
    assert first.error == pytest.approx(-0.1)
    assert first.published_error == pytest.approx(0.1)
    assert first.difference_from_published == pytest.approx(0.9 / 1.1 - 1)
    assert first.ratio == pytest.approx(1 / 0.9)
    assert first.is_in_interval
    assert point(1.0, 1.0).published_error is None


def test_statistics_of_a_group() -> None:
    found = error_statistics([point(1.1, 1.0), point(0.5, 1.0), point(4.0, 1.0), point(1.2, 1.0)])
    assert found.count == 4
    assert found.mape == pytest.approx((0.1 + 0.5 + 3.0 + 0.2) / 4)
    assert found.ratio == pytest.approx((1.1 * 2 * 4 * 1.2) ** 0.25)
    assert (found.within_25, found.within_50) == (0.5, 0.75)
    assert found.in_interval == 0.5


def test_calibration_points_are_shown_and_do_not_count() -> None:
    fitted = point(9.0, 1.0, is_calibration=True)
    report = ValidationReport("s", (point(1.1, 1.0), fitted))
    assert report.mape == {"m": pytest.approx(0.1)}
    assert report.statistics["m", "a"].count == 1
    assert "calibration" in as_markdown(validation_tables(report, {}))
    with pytest.raises(ValueError, match="held-out"):
        error_statistics([fitted])


def test_rankings_of_devices() -> None:
    """Measured a < b < c; the model takes c for the fastest and has one pair of three right."""
    times = {"a": (2.0, 1.0), "b": (3.0, 2.0), "c": (1.0, 4.0)}
    points = [point(p, m, device=device) for device, (p, m) in times.items()]
    (found,) = rankings(points)
    assert found.tau == pytest.approx((1 - 2) / 3)
    assert found.regret == pytest.approx(4.0 / 1.0 - 1)
    assert rankings(points[:2]) == []
    assert rankings([point(1.0, m, device=str(m)) for m in (1.0, 2.0, 3.0)]) == []


def test_a_counter_is_judged_by_its_tolerance() -> None:
    def counter(simulated: float, low: float | None, high: float | None) -> CounterComparison:
        return CounterComparison("k", "a", "reads", simulated, 100.0, "why", low, high)

    assert counter(106.0, -0.05, 0.07).is_within_tolerance
    assert not counter(108.0, -0.05, 0.07).is_within_tolerance
    assert not counter(100.0001, 0.0, 0.0).is_within_tolerance
    assert counter(900.0, None, None).is_within_tolerance
    report = ValidationReport("s", counters=(counter(108.0, 0.0, 0.0),))
    assert len(report.counters_outside) == 1
    assert "OUTSIDE" in as_markdown(validation_tables(report, {}))


EXPLANATION = """[[outlier]]
suite = "s"
kernel = "k"
device = "{device}"
model = "m"
deviation = "{deviation}"
"""


def test_outliers_are_linked_to_deviations(tmp_path: Path) -> None:
    deviations, file = tmp_path / "deviations.md", tmp_path / "outliers.toml"
    deviations.write_text("# Deviations\n\n### Q7: Slow memory\n\nIt is slow.\n")
    file.write_text(EXPLANATION.format(device="*", deviation="Q7"))
    far, near = point(2.0, 1.0), point(1.2, 1.0)
    report = ValidationReport("s", (far, near, point(3.0, 1.0, kernel="other")))
    assert report.outliers == (far, report.times[2])
    found = explain("s", report.outliers, read_explanations(file, deviations))
    assert found == {far: "Q7", report.times[2]: ""}
    assert explain("t", [far], read_explanations(file, deviations)) == {far: ""}
    file.write_text(EXPLANATION.format(device="b", deviation="Q7"))
    assert explain("s", [far], read_explanations(file, deviations)) == {far: ""}
    file.write_text(EXPLANATION.format(device="b", deviation="Q8"))
    with pytest.raises(KernelcastError, match="has no deviation Q8"):
        read_explanations(file, deviations)


def test_the_explanations_of_this_tree_are_deviations() -> None:
    assert read_explanations()


def test_errors_that_move_from_the_baseline(tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    before = ValidationReport("s", (point(1.10, 1.0), point(1.2, 1.0, device="b")))
    baseline.accept(before, file)
    assert baseline.moved(before, file) == []
    nearly = ValidationReport("s", (point(1.109, 1.0), point(1.2, 1.0, device="b")))
    assert baseline.moved(nearly, file) == []
    for changed in (1.13, 1.05):
        (line, *_) = baseline.moved(
            ValidationReport("s", (point(changed, 1.0), point(1.2, 1.0, device="b"))), file
        )
        assert line.startswith("s, m, a:")
        assert "was 10.0%" in line
    lost = baseline.moved(ValidationReport("s", (point(1.1, 1.0),)), file)
    assert any("gone" in line for line in lost)
    assert any(
        "not in the baseline" in line
        for line in baseline.moved(ValidationReport("t", before.times), file)
    )
    nothing = ValidationReport("s")  # a model that is gone altogether is no silence
    assert sum("gone" in line for line in baseline.moved(nothing, file)) == 3
    assert baseline.moved(nothing, file, models=["another"]) == []
    file.write_text('{"s": 3}')
    with pytest.raises(KernelcastError, match="must map"):
        baseline.moved(before, file)


def test_text_markdown_html_and_rows_agree() -> None:
    report = ValidationReport("s", (point(0.9e-3, 1.0e-3), point(2.6e-3, 2.0e-3, device="b")))
    tables = validation_tables(report, {report.times[1]: "Q1"})
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(as_text(tables))
    page = as_html("errors", tables, validation_svg(report))
    for shown in (console.export_text(), as_markdown(tables), page):
        for cell in ("-10.0%", "+30.0%", "20.0%", "Q1"):
            assert cell in shown
    assert page.count("<svg") == 1
    rows = validation_rows(report, {})
    assert len(rows) == 3
    assert rows[0][:2] == ["kernel", "device"]


def test_cells_are_text_in_html() -> None:
    page = as_html("a < b", [DataTable("t", ("x", ">n"), (("<script>", "1"),))])
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert '<td class="number">1</td>' in page


def test_record_has_the_documented_shape() -> None:
    report = ValidationReport("s", (point(1.3, 1.0),), notes=("left out",))
    record = json.loads(json.dumps(validation_record(report, {report.times[0]: "Q1"})))
    assert record["suite"] == "s"
    (row,) = record["rows"]
    assert row["error"] == pytest.approx(0.3)
    assert row["deviation"] == "Q1"
    assert {"kernel", "device", "model", "predicted_s", "measured_s", "error"} <= set(row)
    assert record["mape"]["m"] == pytest.approx(0.3)
    assert record["notes"] == ["left out"]


def test_the_plot_has_a_point_for_each_comparison() -> None:
    report = ValidationReport("s", (point(1e-3, 2e-3), point(3e-3, 2e-3, device="b")))
    axes = validation_plot(report).axes[0]
    found = {
        (float(line.get_xdata()[0]), float(line.get_ydata()[0]))  # type: ignore[arg-type, index]
        for line in axes.get_lines()
        if len(line.get_xdata()) == 1  # type: ignore[arg-type]
    }
    assert all(
        any(math.isclose(x, px) and math.isclose(y, py) for px, py in found)
        for x, y in ((2.0, 1.0), (2.0, 3.0))
    )
    with pytest.raises(ValueError, match="no points"):
        validation_plot(ValidationReport("s"))
