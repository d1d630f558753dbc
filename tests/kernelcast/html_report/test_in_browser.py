"""Reports in a browser: no errors, hover, sort and source links work, pictures are there."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import InputError
from kernelcast.inputs.clang import find_newest_clang
from kernelcast.inputs.native.tools import toolset
from kernelcast.units import format_seconds
from tests.kernelcast.html_report.reports import (
    EXAMPLES,
    WORKLOADS,
    Report,
    module_of,
    report_of,
)

pytest.importorskip("selenium", reason="no selenium; CI has it")
browser_module: Any = importlib.import_module("tests.kernelcast.html_report.browser")
Browser = browser_module.Browser

if browser_module.CHROMIUM is None or browser_module.DRIVER is None:
    pytest.skip("no chromium with its driver; CI has them", allow_module_level=True)

WIDE, NARROW = 1280, 400
HIP = """#include <hip/hip_runtime.h>
extern "C" __global__ void saxpy(unsigned n, float a, const float *x, float *y)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""
CHARTS = ("light", "roofline", "cycles", "mix", "topdown-0")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    found = Browser()
    yield found
    found.close()


@pytest.fixture(scope="module")
def sor(tmp_path_factory: pytest.TempPathFactory) -> Report:
    path = tmp_path_factory.mktemp("sor") / "sor.html"
    return report_of(EXAMPLES / "sor" / "sor.toml", ("gtx-960", "h100-sxm"), path)


@pytest.fixture(scope="module")
def sgemm(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """CUDA C++ executed as machine code: three views of the source."""
    if toolset(90) is None:
        pytest.skip("no assembler; CI has it")
    folder = tmp_path_factory.mktemp("sgemm")
    text = (EXAMPLES / "sgemm" / "sgemm32.toml").read_text(encoding="utf-8")
    source = EXAMPLES / "sgemm" / "sgemm.cu"
    file = folder / "sgemm.toml"
    file.write_text(text.replace('"sgemm.ptx"', f'"{source}"').split("[check]")[0], "utf-8")
    return report_of(file, ("h100-sxm",), folder / "sgemm.html", "native")


def test_a_report_opens_without_a_message(browser: Any, sor: Report) -> None:
    browser.open(sor.path)
    assert browser.reload() == []


def test_the_first_thing_seen_is_the_answer(browser: Any, sor: Report) -> None:
    browser.open(sor.path)
    for estimate, row in zip(sor.estimates, browser.texts(".cards tbody tr"), strict=True):
        assert row.startswith(f"{estimate.device} {format_seconds(estimate.time_s)}")
        assert estimate.bottleneck in row
    top = "return document.querySelector('.cards table').getBoundingClientRect().bottom"
    assert browser.evaluate(top) < 300


@pytest.mark.parametrize(("width", "is_dark"), [(WIDE, False), (NARROW, True)])
def test_charts_are_drawn(browser: Any, sor: Report, width: int, is_dark: bool) -> None:
    browser.open(sor.path, width, is_dark=is_dark)
    for name in ("times", *CHARTS):
        pixels = browser.picture(f'[data-chart="{name}"]')[..., :3]
        colored = (pixels.max(axis=2) - pixels.min(axis=2) > 0.25).mean()
        assert colored > 0.002, name
        assert pixels.shape[1] <= width
        background = float(np.median(pixels))
        if name != "topdown-0":  # which fills its place
            assert (background < 0.3) == is_dark, name
    assert browser.evaluate("return document.documentElement.scrollWidth") <= width
    assert browser.messages() == []


def test_a_page_that_is_made_narrow_keeps_its_charts(browser: Any, sor: Report) -> None:
    browser.open(sor.path)
    browser.resize(NARROW)
    width = "return document.querySelector('[data-chart=light] .main-svg').clientWidth"
    for _ in range(1000):
        if browser.evaluate(width) <= NARROW:
            break
    assert browser.evaluate(width) <= NARROW


def test_paper_is_white_even_at_night(browser: Any, sor: Report) -> None:
    browser.open(sor.path, is_dark=True)
    lightness = "return getComputedStyle(document.querySelector('[data-chart=light] text')).fill"
    at_night = browser.evaluate(lightness)
    browser.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert min(browser.picture("[data-chart=light]")[0, 0]) > 0.99
    assert browser.evaluate(lightness) != at_night
    closed = "return document.querySelectorAll('details:not([open], [data-long])').length"
    assert browser.evaluate(closed) == 0
    browser.evaluate("dispatchEvent(new Event('afterprint'))")
    assert browser.evaluate(lightness) == at_night


def test_a_bar_tells_its_share_when_pointed_at(browser: Any, sor: Report) -> None:
    browser.open(sor.path)
    place = "[data-chart=light]"
    shown = browser.hover(f"{place} .trace .point path", shows=f"{place} .hoverlayer .hovertext")
    first = sor.record["estimates"][0]
    (rate, *_) = first["details"]["rates"]
    assert f"{first['device']}, {rate['name']}" in " ".join(shown.split())
    assert f"{rate['share']:.1%}" in shown


def test_a_heading_sorts_its_table(browser: Any, sor: Report) -> None:
    browser.open(sor.path)
    devices = [estimate.device for estimate in sor.estimates]
    by_time = sorted(devices, key=lambda name: sor.estimates[devices.index(name)].time_s)
    second = ".cards thead th:nth-child(2)"
    for order, expected in (("descending", by_time[::-1]), ("ascending", by_time)):
        browser.click(f"{second} button")
        assert browser.texts(".cards tbody th") == expected
        assert (
            browser.evaluate(
                "return document.querySelector(arguments[0]).getAttribute('aria-sort')", second
            )
            == order
        )


def test_another_device_is_looked_into(browser: Any, sor: Report) -> None:
    browser.open(sor.path)
    browser.evaluate(
        "const s = document.getElementById('estimate'); s.value = '1';"
        "s.dispatchEvent(new Event('change'))"
    )
    shown = browser.evaluate(
        "return [...document.querySelectorAll('.of-estimate')]"
        ".filter((e) => !e.hidden).map((e) => e.dataset.estimate)"
    )
    assert set(shown) == {"1"}
    assert any("h100-sxm" in text for text in browser.texts("#memory ~ .of-estimate h3"))
    drawn = "return document.querySelector('[data-chart=topdown-1]').dataset.drawn"
    assert browser.evaluate(drawn) == "yes"


def test_advice_leads_to_its_line(browser: Any, sor: Report) -> None:
    browser.open(sor.path)
    browser.click(".of-estimate:not([hidden]) [data-place]")
    place = browser.texts(".of-estimate:not([hidden]) [data-place]")[0]
    assert browser.texts(".row.chosen .no") == [place.rpartition(":")[2]]
    assert "executions by warps" in browser.texts("#chosen")[0]


def test_the_hottest_line_is_the_one_with_most_slots(browser: Any, sor: Report) -> None:
    browser.open(sor.path)
    browser.click("#hottest li:first-child button")
    code = sor.record["estimates"][0]["details"]["instructions"]
    slots = np.add(code["slots_issued"], code["slots_lost"])
    assert browser.texts(".row.chosen .txt") == [code["text"][int(slots.argmax())]]
    share = slots.max() / slots.sum()
    reason = next(iter(code["stalls"][int(slots.argmax())]))
    assert browser.texts("#hottest li")[0].endswith(f", mostly {reason}")
    assert browser.texts(".row.chosen .hot")[0].startswith(f"{100 * share:.0f}")


def test_a_line_of_cuda_marks_its_ptx_and_machine_code(browser: Any, sgemm: Report) -> None:
    browser.open(sgemm.path)
    assert browser.reload() == []
    code = sgemm.record["estimates"][0]["details"]["instructions"]
    line = 23  # sum += a_tile[y][k] * b_tile[k][x]
    of_line = [at for at, number in enumerate(code["source_line"]) if number == line]
    assert browser.evaluate(
        "const row = [...document.querySelectorAll('.pane:nth-child(1) .row')]"
        ".find((r) => r.querySelector('.no').textContent === '23'); row.click();"
        "return row.querySelector('.txt').textContent.includes('a_tile[y][k]')"
    )
    marked = browser.evaluate(
        "return [2, 3].map((n) => [...document.querySelectorAll("
        "`.pane:nth-child(${n}) .row.marked .no`)].map((e) => Number(e.textContent)))"
    )
    assert marked[0] == sorted({code["ptx_line"][at] for at in of_line if code["ptx_text"][at]})
    assert marked[1] == [code["line"][at] for at in of_line]
    assert sum("FFMA" in code["text"][at] for at in of_line) == 32


def test_a_line_of_hip_marks_its_machine_code(browser: Any, tmp_path: Path) -> None:
    """Code for an MI210 beside HIP; what our headers inline is of the line that asks for it."""
    try:
        find_newest_clang("HIP")
    except InputError:
        pytest.skip("no clang; CI has it")
    (tmp_path / "saxpy.hip").write_text(HIP, encoding="utf-8")
    text = (EXAMPLES / "saxpy" / "saxpy.toml").read_text(encoding="utf-8")
    file = tmp_path / "saxpy.toml"
    file.write_text(text.replace("saxpy.ptx", "saxpy.hip").split("[check]")[0], "utf-8")
    report = report_of(file, ("mi210",), tmp_path / "saxpy.html", "native")
    code = report.record["estimates"][0]["details"]["instructions"]
    assert {Path(name).name for name in code["source_file"]} == {"saxpy.hip"}
    assert set(code["source_line"]) <= set(range(3, 8))
    browser.open(report.path)
    assert browser.reload() == []
    assert browser.texts(".pane > h3") == ["saxpy.hip", "Machine code, gfx90a"]
    browser.evaluate(
        "[...document.querySelectorAll('.pane:nth-child(1) .row')]"
        ".find((r) => r.querySelector('.no').textContent === '6').click()"
    )
    marked = browser.texts(".pane:nth-child(2) .row.marked .txt")
    assert [text.split()[0] for text in marked].count("global_load_dword") == 2
    assert any(text.startswith("global_store_dword") for text in marked)


def test_the_source_is_walked_by_keys(browser: Any, sgemm: Report) -> None:
    browser.open(sgemm.path)
    browser.press('.pane:nth-child(3) .row[tabindex="0"]', "\ue015", "\ue007")  # down, enter
    code = sgemm.record["estimates"][0]["details"]["instructions"]
    assert browser.texts(".pane:nth-child(3) .row.chosen .txt") == [code["text"][1]]


def test_facts_are_there_when_they_are_opened(browser: Any, sor: Report) -> None:
    browser.open(sor.path)
    browser.click("[data-facts='0'] summary")
    facts = sor.record["estimates"][0]["details"]["facts"]
    cells = "return [...document.querySelectorAll(\"[data-facts='0'] tbody td:last-child\")]"
    for _ in range(1000):  # what opens it is told of later
        found = browser.evaluate(f"{cells}.map((cell) => cell.textContent)")
        if found:
            break
    assert found == [fact["reference"] for fact in facts]


def test_heat_is_of_what_is_chosen(browser: Any, sgemm: Report) -> None:
    browser.open(sgemm.path)
    browser.evaluate(
        "const s = document.getElementById('heat'); s.value = 'sectors asked of L1';"
        "s.dispatchEvent(new Event('change'))"
    )
    code = sgemm.record["estimates"][0]["details"]["instructions"]
    hot = browser.evaluate(
        "return [...document.querySelectorAll('.pane:nth-child(3) .row')]"
        ".map((r) => r.querySelector('.hot').textContent !== '')"
    )
    assert hot == [count > 0 for count in code["sectors"]]


def test_sparse_product_without_a_message(browser: Any, tmp_path: Path) -> None:
    file = WORKLOADS / "sparse" / "spmv_csr_vector.toml"
    report = report_of(file, ("v100-pcie",), tmp_path / "spmv.html")
    browser.open(report.path)
    assert browser.reload() == []
    (estimate,) = report.estimates
    assert format_seconds(estimate.time_s) in browser.texts(".cards tbody tr")[0]


@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
def test_triton_product_without_a_message(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Triton's own cache would tell the places of sources as they were when it was filled."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    torch: Any = pytest.importorskip("torch", reason="no torch; CI has it")
    pytest.importorskip("triton", reason="no Triton; CI has it")
    matmul = module_of(EXAMPLES / "triton" / "matmul.py")
    configurations = matmul.matmul_kernel.configs
    matmul.matmul_kernel.configs = configurations[-1:]
    a, b = torch.ones((128, 64), dtype=torch.float16), torch.ones((64, 64), dtype=torch.float16)
    with kc.capture(device="h100-sxm") as session:
        matmul.matmul(a, b)
    (call,) = session.calls
    path = tmp_path / "matmul.html"
    kc.write_report(path, call.estimates.values(), call.profiles.values())
    browser.open(path)
    assert browser.reload() == []
    assert format_seconds(call.estimate.time_s) in browser.texts(".cards tbody tr")[0]
    views = browser.texts(".pane > h3")
    assert views[0].startswith("matmul.py")
    assert any("tl.dot" in text for text in browser.texts(".pane:first-child .row.has .txt"))
