"""Costs of PTX instructions: Table 1 of Luo and Suda in the device files, and derived ones."""

from __future__ import annotations

import csv
from dataclasses import astuple
from pathlib import Path

import pytest

from kernelcast.errors import DeviceFileError
from kernelcast.models.mpd_cpd.derived_ptx_costs import MEASURED_ON, ptx_costs
from kernelcast.models.mpd_cpd.ptx_costs import LISTED_OPERATIONS, PTX_COSTS
from kernelcast.simcore.device.device import Source
from kernelcast.simcore.device.file import known_devices, load_device

ROOT = Path(__file__).resolve().parents[3]
TABLE_1 = ROOT / "validation" / "papers" / "luo_suda_table_1_instruction_costs.csv"
FILE = ROOT / "simcore" / "devices" / "gtx-260.toml"


def rows() -> list[dict[str, str]]:
    with TABLE_1.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", ["gtx-260", "gtx-285"])
def test_table_1_is_in_the_files(name: str) -> None:
    costs = load_device(name).section(PTX_COSTS)
    assert costs is not None
    for row in rows():
        printed = float(row["gpu_clocks"])
        if row["instruction"] == "ld/st":
            assert costs.access_cycles == printed
        else:
            assert costs.clocks(row["instruction"], row["operand_kind"]) == printed
    assert {row["instruction"] for row in rows()} - {"ld/st"} == set(LISTED_OPERATIONS) - {
        "mad",
        "fma",
    }
    constants = costs.parallel_degree
    assert astuple(constants) == (3, 11, 0.5, 80, 32)


def test_what_table_1_lacks_is_marked_assumed() -> None:
    device = load_device("gtx-260")
    costs = device.section(PTX_COSTS)
    assert costs is not None
    assert costs.clocks("cvt", "int_reg") == 22
    assert costs.clocks("add", "") == 22
    assert {costs.clocks(name, "float_reg") for name in ("mad", "fma")} == {44}
    assumed = {key for key in device.assumed if key.startswith("ptx_costs.")}
    kinds = ("int_const", "int_reg", "float_const", "float_reg")
    assert assumed == {
        "ptx_costs.unlisted_cycles",
        *(f"ptx_costs.multiply_add.{kind}_cycles" for kind in kinds),
    }
    assert device.provenance["ptx_costs.add.int_reg_cycles"].source is Source.PUBLISHED


def test_derived_costs_of_the_gtx_260_are_its_own() -> None:
    device = load_device(MEASURED_ON)
    assert ptx_costs(device.with_section(PTX_COSTS, None)) == device.section(PTX_COSTS)


def test_derived_costs_follow_the_latencies() -> None:
    device, known = load_device("v100-pcie"), load_device(MEASURED_ON)
    assert device.timing is not None
    assert known.timing is not None
    costs = ptx_costs(device)
    assert costs is not None
    integer = device.timing.integer.latency_cycles / known.timing.integer.latency_cycles
    single = device.timing.fp32.latency_cycles / known.timing.fp32.latency_cycles
    product = (
        device.timing.integer_multiply.latency_cycles / known.timing.integer_multiply.latency_cycles
    )
    assert costs.clocks("add", "int_reg") == pytest.approx(65 * integer)
    assert costs.clocks("mul", "float_const") == pytest.approx(22 * single)
    assert costs.clocks("mul", "int_reg") == pytest.approx(136 * product)
    assert costs.clocks("div", "float_reg") == pytest.approx(783 * single)
    in_flight = device.timing.fp32.lanes * device.timing.fp32.latency_cycles
    wider = in_flight / (known.timing.fp32.lanes * known.timing.fp32.latency_cycles)
    assert astuple(costs.parallel_degree) == pytest.approx(
        (3 * wider, 11 * wider, 0.5, 80 * wider, 32 * wider)
    )


@pytest.mark.parametrize("name", known_devices())
def test_every_device_with_timing_has_costs(name: str) -> None:
    device = load_device(name)
    costs = ptx_costs(device)
    assert (costs is None) == (device.timing is None and device.section(PTX_COSTS) is None)
    if costs is not None:
        assert costs.access_cycles > costs.unlisted_cycles > 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[ptx_costs.add]", "[ptx_costs.plus]", "ptx_costs.plus: is unknown"),
        (
            "int_reg_cycles = { value = 136",
            "int_reg_cycles = { value = -1",
            "ptx_costs.multiply.int_reg",
        ),
        ("[ptx_costs.parallel_degree]", "[ptx_costs.degree]", "ptx_costs.degree: is unknown"),
    ],
)
def test_wrong_sections_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = FILE.read_text(encoding="utf-8")
    assert old in text
    changed = tmp_path / "changed.toml"
    changed.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(DeviceFileError, match=message.replace(".", r"\.")):
        load_device(changed)
