"""Assumed facts that matter: the effects are those of estimates, and what is left out has less."""

from __future__ import annotations

from pathlib import Path

import pytest

import kernelcast as kc
from kernelcast.errors import DeviceFileError
from kernelcast.models.interval.decisive_facts import CHANGE, LEAST_EFFECT
from kernelcast.simcore.device.changed import changed_device
from kernelcast.simcore.device.named_facts import device_facts

EXAMPLES = Path(__file__).parents[2] / "examples"
OF_MEMORY = ("l1.", "l2.", "dram.", "constant.word", "warpspeed.", "host_link.")
"""Facts that change what caches do, which an estimate from one profile does not see."""
CASES = [
    ("sgemm/sgemm16", "gtx-960"),
    ("reduction/reduction", "h100-pcie"),
    ("saxpy/saxpy", "r9-nano"),
    ("divergent/divergent", "rtx-3090"),
]


def effect(profile: kc.KernelProfile, device: kc.Device, name: str) -> float | None:
    """How far the time moves at most; None for what is no number, or cannot be changed so."""
    value = device_facts(device)[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not value:
        return None
    before = kc.estimate(profile, "interval", device, explained="no").time_s
    found = []
    for factor in (1 - CHANGE, 1 + CHANGE):
        other = round(factor * value) if isinstance(value, int) else factor * value
        try:
            changed = changed_device(device, {name: other})
        except DeviceFileError:
            continue
        time_s = kc.estimate(profile, "interval", changed, explained="no").time_s
        found.append(abs(time_s / before - 1.0))
    return max(found, default=None)


@pytest.mark.drawn(2)
@pytest.mark.parametrize(("example", "name"), CASES)
def test_effects_are_those_of_changed_gpus_and_none_is_missed(example: str, name: str) -> None:
    """Each assumed fact is changed by itself, where the model changes them in groups."""
    device = kc.device(name)
    trace = kc.load_workload(EXAMPLES / f"{example}.toml").run(
        "small", devices=[device], code="source"
    )
    profile = trace.profile(device)
    stated = {fact.name: fact.effect for fact in kc.estimate(profile, "interval").decisive_facts}
    tried = [item for item in device.assumed if not item.startswith(OF_MEMORY)]
    effects = {item: effect(profile, device, item) for item in tried}
    known = {item: share for item, share in effects.items() if share is not None}
    assert len(known) > 7
    assert all(share > LEAST_EFFECT for share in stated.values())
    for item, share in stated.items():
        assert share == pytest.approx(known[item], rel=1e-3, abs=1e-4)
    missed = {item: share for item, share in known.items() if item not in stated}
    assert {item: share for item, share in missed.items() if share > LEAST_EFFECT + 1e-3} == {}


def test_some_case_has_a_decisive_fact() -> None:
    device = kc.device("r9-nano")
    trace = kc.load_workload(EXAMPLES / "saxpy" / "saxpy.toml").run(
        "small", devices=[device], code="source"
    )
    found = kc.estimate(trace.profile(device), "interval").decisive_facts
    assert "timing.launch_overhead_s" in {fact.name for fact in found}
