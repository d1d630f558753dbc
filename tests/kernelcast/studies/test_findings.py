"""Sensitivities, fronts and tables of rows whose times are known in closed form."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.cli import main
from kernelcast.report.studies.page import study_page
from kernelcast.studies.data_set import Design, SweepResult
from kernelcast.studies.designs import DESIGNS
from kernelcast.studies.findings import best_devices, changes_that_pay, pareto_front
from kernelcast.studies.sensitivity import effects, indices

PlanFile = Callable[..., Path]


def row(device: str, time_s: float, facts: dict[str, Any], launch: str = "") -> dict[str, Any]:
    return {
        "kernel": "k", "launch": launch, "device": device, "model": "m", "time_s": time_s,
        "error": None, "changes": ", ".join(f"{n}={v}" for n, v in facts.items() if v is not None),
        "bottleneck": "", "sm_count": 10, "l2_bytes": 1, "dram_bandwidth_bytes_per_s": 1e12,
        **{f"set.{name}": value for name, value in facts.items()},
    }  # fmt: skip


def power_law() -> list[dict[str, Any]]:
    """The time is launch x a^-0.5 x b^0.25, whatever the switch is."""
    rows = []
    for factor, launch in ((1e-6, "small"), (8e-6, "large")):
        rows.append(row("d", factor, {"a": None, "b": None, "c": None}, launch))
        for a, b, c in itertools.product((1, 4, 16), (2.0, 32.0), ("yes", "no")):
            rows.append(row("d", factor * a**-0.5 * b**0.25, {"a": a, "b": b, "c": c}, launch))
    return rows


def test_elasticities_are_the_exponents_of_a_power_law() -> None:
    found = {item.fact: item for item in effects(power_law())}
    assert list(found) == ["a", "b", "c"]  # the largest swing first
    assert found["a"].elasticity == pytest.approx(-0.5)
    assert found["b"].elasticity == pytest.approx(0.25)
    assert found["c"].elasticity is None
    assert found["a"].swing == pytest.approx(4.0)
    assert found["b"].swing == pytest.approx(2.0)
    assert found["c"].swing == pytest.approx(1.0)
    assert (found["a"].at_low, found["a"].at_high) == (16, 1)


def test_shares_of_variance_add_up_with_that_between_launches() -> None:
    """log time is a sum over a balanced design: variances of its parts add up."""
    rows = [item for item in power_law() if item["changes"]]
    logs = np.log([item["time_s"] for item in rows])
    expected = np.var([-0.5 * np.log(a) for a in (1, 4, 16)]) / np.var(logs)
    found = {item.fact: item.reduction for item in effects(rows)}
    assert found["a"] == pytest.approx(expected)
    assert found["c"] == pytest.approx(0.0, abs=1e-12)


def drawn(method: str, function: Callable[[Any], Any]) -> tuple[Sequence[Any], Design]:
    shares = DESIGNS[method](3, 512, 0)
    rows = [row("d", 1.0, {"a": None, "b": None, "c": None})]
    for a, b, c in shares:
        rows.append(row("d", float(function((a, b, c))), {"a": a, "b": 2 * b, "c": 10**c}))
    return rows, Design(method, {"a": (0, 1, False), "b": (0, 2, False), "c": (1, 10, True)})


def test_sobols_indices_of_the_product_of_two() -> None:
    """Sobol's g function: variances of the factors are 1 / (3 (1 + a)^2)."""
    of = 0.0, 1.0, 9.0
    rows, design = drawn(
        "sobol",
        lambda at: np.prod([(abs(4 * x - 2) + a) / (1 + a) for x, a in zip(at, of, strict=True)]),
    )
    variances = [1 / 3 / (1 + a) ** 2 for a in of]
    whole = np.prod([1 + item for item in variances]) - 1
    for found, variance in zip(indices(rows, design), variances, strict=True):
        others = (1 + whole) / (1 + variance)
        assert found.first == pytest.approx(variance / whole, abs=0.03)
        assert found.second == pytest.approx(variance * others / whole, abs=0.03)


def test_morriss_effects_of_a_linear_function_are_its_slopes() -> None:
    rows, design = drawn("morris", lambda at: 10 + 3 * at[0] - 2 * at[1])
    mean = np.mean([item["time_s"] for item in rows if item["changes"]])
    found = indices(rows, design)
    assert [item.first * mean for item in found] == pytest.approx([3, 2, 0], abs=1e-9)
    assert [item.second for item in found] == pytest.approx([0, 0, 0], abs=1e-9)


def test_a_design_with_a_failed_point_has_no_indices() -> None:
    rows, design = drawn("sobol", lambda at: 1 + at[0])
    rows[5]["error"] = "no such GPU"
    assert indices(rows, design) == []


def test_fronts_hold_what_nothing_beats() -> None:
    points = [(1, 9.0), (2, 7.0), (2, 8.0), (3, 7.0), (4, 1.0), (5, 2.0)]
    rows = [{"cost": cost, "time_s": time_s} for cost, time_s in points]
    assert [(item["cost"], item["time_s"]) for item in pareto_front(rows, "cost")] == [
        (1, 9.0), (2, 7.0), (4, 1.0),
    ]  # fmt: skip


def test_the_fastest_and_the_change_that_pays_most() -> None:
    rows = power_law()
    (best,) = best_devices(rows)
    assert best["changes"] == "a=16, b=2.0, c=yes"
    (found,) = changes_that_pay(rows)
    assert found[0]["launch"] == "small"
    assert found[1] == pytest.approx(4 / 2**0.25)


def test_a_page_of_strange_names_is_inert(tmp_path: Path) -> None:
    rows = power_law()
    for item in rows:
        item["kernel"] = "</script><script>alert(1)</script>"
    text = study_page(SweepResult(tmp_path, rows))
    assert "<script>alert" not in text
    assert '<main id="main">' in text  # where the skip link leads, with margins
    assert f"<h1>Sweep of {len(rows)} points</h1>" in text
    assert text.count("data-chart=") == 2  # the tornado and the heat map of the first two facts


def test_the_command_answers_in_25_lines_and_writes_a_page(
    plan: PlanFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = plan(
        "[architecture.sample]\nmethod = 'sobol'\ncount = 4\n[architecture.sample.of]\n"
        "dram.bandwidth = { from = 1e12, to = 2e12 }\nsm.clock_hz = { from = 1e9, to = 1.5e9 }",
        'devices = ["a100-40gb"]\nmodels = ["roofline", "quantitative-roofline"]',
    )
    kc.Sweep.read(file).run(tmp_path / "out", jobs=1)
    page = tmp_path / "page.html"
    assert main(["sweep", "report", str(tmp_path / "out"), "--html", str(page)]) == 0
    shown = capsys.readouterr().out
    assert len(shown.splitlines()) <= 25
    assert "which change pays" in shown
    assert "Indices of the sobol design" in page.read_text()


def test_a_folder_of_something_else_is_said_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", "report", str(tmp_path)]) == 2
    assert "is no folder of a sweep" in capsys.readouterr().err
