"""Sections `[curves.<name>]` of device files: what is read, and every way to get one wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelcast.errors import DeviceFileError
from kernelcast.simcore.device.file import load_device

CURVE = """
[curves.chase]
x_name = "footprint"
x_unit = "bytes"
y_name = "latency"
y_unit = "s"
x = [1, 2]
y = [1e-9, 2e-9]
spread = [0.0, 0.1]
source = "measured"
ref = "a test"
"""


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("x = [1, 2]", "x = [2, 1]", r"curves\.chase\.x: must rise"),
        ("x = [1, 2]", "x = [1]", r"curves\.chase\.x: x, y and spread must have one length"),
        ("x = [1, 2]", "x = []", r"curves\.chase\.x: must be a list of numbers"),
        ("x = [1, 2]", "x = [1, nan]", r"curves\.chase\.x: must hold finite numbers"),
        ("x = [1, 2]", "x = [1, true]", r"curves\.chase\.x: must hold finite numbers"),
        ("x = [1, 2]", "", r"curves\.chase\.x: is missing"),
        ('ref = "a test"', "", r"curves\.chase\.ref: is missing"),
        ('"measured"', '"heard"', r"curves\.chase\.source: must be one of measured"),
        ('x_name = "footprint"', "x_name = 3", r"curves\.chase\.x_name: must be a text"),
        ("spread", "spraed", r"curves\.chase\.spraed: is unknown \(did you mean spread"),
        ("[curves.chase]", "[curves]", r"curves: must be sections"),
    ],
)
def test_curves_that_are_refused(before: str, after: str, message: str, tmp_path: Path) -> None:
    shipped = Path(__file__).parents[3] / "simcore" / "devices" / "gtx-480.toml"
    path = tmp_path / "curved.toml"
    path.write_text(shipped.read_text("utf-8") + CURVE, encoding="utf-8")
    assert load_device(path).curves["chase"].y == (1e-9, 2e-9)
    path.write_text(shipped.read_text("utf-8") + CURVE.replace(before, after), encoding="utf-8")
    with pytest.raises(DeviceFileError, match=message):
        load_device(path)
