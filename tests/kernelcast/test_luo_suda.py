"""The six benchmarks of Luo and Suda: proportions beside Table 3, their order, P as input."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kernelcast.cli import main
from kernelcast.validation.comparison import CounterComparison
from kernelcast.validation.luo_suda import (
    luo_suda_proportions,
    printed_proportions,
    proportions_note,
)

WORKLOADS = Path(__file__).resolve().parents[2] / "validation" / "workloads" / "luo_suda"


@pytest.fixture(scope="module")
def proportions() -> dict[str, CounterComparison]:
    return {item.kernel.removeprefix("luo_suda/"): item for item in luo_suda_proportions()}


def test_each_workload_has_a_row_of_table_3() -> None:
    assert set(printed_proportions()) == {path.stem for path in WORKLOADS.glob("*.toml")}
    assert printed_proportions()["support_vector"] == pytest.approx(0.2623)


def test_proportions_are_near_those_of_table_3(proportions: dict[str, CounterComparison]) -> None:
    """With the costs of the GTX 260's file: 22 clocks for what Table 1 lacks, 44 for mad."""
    points = {name: item.simulated - item.measured for name, item in proportions.items()}
    assert max(map(abs, points.values())) < 0.15, points
    assert sum(map(abs, points.values())) / len(points) < 0.10, points
    assert all(item.is_within_tolerance for item in proportions.values())


def test_proportions_are_in_the_order_of_table_3(
    proportions: dict[str, CounterComparison],
) -> None:
    p = {name: item.simulated for name, item in proportions.items()}
    memory = max(p["support_vector"], p["matrix"])
    filters = (p["linear"], p["sepia"])
    assert memory < min(filters)
    assert max(filters) < p["black_scholes_7"] < p["black_scholes"]


def test_the_note_tells_distance_and_order(proportions: dict[str, CounterComparison]) -> None:
    note = proportions_note(tuple(proportions.values()))
    points = [abs(item.simulated - item.measured) for item in proportions.values()]
    assert f"{100 * sum(points) / 6:.1f} points" in note
    assert note.endswith("in its order")
    first = replace(proportions["matrix"], simulated=0.9)
    assert proportions_note((first, proportions["sepia"])).endswith("in another order")


def test_the_command_line_takes_proportion_and_variant(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(WORKLOADS / "sepia.toml")
    options = ["--device", "gtx-260", "--model", "mpd-cpd", "--json"]

    def parameters(*more: str) -> dict[str, float]:
        assert main(["estimate", file, *options, *more]) == 0
        found = json.loads(capsys.readouterr().out)["estimates"][0]
        return {item["symbol"]: item["value"] for item in found["parameters"]}

    assert parameters("--computation-proportion", "0.5297")["P"] == 0.5297
    assert parameters("--variant", "strict")["MPD"] < parameters()["MPD"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--variant", "strickt"], "did you mean strict"),
        (["--computation-proportion", "2"], "between 0 and 1"),
        (["--variant", "strict", "--model", "roofline"], "roofline has no variants"),
    ],
)
def test_wrong_options_are_refused(
    more: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(WORKLOADS / "sepia.toml")
    assert main(["estimate", file, "--device", "gtx-260", "--model", "mpd-cpd", *more]) == 2
    assert message in capsys.readouterr().err
