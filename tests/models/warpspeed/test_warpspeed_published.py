"""Volumes between L2 and L1 and of the LBM kernel that Ernst et al. 2022 print (5.5, 5.6, 5.8)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from access_stream import access_batches
from access_stream import instruction_rows as stream_rows

from kernelcast.models.warpspeed.model import warpspeed_estimate
from kernelcast.models.warpspeed.volumes.volumes import Volumes, volumes
from kernelcast.simcore.address.kernel import Access, AddressKernel, Field
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.simcore.memory.stream import TrafficSimulator
from kernelcast.validation.simulated_volumes import uneven
from kernelcast.validation.warpspeed_twins import Configuration, Folding, Twin

A100 = load_device("a100-40gb")
Triple = tuple[int, int, int]
STAR = Configuration(Twin.STENCIL, (32, 4, 8)).address_kernel()
LBM = Configuration(Twin.INTERFACE_TRACKING, (32, 4, 4)).address_kernel()
PULLED = replace(LBM, loads=tuple(item for item in LBM.loads if item.field == "from"))
SHAPES = [
    (1 << x, 1 << y, 1 << (9 - x - y)) for x in range(10) for y in range(10 - x) if 9 - x - y <= 6
]
COMPLETE = [block for block in SHAPES if block[0] >= 2]
"""Thread blocks of which not every load is a part of a sector."""


@cache
def of_star(block: Triple) -> Volumes:
    return volumes(STAR.with_block(*block), A100)


@cache
def of_lbm(block: Triple) -> Volumes:
    return volumes(LBM.with_block(*block), A100)


def with_velocities() -> AddressKernel:
    """Three more arrays of the size of the phase field, read in each cell."""
    phase = LBM.field("phase")
    fields = [Field(f"flow_{axis}", 8, phase.shape, 256) for axis in "xyz"]
    centre = LBM.loads[0]
    loads = [replace(centre, field=field.name) for field in fields]
    return replace(LBM, fields=(*LBM.fields, *fields), loads=(*loads, *LBM.loads))


def test_tall_shapes_move_most_between_l2_and_l1() -> None:
    """Tall shapes move about 184 bytes, those as wide as they are tall, or wider, 76 to 104."""
    wide = [(32, 32, 1), (64, 16, 1), (128, 8, 1), (256, 4, 1), (512, 2, 1)]
    loaded = [of_star(block).per_work("l2_load_bytes") for block in wide]
    assert min(loaded) == pytest.approx(76, rel=0.01)
    assert max(loaded) == pytest.approx(104, rel=0.01)
    tall = of_star((2, 512, 1))
    assert tall.per_work("l2_load_compulsory_bytes") == pytest.approx(184, rel=0.05)
    assert tall.per_work("l2_load_bytes") > 1.7 * max(loaded)


def axis_by_axis(kernel: AddressKernel) -> AddressKernel:
    """The star with the loads of a row first, then those above and below, then of other planes."""
    inner = STAR.field("from").strides
    centre = STAR.loads[0].offset

    def key(load: Access) -> tuple[int, int]:
        distance = (load.offset - centre).as_constant
        assert distance is not None
        elements = abs(distance) // 8
        return sum(elements >= stride // 2 for stride in inner), distance

    return replace(kernel, loads=tuple(sorted(kernel.loads, key=key)))


def test_order_of_loads_decides_what_l1_keeps_of_tall_shapes() -> None:
    """Tall shapes move about 184 bytes in figure 13.

    From ring to ring other planes come between two uses of a row, which L1 then has lost; estimate
    and memory simulator agree on both orders.
    """
    rings = replace(STAR.with_block(2, 512), domain=(640, 512, 512))
    axes = axis_by_axis(rings)
    assert axes.loads != rings.loads
    found = {}
    for name, kernel in (("rings", rings), ("axes", axes)):
        found[name] = volumes(kernel, A100).per_work("l2_load_bytes")
        assert simulated_l2_loads(kernel) == pytest.approx(found[name], rel=0.05)
    assert found["axes"] == pytest.approx(184, rel=0.05)
    assert found["rings"] > 1.5 * found["axes"]


def simulated_l2_loads(kernel: AddressKernel) -> float:
    """Bytes of a cell, of the thread blocks that come after four waves."""
    resident = volumes(kernel, A100).thread_blocks_per_sm
    wave = resident * A100.architecture.sm_count
    warps = kernel.threads_per_thread_block // 32
    simulator = TrafficSimulator(stream_rows(kernel), 32, warps, A100, resident)
    loads, counts = len(kernel.loads), []
    for first, end in ((0, 4 * wave), (4 * wave, 7 * wave)):
        for batch in access_batches(kernel, 32, first, end):
            simulator.accept(replace(batch, warp_time=uneven(batch)))
        counts.append(float(simulator.traffic_so_far().by_instruction.l2_reads[:loads].sum()))
    return 32 * (counts[1] - counts[0]) / (3 * wave * kernel.threads_per_thread_block)


def test_cubes_move_least_between_l2_and_l1() -> None:
    cube = of_star((16, 8, 8)).per_work("l2_load_bytes")
    others = [(512, 2, 1), (2, 512, 1), (1, 16, 64), (32, 32, 1), (32, 1, 32)]
    assert all(cube < of_star(block).per_work("l2_load_bytes") / 2 for block in others)


def test_lines_of_narrow_shapes_do_not_fit_l1() -> None:
    """Section 5.5: short x allocates whole lines for few doubles, hence capacity misses."""
    assert of_star((1, 16, 64)).l2_load_capacity_bytes > of_star((1, 16, 64)).work * 32
    assert of_star((16, 8, 8)).per_work("l2_load_capacity_bytes") < 1


def test_there_are_49_shapes() -> None:
    assert len(SHAPES) == 49


@pytest.mark.parametrize("block", COMPLETE, ids=str)
def test_populations_are_streamed(block: Triple) -> None:
    """120 bytes a cell, and little where rows of thread blocks begin within a sector."""
    pulled = volumes(PULLED.with_block(*block), A100).per_work("dram_load_bytes")
    assert 120 <= pulled <= 122
    assert 128 <= of_lbm(block).per_work("dram_load_bytes") <= 150


def test_velocities_that_are_loaded_add_24_bytes() -> None:
    for block in COMPLETE[::4]:
        found = volumes(with_velocities().with_block(*block), A100).per_work("dram_load_bytes")
        assert 152 <= found <= 172


def test_short_x_is_worst_between_l2_and_l1_and_in_time() -> None:
    loaded = {block: of_lbm(block).per_work("l2_load_bytes") for block in SHAPES}
    times = {
        block: warpspeed_estimate(of_lbm(block), LBM.with_block(*block), A100).time_s
        for block in SHAPES
    }
    for figure in (loaded, times):
        ordered = sorted(SHAPES, key=figure.__getitem__)
        narrowest = [block for block in SHAPES if block[0] == 1]
        assert set(ordered[-len(narrowest) :]) == set(narrowest)
    by_width = [min(loaded[block] for block in SHAPES if block[0] == x) for x in (1, 2, 4, 8, 16)]
    assert by_width == sorted(by_width, reverse=True)


def test_best_shapes_of_the_lbm_kernel() -> None:
    """(32, 4, 4) between L2 and L1 (5.5) and (64, 1, 8) from DRAM (5.6) are among the best."""
    loaded = sorted(SHAPES, key=lambda block: of_lbm(block).l2_load_bytes)
    assert of_lbm((32, 4, 4)).l2_load_bytes <= 1.02 * of_lbm(loaded[0]).l2_load_bytes
    least = min(of_lbm(block).dram_load_bytes for block in SHAPES)
    assert of_lbm((64, 1, 8)).dram_load_bytes <= 1.02 * least


@pytest.mark.parametrize(
    ("twin", "least", "most"), [(Twin.STENCIL, 25, 30), (Twin.INTERFACE_TRACKING, 260, 260)]
)
def test_operations_are_those_of_the_compiled_kernel(twin: Twin, least: int, most: int) -> None:
    """The paper counts 25 for the stencil; multiply-adds of our CUDA C++ count twice."""
    at = Configuration(twin, (32, 2, 2), Folding.NONE)
    kernel, _ = at.kernel_and_launch()
    assert least <= at.address_kernel().flops
    assert sum(row.flops for row in instruction_rows(kernel)) <= most
    assert least <= sum(row.flops for row in instruction_rows(kernel))
