"""Devices with facts changed: names, types, what follows, and what is refused."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path

import pytest

from kernelcast.errors import DeviceFileError
from kernelcast.models import SECTIONS
from kernelcast.simcore.device.changed import (
    ABSENT,
    ALIASES,
    changed_device,
    followed_facts,
    typed_changes,
)
from kernelcast.simcore.device.checks import contradictions
from kernelcast.simcore.device.device import (
    Device,
    MeasuredCurve,
    MeasuredThroughput,
    Provenance,
    Source,
)
from kernelcast.simcore.device.file import known_devices, load_device
from kernelcast.simcore.device.named_facts import device_facts
from kernelcast.simcore.device.rescaling import CEILINGS, CURVES, RULES, Scalar
from kernelcast.simcore.device.timing_facts import TimingFacts

ALL_RULES = (*RULES, *(rule for section in SECTIONS.values() for rule in section.rules))
GTX_480 = load_device("gtx-480")


Changes = dict[str, Scalar]


def after(changes: Changes) -> dict[str, Scalar]:
    """The facts of the GTX-480 that follow, by name."""
    return {item.name: item.after for item in followed_facts(GTX_480, changes)}


def timing_of(device: Device) -> TimingFacts:
    assert device.timing is not None
    return device.timing


def measured_of(device: Device) -> MeasuredThroughput:
    assert device.measured is not None
    return device.measured


@pytest.mark.parametrize("name", known_devices())
def test_setting_facts_to_what_they_are_changes_nothing(name: str) -> None:
    device = load_device(name)
    facts = device_facts(device)
    assert changed_device(device, {}) is device
    same = changed_device(device, facts)
    assert device_facts(same) == facts
    assert followed_facts(device, facts) == ()


@pytest.mark.parametrize("name", known_devices())
def test_every_device_can_be_faster_wider_and_larger(name: str) -> None:
    device = load_device(name)
    facts = device_facts(device)
    for fact, factor in (
        ("architecture.clock_hz", 1.5),
        ("architecture.clock_hz", 0.7),
        ("architecture.sm_count", 2),
        ("dram.bandwidth_bytes_per_s", 2.0),
        ("dram.bandwidth_bytes_per_s", 0.5),
        ("sm.registers", 2),
        ("sm.shared_bytes", 2),
        ("l2.capacity_bytes", 2),
        ("sm.max_warps", 2),
    ):
        value = factor * float(facts[fact])
        made = changed_device(device, {fact: value})
        assert list(contradictions(made)) == []
        assert device_facts(made)[fact] == value


def test_numbers_of_warps_that_the_command_line_sweeps_are_possible_everywhere() -> None:
    for name, warps in itertools.product(known_devices(), (16, 32, 48, 64)):
        device = changed_device(load_device(name), {"sm.max_warps": warps})
        assert device.sm.max_threads == warps * device.architecture.warp_width
        assert device.sm.max_threads_per_thread_block <= device.sm.max_threads
        assert device.sm.max_thread_blocks <= warps


def test_the_clock_takes_throughputs_along_and_leaves_nanoseconds() -> None:
    clock = GTX_480.architecture.clock_hz
    made = changed_device(GTX_480, {"architecture.clock_hz": clock / 2})
    before, halved = measured_of(GTX_480), measured_of(made)
    assert halved.fp32_ops_per_s == pytest.approx(before.fp32_ops_per_s / 2)
    assert halved.add_ops_per_s == pytest.approx(before.add_ops_per_s / 2)
    assert made.peak.fp64_flops_per_s == pytest.approx(GTX_480.peak.fp64_flops_per_s / 2)
    assert halved.dram_bandwidth_bytes_per_s == before.dram_bandwidth_bytes_per_s
    assert timing_of(made).l2_latency_cycles == timing_of(GTX_480).l2_latency_cycles

    def beyond_l2_s(device: Device) -> float:
        timing = timing_of(device)
        return device.seconds(timing.dram_latency_cycles - timing.l2_latency_cycles)

    assert beyond_l2_s(made) == pytest.approx(beyond_l2_s(GTX_480))


def test_bandwidth_keeps_the_attainable_share() -> None:
    found = after({"dram.bandwidth_bytes_per_s": 88.5e9})
    assert found == {"measured.dram_bandwidth_bytes_per_s": pytest.approx(81.68e9)}
    found = after({"measured.dram_bandwidth_bytes_per_s": 81.68e9})
    assert found == {"timing.dram_efficiency": pytest.approx(0.9229 / 2)}


def test_wider_warps_leave_an_sm_its_threads() -> None:
    made = changed_device(GTX_480, {"sm.warp_size": 16})
    assert (made.sm.max_threads, made.sm.max_warps) == (1536, 96)
    assert timing_of(made).issue_cycles == 1
    assert changed_device(GTX_480, {"architecture.warp_width": 64}).sm.max_warps == 24


def test_two_names_of_one_fact_stay_equal() -> None:
    for fact, other in (
        ("sm.fp64_lanes", "timing.fp64.lanes"),
        ("timing.fp64.lanes", "sm.fp64_lanes"),
    ):
        found = after({fact: 8})
        assert found[other] == 8
        assert found["measured.fp64_ops_per_s"] == pytest.approx(2 * 1.8409e11)


@pytest.mark.parametrize(
    ("short", "whole"),
    [
        ("dram.bandwidth", "dram.bandwidth_bytes_per_s"),
        ("l2.capacity", "l2.capacity_bytes"),
        ("timing.launch_overhead", "timing.launch_overhead_s"),
    ],
)
def test_a_name_that_only_one_fact_begins_with_is_that_fact(short: str, whole: str) -> None:
    value = device_facts(GTX_480)[whole] * 2
    assert device_facts(changed_device(GTX_480, {short: value}))[whole] == value
    assert after({short: value}) == after({whole: value})


def test_a_name_that_several_facts_begin_with_is_none() -> None:
    with pytest.raises(DeviceFileError, match=r"no fact 'timing\.l2'.*did you mean timing\.l2_"):
        after({"timing.l2": 1.0})


def test_explicit_values_win_in_any_order() -> None:
    changes: Changes = {
        "architecture.clock_hz": 1e9,
        "measured.fp32_ops_per_s": 9e11,
        "architecture.sm_count": 14,
        "timing.dram_latency_cycles": 500.0,
    }
    found = [
        device_facts(changed_device(GTX_480, dict(order)))
        for order in itertools.permutations(changes.items())
    ]
    assert all(item == found[0] for item in found)
    assert {name: found[0][name] for name in changes} == changes


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("gtx-480", "tesla-m2050"),
        ("tesla-m2050", "gtx-480"),
        ("v100-pcie", "a100-40gb"),
        ("gtx-1060-6gb", "gtx-480"),
        ("mi210", "rx-7900-xtx"),
    ],
)
def test_setting_all_differences_makes_the_other_device(before: str, wanted: str) -> None:
    device, goal = load_device(before), load_device(wanted)
    has, wants = device_facts(device), device_facts(goal)
    differences = {name: value for name, value in wants.items() if has.get(name) != value}
    absent = {name: ABSENT for name in has if name not in wants}
    assert device_facts(changed_device(device, {**differences, **absent})) == wants


def test_sources_tell_what_was_set_and_what_follows() -> None:
    made = changed_device(GTX_480, {"architecture.sm_count": 30})
    assert made.provenance["architecture.sm_count"].source is Source.ASSUMED
    rescaled = made.provenance["measured.fp32_ops_per_s"]
    assert rescaled.source is Source.DERIVED
    assert "rescaled with architecture.sm_count; measured: Konstantinidis" in rescaled.reference
    assert made.provenance["sm.max_warps"] == GTX_480.provenance["sm.max_warps"]
    assert "early_release" not in made.provenance


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sm.max_blok": 3}, r"no fact 'sm.max_blok' \(did you mean sm.max_blocks"),
        ({"sm.max_warps": 0}, "sm.max_warps: must be positive and finite, got 0"),
        ({"sm.max_warps": 16.5}, "sm.max_warps: must be an integer, got 16.5"),
        ({"sm.max_warps": "many"}, "sm.max_warps: 'many' is not a number"),
        ({"sm.max_blocks": 64}, "sm.max_thread_blocks: more than sm.max_warps"),
        ({"sm.max_blocks": 4, "sm.max_thread_blocks": 5}, "sm.max_thread_blocks is set twice"),
        ({"sm.registers": 1000}, "sm.register_allocation_unit: does not divide sm.registers"),
        ({"l2.capacity_bytes": 1000}, "lines and ways do not divide the capacity"),
        ({"architecture.clock_hz": 1550}, "architecture.clock_hz: 1550 Hz is outside"),
        ({"coalescing": "columns"}, "coalescing: must be one of"),
        ({"dram.ecc": "perhaps"}, "dram.ecc: must be true or false, got 'perhaps'"),
        ({"architecture.clock_hz": float("nan")}, "must be positive and finite"),
        ({"sm": 3}, "sm is a section, set one of its facts"),
    ],
)
def test_refused_in_one_line(changes: Changes, message: str) -> None:
    with pytest.raises(DeviceFileError, match=message) as raised:
        changed_device(GTX_480, changes)
    assert "gtx-480" in str(raised.value) or "is not a number" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_texts_take_the_type_of_the_fact() -> None:
    given: Changes = {
        "sm.max_blocks": "16",
        "architecture.clock_hz": "1.2G",
        "sm.registers": "64Ki",
        "dram.ecc": "yes",
        "l2.index": "hashed",
        "sm.shared_bytes": 49152.0,
    }
    assert typed_changes(GTX_480, given) == {
        "sm.max_blocks": 16,
        "architecture.clock_hz": 1.2e9,
        "sm.registers": 65536,
        "dram.ecc": True,
        "l2.index": "hashed",
        "sm.shared_bytes": 49152,
    }
    made = changed_device(GTX_480, given)
    assert (made.sm.max_thread_blocks, made.dram.ecc, made.l2.index) == (16, True, "hashed")


def test_an_optional_section_can_go_and_come() -> None:
    without = changed_device(GTX_480, {"l1": "none", "coalescing": "sectors"})
    assert without.l1 is None
    back = {name: value for name, value in device_facts(GTX_480).items() if name.startswith("l1.")}
    assert changed_device(without, {**back, "coalescing": "lines"}).l1 == GTX_480.l1
    with pytest.raises(DeviceFileError, match=r"l1.line_bytes: is missing"):
        changed_device(without, {"l1.capacity_bytes": 16384})


def test_aliases_and_rules_name_facts_of_some_device() -> None:
    known = {name for device in known_devices() for name in device_facts(load_device(device))}
    assert set(ALIASES.values()) <= known
    for rule in ALL_RULES:
        assert {rule.name, *rule.sources, *rule.when} <= known
    for curve in CURVES:
        assert set(curve.factors) <= known
    assert {fact for factors in CEILINGS.values() for fact in factors} <= known


def test_sources_of_rules_are_settled_before() -> None:
    """No rule changes a fact that a rule above it has read already, but for pairs of names."""
    pairs = {"sm.max_threads", "sm.max_warps", "timing.fp32.lanes", "timing.fp64.lanes"}
    for number, rule in enumerate(ALL_RULES):
        later = {other.name for other in ALL_RULES[number + 1 :]} - {rule.name} - pairs
        assert not later & set(rule.sources), rule.name


def test_curves_of_throughputs_scale_too() -> None:
    here = Provenance(Source.MEASURED, "a run")

    def curve(unit: str) -> MeasuredCurve:
        return MeasuredCurve("warps", "", "y", unit, (1.0, 2.0), (10.0, 16.0), (0.0, 0.0), here)

    device = replace(
        GTX_480,
        curves={
            "fp32_multiply_add_throughput_over_warps": curve("operations/s"),
            "local_bandwidth_over_warps": curve("bytes/s"),
            "chase_latency_over_footprint": curve("s"),
        },
    )
    made = changed_device(device, {"architecture.sm_count": 30, "shared.banks": 64})
    fp32, local, chase = made.curves.values()
    assert fp32.y == (20.0, 32.0)
    assert local.y == (40.0, 64.0)
    assert chase == device.curves["chase_latency_over_footprint"]
    assert fp32.provenance.source is Source.DERIVED
    assert re.match(
        "rescaled with architecture.sm_count; measured: a run", fp32.provenance.reference
    )


def test_the_documentation_lists_every_rule_and_alias() -> None:
    lines = (Path(__file__).parents[3] / "docs" / "whatif.md").read_text("utf-8").splitlines()
    for rule in ALL_RULES:
        (row,) = [
            line
            for line in lines
            if line.startswith(f"| `{rule.name}` |")
            and line.endswith(f"| {rule.reason} |")
            and all(f"`{source}`" in line for source in rule.sources)
        ]
        assert row.count("|") == 4
    for alias, name in ALIASES.items():
        assert f"| `{alias}` | `{name}` |" in lines


def test_observed_rates_scale_too() -> None:
    rates = {
        "dram_read_bandwidth_bytes_per_s": 10.0,
        "l2_read_bandwidth_bytes_per_s": 20.0,
        "work_item_l1_read_bandwidth_bytes_per_s": 30.0,
        "fp32_multiply_add_throughput_ops_per_s": 40.0,
        "launch_rate_ops_per_s": 50.0,
    }
    device = replace(GTX_480, ceilings=rates)
    twice = 2 * device.architecture.sm_count
    assert list(changed_device(device, {"architecture.sm_count": twice}).ceilings.values()) == [
        10.0,
        20.0,
        60.0,
        80.0,
        50.0,
    ]
    assert changed_device(device, {"sm.registers": 65536}).ceilings == rates


def test_the_clock_under_load_follows_the_nominal_one_and_can_be_set() -> None:
    boosted = load_device("gtx-960")
    faster = changed_device(boosted, {"architecture.clock_hz": 2 * boosted.architecture.clock_hz})
    assert faster.running_clock_hz == pytest.approx(2 * boosted.running_clock_hz)
    assert GTX_480.architecture.running_clock_hz is None
    made = changed_device(GTX_480, {"architecture.running_clock_hz": "1.5G"})
    assert (made.running_clock_hz, made.architecture.clock_hz) == (1.5e9, 1.55e9)


@pytest.mark.parametrize("name", ["gtx-285", "gtx-480", "v100-pcie", "mi210"])
@pytest.mark.parametrize("section", ["timing", "measured", "l1"])
def test_nothing_follows_from_a_section_that_is_taken_away(name: str, section: str) -> None:
    device = load_device(name)
    found = changed_device(device, {section: "none", "architecture.clock_hz": 1e9})
    assert getattr(found, section) is None
    assert found.peak.fp32_flops_per_s == pytest.approx(
        device.peak.fp32_flops_per_s * 1e9 / device.architecture.clock_hz
    )


def test_a_fact_that_every_gpu_has_cannot_be_taken_away() -> None:
    for fact in ("sm.max_warps", "architecture.clock_hz", "shared.banks"):
        with pytest.raises(DeviceFileError, match=r"^.+$"):
            changed_device(load_device("gtx-480"), {fact: "none"})
