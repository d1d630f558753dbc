"""`kernelcast rank` as a command."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.cli import main
from kernelcast.errors import KernelcastError
from kernelcast.report.plots.rank import rank_plot

LINE = "b[y, x] = a[y, x - 1..1] + a[y - 1..1, x]; domain = 1024x512; registers = 32"
VARY = ["--vary", "block=32x4,64x2,8x32,256", "--vary", "folding=none,2y"]


def command(*arguments: str) -> list[str]:
    return ["rank", LINE, "--device", "a100-40gb", *VARY, *arguments]


def test_json_of_one_device(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command("--json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["device"] == "a100-40gb"
    assert found["seconds_per_configuration"] > 0
    rows = found["rows"]
    assert {(tuple(row["block"]), row["folding"]) for row in rows} == {
        (shape, fold)
        for shape in ((32, 4, 1), (64, 2, 1), (8, 32, 1), (256, 1, 1))
        for fold in ("none", "2y")
    }
    assert [row["time_s"] for row in rows] == sorted(row["time_s"] for row in rows)
    assert rows[0]["rank"] == 1
    for row in rows:
        assert row["limiter"]
        names = {"rank", "block", "folding", "time_s", "over_best", "limiter", "pareto", "volumes"}
        assert set(row) == names
        assert row["over_best"] == pytest.approx(row["time_s"] / rows[0]["time_s"])
        # at least what is read once, 8 B, and the halo
        assert row["volumes"]["dram_load_bytes_per_work"] > 7.9


def test_json_and_csv_of_several_devices(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command("--device", "mi210", "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert [item["device"] for item in found["rankings"]] == ["a100-40gb", "mi210"]
    assert main(command("--device", "mi210", "--csv")) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 16
    expected = [row["time_s"] for item in found["rankings"] for row in item["rows"]]
    assert [float(row["time_s"]) for row in rows] == pytest.approx(expected)


def test_the_table_says_how_many_are_left_out_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command("--top", "2"), "--vary", "block=64x32"]) == 0
    shown = capsys.readouterr().out
    assert "and 6 slower ones" in shown
    assert "not ranked: 64x32x1 and 1 more: 2048 threads" in shown
    assert "Pareto" in shown


def test_nothing_that_fits_is_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rank", LINE, "--device", "v100-pcie", "--vary", "block=64x32"]) == 1
    assert "2048 threads" in capsys.readouterr().out


def test_the_default_is_every_shape_of_powers_of_two(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rank", LINE, "--device", "v100-pcie", "--processes", "1", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    sides = [1 << n for n in range(11)]
    expected = {(x, y, 1) for x in sides for y in sides if 32 <= x * y <= 1024}
    assert {tuple(row["block"]) for row in rows} == expected


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([LINE], "--device"),
        (["missing.toml", "--device", "mi210"], "missing.toml"),
        ([LINE, "--device", "mi210", "--vary", "blocks=3"], "--vary"),
        ([LINE, "--device", "mi210", "--model", "interval"], "warpspeed"),
        ([LINE, "--device", "mi210", "--plot", "x.gif"], ".svg"),
        ([LINE, "--device", "mi210", "--resume", "."], "directory"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert main(["rank", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_heat_map_has_a_panel_for_each_device_and_folding(tmp_path: Path) -> None:
    target = tmp_path / "map.png"
    assert main(command("--device", "v100-pcie", "--plot", str(target), "--json")) == 0
    assert target.read_bytes().startswith(b"\x89PNG")
    rankings = kc.rank(LINE, ("a100-40gb", "v100-pcie"), block="32x4,64x2", folding="none,2y")
    figure = rank_plot(rankings)
    panels = [axes for axes in figure.axes if axes.get_title()]
    assert [axes.get_title() for axes in panels] == [
        f"{device}, folding {fold}"
        for device in ("a100-40gb", "v100-pcie")
        for fold in ("none", "2y")
    ]
    for axes in panels:
        (image,) = axes.get_images()
        ranking = rankings["v100" in axes.get_title()]
        fold = (1, 2, 1) if "2y" in axes.get_title() else (1, 1, 1)
        times = {
            row.configuration.thread_block: row.time_s / ranking.rows[0].time_s
            for row in ranking.rows
            if row.configuration.folding == fold
        }
        # columns x = 32, 64; lines y = 2, 4
        found = image.get_array()
        assert found is not None
        assert float(found[1, 0]) == pytest.approx(times[(32, 4, 1)])
        assert float(found[0, 1]) == pytest.approx(times[(64, 2, 1)])
        assert np.ma.getmaskarray(found).tolist() == [[True, False], [False, True]]
    best = [patch for axes in panels for patch in axes.patches if patch.get_gid() == "best"]
    assert len(best) >= 2


def test_too_many_sides_for_a_picture() -> None:
    shapes = (
        ",".join(f"32x{y}" for y in range(1, 33)) + ",1x64,1x65,1x66,1x67,1x68,1x69,1x70,1x71,1x72"
    )
    with pytest.raises(KernelcastError, match="too many"):
        rank_plot(kc.rank(LINE, "a100-40gb", block=shapes))


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupt_keeps_what_was_predicted(tmp_path: Path) -> None:
    store = tmp_path / "sweep.jsonl"
    arguments = ["rank", LINE, "--device", "a100-40gb", "--device", "mi210", "--vary", "block=all"]
    running = subprocess.Popen(
        [sys.executable, "-m", "kernelcast", *arguments, "--resume", str(store)],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    try:
        for _ in range(6000):
            if store.exists() and store.stat().st_size:
                break
            time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=600)
    finally:
        running.kill()
    assert running.returncode == 130
    assert "interrupted" in said
    assert "Traceback" not in said
    assert str(store) in said
    lines = store.read_text().splitlines()
    assert all("time_s" in json.loads(line) or "refused" in json.loads(line) for line in lines)


def test_help_shows_a_line_of_addresses_whole(capsys: pytest.CaptureFixture[str]) -> None:
    """Brackets are indices there, not markup."""
    for name in ("rank", "layers"):
        assert main([name, "--help"]) == 0
        assert "b[y, x] = a[y, x - 1..1]" in capsys.readouterr().out
