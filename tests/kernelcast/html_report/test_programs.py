"""Pages of whole programs: what a capture's JSON says is on them, kernels lead to their own."""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import kernelcast as kc
from kernelcast.errors import KernelcastError
from kernelcast.program_capture.launches import LongestLaunches, most_explained
from kernelcast.report.programs.charts import kernels_chart, timeline_chart
from kernelcast.report.programs.overview import KernelTime, Overview, Track, TrackSpan
from kernelcast.torch_modules.launches import Step
from kernelcast.torch_modules.module_estimate import ModuleEstimate, device_estimate
from kernelcast.triton_calls.session import CapturedCall
from kernelcast.units import format_seconds
from tests.kernelcast.html_report.reports import EXAMPLES, data_of, text_of
from tests.kernelcast.program_capture.cases import case_named
from tests.kernelcast.program_capture.running import captured

DEVICES = ("a100-40gb", "h100-sxm")


@dataclass(frozen=True)
class Written:
    """The page of a program, and what its JSON has."""

    path: Path
    record: dict[str, Any]


@pytest.fixture(scope="module")
def written() -> dict[str, Written]:
    """The page of a program, once it has been made."""
    return {}


@pytest.fixture
def program(
    capfd: pytest.CaptureFixture[str],
    tmp_path_factory: pytest.TempPathFactory,
    written: dict[str, Written],
) -> Written:
    """Five launches of two kernels on streams, with copies; made once for the file."""
    if "page" not in written:
        written["page"] = _captured_page(capfd, tmp_path_factory.mktemp("page"))
    return written["page"]


def _captured_page(capfd: pytest.CaptureFixture[str], folder: Path) -> Written:
    path = folder / "program.html"
    options = ("--report", str(path), "--code", "source")
    found = captured(capfd, case_named("streams_events").program, devices=DEVICES, options=options)
    assert found.status == 0, found.told
    return Written(path, found.record)


def test_a_page_has_what_the_record_of_the_program_has(program: Written) -> None:
    data, text = data_of(program.path), text_of(program.path)
    launches = ("schema", "launches", "copies")
    assert data["program"] == {
        name: value for name, value in program.record.items() if name not in launches
    }
    for total in program.record["totals"]:
        times = ("timeline_s", "kernels_s", "kernels_low_s", "kernels_high_s", "copies_s", "idle_s")
        row = " ".join(format_seconds(total[name]) for name in times)
        assert f"{total['device']} {row} {total['bound']}" in text
    for kernel in program.record["kernels"]:
        for item in kernel["estimates"]:
            both = f"{format_seconds(item['total_s'])} {100 * item['share']:.1f} %"
            mean = format_seconds(item["mean_s"])
            row = f"{item['device']} {kernel['launches']} {both} {mean} {item['bottleneck']}"
            assert row in text
    assert program.path.stat().st_size < 6e6


def test_kernels_of_the_record_add_up_to_its_launches(program: Written) -> None:
    for kernel in program.record["kernels"]:
        mine = [item for item in program.record["launches"] if item["kernel"] == kernel["kernel"]]
        assert kernel["launches"] == len(mine)
        for at, item in enumerate(kernel["estimates"]):
            times = [launch["estimates"][at]["time_s"] for launch in mine]
            assert item["total_s"] == pytest.approx(sum(times), rel=1e-12)
            assert (item["first_s"], item["last_s"]) == (times[0], times[-1])
    for at, total in enumerate(program.record["totals"]):
        shares = [kernel["estimates"][at]["share"] for kernel in program.record["kernels"]]
        assert sum(shares) == pytest.approx(1.0)
        kernels = [kernel["estimates"][at]["total_s"] for kernel in program.record["kernels"]]
        assert sum(kernels) == pytest.approx(total["kernels_s"])


def test_sections_are_of_the_longest_launch_of_each_kernel(program: Written) -> None:
    shown = data_of(program.path)["records"]
    assert {item["kernel"] for item in shown} == {
        item["kernel"] for item in program.record["kernels"]
    }
    for record in shown:
        mine = [item for item in program.record["launches"] if item["kernel"] == record["kernel"]]
        times = [launch["estimates"][0]["time_s"] for launch in mine]
        assert record["estimates"][0]["time_s"] == max(times)
        assert [item["device"] for item in record["estimates"]] == list(DEVICES)


def test_a_kernel_leads_to_its_sections(program: Written) -> None:
    pytest.importorskip("selenium", reason="no selenium; CI has it")
    module: Any = importlib.import_module("tests.kernelcast.html_report.browser")
    if module.CHROMIUM is None or module.DRIVER is None:
        pytest.skip("no chromium with its driver; CI has them")
    browser = module.Browser()
    try:
        browser.open(program.path)
        assert browser.reload() == []
        links = "#kernels-table tbody th a"
        rows = len(program.record["kernels"]) * len(DEVICES)
        targets = browser.evaluate(
            "return [...document.querySelectorAll(arguments[0])].map((a) => a.hash)", links
        )
        assert sorted(targets) == [f"#details-{number}" for number in range(rows)]
        browser.click("#kernels-table tbody tr:last-child th a")
        chosen = browser.evaluate("return document.getElementById('estimate').value")
        assert targets[-1] == f"#details-{chosen}"
        device = browser.texts("#kernels-table tbody tr:last-child td:nth-child(2)")[0]
        assert all(device in text for text in browser.texts("#memory ~ div:not([hidden]) > h3"))
        for width in (1280, 400):
            browser.open(program.path, width)
            for name in ("kernels", "timeline"):
                pixels = browser.picture(f'[data-chart="{name}"]')[..., :3]
                assert (pixels.max(axis=2) - pixels.min(axis=2) > 0.25).mean() > 0.002, name
            assert browser.evaluate("return document.documentElement.scrollWidth") <= width
        assert browser.messages() == []
    finally:
        browser.close()


def test_a_report_must_be_called_html(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = captured(
        capfd, Path("/bin/true"), devices=DEVICES, options=("--report", str(tmp_path / "x.pdf"))
    )
    assert found.status == 2
    assert "reports are written as .html" in found.told


def test_a_program_without_a_launch_has_no_report(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "x.html"
    found = captured(capfd, Path("/bin/true"), devices=DEVICES, options=("--report", str(path)))
    assert found.status == 2
    assert "without a launch there is no report" in found.told
    assert not path.exists()


def fake(kernel: str, seconds: float) -> Any:
    return SimpleNamespace(kernel=kernel, time_s=seconds)


def test_the_longest_launch_of_the_costliest_kernels_is_kept() -> None:
    longest = LongestLaunches(2)
    for kernel, seconds in (("a", 3.0), ("b", 1.0), ("b", 2.0), ("b", 1.5), ("c", 0.5)):
        longest.note(kernel, [fake(kernel, seconds)], [fake(kernel, seconds)])
        longest.count(kernel, seconds)
    assert {name: kept[0][0].time_s for name, kept in longest.kept.items()} == {"a": 3.0, "b": 2.0}
    for _ in range(12):
        longest.count("c", 0.5)
    longest.note("c", [fake("c", 0.5)], [fake("c", 0.5)])
    assert set(longest.kept) == {"b", "c"}


def test_nothing_is_kept_unless_a_report_is_wanted() -> None:
    longest = LongestLaunches()
    longest.note("a", [fake("a", 1.0)], [fake("a", 1.0)])
    assert longest.kept == {}
    assert [most_explained(devices) for devices in (1, 3, 100)] == [24, 8, 1]


def overview_of(spans: list[TrackSpan]) -> Overview:
    names = dict.fromkeys(span.name for span in spans)
    kernels = [KernelTime(name, name, "gpu", 1, 1.0, "") for name in names]
    return Overview("p", (), (), kernels, {"gpu": 0.5}, (), {}, (), [Track("gpu, stream 0", spans)])


def test_a_time_line_joins_what_is_near() -> None:
    """A hundred launches behind one another, a gap of a tenth, and a hundred more."""
    starts = [*range(100), *range(120, 220)]
    shown = timeline_chart(overview_of([TrackSpan("k<1>", at, at + 0.9) for at in starts]))
    assert shown is not None
    (trace,) = shown.traces
    assert trace["name"] == "k&lt;1>"
    assert list(zip(trace["base"], trace["x"], strict=True)) == [
        (0, pytest.approx(99.9)),
        (120, pytest.approx(99.9)),
    ]
    assert all("100 times" in text for text in trace["hovertext"])


def test_many_kernels_are_nine_and_the_others() -> None:
    spans = [TrackSpan(f"k{at}", at, at + 1) for at in range(30)]
    names = [trace["name"] for trace in kernels_chart(overview_of(spans)).traces]
    assert names == [*(f"k{at}" for at in range(9)), "other kernels", "copies and fills"]
    others = kernels_chart(overview_of(spans)).traces[-2]
    assert others["x"] == [21.0]


@pytest.fixture(scope="module")
def module() -> ModuleEstimate:
    """Two launches of saxpy and a fill, as a module of PyTorch has them."""
    device = kc.device("gtx-960")
    profile = kc.load_workload(EXAMPLES / "saxpy" / "saxpy.toml").run("small").profile(device)
    call = CapturedCall(
        "saxpy", (1,), {}, {}, {device.name: kc.estimate(profile)}, {device.name: profile}
    )
    steps = [
        Step("saxpy", ("aten.add",), call),
        Step("saxpy", ("aten.add",), call),
        Step("fill", ("aten.zeros",), bytes=1 << 20),
        Step("sort", ("aten.sort",)),
    ]
    kernels, total = device_estimate(device, steps)
    return ModuleEstimate("f", tuple(kernels), (total,))


def test_a_page_of_a_module(module: ModuleEstimate, tmp_path: Path) -> None:
    path = tmp_path / "module.html"
    kc.write_program_report(path, module)
    data, text = data_of(path), text_of(path)
    assert data["program"] == json.loads(json.dumps(module.as_dict()))
    rows = {item["kernel"]: item for item in module.as_dict()["rows"]}
    saxpy = rows["saxpy"]
    times = f"{format_seconds(saxpy['total_s'])} 100.0 % {format_seconds(saxpy['time_s'])}"
    assert f"saxpy gtx-960 2 {times}" in text
    assert "sort gtx-960 1 no estimate" in text
    assert "1 launches of libraries on gtx-960 are counted, in no time" in text
    assert [item["kernel"] for item in data["records"]] == ["saxpy"]


def test_a_capture_without_profiles_has_no_report(tmp_path: Path, module: ModuleEstimate) -> None:
    unknown = ModuleEstimate("f", module.kernels[-1:], module.totals)
    with pytest.raises(KernelcastError, match="no launch was kept"):
        kc.write_program_report(tmp_path / "x.html", unknown)
