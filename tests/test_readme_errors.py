"""The error tables of README and docs are those of the accepted baseline, none left out."""

from __future__ import annotations

import json
import re
from pathlib import Path

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
