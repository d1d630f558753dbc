"""Estimates of before and after: differences, gates, Markdown, and files that are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kernelcast.cli import main
from kernelcast.comparison.comparison import compared
from kernelcast.comparison.records import read_records
from kernelcast.errors import KernelcastError

Output = Callable[..., str]
Budget = Callable[..., Any]
SAXPY = Path(__file__).parents[3] / "examples" / "saxpy" / "saxpy.toml"


def estimate(device: str, dram_s: float, other_s: float, code: str = "sm_90") -> dict[str, Any]:
    """An estimate as `--json` has it, of two parts."""
    parts = [
        {"name": name, "seconds": seconds, "combine": "leaf", "formula": "", "parts": []}
        for name, seconds in (("DRAM bandwidth", dram_s), ("launch", other_s))
    ]
    time_s = dram_s + other_s
    terms = {"name": "kernel", "seconds": time_s, "combine": "sum", "formula": "", "parts": parts}
    named = {"device": device, "model": "interval", "time_s": time_s, "code": code}
    return {**named, "bottleneck": "DRAM bandwidth", "terms": terms}


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., Path]:
    def write(name: str, *estimates: dict[str, Any]) -> Path:
        path = tmp_path / name
        path.write_text(json.dumps({"schema": 1, "kernel": "copy", "estimates": list(estimates)}))
        return path

    return write


def test_changes_have_their_causes(file: Callable[..., Path], output: Output) -> None:
    before = file("a.json", estimate("h100-sxm", 80e-6, 20e-6), estimate("mi210", 1e-3, 0.0))
    after = file("b.json", estimate("h100-sxm", 90e-6, 20e-6, "source"), estimate("v100", 1.0, 0))
    record = json.loads(output("compare", str(before), str(after), "--json"))
    first, new, gone = record["rows"]
    assert first["change"] == pytest.approx(0.1)
    (cause,) = first["causes"]
    assert cause["what"] == "DRAM bandwidth"
    assert cause["seconds"] == pytest.approx(10e-6)
    assert (new["before_s"], gone["after_s"], new["device"]) == (None, None, "v100")
    text = output("compare", str(before), str(after))
    for part in ("+10.0%", "DRAM bandwidth +10.00 µs", "code sm_90 -> source", "new", "gone"):
        assert part in text


@pytest.mark.parametrize(("percent", "status"), [("11", 0), ("9", 1)])
def test_a_gate_fails_by_its_limit(
    file: Callable[..., Path], percent: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [file(f"{us}.json", estimate("h100-sxm", us * 1e-6, 0.0)) for us in (100, 110)]
    arguments = ["compare", *map(str, files), "--fail-above", percent]
    assert main(arguments) == status
    assert ("FAILED" if status else "passed") in capsys.readouterr().out
    assert main([*arguments, "--markdown"]) == status
    head, rule, row, *_ = capsys.readouterr().out.splitlines()
    assert head.count("|") == rule.count("|") == row.count("|") == 8


def test_a_gate_looks_at_the_devices_that_it_is_told(file: Callable[..., Path]) -> None:
    old = file("a.json", estimate("h100-sxm", 1.0, 0.0), estimate("mi210", 1.0, 0.0))
    new = file("b.json", estimate("h100-sxm", 1.0, 0.0), estimate("mi210", 2.0, 0.0))
    arguments = ["compare", str(old), str(new), "--fail-above", "5"]
    assert main(arguments) == 1
    assert main([*arguments, "--device", "h100-sxm"]) == 0
    assert main([*arguments, "--device", "mi250x"]) == 2


def test_an_estimate_that_is_gone_fails(file: Callable[..., Path]) -> None:
    old = file("a.json", estimate("h100-sxm", 1.0, 0.0), estimate("mi210", 1.0, 0.0))
    new = file("b.json", estimate("h100-sxm", 1.0, 0.0))
    (gone,) = compared(read_records(old), read_records(new)).over(0.05)
    assert gone.after is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "3",
        "{",
        '{"estimates": []}',
        '{"estimates": [{}]}',
        '{"kernel": "k", "estimates": [{"device": "d", "model": "m", "time_s": "x"}]}',
        '{"kernel": "k", "estimates": [{"device": "d", "model": "m", "time_s": NaN}]}',
        '{"kernel": "k", "estimates": 3}',
    ],
)
def test_files_that_are_none_are_refused_in_a_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(KernelcastError, match=r"^[^\n]*a\.json: [^\n]*$"):
        read_records(path)


def test_a_captured_program_is_compared_by_its_time_line(tmp_path: Path) -> None:
    total = {"process": 1, "device": "v100", "timeline_s": 2.0, "kernels_s": 1.5, "copies_s": 0.5}
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"program": ["./heat", "64"], "totals": [total]}))
    (found,) = read_records(path)
    assert (found.kernel, found.time_s) == ("./heat 64, process 1", 2.0)


def test_a_budget_is_kept_or_the_test_fails(kernelcast_budget: Budget, output: Output) -> None:
    found = kernelcast_budget(SAXPY, "gtx-480", at_most_s=1.0, size="small")
    with pytest.raises(pytest.fail.Exception, match=r"over its budget of 1\.000 ns \(at_most_s\)"):
        kernelcast_budget(SAXPY, "gtx-480", at_most_s=1e-9, size="small")
    with pytest.raises(KernelcastError, match="either at_most_s or a baseline"):
        kernelcast_budget(SAXPY, "gtx-480", size="small")
    assert found.device == "gtx-480"


def test_a_budget_comes_from_a_file_of_estimates(
    kernelcast_budget: Budget, output: Output, tmp_path: Path
) -> None:
    path = tmp_path / "saxpy.json"
    text = output("estimate", str(SAXPY), "--size", "small", "--device", "gtx-480", "--json")
    path.write_text(text)
    kernelcast_budget(SAXPY, "gtx-480", baseline=path, size="small", growth=0.0)
    record = json.loads(text)
    record["estimates"][0]["time_s"] *= 0.9
    path.write_text(json.dumps(record))
    with pytest.raises(pytest.fail.Exception, match=r"saxpy\.json and 5\.0%"):
        kernelcast_budget(SAXPY, "gtx-480", baseline=path, size="small")
    with pytest.raises(KernelcastError, match="no estimate of saxpy gtx-960"):
        kernelcast_budget(SAXPY, "gtx-960", baseline=path, size="small")
