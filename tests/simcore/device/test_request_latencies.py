"""The facts of requests at DRAM follow from what micro-kernels measured."""

from __future__ import annotations

import importlib
from dataclasses import fields
from typing import Any

import pytest

from kernelcast.simcore.device.file import load_device

script: Any = importlib.import_module("request_latencies")
GPUS = ("h200", "h100-sxm")


@pytest.mark.parametrize("name", GPUS)
def test_device_files_have_what_is_fitted(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    script.main([name])
    *lines, told = capsys.readouterr().out.splitlines()
    found = {key: float(value) for key, value in (line.split(" = ") for line in lines)}
    timing = load_device(name).timing
    for item in fields(script.Facts):
        assert getattr(timing, item.name) == pytest.approx(found[item.name], abs=1.0), item.name
    assert told.endswith("% off in the mean")


@pytest.mark.parametrize("name", GPUS)
def test_the_fitted_facts_say_what_was_measured(name: str) -> None:
    """All loads and lines count, the 32 lines that nothing was fitted to included."""
    timing, device = load_device(name).timing, load_device(name)
    facts = script.Facts(**{item.name: getattr(timing, item.name) for item in fields(script.Facts)})
    script._LINES, kept = (1, 2, 4, 8, 32), script._LINES
    try:
        measured = script.points(script._TABLES / name / "latencies.csv", device)
    finally:
        script._LINES = kept
    off = [abs(script.expected(facts, point)[0] / point.mean - 1.0) for point in measured]
    assert len(off) > 35
    assert sum(off) / len(off) < 0.025
    assert max(off) < 0.13


def test_made_up_facts_are_found_again() -> None:
    facts = script.Facts(600.0, 30.0, 100.0, 120.0, 45.0, 190.0, 250.0)
    made = [
        script.Point(is_mixed, lines, load, *script.expected(facts, script.Point(
            is_mixed, lines, load, 0.0, 0.0)))
        for is_mixed in (False, True)
        for lines in (1, 2, 4, 8)
        for load in (0.1, 0.3, 0.5, 0.7, 0.9)
    ]  # fmt: skip
    found = script.fitted(made)
    for item in fields(found):
        assert getattr(found, item.name) == pytest.approx(getattr(facts, item.name), rel=0.05)
