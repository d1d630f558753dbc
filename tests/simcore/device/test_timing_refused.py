"""What `[timing]` of a device file may leave out, and what is refused in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kernelcast.errors import DeviceFileError
from kernelcast.simcore.device.checks import Observation, contradictions
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device, load_observations

SHIPPED = Path(__file__).parents[3] / "simcore" / "devices"


def _changed(device: Device, **values: Any) -> Device:
    """`fp32__lanes=value` sets one value of a pipeline, `name=value` one of the section."""
    timing = device.timing
    assert timing is not None
    for key, value in values.items():
        pipeline, _, name = key.partition("__")
        if name:
            value = replace(getattr(timing, pipeline), **{name: value})
        timing = replace(timing, **{pipeline: value})
    return replace(device, timing=timing)


@pytest.mark.parametrize(
    ("name", "values", "key", "message"),
    [
        ("a100-80gb", {"issues_per_scheduler": 2}, "issues_per_scheduler", "8.0 has no dual"),
        ("mi210", {"issues_per_scheduler": 2}, "issues_per_scheduler", "gfx90a has no dual"),
        ("rx-6900-xt", {"issues_per_scheduler": 2}, "issues_per_scheduler", "gfx1030 has no"),
        ("gtx-660", {"issues_per_scheduler": 3}, "issues_per_scheduler", "at most 2, got 3"),
        ("gtx-660", {"issues_per_scheduler": 1}, "issue_cycles", "128 threads a cycle issue"),
        ("gtx-480", {"issue_cycles": 3}, "issue_cycles", "too few for 32 lanes"),
        ("a100-80gb", {"fp32__lanes": 128.0}, "fp32.lanes", "but sm.fp32_lanes is 64"),
        ("a100-80gb", {"fp64__lanes": 16.0}, "fp64.lanes", "but sm.fp64_lanes is 32"),
        ("gtx-660", {"l1_latency_cycles": 25.0}, "l1_latency_cycles", "shared_latency_cycles, 26"),
        ("gtx-660", {"l2_latency_cycles": 34.0}, "l2_latency_cycles", "l1_latency_cycles, 35"),
        ("gtx-660", {"dram_latency_cycles": 9.0}, "dram_latency_cycles", "l2_latency_cycles, 200"),
        ("gtx-660", {"dram_efficiency": 1.01}, "dram_efficiency", "at most 1, got 1.01"),
        ("gtx-660", {"dram_mixed_efficiency": 1.5}, "dram_mixed_efficiency", "at most 1, got 1.5"),
        ("gtx-660", {"l2_bandwidth_bytes_per_s": 1e11}, "l2_bandwidth_bytes_per_s", "is below"),
        ("a40", {"l1_latency_cycles": 26.0}, "l1_latency_cycles", "33.1 to 33.1"),
        ("a40", {"l2_latency_cycles": 314.0}, "l2_latency_cycles", "far from observed.l2"),
        ("a40", {"dram_latency_cycles": 691.0}, "dram_latency_cycles", "552 to 552"),
    ],
)
def test_what_cannot_be_is_found(name: str, values: dict[str, Any], key: str, message: str) -> None:
    device = _changed(load_device(name), **values)
    found = list(contradictions(device, load_observations(name)))
    assert [item.key for item in found] == [f"timing.{key}"]
    assert message in found[0].message


def test_what_may_be_is_not_found() -> None:
    """Equal latencies, an unknown vendor, no double precision, no section at all."""
    none: list[Observation] = []
    equal = _changed(load_device("gtx-660"), l1_latency_cycles=26.0, l2_latency_cycles=26.0)
    assert list(contradictions(equal, none)) == []
    unknown = _changed(load_device("hypothetical"), issues_per_scheduler=2)
    assert list(contradictions(unknown, none)) == []
    single = load_device("hypothetical")
    single = replace(
        single,
        sm=replace(single.sm, fp64_lanes=0),
        peak=replace(single.peak, fp64_flops_per_s=0.0),
        measured=None,
    )
    assert list(contradictions(single, none)) == []
    assert list(contradictions(replace(single, timing=None), none)) == []


def test_the_section_may_be_left_out(tmp_path: Path) -> None:
    text = (SHIPPED / "gtx-480.toml").read_text()
    path = tmp_path / "untimed.toml"
    path.write_text(text[: text.index("[timing]")])
    assert load_device(path).timing is None


LANES = 'lanes = { value = 32, source = "derived", ref = "as sm.fp32_lanes" }'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[timing.fp32]", "[timing.fp16]", r"timing\.fp16: is unknown \(did you mean fp"),
        (LANES, "", r"timing\.fp32\.lanes: is missing"),
        (LANES, "lanes = 32", r"timing\.fp32\.lanes: must be \{ value"),
        (LANES, LANES.replace("32,", "0,"), r"timing\.fp32\.lanes: must be positive"),
        (LANES, LANES.replace("32,", "33,"), r"timing\.fp32\.lanes: 33, but sm\.fp32_lanes"),
        (LANES, LANES.replace("lanes =", "lane ="), r"timing\.fp32\.lane: is unknown"),
        ("issue_cycles = { value = 2", "issue_cycles = { value = 2.5", r"timing\.issue_cycles: m"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = (SHIPPED / "gtx-480.toml").read_text()
    assert old in text
    path = tmp_path / "wrong.toml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(DeviceFileError, match=message) as caught:
        load_device(path)
    assert "\n" not in str(caught.value)


def test_a_pipeline_that_is_missing_or_no_section(tmp_path: Path) -> None:
    text = (SHIPPED / "gtx-480.toml").read_text()
    path = tmp_path / "short.toml"
    shuffle = text.index("[timing.shuffle]")
    path.write_text(text[:shuffle])
    with pytest.raises(DeviceFileError, match=r"timing\.shuffle: section is missing"):
        load_device(path)
    path.write_text(text[:shuffle].replace("[timing]\n", "[timing]\nshuffle = 16\n"))
    with pytest.raises(DeviceFileError, match=r"timing\.shuffle: must be a section"):
        load_device(path)
