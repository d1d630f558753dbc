"""The validation table's arithmetic and its four forms."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from kernelcast.report.validation import (
    thesis_markdown,
    thesis_record,
    thesis_report,
    thesis_rows,
)
from kernelcast.thesis_validation import CASES, ThesisTable, ValidationRow, published_times

TABLE = ThesisTable(
    (
        ValidationRow("SOR", "gtx-480", "m", 0.9e-3, 1.1e-3, 1.0e-3),
        ValidationRow("SOR", "gtx-660", "m", 2.6e-3, 2.0e-3, 2.0e-3),
    )
)


def test_errors_are_relative_to_the_measured_time() -> None:
    first = TABLE.rows[0]
    assert first.error == pytest.approx(-0.1)
    assert first.thesis_error == pytest.approx(0.1)
    assert first.difference_from_thesis == pytest.approx(0.9 / 1.1 - 1)
    assert TABLE.mape == pytest.approx((0.1 + 0.3) / 2)
    assert TABLE.thesis_mape == pytest.approx(0.05)


def test_record_has_the_documented_shape() -> None:
    record = thesis_record(TABLE)
    assert record["suite"] == "thesis"
    assert record["rows"][1]["error"] == pytest.approx(0.3)
    assert {"kernel", "device", "model", "predicted_s", "measured_s", "error"} <= set(
        record["rows"][0]
    )
    assert record["mape"]["m"] == pytest.approx(0.2)


def test_text_markdown_and_rows_agree() -> None:
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(thesis_report(TABLE))
    text, markdown = console.export_text(), thesis_markdown(TABLE)
    for shown in (text, markdown):
        assert "-10.0%" in shown
        assert "20.0%" in shown
    assert len(thesis_rows(TABLE)) == 3
    assert thesis_rows(TABLE)[0][:2] == ["kernel", "device"]


def test_the_published_times_of_all_twenty_cases_are_there() -> None:
    times = {(c.kernel, device): t for c in CASES for device, *t in published_times(c)}
    assert len(times) == 20
    assert times["SOR", "gtx-1060-6gb"] == pytest.approx([20.632e-3, 20.994e-3])
    assert times["SGEMM 16x16", "r9-nano"] == pytest.approx([0.83e-3, 0.94e-3])
