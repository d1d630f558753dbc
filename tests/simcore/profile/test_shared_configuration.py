"""How the memory of an SM is divided, against what an H100 did with each kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.occupancy import occupancy
from kernelcast.simcore.profile.profile import LaunchShape
from kernelcast.simcore.profile.shared_configuration import configuration_bytes, with_l1_left
from kernelcast.traces.trace import ResourceNeeds
from kernelcast.validation.measured_times import MeasuredRow, read_measured

H100 = load_device("h100-sxm")
ROOT = Path(__file__).resolve().parents[3]
CONFIGURED = "launch__shared_mem_config_size"


def rows() -> list[MeasuredRow]:
    measured = read_measured(ROOT / "validation/measured/h100-sxm.json")
    return [row for row in measured.rows if CONFIGURED in row.metrics]


def predicted(row: MeasuredRow) -> int:
    needs = ResourceNeeds(row.registers or 0, row.shared_bytes or 0)
    found = occupancy(needs, LaunchShape((10**6, 1, 1), row.block), H100)
    return configuration_bytes(H100, needs, found)


def test_nearly_all_kernels_have_the_configuration_that_the_driver_chose() -> None:
    wrong = {row.workload for row in rows() if predicted(row) != row.metrics[CONFIGURED]}
    assert len(rows()) > 140
    assert len(wrong) <= 0.06 * len(rows()), sorted(wrong)


def test_l1_has_what_shared_memory_leaves() -> None:
    for shared, left in ((0, 256 - 32), (3 * 1024, 256 - 64), (100 * 1024, 256 - 228)):
        needs = ResourceNeeds(16, shared)
        found = occupancy(needs, LaunchShape((1000, 1, 1), (256, 1, 1)), H100)
        l1 = with_l1_left(H100, needs, found).l1
        assert l1 is not None
        assert l1.capacity_bytes == left << 10


@pytest.mark.parametrize("name", ["gtx-480", "gtx-1070", "mi210", "tesla-k20c"])
def test_where_they_are_apart_l1_keeps_its_size(name: str) -> None:
    device = load_device(name)
    needs = ResourceNeeds(16, 4096)
    found = occupancy(needs, LaunchShape((1000, 1, 1), (256, 1, 1)), device)
    assert with_l1_left(device, needs, found) == device
