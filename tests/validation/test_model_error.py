"""The model's error is learned from times, and the table is what the committed times give."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import learn_model_error as script
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learn_model_error import FACTORS, Point, learned, points_of, read_points, table, write_points

from kernelcast.models.interval.model_error import model_error


def point(kernel: str, measured_s: float) -> Point:
    return Point("paper", kernel, "v100-pcie", 1.0, 0.9, 1.1, measured_s)


def test_the_table_is_what_the_times_give() -> None:
    assert FACTORS.read_text("utf-8") == table(learned(read_points()))
    error = model_error()
    assert error.coverage >= 0.8
    assert error.times == len(read_points()) > 50


def test_times_within_the_facts_need_no_factor() -> None:
    found = learned([point("a", 0.95), point("b", 1.05), point("c", 1.0)])
    assert (found.error.low, found.error.high, found.error.coverage) == (1.0, 1.0, 1.0)
    assert found.half_width == pytest.approx(0.1)


def test_ten_kernels_of_which_two_are_far_off() -> None:
    """0.8 of them lie inside without any factor; 0.9 need the nearer one, which others show."""
    times = [0.95, 0.97, 0.99, 1.0, 1.01, 1.03, 1.05, 1.07, 1.5, 3.0]
    points = [point(str(number), measured_s) for number, measured_s in enumerate(times)]
    at_80, at_90 = learned(points).error, learned(points, 0.9).error
    assert (at_80.low, at_80.high) == (1.0, 1.0)
    assert at_90.high == pytest.approx(3.0 / 1.1)
    assert at_90.coverage == 0.9


def test_a_kernel_is_left_out_on_all_devices_and_at_all_sizes() -> None:
    """Both times of b are twice what was predicted: nothing else shows that."""
    points = [point("a", 1.0), point("b small", 2.0), point("b full", 2.0)]
    with pytest.raises(ValueError, match="no factors cover 80%"):
        learned(points)
    with pytest.raises(ValueError, match="two kernels"):
        learned(points[1:])


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.floats(0.3, 3.0)), min_size=8))
def test_as_many_are_inside_as_is_said(times: list[tuple[str, float]]) -> None:
    points = [point(kernel, measured_s) for kernel, measured_s in times]
    try:
        error = learned(points).error
    except ValueError:
        return
    inside = sum(error.low * p.low_s <= p.measured_s <= error.high * p.high_s for p in points)
    assert inside >= error.coverage * len(points) - 1e-9
    assert error.low <= 1 <= error.high


def test_the_present_factors_are_taken_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    present = replace(model_error(), low=0.5, high=2.0)
    monkeypatch.setattr(script, "model_error", lambda: present)
    row = {
        "model": "interval",
        "calibration": False,
        "source": "paper",
        "kernel": "k full",
        "device": "v100-pcie",
        "predicted_s": 1.0,
        "time_low_s": 0.45,
        "time_high_s": 2.2,
        "measured_s": 1.3,
    }
    others = [{**row, "model": "roofline"}, {**row, "calibration": True}]
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"times": [row, *others]}), "utf-8")
    found = points_of([file])
    assert found == [Point("paper", "k full", "v100-pcie", 1.0, 0.9, 1.1, 1.3)]
    write_points(found, tmp_path / "times.csv")
    assert read_points(tmp_path / "times.csv") == found
