"""The six benchmarks of Luo and Suda: proportions beside Table 3, their order, P as input."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kernelcast.cli import main
from kernelcast.validation.luo_suda.periods import period_figures
from kernelcast.validation.luo_suda.proportions import (
    Proportion,
    luo_suda_proportions,
    printed_proportions,
    proportion_figures,
)

WORKLOADS = Path(__file__).resolve().parents[3] / "validation" / "workloads" / "luo_suda"


@pytest.fixture(scope="module")
def proportions() -> dict[str, Proportion]:
    return luo_suda_proportions()


def test_each_workload_has_a_row_of_table_3() -> None:
    assert set(printed_proportions()) == {path.stem for path in WORKLOADS.glob("*.toml")}
    assert printed_proportions()["support_vector"] == pytest.approx(0.2623)


def test_proportions_are_near_those_of_table_3(proportions: dict[str, Proportion]) -> None:
    """The costs are those of the GTX 260's file: 22 clocks for what Table 1 lacks, 44 for mad."""
    printed = printed_proportions()
    points = {name: abs(item.found - printed[name]) for name, item in proportions.items()}
    assert max(points.values()) < 0.15, points
    assert sum(points.values()) / len(points) < 0.10, points


def test_proportions_are_in_the_order_of_table_3(proportions: dict[str, Proportion]) -> None:
    p = {name: item.found for name, item in proportions.items()}
    memory = max(p["support_vector"], p["matrix"])
    filters = (p["linear"], p["sepia"])
    assert memory < min(filters)
    assert max(filters) < p["black_scholes_7"] < p["black_scholes"]


def test_figures_tell_distance_and_order(proportions: dict[str, Proportion]) -> None:
    figures = tuple(proportion_figures(proportions))
    assert all(item.is_met for item in figures)
    points = [100 * abs(item.found - item.printed) for item in proportions.values()]
    mean, order = figures[-2:]
    assert mean.found == pytest.approx(sum(points) / 6)
    assert order.found == order.printed


@pytest.mark.parametrize(
    ("name", "changes", "outside"),
    [
        ("matrix", {"found": 0.45}, {"matrix: P", "the six kernels: order of P"}),
        ("sepia", {"given": 0.52}, {"sepia: P as input"}),
    ],
)
def test_figures_outside_of_their_bounds(
    proportions: dict[str, Proportion], name: str, changes: dict[str, float], outside: set[str]
) -> None:
    changed = {**proportions, "linear": replace(proportions["linear"], found=0.44)}
    changed = changed if "found" in changes else proportions
    figures = proportion_figures({**changed, name: replace(proportions[name], **changes)})
    assert {f"{item.subject}: {item.figure}" for item in figures if not item.is_met} == outside


def test_periods_made_by_hand_and_equation_2_have_figures() -> None:
    """Types 1 to 4 and the time of each, a histogram, two readings for four kernels."""
    figures = tuple(period_figures())
    assert len(figures) == 8 + 1 + 2 * 4
    assert all(item.is_met for item in figures)


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
