"""`kernelcast layers`, against the layer conditions of the paper."""

from __future__ import annotations

import csv
import io
import json
from math import isqrt
from pathlib import Path

import pytest

from kernelcast.address.layer_sizes import layer_table, scaled_kernel
from kernelcast.cli import main
from kernelcast.errors import KernelcastError
from kernelcast.models.warpspeed.volumes.layer_condition import LayerAxis
from kernelcast.simcore.device.file import load_device

STAR = (
    "dst[z, y, x] = src[z, y, x - 4..4] + src[z, y - 4..4, x] + src[z - 4..4, y, x]; "
    "domain = 640x512x512; registers = 32"
)
PLANE = "b[y, x] = a[y - 1..1, x] + a[y, x - 1..1]; domain = 4096x4096; registers = 32"
WORKLOADS = Path(__file__).parents[3] / "validation" / "workloads"


def extents(varied: str, device: str = "a100-40gb") -> list[int]:
    table = layer_table(scaled_kernel(STAR), [load_device(device)], {"block": varied})
    assert table.scaled == ("x", "y")
    return [row.largest_extent or 0 for row in table.rows if row.axis is LayerAxis.Z]


def test_deeper_waves_break_earlier() -> None:
    """Ernst et al. 2022, figure 23: about 512, 405 and 330 for waves of 1, 4 and 8 layers."""
    found = extents("512x2x1,64x4x4,32x4x8")
    assert found == sorted(found, reverse=True)
    for extent, expected in zip(found, (512, 405, 330), strict=True):
        assert extent == pytest.approx(expected, rel=0.1)


def test_rows_of_a_plane() -> None:
    """A plane grows in width only, and only rows are kept: no z layers."""
    kernel = scaled_kernel(PLANE)
    assert kernel.scaled == ("x",)
    assert kernel.of_extent(100).domain == (100, 4096, 1)


def test_names_that_grow() -> None:
    kernel = scaled_kernel(STAR, scaled=["z"])
    assert kernel.of_extent(7).domain == (640, 512, 7)
    with pytest.raises(KernelcastError, match="one dimension"):
        scaled_kernel("b[x] = a[x]; domain = 512")


def test_sizes_of_a_workload_grow() -> None:
    file = WORKLOADS / "stencil" / "star7_3d.toml"
    kernel = scaled_kernel(file, "small", ["width", "height"])
    given, grown = kernel.given.domain, kernel.of_extent(100).domain
    assert grown == (98, 98, given[2])
    with pytest.raises(KernelcastError, match="--scale"):
        scaled_kernel(file, "small")
    with pytest.raises(KernelcastError, match=r"'hight'.*height"):
        scaled_kernel(file, "small", ["hight"])


def test_the_command_prints_json_and_csv(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["layers", STAR, "--device", "a100-40gb", "--vary", "block=64x4x4"]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["scaled"] == ["x", "y"]
    (z_layer,) = (row for row in found["rows"] if row["reuse"] == LayerAxis.Z.value)
    assert z_layer["holds"] == (z_layer["layer_bytes"] <= z_layer["capacity_bytes"])
    # a wave of 4 layers and 8 of halo load 12 for each 4: all but the 8 B of the new one overlap
    assert z_layer["overlap_bytes_per_work"] == pytest.approx(8 * 12 / 4 - 8, rel=0.02)
    assert isqrt(10 * 2**20 // 72) == 381  # the sequential condition of section 5.7
    assert main([*arguments, "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["largest_extent"] for row in rows] == [
        "" if row["largest_extent"] is None else str(row["largest_extent"]) for row in found["rows"]
    ]


def test_the_table_names_what_does_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["layers", PLANE, "--device", "v100-pcie", "--vary", "block=2048,128x2"]
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert "not calculated: 2048x1x1" in shown
    assert "128x2x1" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([STAR], "--device"),
        ([STAR, "--device", "v100-pcie", "--vary", "block=2048"], "2048 threads"),
        ([STAR, "--device", "v100-pcie", "--scale", "w"], "'w'"),
        (["missing.toml", "--device", "v100-pcie"], "missing.toml"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert main(["layers", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_workload_with_a_border_has_no_cells_in_tiny_domains() -> None:
    """The star of seven points reads one cell around its domain: planes of 1 and 2 have no cell.
    Waves two layers deep read four planes of doubles and write two."""
    star = str(WORKLOADS / "stencil" / "star7_3d.toml")
    found = layer_table(
        scaled_kernel(star, "full", ["width", "height"]), [load_device("a100-40gb")]
    )
    (extent,) = [row.largest_extent for row in found.rows if row.axis is LayerAxis.Z]
    assert extent == pytest.approx(isqrt(20 * 2**20 // (6 * 8)), rel=0.02)
