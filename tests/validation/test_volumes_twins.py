"""The kernels of Ernst et al. 2022: values, loads, and accesses against closed forms."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kernelcast.errors import LaunchError
from kernelcast.models.warpspeed.volumes.volumes import volumes
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.simcore.memory.cache import CacheState, fetch, open_line
from kernelcast.simcore.memory.hierarchy import cold_l2
from kernelcast.validation.simulated_volumes import effective_device, simulated_volumes
from kernelcast.validation.warpspeed_twins import Configuration, Folding, Twin
from kernelcast.workload.file import load_workload

FOLDER = Path(__file__).parents[2] / "validation" / "workloads" / "warpspeed"
STENCIL, TRACKING = Twin.STENCIL, Twin.INTERFACE_TRACKING
SMALL = (640, 64, 64)


@pytest.mark.drawn(4)
@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.toml")), ids=lambda file: file.stem)
def test_values_with_thread_blocks_that_fit_no_axis(file: Path) -> None:
    workload = load_workload(file)
    other = replace(workload, launch=replace(workload.launch, thread_block=(7, 3, 2)))
    assert other.run_check("small").passed


@pytest.mark.parametrize(
    ("twin", "folding", "loads", "stores"),
    [
        (STENCIL, Folding.NONE, 25, 1),
        (STENCIL, Folding.TWO_Y, 2 * 16 + 10, 2),  # a column of ten points serves both
        (STENCIL, Folding.TWO_Z, 2 * 16 + 10, 2),
        (TRACKING, Folding.NONE, 7 + 15, 16),
        (TRACKING, Folding.TWO_Y, 2 * 4 + 4 + 2 * 15, 32),
        (TRACKING, Folding.TWO_Z, 2 * 4 + 4 + 2 * 15, 32),
    ],
)
def test_what_folded_cells_share_is_loaded_once(
    twin: Twin, folding: Folding, loads: int, stores: int
) -> None:
    kernel, _ = Configuration(twin, (32, 2, 2), folding).kernel_and_launch()
    found = [row.kind for row in instruction_rows(kernel) if row.space == "global"]
    assert (found.count("load"), found.count("store")) == (loads, stores)


def test_grid_covers_the_domain() -> None:
    exact = Configuration(STENCIL, (16, 2, 32), Folding.TWO_Z)
    assert exact.grid == (40, 256, 8)
    assert exact.tiles_domain
    beyond = Configuration(STENCIL, (48, 3, 7), Folding.TWO_Y, (640, 512, 512))
    assert beyond.grid == (14, 86, 74)
    assert not beyond.tiles_domain


@pytest.mark.parametrize(
    ("device", "thread_block", "passes"),
    [
        ("a100-40gb", (32, 4, 8), 26 * 2 / 32),  # two half-warps of doubles without conflicts
        ("a100-40gb", (4, 64, 4), 26 * 8 / 32),  # eight rows of 42 lines: one bank, four words each
        # 64 lanes: two rows of four lines of 64 bytes, five where x is shifted
        ("mi210", (32, 4, 8), (17 * 8 + 8 * 10 + 8) / 64),
    ],
)
def test_wavefronts_of_the_stencil(
    device: str, thread_block: tuple[int, int, int], passes: float
) -> None:
    at = Configuration(STENCIL, thread_block, domain=SMALL)
    assert simulated_volumes(at, load_device(device)).l1_wavefronts == pytest.approx(passes)


def test_wavefronts_of_thread_blocks_that_reach_over_every_edge() -> None:
    """Rows of 600 cells end in a warp of 24: its second half-warp has eight lanes, still a pass."""
    at = Configuration(STENCIL, (32, 8, 4), domain=(600, 60, 58))
    accesses = 26 * 19 / 600
    found = simulated_volumes(at, load_device("v100-pcie"))
    assert found.l1_accesses == pytest.approx(accesses)
    assert found.l1_wavefronts == pytest.approx(2 * accesses)


def test_loads_between_l2_and_l1_are_the_sectors_of_a_thread_block() -> None:
    """32 x 4 x 8 with four cells around in x, y, z: 10, then 8 sectors a row."""
    sectors = 10 * 4 * 8 + 8 * (8 * 8) + 8 * (8 * 4)
    at = Configuration(STENCIL, (32, 4, 8))
    found = simulated_volumes(at, load_device("v100-pcie"))
    assert found.l2_load_bytes == pytest.approx(32 * sectors / 1024, rel=0.01)
    assert found.l2_store_bytes == pytest.approx(8.0)
    assert found.dram_store_bytes == pytest.approx(8.0, rel=0.01)


@pytest.mark.parametrize(
    ("device", "at", "depth"),
    [
        ("v100-pcie", Configuration(STENCIL, (64, 4, 4), Folding.TWO_Y), 4),
        ("v100-pcie", Configuration(STENCIL, (16, 2, 32), Folding.TWO_Y), 32),
        ("a100-40gb", Configuration(STENCIL, (32, 4, 8)), 8),
    ],
)
def test_dram_loads_of_waves_that_reuse_nothing_in_z(
    device: str, at: Configuration, depth: int
) -> None:
    """Section 5.7: 8 bytes x (depth + 8) / depth."""
    found = simulated_volumes(at, load_device(device))
    assert found.dram_load_bytes == pytest.approx(8 * (depth + 8) / depth, rel=0.015)
    assert found.waves >= 3


def test_streams_of_the_interface_tracking_reach_dram_once() -> None:
    """Section 5.6: 120 bytes a cell are populations, and the phase field is 8 more."""
    at = Configuration(TRACKING, (64, 1, 8))
    found = simulated_volumes(at, load_device("v100-pcie"))
    assert 128 <= found.dram_load_bytes <= 150
    assert found.dram_store_bytes == pytest.approx(128, rel=0.01)
    assert found.l2_store_bytes == pytest.approx(128)


def test_grids_of_few_waves_are_refused() -> None:
    at = Configuration(STENCIL, (32, 4, 8), domain=(64, 64, 64))
    with pytest.raises(LaunchError, match="256 thread blocks, and waves of 216") as found:
        simulated_volumes(at, load_device("a100-40gb"))
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(("device", "kept"), [("a100-40gb", 20 << 20), ("v100-pcie", 6 << 20)])
def test_capacity_up_to_which_l2_is_effective(device: str, kept: int) -> None:
    """Section 3: half of the A100's, all of the V100's."""
    assert effective_device(load_device(device)).l2.capacity_bytes == kept


@pytest.mark.drawn(1)
@pytest.mark.parametrize("device", ["a100-40gb", "v100-pcie"])
@pytest.mark.parametrize(("oversubscription", "hit_rate"), [(0.9, 1.0), (2.0, 0.0)])
def test_planes_hit_as_long_as_they_fit(
    device: str, oversubscription: float, hit_rate: float
) -> None:
    """Section 5.6, figure 17: close to 1 below an oversubscription of one, 0 above two."""
    whole = replace(load_device(device).l2, capacity_bytes=1 << 20, partitions=1)
    l2 = cold_l2(replace(load_device(device), l2=whole))
    lines = int(oversubscription * (1 << 20) / 128)
    _sweep(l2, lines)
    assert _sweep(l2, lines) / lines == pytest.approx(hit_rate, abs=0.05)


def _sweep(l2: CacheState, lines: int) -> int:
    """Reads a sector of each line; how many hit."""
    return sum(not fetch(l2, open_line(l2, 0, line), 1) for line in range(lines))


@pytest.mark.drawn(3)
@pytest.mark.parametrize("twin", Twin)
@pytest.mark.parametrize("folding", Folding)
def test_address_expressions_are_those_of_the_cuda_twin(twin: Twin, folding: Folding) -> None:
    """Accesses of the launch, and sectors of stores: of expressions, and of executed PTX."""
    device = load_device("a100-40gb")
    at = Configuration(twin, (16, 4, 4), folding, (320, 128, 128))
    estimated, simulated = volumes(at.address_kernel(), device), simulated_volumes(at, device)
    assert estimated.per_work("l1_accesses") == pytest.approx(simulated.l1_accesses)
    assert estimated.per_work("l1_wavefronts") == pytest.approx(simulated.l1_wavefronts)
    assert estimated.per_work("l2_store_bytes") == pytest.approx(simulated.l2_store_bytes)
