"""`kernelcast validate volumes`: estimates beside the simulator, and what fails."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from scipy.stats import kendalltau
from typer.testing import CliRunner

from kernelcast.cli import app
from kernelcast.errors import KernelcastError
from kernelcast.models.warpspeed.warpspeed_facts import WARPSPEED
from kernelcast.report.volumes import volumes_record, volumes_rows, volumes_tables
from kernelcast.validation.volumes import (
    CONFIGURATIONS,
    DEVICES,
    VolumeComparison,
    VolumeReport,
    compare_volumes,
    validate_volumes,
)
from kernelcast.validation.warpspeed_twins import Configuration, Folding, Twin

SIMPLE = Configuration(Twin.STENCIL, (32, 4, 8), domain=(160, 64, 128))


@pytest.fixture(scope="module")
def simple() -> VolumeComparison:
    return compare_volumes(SIMPLE, "v100-pcie")


def timed(base: VolumeComparison, estimated: float, simulated: float) -> VolumeComparison:
    return replace(base, estimated_s=estimated, simulated_s=simulated)


@pytest.mark.parametrize(
    "at",
    [
        Configuration(Twin.STENCIL, (32, 4, 8)),
        Configuration(Twin.STENCIL, (16, 2, 32), Folding.TWO_Z),
        Configuration(Twin.STENCIL, (32, 8, 4), Folding.NONE, (600, 500, 500)),
        Configuration(Twin.INTERFACE_TRACKING, (32, 4, 4)),
    ],
    ids=lambda at: at.title,
)
def test_estimates_are_within_their_bounds(at: Configuration) -> None:
    found = compare_volumes(at, "v100-pcie")
    assert VolumeReport((found,)).problems == ()
    assert found.dram_loads.is_within
    assert found.estimated_s == pytest.approx(found.simulated_s, rel=0.10)


def test_suite_is_large_enough() -> None:
    assert len(CONFIGURATIONS) * len(DEVICES) >= 40
    assert {item.twin for item in CONFIGURATIONS} == set(Twin)
    for twin, folding in product(Twin, Folding):
        assert any((item.twin, item.folding) == (twin, folding) for item in CONFIGURATIONS)
    assert not all(item.tiles_domain for item in CONFIGURATIONS)


def test_tau_is_kendalls(simple: VolumeComparison) -> None:
    estimated, simulated = [1.0, 3.0, 2.0, 5.0, 4.0], [1.0, 2.0, 3.0, 4.0, 4.04]
    report = VolumeReport(
        tuple(timed(simple, *pair) for pair in zip(estimated, simulated, strict=True))
    )
    assert report.tau() == pytest.approx(kendalltau(estimated, simulated).statistic)
    assert report.tau_apart == pytest.approx((8 - 1) / 9)  # the last two are only 1 % apart


def test_tau_ranks_kernels_and_devices_apart(simple: VolumeComparison) -> None:
    other = replace(simple, device="a100-40gb")
    report = VolumeReport((timed(simple, 1.0, 2.0), timed(other, 2.0, 1.0)))
    assert report.tau() == 1.0


def test_wrong_volumes_are_problems(simple: VolumeComparison) -> None:
    estimate = simple.estimate
    wrong = replace(
        simple,
        estimate=replace(
            estimate,
            l1_wavefronts=estimate.l1_wavefronts * 1.001,
            dram_compulsory_bytes=estimate.dram_compulsory_bytes * 3,
        ),
    )
    found = VolumeReport((wrong,)).problems
    assert any("L1 wavefronts +0.1%" in line for line in found)
    assert any("DRAM loads +" in line and "oversubscription" in line for line in found)
    assert any("only 0% of all DRAM loads" in line for line in found)
    assert VolumeReport((wrong,)).beyond == (wrong,)


def test_untiled_domains_may_be_two_percent_off(simple: VolumeComparison) -> None:
    at = replace(SIMPLE, domain=(150, 64, 128))
    estimate = simple.estimate
    close = replace(estimate, l1_wavefronts=estimate.l1_wavefronts * 1.019)
    assert replace(simple, configuration=at, estimate=close).metrics[0].is_within
    assert not replace(simple, estimate=close).metrics[0].is_within


def test_wrong_order_of_times_is_a_problem(simple: VolumeComparison) -> None:
    pairs = [(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]
    report = VolumeReport(tuple(timed(simple, *pair) for pair in pairs))
    assert report.tau() == -1.0
    assert sum("Kendall's tau" in line for line in report.problems) == 2


def test_report_has_every_volume(simple: VolumeComparison) -> None:
    report = VolumeReport((simple,))
    rows = list(volumes_rows(report))
    assert rows[0][:3] == ("kernel", "device", "volume")
    assert [row[2] for row in rows[1:]] == [
        "L1 wavefronts",
        "L2-L1 loads",
        "L2-L1 stores",
        "DRAM stores",
        "DRAM loads",
    ]
    record = volumes_record(report)
    assert record["configurations"][0]["thread_block"] == [32, 4, 8]
    assert [table.title for table in volumes_tables(report)][-1] == "In short"


def test_devices_without_facts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from kernelcast.simcore.device.file import load_device

    bare = load_device("gtx-480").with_section(WARPSPEED, None)
    monkeypatch.setattr("kernelcast.validation.volumes.load_device", lambda name: bare)
    with pytest.raises(KernelcastError, match=r"no section \[warpspeed\]"):
        validate_volumes(["gtx-480"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "warpspeed"], "no --model"),
        (["--accept"], "volumes has no errors to accept"),
        (["--size", "full"], "are of the suite"),
    ],
)
def test_options_of_other_suites_are_refused(options: list[str], message: str) -> None:
    found = CliRunner().invoke(app, ["validate", "volumes", *options])
    assert found.exit_code != 0
    assert message in str(found.exception) + found.output
