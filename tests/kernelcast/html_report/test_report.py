"""What a report shows is the record; what it shows of others cannot do anything."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import math
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects
import pytest

import kernelcast as kc
from kernelcast.errors import KernelcastError
from kernelcast.report.html.listing import shortened
from kernelcast.units import format_seconds, format_si
from tests.kernelcast.html_report.reports import (
    EXAMPLES,
    ROOT,
    Report,
    data_of,
    report_of,
    text_of,
)

Output = Callable[..., str]
SIX_MEGABYTES = 6_000_000
SAXPY = EXAMPLES / "saxpy" / "saxpy.toml"


@pytest.fixture(scope="module")
def sgemm(tmp_path_factory: pytest.TempPathFactory) -> Report:
    path = tmp_path_factory.mktemp("sgemm") / "sgemm.html"
    return report_of(EXAMPLES / "sgemm" / "sgemm32.toml", ("gtx-960", "h100-sxm"), path)


def test_a_report_is_one_small_file_that_fetches_nothing(sgemm: Report) -> None:
    text = sgemm.path.read_text(encoding="utf-8")
    assert len(text.encode()) < SIX_MEGABYTES
    page = text[: text.index("<body>")] + text_without_scripts(text)
    for attribute in ('src="', "<link", "@import", "url(", 'href="http'):
        assert attribute not in page
    assert "default-src 'none'; script-src 'sha256-" in html.unescape(page)
    (packed,) = re.findall('<script type="application/gzip" id="library">(.*?)</script>', text)
    script = gzip.decompress(base64.b64decode(packed))
    assert script.startswith(b"/**\n* plotly.js v")
    digest = base64.b64encode(hashlib.sha256(script).digest()).decode()
    assert f"sha256-{digest}" in text


def text_without_scripts(text: str) -> str:
    body = text[text.index("<body>") :]
    return body[: body.index("<script")]


def test_the_page_holds_the_record_that_json_prints(output: Output, tmp_path: Path) -> None:
    path = tmp_path / "saxpy.html"
    devices = ("--device", "gtx-480", "--device", "h100-sxm", "--size", "small")
    printed = json.loads(
        output("estimate", str(SAXPY), *devices, "--json", "-v", "--report", str(path))
    )
    del printed["schema"]
    assert data_of(path)["records"] == [printed]


def test_json_without_details_is_as_before(output: Output) -> None:
    printed = json.loads(
        output("estimate", str(SAXPY), "--device", "gtx-480", "--size", "small", "--json")
    )
    assert printed.keys() == {"schema", "kernel", "estimates"}
    assert "details" not in printed["estimates"][0]


def test_shown_numbers_are_those_of_the_record(sgemm: Report) -> None:
    shown = text_of(sgemm.path)
    for item in sgemm.record["estimates"]:
        details = item["details"]
        assert format_seconds(item["time_s"]) in shown
        for part in leaves(item["terms"]):
            assert f"{part['name']} {format_seconds(part['seconds'])}" in shown
        for level, name in (("dram", "read_bytes"), ("l2", "write_bytes")):
            assert format_si(details["memory"][level][name], "B", 3) in shown
        assert f"{100 * details['memory']['l2']['hit_rate']:.1f} % of reads hit" in shown
        slots = details["slots"]
        for row in slots["lost"][:3]:
            assert f"{row['reason']} {100 * row['slots'] / slots['slots']:.1f} %" in shown
        for assumption in item["assumptions"]:
            assert " ".join(assumption.split()) in shown
        for rate in details["rates"]:
            peak = format_si(rate["rate"], f"{rate['unit']}/s", 3)
            assert f"{peak} {100 * rate['share']:.1f} %" in shown


def leaves(term: dict[str, Any]) -> list[dict[str, Any]]:
    return [term] if not term["parts"] else [one for part in term["parts"] for one in leaves(part)]


def test_charts_show_the_record(sgemm: Report) -> None:
    charts = data_of(sgemm.path)["charts"]
    for item, trace in zip(sgemm.record["estimates"], charts["light"]["traces"], strict=True):
        shares = [100 * rate["share"] for rate in item["details"]["rates"]]
        assert trace["x"] == pytest.approx(shares)
        assert trace["name"] == item["device"]
    for number, item in enumerate(sgemm.record["estimates"]):
        drawn = [trace["x"][number] for trace in charts["cycles"]["traces"]]
        assert math.fsum(drawn) == pytest.approx(100)
        assert charts["times"]["traces"][0]["x"][number] == item["time_s"]


def test_points_of_a_roofline_are_flops_and_bytes_of_the_profile(sgemm: Report) -> None:
    """The definition of operational intensity, with counts of the profile itself."""
    charts = data_of(sgemm.path)["charts"]
    points = [item for item in charts["roofline"]["traces"] if item["mode"] == "markers"]
    for profile, estimate, trace in zip(sgemm.profiles, sgemm.estimates, points, strict=True):
        flops = profile.instructions.flops(kc.WorkType.FP32)
        assert trace["y"] == pytest.approx([flops / estimate.time_s] * len(trace["y"]))
        assert trace["x"][0] == pytest.approx(flops / profile.traffic.dram_bytes)
        assert profile.traffic.l2_bytes is not None
        assert trace["x"][1] == pytest.approx(flops / profile.traffic.l2_bytes)


def test_charts_are_what_plotly_takes(sgemm: Report) -> None:
    """plotly's own objects refuse names and values that plotly.js would pass over in silence."""
    for chart in data_of(sgemm.path)["charts"].values():
        text = json.dumps({"data": chart["traces"], "layout": chart["layout"]})
        painted = json.loads(plain_colors(text))
        plotly.graph_objects.Figure(painted["data"], painted["layout"])


def plain_colors(text: str) -> str:
    words = text.split('"')
    return '"'.join("#123456" if word.startswith("var:") else word for word in words)


def test_a_kernel_without_flops_has_a_roofline_of_instructions(tmp_path: Path) -> None:
    text = """
.version 7.0
.target sm_75
.address_size 64
.visible .entry copy(.param .u64 from, .param .u64 to) {
    .reg .b32 %r<4>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd1, %rd1, %rd3;
    add.s64 %rd2, %rd2, %rd3;
    ld.global.u32 %r2, [%rd1];
    st.global.u32 [%rd2], %r2;
    ret;
}
"""
    arrays = [np.zeros(128, np.uint32) for _ in range(2)]
    trace = kc.load_ptx(text)["copy"].run(
        grid=1, block=128, args=arrays, devices=["gtx-960"], store=False
    )
    profile = trace.profile("gtx-960")
    path = tmp_path / "copy.html"
    kc.write_report(path, [kc.estimate(profile)], [profile])
    charts = data_of(path)["charts"]
    assert "roofline" not in charts
    traces = charts["roofline-instructions"]["traces"]
    (points,) = [item for item in traces if item["mode"] == "markers"]
    warps = profile.instructions.warp_instructions
    assert points["x"][0] == pytest.approx(warps / profile.traffic.dram_bytes)
    assert "without floating-point operations" in text_of(path)


def test_a_profilers_counts_make_a_report_too(output: Output, tmp_path: Path) -> None:
    path = tmp_path / "measured.html"
    metrics = ROOT / "tests" / "traces" / "fixtures" / "plain.csv"
    output(
        *("estimate", "--metrics", str(metrics), "--measured-on", "gtx-480"),
        *("--device", "gtx-480", "--device", "gtx-660", "--report", str(path)),
    )
    (record,) = data_of(path)["records"]
    for item in record["estimates"]:
        assert item["details"]["instructions"] is None
        assert format_seconds(item["time_s"]) in text_of(path)


def test_several_kernels_share_a_page(sgemm: Report, tmp_path: Path) -> None:
    path = tmp_path / "both.html"
    trace = kc.load_workload(SAXPY).run("small")
    profile = trace.profile("gtx-480")
    profiles, estimates = [*sgemm.profiles, profile], [*sgemm.estimates, kc.estimate(profile)]
    kc.write_report(path, estimates, profiles)
    assert [item["kernel"] for item in data_of(path)["records"]] == ["sgemm", "saxpy"]
    names = [trace["name"] for trace in data_of(path)["charts"]["light"]["traces"]]
    assert names == ["sgemm on gtx-960", "sgemm on h100-sxm", "saxpy on gtx-480"]


def test_many_devices_are_told_in_fields_not_bars(tmp_path: Path) -> None:
    devices = ("gtx-480", "gtx-660", "gtx-960", "gtx-1070", "tesla-k20c", "tesla-m2050", "h200")
    report = report_of(SAXPY, devices, tmp_path / "many.html")
    (trace,) = data_of(report.path)["charts"]["light"]["traces"]
    assert trace["type"] == "heatmap"
    assert trace["y"] == list(devices)
    for item, row in zip(report.record["estimates"], trace["z"], strict=True):
        shares = {rate["name"]: 100 * rate["share"] for rate in item["details"]["rates"]}
        found = {name: value for name, value in zip(trace["x"], row, strict=True) if value}
        assert found == pytest.approx(shares)


def test_models_of_one_device_stand_beside_each_other(tmp_path: Path) -> None:
    profile = kc.load_workload(SAXPY).run("small").profile("gtx-480")
    estimates = [kc.estimate(profile, model) for model in ("roofline", "quantitative-roofline")]
    path = tmp_path / "models.html"
    kc.write_report(path, estimates, [profile, profile])
    assert "cycles" not in data_of(path)["charts"]  # their parts do not add up to the time
    shown = text_of(path)
    for estimate in estimates:
        assert f"gtx-480, {estimate.model}: {format_seconds(estimate.time_s)}" in shown


def test_a_baseline_is_set_beside_the_estimates(output: Output, tmp_path: Path) -> None:
    before, path = tmp_path / "before.json", tmp_path / "after.html"
    base = ("estimate", str(SAXPY), "--device", "gtx-480", "--size", "small")
    record = json.loads(output(*base, "--json"))
    record["estimates"][0]["time_s"] /= 2
    before.write_text(json.dumps(record), encoding="utf-8")
    output(*base, "--report", str(path), "--baseline", str(before))
    assert "+100.0%" in text_of(path)


NAUGHTY = "<script>alert('kernel')</script>"


def test_names_and_sources_are_text_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "<img src=x onerror=alert(1)>"
    folder.mkdir()
    source = folder / "<b>.cu"
    source.write_text(f"// {NAUGHTY}\n" * 3, encoding="utf-8")
    trace = kc.load_workload(SAXPY).run("small")
    profile = replace(trace.profile("gtx-480"), kernel=f"saxpy{NAUGHTY}")
    rows = tuple(
        replace(row, text=f"{row.text}{NAUGHTY}", origin_file=str(source), origin_line=2)
        for row in trace.data.instructions
    )
    renamed = replace(trace, traces=(replace(trace.data, instructions=rows),))
    profile = replace(renamed.profile("gtx-480"), kernel=f"saxpy{NAUGHTY}")
    path = tmp_path / "naughty.html"
    kc.write_report(path, [kc.estimate(profile)], [profile])
    body = path.read_text(encoding="utf-8")
    assert NAUGHTY not in body
    assert "<img src=x" not in body
    assert NAUGHTY in text_of(path)
    drawn = json.dumps(data_of(path)["charts"]["roofline"])
    assert "saxpy&lt;script>" in drawn
    assert "<script" not in drawn
    assert data_of(path)["sources"][str(source)][0] == [1, f"// {NAUGHTY}"]


def test_ptx_cannot_name_any_file_as_its_source(tmp_path: Path) -> None:
    secret = tmp_path / "id_rsa"
    secret.write_text("secret\n", encoding="utf-8")
    trace = kc.load_workload(SAXPY).run("small")
    rows = tuple(
        replace(row, origin_file=str(secret), origin_line=1) for row in trace.data.instructions
    )
    profile = replace(trace, traces=(replace(trace.data, instructions=rows),)).profile("gtx-480")
    path = tmp_path / "report.html"
    kc.write_report(path, [kc.estimate(profile)], [profile])
    assert data_of(path)["sources"] == {str(secret): []}


def test_long_listings_keep_what_costs_most() -> None:
    lines = 80_000
    cost = list(range(lines))
    code: dict[str, Any] = {"line": cost, "text": ["FADD"] * lines, "slots_lost": cost}
    record = {"estimates": [{"details": {"instructions": code}}]}
    (short,) = shortened([record])
    found = short["estimates"][0]["details"]["instructions"]
    assert found["left_out"] == lines - len(found["line"])
    assert found["line"] == list(range(found["left_out"], lines))
    assert len(code["line"]) == lines


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--report", "x.pdf"), "x.pdf: reports are written as .html or .htm"),
        (("--report", "missing/x.html"), "there is no folder missing"),
        (("--baseline", "x.json"), "--baseline goes with --report"),
        (("--report", "x.html", "--baseline", "x.json"), "x.json: No such file"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_kernel_runs(
    error: Output, options: tuple[str, ...], message: str
) -> None:
    assert message in error("estimate", "no-such-workload.toml", "--device", "gtx-480", *options)


def test_profiles_and_estimates_belong_together(sgemm: Report, tmp_path: Path) -> None:
    with pytest.raises(KernelcastError, match="2 estimates and 1 profiles"):
        kc.write_report(tmp_path / "x.html", sgemm.estimates, sgemm.profiles[:1])


def test_a_report_replaces_a_file_only_when_it_is_complete(
    sgemm: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.html"
    shutil.copy(sgemm.path, path)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    from kernelcast.report.html.page import plotly_script

    plotly_script.cache_clear()
    with pytest.raises(KernelcastError, match="pip install plotly"):
        kc.write_report(path, sgemm.estimates, sgemm.profiles)
    assert path.read_bytes() == sgemm.path.read_bytes()
