"""The error tables of README and docs are those of the accepted baseline, none left out."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from kernelcast.cli import main
from tests.ptx_frontend.sass.native_programs import needs_tools

ROOT = Path(__file__).parents[1]
BASELINE = json.loads((ROOT / "validation" / "baseline.json").read_text())
_ROW = re.compile(r"^\| ([\w-]+) \| ([\w-]+) \| \d+ \| ([\d.]+)% \|", re.MULTILINE)


def shown(text: str) -> list[tuple[str, str, float]]:
    return [(model, device, float(error) / 100) for model, device, error in _ROW.findall(text)]


def test_the_docs_show_every_error_of_the_baseline() -> None:
    found = shown((ROOT / "docs" / "accuracy.md").read_text())
    wanted = [
        (model, device, error)
        for suite in ("thesis", "papers")
        for model, devices in BASELINE[suite].items()
        for device, error in devices.items()
    ]
    assert [row[:2] for row in found] == [row[:2] for row in wanted]
    for (model, device, error), (_, _, known) in zip(found, wanted, strict=True):
        assert abs(error - known) < 0.001, (model, device)


def test_the_readme_has_a_row_for_each_model() -> None:
    """Mean errors of both sets; the second are those of the baseline of published times."""
    rows = re.findall(
        r"^\| `([\w-]+)` \|.*\| ([\d.]+)% \| ([\d.]+)% \|$",
        (ROOT / "README.md").read_text(),
        re.MULTILINE,
    )
    assert {model for model, *_ in rows} == set(BASELINE["thesis"])
    for model, thesis, published in rows:
        assert abs(float(thesis) / 100 - BASELINE["thesis"][model]["all"]) < 0.001
        assert abs(float(published) / 100 - BASELINE["measured"][model]["all"]) < 0.001


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


def test_every_point_has_its_row_in_the_docs() -> None:
    text = (ROOT / "docs" / "errors.md").read_text()
    points = re.findall(r"^\| .+ \| [\d.]+ [mµn]?s \| [\d.]+ [mµn]?s \| [+-]", text, re.MULTILINE)
    assert len(points) == 6 * 20 + 15 + 6 * 47 + 43  # the last ones from machine code


def test_the_readme_shows_what_its_first_command_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    needs_tools("sm_90")
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("KERNELCAST_CODE", "auto")
    readme = (ROOT / "README.md").read_text()
    (command,) = re.findall(r"^kernelcast (estimate examples/sor/.*)$", readme, re.MULTILINE)
    shown_there = readme.split("```\n", 3)[2].split("```")[0]
    assert "limited by" in shown_there
    assert main(shlex.split(command)) == 0
    assert shown_there.split() == capsys.readouterr().out.split()  # however lines are broken


def test_the_docs_say_what_error_bars_hold() -> None:
    columns, values = (ROOT / "models/interval/model_error.csv").read_text().split()[-2:]
    row = dict(zip(columns.split(","), map(float, values.split(",")), strict=True))
    text = " ".join((ROOT / "docs" / "timing.md").read_text().split())
    share = f"{row['coverage']:.0%}".replace("%", " %")
    assert f"learned: {share} of {row['times']:.0f} times of {row['kernels']:.0f} kernels" in text
    low, high = 1 - row["low"], row["high"] - 1
    bounds = f"from {low * 100:.1f} % below the estimate to {high * 100:.1f} % above"
    assert bounds in text
