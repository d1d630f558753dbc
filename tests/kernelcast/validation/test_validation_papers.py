"""The papers' printed parameters give the papers' printed predictions."""

from __future__ import annotations

import pytest

from kernelcast.validation.papers import validate_papers
from kernelcast.validation.thesis import CASES, published_times, rows_of


def test_rodinia_from_printed_metrics() -> None:
    """Section 5.2.5 and Table 6.5: our equations give the printed times, to their digits."""
    report = validate_papers(["quantitative-roofline"])
    assert len(report.times) == 15
    for point in report.times:
        assert point.difference_from_published == pytest.approx(0, abs=5e-5), point.kernel
        assert point.error == pytest.approx(point.published_error, abs=1e-4)
    printed = {(r["kernel"], r["gpu"]): r for r in rows_of("section_5_2_5_rodinia_times.csv")}
    assert float(printed["lvmd-krn", "Tesla K20c"]["error_percent"]) == 22.6
    (found,) = (p for p in report.times if (p.kernel, p.device) == ("lvmd-krn", "tesla-k20c"))
    assert found.error == pytest.approx(0.226, abs=5e-4)


def test_only_the_model_that_takes_parameters_has_rows() -> None:
    assert validate_papers(["roofline"]).times == ()
    assert len(validate_papers(["quantitative-roofline"]).times) == 15


def test_the_published_times_of_all_twenty_executed_cases_are_there() -> None:
    times = {(c.kernel, device): t for c in CASES for device, *t in published_times(c)}
    assert len(times) == 20
    assert times["SOR", "gtx-1060-6gb"] == pytest.approx([20.632e-3, 20.994e-3])
    assert times["SGEMM 16x16", "r9-nano"] == pytest.approx([0.83e-3, 0.94e-3])
