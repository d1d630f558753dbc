"""Latencies that the assembler states, against published measurements and the device files."""

from __future__ import annotations

import importlib
import json
from itertools import groupby
from typing import Any

import pytest

from kernelcast.measuring.chains.operations import CHAINS
from kernelcast.measuring.chains.stalls import CHAIN_OF_UNIT, chain_latencies, unit_latency
from kernelcast.simcore.device.file import known_devices, load_device

pytestmark = pytest.mark.usefixtures("assembler")

main: Any = importlib.import_module("assembler_latencies").main
STATED = "stall cycles of the assembler for "


def pairs(architecture: str, chain: str) -> dict[tuple[str, str], int | None]:
    found = next(item for item in CHAINS if item.name == chain)
    return {
        (item.producer, item.consumer): item.cycles for item in chain_latencies(architecture, found)
    }


@pytest.mark.parametrize("architecture", ["sm_70", "sm_75", "sm_80", "sm_90"])
def test_multiply_adds_take_four_cycles(architecture: str) -> None:
    """Jia et al. (arXiv:1804.06826, 1903.07486), Abdelkhalik et al. (arXiv:2208.11174)."""
    assert pairs(architecture, "fma.f32") == {("FFMA", "FFMA"): 4}


def test_half_precision_of_volta_and_turing_takes_six() -> None:
    """Jia et al., arXiv:1804.06826 and 1903.07486."""
    assert unit_latency("sm_70", "half") == unit_latency("sm_75", "half") == 6.0


def test_what_has_no_fixed_latency_is_waited_for_by_scoreboard() -> None:
    assert set(pairs("sm_80", "ex2.approx.ftz.f32").values()) == {None}
    assert set(pairs("sm_80", "fma.f64").values()) == {None}
    assert unit_latency("sm_80", "fp64") is None


def test_a_predicate_reaches_a_guard_later_than_a_register() -> None:
    found = pairs("sm_80", "setp+guarded")
    guarded = next(cycles for (_, consumer), cycles in found.items() if consumer == "LOP3.LUT")
    plain = pairs("sm_80", "setp+selp")
    assert guarded is not None
    assert guarded > 2 * max(cycles or 0 for cycles in plain.values())


def _from_the_assembler() -> list[tuple[str, str, str, float]]:
    """Architecture, unit, device, and cycles of each such fact."""
    found = []
    for name in known_devices():
        device = load_device(name)
        for unit in CHAIN_OF_UNIT:
            fact = f"timing.{unit}.latency_cycles"
            source = device.provenance.get(fact)
            if source is not None and source.reference.startswith(STATED):
                architecture = source.reference.removeprefix(STATED).split()[0]
                assert device.timing is not None
                cycles = getattr(device.timing, unit).latency_cycles
                found.append((architecture, unit, name, cycles))
    return sorted(found)


def test_device_files_have_what_the_assembler_states_here() -> None:
    facts = _from_the_assembler()
    assert len(facts) > 40
    for (architecture, unit), same in groupby(facts, key=lambda item: item[:2]):
        stated = unit_latency(architecture, unit)
        assert stated is not None
        for _, _, name, cycles in same:
            assert cycles == round(stated), (name, unit)


def test_the_script_shows_lines_and_records(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sm_86", "--json"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert {"FFMA"} <= {item["producer"] for item in records}
    assert main(["sm_86"]) == 0
    assert "sm_86 fma.f32: FFMA -> FFMA: 4 cycles" in capsys.readouterr().out
