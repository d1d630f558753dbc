"""Results in one line, and as tables that a notebook shows."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

import kernelcast as kc
from kernelcast.errors import InputError
from kernelcast.execution.instruction_mix import Counting, instruction_mix
from kernelcast.models.estimate import Estimate, Term
from kernelcast.notebook import Tabular, html_table
from kernelcast.program_capture.result import CaptureResult
from kernelcast.ranking.variants import TunedVariant, VariantTuning

Output = Callable[..., str]
ROOFLINE = ("--model", "roofline")
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
        "instruction mix of saxpy: ": instruction_mix(trace.data, Counting.PLAIN),
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


def test_rows_are_those_of_json(results: dict[str, object], output: Output) -> None:
    """Each command's JSON has every column and every number of the frame."""
    command = ("--json", "--size", "small", "--device", "gtx-480", str(SAXPY))
    for begin, arguments, rows in (
        ("saxpy on gtx-480: ", ("estimate", *command), "estimates"),
        (
            "ranking of saxpy on gtx-480: ",
            ("rank", "--json", "--device", "gtx-480", str(SAXPY)),
            "rows",
        ),
        ("instruction mix of saxpy: ", ("mix", *command), "mix"),
        ("what-if of saxpy: ", ("whatif", *command, "--set", "sm.count=20", *ROOFLINE), "rows"),
    ):
        result = results[begin]
        assert isinstance(result, Tabular)
        frame = result.to_frame()
        listed = json.loads(output(*arguments))[rows]
        assert len(frame) == len(listed)
        for name in frame.columns:
            outer, _, inner = name.partition(".")
            found = [
                row.get(outer, "saxpy") if not inner else row[outer].get(inner) for row in listed
            ]
            if isinstance(found[0], float):
                assert frame[name].tolist() == pytest.approx(found)


def test_profiles_traces_and_devices_are_frames(results: dict[str, object]) -> None:
    frames = {
        begin: item.to_frame() for begin, item in results.items() if isinstance(item, Tabular)
    }
    assert len(frames) == len(results) - 1  # a kernel is no table
    metrics = frames["profile of saxpy on gtx-480"].set_index("metric")["value"]
    assert metrics["inst_executed"] > 0
    trace = frames["trace of saxpy"].iloc[0]
    assert (trace["grid"], trace["thread_block"]) == ("40x1x1", "256x1x1")
    facts = frames["device gtx-480: GeForce GTX 480"].set_index("name")["value"]
    assert facts["architecture.sm_count"] == 15


def test_a_frame_without_pandas_is_told_in_a_line(
    results: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    found = results["saxpy on gtx-480: "]
    assert isinstance(found, Tabular)
    with pytest.raises(
        InputError, match=r"^a frame needs pandas: pip install 'kernelcast\[pandas\]'$"
    ):
        found.to_frame()


def test_rows_of_tunings_layers_comparisons_and_captures() -> None:
    """Small results made by hand, as those of their own tests are."""
    term = Term("DRAM", "bytes / bandwidth", leaf_seconds=2e-3)
    estimate = Estimate("k", "gtx-480", "roofline", term, "DRAM", 1e-3, 3e-3, "nothing")
    variants = VariantTuning("w", "gtx-480", (TunedVariant({"TILE": "16"}, estimate, 20),), ())
    assert variants.to_frame().to_dict("records") == [
        {
            "rank": 1,
            "configuration.TILE": "16",
            "time_s": 2e-3,
            "bottleneck": "DRAM",
            "registers": 20,
        }
    ]
    assert "fastest 2" in repr(variants)
    capture = CaptureResult(("./program",), 0, (), 1.0)
    assert capture.to_frame().empty
    assert "0 launches" in capture._repr_html_()


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
