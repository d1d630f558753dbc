"""Footprints, waves and wavefronts against lists of every address."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelcast.models.warpspeed.volumes.bound_kernel import BoundKernel
from kernelcast.models.warpspeed.volumes.footprint import footprints
from kernelcast.models.warpspeed.volumes.thread_blocks import thread_block_classes
from kernelcast.models.warpspeed.volumes.wavefronts import RequestRules, requests_of
from kernelcast.models.warpspeed.warpspeed_facts import WARPSPEED
from kernelcast.simcore.address.address_sets import AddressSets
from kernelcast.simcore.address.boxes import bound_accesses, families
from kernelcast.simcore.address.expression_sources import address_expression
from kernelcast.simcore.address.intervals import count_in_intervals
from kernelcast.simcore.address.kernel import Access, AddressKernel, Field, LoopVariable
from kernelcast.simcore.address.waves import boxes_of_range
from kernelcast.simcore.device.file import load_device

DEVICE = load_device("a100-40gb")
FOUND = DEVICE.section(WARPSPEED)
assert FOUND is not None
FACTS = FOUND
RULES = RequestRules.of(DEVICE, FACTS)


def addresses(kernel: AddressKernel, numbers: range) -> set[int]:
    """Every byte that the loads of thread blocks `numbers` touch, one thread after the other."""
    found: set[int] = set()
    nx, ny, _ = kernel.grid
    for number in numbers:
        corner = (number % nx, number // nx % ny, number // (nx * ny))
        tile = kernel.tile
        spans = [
            range(
                max(kernel.origin[a], corner[a] * tile[a]),
                min(kernel.domain[a], (corner[a] + 1) * tile[a]),
            )
            for a in range(3)
        ]
        trips = [range(loop.trips) for loop in kernel.loops]
        for x, y, z in itertools.product(*spans):
            for values in itertools.product(*trips):
                known = {"x": x, "y": y, "z": z, **dict(kernel.parameters)}
                known |= {loop.name: at for loop, at in zip(kernel.loops, values, strict=True)}
                for access in kernel.loads:
                    at = access.offset.substitute(known).as_constant
                    assert at is not None
                    found.update(range(at, at + access.access_bytes))
    return found


def five_points(nx: int, ny: int, pitch: int, block: tuple[int, ...], size: int) -> AddressKernel:
    steps = ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))
    loads = [("a", f"x + {1 + dx} + {pitch}*(y + {1 + dy})") for dx, dy in steps]
    return AddressKernel([Field("a", size)], loads, [], (nx, ny), block)


def gemm_rows() -> AddressKernel:
    """The row of A and the column of B of each cell, over a loop."""
    loop = LoopVariable("k", 24)
    loads = [
        Access("a", address_expression("4*k + 128*y"), 4, ("k",)),
        Access("b", address_expression("128*k + 4*x"), 4, ("k",)),
    ]
    return AddressKernel([Field("a", 4), Field("b", 4)], loads, [], (32, 16), (16, 4), loops=[loop])


KERNELS: dict[str, Callable[[], AddressKernel]] = {
    "stencil": lambda: five_points(40, 16, 64, (8, 4), 8),
    "cut by the domain": lambda: five_points(37, 14, 64, (8, 4), 8),
    "interior": lambda: replace(five_points(36, 14, 64, (8, 4), 8), origin=(1, 1, 0)),
    "folded": lambda: five_points(40, 16, 64, (8, 2), 4).with_folding(1, 2),
    "transposed": lambda: AddressKernel(
        [Field("a", 4)], [("a", "256*x + y")], [], (32, 32), (8, 8)
    ),
    "strided": lambda: AddressKernel([Field("a", 8)], [("a", "5*x + 3")], [], (300,), (32,)),
    "backwards": lambda: AddressKernel([Field("a", 4)], [("a", "1000 - x")], [], (300,), (32,)),
    "overlapping strides": lambda: AddressKernel(
        [Field("a", 8)], [("a", "x + 3*y")], [], (32, 32), (8, 8)
    ),
    "structures": lambda: AddressKernel(
        [Field("a", 8)], [("a", "12*x"), ("a", "12*x + 5")], [], (64,), (32,)
    ),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("granularity", [32, 128])
def test_footprints_are_the_distinct_units_of_all_addresses(name: str, granularity: int) -> None:
    kernel = KERNELS[name]()
    bound = bound_accesses(kernel.loads, kernel)
    total = math.prod(kernel.grid)
    parts = [range(total // 2, total), range(total // 2), range(total)]
    sets = AddressSets.of_families(
        [
            families(bound, kernel, boxes_of_range(part.start, part.stop, kernel.grid))
            for part in parts
        ]
    )
    expected = [{at // granularity for at in addresses(kernel, part)} for part in parts]
    counts = [float(len(units)) for units in expected]
    shared = [0.0, *(float(len(units & expected[0])) for units in expected[1:])]
    (exact,) = count_in_intervals(sets, granularity, [0])
    assert exact.tolist() == [counts, shared]
    found = footprints(sets, granularity)
    assert list(found.sectors) == counts
    assert list(found.shared_with_first) == shared


@pytest.mark.parametrize("field", ["a", "b"])
def test_loops_are_one_more_axis(field: str) -> None:
    kernel = gemm_rows()
    kernel = replace(kernel, loads=tuple(item for item in kernel.loads if item.field == field))
    bound = bound_accesses(kernel.loads, kernel)
    sets = AddressSets.of_families([families(bound, kernel, boxes_of_range(0, 3, kernel.grid))])
    expected = len({at // 32 for at in addresses(kernel, range(3))})
    assert footprints(sets, 32).sectors[0] == expected


def test_rows_that_begin_anywhere_in_a_sector_count_their_mean() -> None:
    kernel = five_points(32, 64, 37, (32, 8), 8)
    bound = bound_accesses(kernel.loads, kernel)
    sets = AddressSets.of_families([families(bound, kernel, boxes_of_range(0, 8, kernel.grid))])
    expected = len({at // 32 for at in addresses(kernel, range(8))})
    assert footprints(sets, 32).sectors[0] == pytest.approx(expected, rel=0.02)


@settings(max_examples=60, deadline=None)
@given(st.tuples(*(st.integers(1, 6) for _ in range(3))), st.integers(0, 120), st.integers(0, 120))
def test_boxes_of_a_range_are_disjoint_and_complete(
    grid: tuple[int, int, int], one: int, other: int
) -> None:
    total = math.prod(grid)
    first, end = sorted((min(one, total), min(other, total)))
    found: list[int] = []
    boxes = boxes_of_range(first, end, grid)
    for low, high in boxes:
        for x, y, z in itertools.product(*map(range, low, high)):
            found.append(x + grid[0] * (y + grid[1] * z))
    assert len(boxes) <= 5
    assert sorted(found) == list(range(first, end))


def conflicts(lanes: list[int], size: int, group: int, far: int = 0) -> int:
    """Wavefronts of one warp on 32 banks of 4 bytes, lane by lane."""
    total = 0
    for begin in range(0, len(lanes), group):
        words = sorted(
            {at // 4 + part for at in lanes[begin : begin + group] for part in range(size // 4)}
        )
        while words:
            window = [word for word in words if not far or word - words[0] < far // 4]
            banks = [word % 32 for word in window]
            total += max(map(banks.count, banks))
            words = words[len(window) :]
    return total


@pytest.mark.parametrize("far", [0, 1024])
@pytest.mark.parametrize("stride", [0, 1, 2, 3, 7, 8, 16, 17, 32, 64, 160])
@pytest.mark.parametrize("size", [4, 8, 16])
def test_wavefronts_are_the_fullest_bank(size: int, stride: int, far: int) -> None:
    kernel = AddressKernel([Field("a", size)], [("a", f"{stride}*x")], [], (256,), (64,))
    (shape,) = thread_block_classes(kernel)
    bound = bound_accesses(kernel.loads, kernel)
    facts = replace(FACTS, far_distance_bytes=far)
    found = requests_of(BoundKernel(kernel), bound, shape, RequestRules.of(DEVICE, facts))
    lanes = [stride * size * lane for lane in range(32)]
    assert found.wavefronts == 2 * conflicts(lanes, size, 128 // size, far)
    assert found.sectors == 2 * len(
        {at // 32 for at in lanes} | {(at + size - 1) // 32 for at in lanes}
    )


@pytest.mark.parametrize("stride", [0, 1, 2, 8, 32, 160])
@pytest.mark.parametrize("size", [4, 8, 16])
def test_an_l1_of_half_the_width_takes_two_cycles_for_what_fills_all_banks(
    size: int, stride: int
) -> None:
    """The A40, as gpu-strides measured, takes no longer for 32 lines of one word each."""
    kernel = AddressKernel([Field("a", size)], [("a", f"{stride}*x")], [], (256,), (64,))
    (shape,) = thread_block_classes(kernel)
    device = load_device("a40")
    rules = RequestRules.of(device, device.section(WARPSPEED))
    bound = bound_accesses(kernel.loads, kernel)
    found = requests_of(BoundKernel(kernel), bound, shape, rules)
    assert rules.data_banks * rules.bank_bytes == 2 * rules.cycle_bytes
    assert found.cycles == pytest.approx(max(found.passes, 2 * 32 * size / 64))


def test_without_banks_each_pass_moves_a_line() -> None:
    kernel = AddressKernel([Field("a", 4)], [("a", "32*x")], [], (256,), (64,))
    (shape,) = thread_block_classes(kernel)
    device = load_device("gtx-480")
    bound = bound_accesses(kernel.loads, kernel)
    found = requests_of(
        BoundKernel(kernel), bound, shape, RequestRules.of(device, device.section(WARPSPEED))
    )
    assert found.passes == 2 * 32
    assert found.cycles == found.passes * 128 / 64


@pytest.mark.parametrize(
    ("text", "wavefronts"), [("threadIdx.x", 2), ("threadIdx.x*2", 4), ("threadIdx.x*16", 32)]
)
def test_loads_of_the_paper(text: str, wavefronts: int) -> None:
    """Listing of section 4.2: 1, 2 and 16 cycles a half-warp."""
    kernel = AddressKernel([Field("a", 8)], [("a", text)], [], (32,), (32,))
    found = requests_of(
        BoundKernel(kernel),
        bound_accesses(kernel.loads, kernel),
        thread_block_classes(kernel)[0],
        RULES,
    )
    assert found.wavefronts == wavefronts


def test_lanes_outside_of_the_domain_ask_for_nothing() -> None:
    kernel = AddressKernel([Field("a", 8)], [("a", "16*x")], [], (40,), (32,))
    counts = {
        shape.count: requests_of(
            BoundKernel(kernel), bound_accesses(kernel.loads, kernel), shape, RULES
        ).wavefronts
        for shape in thread_block_classes(kernel)
        if shape.index[0] == 1
    }
    assert counts == {1: 8}


def test_a_value_that_two_cells_of_a_thread_share_is_loaded_once() -> None:
    kernel = five_points(64, 64, 64, (32, 4), 8)
    plain = requests_of(
        BoundKernel(kernel),
        bound_accesses(kernel.loads, kernel),
        thread_block_classes(kernel)[0],
        RULES,
    )
    kernel = kernel.with_folding(1, 2)
    folded = requests_of(
        BoundKernel(kernel),
        bound_accesses(kernel.loads, kernel),
        thread_block_classes(kernel)[0],
        RULES,
    )
    assert (plain.accesses, folded.accesses) == (5 * 4, 8 * 4)


def test_figure_6() -> None:
    """2 x 2 threads of a 4-point stencil: 16 loads, 6 lines of 4 elements, 10 addresses.

    These are a 4 x 4 square less its corners, which no point needs.
    """
    steps = ((1, 0), (-1, 0), (0, 1), (0, -1))
    loads = [("a", f"x + {4 + dx} + 12*(y + {1 + dy})") for dx, dy in steps]
    kernel = AddressKernel([Field("a", 8)], loads, [], (2, 2), (2, 2))
    sets = AddressSets.of_families(
        [families(bound_accesses(kernel.loads, kernel), kernel, (((0, 0, 0), (1, 1, 1)),))]
    )
    assert count_in_intervals(sets, 32, [0])[0, 0, 0] == len(
        {at // 32 for at in addresses(kernel, range(1))}
    )
    assert np.isclose(
        footprints(sets, 8).sectors[0], len({at // 8 for at in addresses(kernel, range(1))})
    )
