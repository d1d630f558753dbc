"""Results in one line, and as tables that a notebook shows."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

import kernelcast as kc
from kernelcast.notebook import html_table

SAXPY = Path(__file__).parents[2] / "examples" / "saxpy" / "saxpy.toml"


class Cells(HTMLParser):
    """The texts of all cells; asserts that every tag that is opened is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.found.append(data)


@pytest.fixture(scope="module")
def results() -> dict[str, object]:
    trace = kc.load_workload(SAXPY).run("small")
    profile = trace.profile("gtx-480")
    return {
        "kernel saxpy": kc.load(SAXPY.with_suffix(".ptx"))["saxpy"],
        "trace of saxpy": trace,
        "profile of saxpy on gtx-480": profile,
        "device gtx-480: GeForce GTX 480": kc.device("gtx-480"),
        "saxpy on gtx-480: ": kc.estimate(profile),
        "ranking of saxpy on gtx-480: ": kc.rank(SAXPY, "gtx-480")[0],
        "what-if of saxpy: ": kc.whatif(trace, "gtx-480", {"sm.count": 20}, models=["roofline"]),
    }


def test_a_result_is_told_in_a_line(results: dict[str, object]) -> None:
    for begin, result in results.items():
        text = repr(result)
        assert text.startswith(f"<{begin}"), text
        assert len(text) < 160
        assert "\n" not in text


def test_a_result_is_a_table_in_a_notebook(results: dict[str, object]) -> None:
    for begin, result in results.items():
        cells = Cells(result._repr_html_()).found  # type: ignore[attr-defined]
        assert cells[0].startswith(begin)
        assert len(cells) > 4


def test_an_estimate_shows_its_parts_and_its_range(results: dict[str, object]) -> None:
    found = results["saxpy on gtx-480: "]
    assert isinstance(found, kc.Estimate)
    cells = Cells(found._repr_html_()).found
    assert "range" in cells
    assert any("bandwidth" in cell for cell in cells)


def test_what_is_shown_is_escaped_and_long_tables_are_cut() -> None:
    text = html_table("<b>", ("a", ">n"), [("<script>", 1)] * 70)
    assert "<script>" not in text
    assert "<div><b>&lt;b&gt;</b>" in text
    assert text.count("<tr>") == 61
    assert "and 10 more rows" in text
