"""Figures of papers: what their bounds accept, how they are shown, and what fails the command."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from dataclasses import replace

import pytest

from kernelcast.cli import main
from kernelcast.report.data_table import as_markdown
from kernelcast.report.paper_figures import figure_record, figure_tables
from kernelcast.simcore.device.changed import changed_device
from kernelcast.validation import papers
from kernelcast.validation.paper_figures import PaperFigure, Subject
from kernelcast.validation.papers import paper_figures
from kernelcast.validation.zhang_owens.case_studies import paper_gpu, printed_table
from kernelcast.validation.zhang_owens.machine import machine_figures, peaks, table_2_occupancy

SUBJECT = Subject("A paper", "a kernel", "section 5")
GOOD = SUBJECT.near("share", 80.0, 83.8, points=5, unit="%")
BAD = SUBJECT.between("speed-up", 1.6, 2.0, 1.3, 1.9)
SHOWN = SUBJECT.shown("exact", "", 1.4)


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[PaperFigure]:
    """What the command finds in the place of executing every case study."""
    found = [GOOD, SHOWN]

    def given(*_: object) -> Iterator[PaperFigure]:
        return iter(found)

    monkeypatch.setattr(papers, "paper_figures", given)
    return found


@pytest.mark.parametrize(
    ("figure", "is_met"),
    [
        (SUBJECT.near("a", 9.05, 9.05 * 1.02, percent=2), True),
        (SUBJECT.near("a", 9.05, 9.05 * 0.979, percent=2), False),
        (SUBJECT.near("a", 45.0, 43.0, points=2, unit="%"), True),
        (SUBJECT.near("a", 45.0, 42.9, points=2, unit="%"), False),
        (SUBJECT.near("a", 0.0, 10.1, points=10), False),
        (SUBJECT.near("a", 1.0, math.nan, percent=50), False),
        (SUBJECT.between("a", 1.6, 1.3, 1.3, 1.9), True),
        (SUBJECT.between("a", 1.6, 1.91, 1.3, 1.9), False),
        (SUBJECT.between("a", 1.6, math.nan, 1.3, 1.9), False),
        (SUBJECT.same("a", "shared memory", "shared memory"), True),
        (SUBJECT.same("a", 8, 7), False),
        (SUBJECT.shown("a", 1.6, 3.0), None),
    ],
)
def test_bounds(figure: PaperFigure, is_met: bool | None) -> None:
    assert figure.is_met is is_met


@pytest.mark.parametrize("bounds", [{}, {"percent": 1.0, "points": 1.0}])
def test_a_figure_is_near_by_one_measure(bounds: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="one of them"):
        SUBJECT.near("a", 1.0, 1.0, **bounds)  # type: ignore[arg-type]


def test_tables_are_grouped_by_paper_and_count_what_is_met() -> None:
    other = replace(GOOD, paper="Another")
    first, second = figure_tables([GOOD, other, BAD, SHOWN])
    assert (first.title, second.title) == ("Figures: A paper", "Figures: Another")
    assert [row[-1] for row in first.rows] == ["ok", "OUTSIDE", ""]
    assert first.note == "1 of 2 figures are within their bounds."
    assert "| a kernel | share | 80 % | 83.8 % | within 5 points | ok |" in as_markdown([first])


def test_records_have_numbers_and_the_verdict() -> None:
    assert figure_record(BAD) == {
        "paper": "A paper",
        "of": "a kernel",
        "figure": "speed-up",
        "place": "section 5",
        "printed": 1.6,
        "ours": 2.0,
        "unit": "",
        "bound": "1.3 to 1.9",
        "ok": False,
    }


def test_the_command_shows_figures_in_all_forms(
    figures: list[PaperFigure], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", "papers", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["figures"] == [figure_record(item) for item in figures]
    assert main(["validate", "papers", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    times, shown = rows[:15], rows[15:]
    assert [row["ours"] for row in shown] == ["83.8", "1.4"]
    assert all(row["model"] and not row["figure"] for row in times)
    assert main(["validate", "papers"]) == 0
    assert "1 of 1 figures are within their bounds" in capsys.readouterr().out


def test_a_figure_outside_of_its_bound_fails_the_command(
    figures: list[PaperFigure], capsys: pytest.CaptureFixture[str]
) -> None:
    figures.append(BAD)
    assert main(["validate", "papers"]) == 1
    message = "A paper, a kernel: speed-up is 2.0, not 1.6 (1.3 to 1.9)"
    assert message in capsys.readouterr().err


def test_models_choose_the_figures() -> None:
    """Models choose the figures, and progress names what is executed."""
    told: list[str] = []
    found = tuple(paper_figures(["mpd-cpd"], lambda name, _: told.append(name)))
    assert {item.paper for item in found} == {"Luo and Suda 2011", "Changed GPUs"}
    assert told == ["periods", "computation proportions", "changed GPUs"]
    assert all(item.is_met for item in found)


def test_figures_of_the_machine_are_those_of_section_4_and_table_2() -> None:
    """Peaks: 8 x 1.48 x 30 / 32 and so on. Occupancies: 16384 over registers and bytes."""
    figures = tuple(machine_figures())
    assert all(item.is_met for item in figures)
    found = peaks(changed_device(paper_gpu(), {"architecture.clock_hz": 1.48e9}))
    assert found["peak_mad_instr"] == pytest.approx(8 * 1.48 * 30 / 32)
    assert found["peak_gflops"] == pytest.approx(8 * 1.48 * 30 * 2)
    assert found["peak_shared_bw"] == pytest.approx(1.48 * 8 * 30 * 4)
    assert found["peak_global_bw"] == pytest.approx(2.484 * 512 / 8, rel=1e-3)
    blocks = [
        table_2_occupancy(row, paper_gpu()) for row in printed_table("table_2_matmul_occupancy")
    ]
    assert [item.warps_per_sm for item in blocks] == [16, 16, 6]
