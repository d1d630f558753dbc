"""What lies between two uses of a sector, against lists of every address; orders of accesses."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from kernelcast.models.warpspeed.volumes.bound_kernel import BoundKernel
from kernelcast.models.warpspeed.volumes.footprint import footprints, last_uses
from kernelcast.models.warpspeed.volumes.l1_reuse import l1_reuse
from kernelcast.models.warpspeed.volumes.thread_blocks import thread_block_classes
from kernelcast.models.warpspeed.volumes.volumes import volumes
from kernelcast.models.warpspeed.warpspeed_facts import WARPSPEED
from kernelcast.simcore.address.access_steps import access_steps, step_sets
from kernelcast.simcore.address.address_sets import AddressSets
from kernelcast.simcore.address.boxes import StridedFamily, families
from kernelcast.simcore.address.expression_sources import address_expression
from kernelcast.simcore.address.intervals import uses_in_intervals
from kernelcast.simcore.address.kernel import Access, AddressKernel, Field, LoopVariable
from kernelcast.simcore.address.waves import boxes_of_range
from kernelcast.simcore.device.device import CacheFacts
from kernelcast.simcore.device.file import load_device

A100, MI210 = load_device("a100-40gb"), load_device("mi210")
assert A100.l1 is not None
L1 = A100.l1
STEPS = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))


def stencil(pitch: int) -> AddressKernel:
    """Five points, and another array between them."""
    loads = [("a", f"x + {16 + dx} + {pitch}*(y + {1 + dy})") for dx, dy in STEPS]
    loads.insert(3, ("b", "x"))
    return AddressKernel([Field("a", 8), Field("b", 8)], loads, [], (64, 16), (16, 4))


def touched(
    kernel: AddressKernel, corner: tuple[int, int], unit: int
) -> list[set[tuple[str, int]]]:
    """Units of each load of the thread block at cells `corner`, lane by lane."""
    width, height, _ = kernel.tile
    found = []
    for step in (item for item in access_steps(kernel) if not item.is_store):
        factors = dict(step.access.coefficients)
        units = set()
        for y in range(height):
            for x in range(width):
                at = step.access.constants[0]
                at += factors.get("tid.x", 0) * x + factors.get("tid.y", 0) * y
                at += factors.get("ctaid.x", 0) * (corner[0] // width)
                at += factors.get("ctaid.y", 0) * (corner[1] // height)
                units |= {(step.access.field, at // unit), (step.access.field, (at + 7) // unit)}
        found.append(units)
    return found


def reuses(kernel: AddressKernel, corner: tuple[int, int], l1: CacheFacts) -> dict[int, float]:
    """Sectors used again, by the number of lines since their last use."""
    sectors, lines = (touched(kernel, corner, unit) for unit in (l1.sector_bytes, l1.line_bytes))
    found: dict[int, float] = {}
    for number, units in enumerate(sectors):
        for unit in units:
            before = [at for at in range(number) if unit in sectors[at]]
            if before:
                distance = len(set().union(*lines[before[-1] : number]))
                found[distance] = found.get(distance, 0.0) + 1
    return found


@pytest.mark.parametrize("pitch", [64, 80])
@pytest.mark.parametrize("l1", [L1, MI210.l1], ids=["sectors", "whole lines"])
def test_distances_are_the_lines_between_two_uses(pitch: int, l1: CacheFacts) -> None:
    kernel = stencil(pitch)
    (shape,) = thread_block_classes(kernel)
    corner = shape.index[0] * 16, shape.index[1] * 4
    found = l1_reuse(BoundKernel(kernel), shape, l1.sector_bytes, l1.line_bytes)
    own: dict[int, float] = {}
    for distance, sectors in zip(found.own_lines, found.sectors, strict=True):
        own[round(float(distance))] = own.get(round(float(distance)), 0.0) + float(sectors)
    assert own == pytest.approx(reuses(kernel, corner, l1))


def test_other_thread_blocks_come_in_between_by_the_time_that_passes() -> None:
    """Loads in one row follow each other at once; a tick later each other one has made a load."""
    kernel = stencil(64)
    found = l1_reuse(BoundKernel(kernel), thread_block_classes(kernel)[0], 32, 128)
    at_once = found.load == 1
    assert found.other_lines[at_once].max() == 0.0
    late = found.load == 4
    assert found.other_lines[late].min() > 0.0
    assert (found.lines(3) == found.own_lines + 2 * found.other_lines).all()


def test_trips_of_a_loop_are_one_trip_apart() -> None:
    """Four doubles of a row share a sector: three of four trips find what the one before left."""
    loop = LoopVariable("k", 32)
    loads = [
        Access("a", address_expression("8*k + 256*y"), 8, ("k",)),
        Access("b", address_expression("256*k + 8*x"), 8, ("k",)),
    ]
    fields = [Field("a", 8), Field("b", 8)]
    kernel = AddressKernel(fields, loads, [], (32, 32), (32, 4), loops=[loop])
    found = l1_reuse(BoundKernel(kernel), thread_block_classes(kernel)[0], 32, 128)
    of_a, of_b = found.load == 0, found.load == 1
    assert found.sectors[of_a].sum() == 4 * (32 - 8)
    assert found.sectors[of_b].sum() == 0
    assert set(found.own_lines[of_a]) == {4.0 + 2.0}  # a line of four rows, 32 doubles of b


def test_order_is_cell_after_cell_and_shared_values_come_once() -> None:
    loads = [("a", f"x + 64*(y + {dy})") for dy in (0, 1)]
    kernel = AddressKernel([Field("a", 8)], loads, [("a", "x + 64*y + 9000")], (32, 32), (32, 4))
    steps = access_steps(kernel.with_folding(1, 2))
    assert [(step.access.constants[0] // 512, step.is_store) for step in steps] == [
        *((0, False), (1, False), (9000 * 8 // 512, True)),
        *((2, False), (9000 * 8 // 512 + 1, True)),
    ]


@pytest.mark.parametrize("unit", [32, 128])
def test_last_uses_are_the_same_in_boxes_and_intervals(unit: int) -> None:
    rows = ((8, 0, 16), (512, 0, 4))
    bases = (0, 8, 512, 1024 - 8, 4096)
    sets = AddressSets.of_families([(StridedFamily((base,), rows, 8),) for base in bases])
    assert sets.boxes(unit) is not None
    units = [{at // unit for at in _bytes(base)} for base in bases]
    expected = np.zeros((5, 6))
    for number, own in enumerate(units):
        for one in own:
            before = [at for at in range(number) if one in units[at]]
            expected[number, before[-1] + 1 if before else 0] += 1
    assert last_uses(sets, unit, 0).tolist() == expected.tolist()
    assert uses_in_intervals(sets, unit, 0).tolist() == expected.tolist()


@pytest.mark.parametrize("folding", [(1, 2), (2, 1), (1, 3)])
@pytest.mark.parametrize("unit", [32, 128])
def test_cells_of_folded_threads_are_those_of_all_thread_blocks(
    folding: tuple[int, int], unit: int
) -> None:
    """A wave that begins and ends within a row of thread blocks, thread by thread."""
    pitch = 48
    loads = [("a", f"x + {16 + dx} + {pitch}*(y + {1 + dy})") for dx, dy in STEPS]
    kernel = AddressKernel([Field("a", 8)], loads, [], (24, 48), (4, 4), folding)
    wave, steps = boxes_of_range(2, 9, kernel.grid), access_steps(kernel)
    sets = step_sets(steps, lambda access: families([access], kernel, wave))
    threads = [
        (x * 4 + tx, y * 4 + ty)
        for low, high in wave
        for x, y in itertools.product(range(low[0], high[0]), range(low[1], high[1]))
        for tx, ty in itertools.product(range(4), range(4))
    ]
    expected, last = np.zeros((len(steps), 1 + len(steps))), dict[int, int]()
    for number, step in enumerate(steps):
        factors, (constant,) = dict(step.access.coefficients), step.access.constants
        first = {constant + factors["tid.x"] * x + factors["tid.y"] * y for x, y in threads}
        for one in {at // unit for begin in first for at in (begin, begin + 7)}:
            expected[number, last.get(one, 0)] += 1
            last[one] = number + 1
    assert last_uses(sets, unit, 0).tolist() == expected.tolist()


def test_intervals_begin_where_the_field_begins() -> None:
    """Strides that overlap, 12 bytes behind a sector."""
    spans = ((20, 0, 9), (32, 0, 5))
    sets = AddressSets.of_families([(StridedFamily((0,), spans, 4),)])
    assert sets.boxes(8) is None
    first = {20 * x + 32 * y + 12 for x, y in itertools.product(range(9), range(5))}
    units = {at // 8 for begin in first for at in range(begin, begin + 4)}
    assert footprints(sets, 8, 12).sectors[0] == len(units)


def test_devices_share_what_they_ask_alike() -> None:
    """Volumes equal those of each device alone, and a question is answered once."""
    kernel = stencil(80)
    bound = BoundKernel(kernel)
    for device in (A100, MI210, load_device("v100-pcie")):
        assert volumes(bound, device) == volumes(kernel, device)
    asked = []

    def ask(of: BoundKernel, what: str) -> int:
        asked.append(what)
        return len(of.steps)

    assert [bound.once(ask, "a"), bound.once(ask, "a"), bound.once(ask, "b")] == [6, 6, 6]
    assert asked == ["a", "b"]


def _bytes(base: int) -> list[int]:
    return [base + 8 * x + 512 * y + at for x in range(16) for y in range(4) for at in range(8)]


def test_waves_larger_than_l2_read_again_what_two_far_accesses_use() -> None:
    """The rows y of one access are those y + 1 of another: in L2 unless 14 arrays lie between."""
    pitch, rows = 4096, 1 << 10
    names = "abcdefghijklmno"
    loads = [("a", f"x + {pitch}*y"), *((name, f"x + {pitch}*y") for name in names[1:])]
    kernel = AddressKernel(
        [Field(name, 8) for name in names],
        [*loads, ("a", f"x + {pitch}*(y + 1)")],
        [],
        (pitch, rows),
        (64, 16),
    )
    facts = MI210.section(WARPSPEED)
    assert facts is not None
    no_l1 = replace(MI210, l1=None)
    small = no_l1.with_section(WARPSPEED, replace(facts, l2_effective_bytes=1 << 22))
    large = no_l1.with_section(WARPSPEED, replace(facts, l2_effective_bytes=1 << 30))
    kept = volumes(kernel, large)
    lost = volumes(kernel, small)
    assert kept.wave_miss_bytes == 0.0
    assert kept.per_work("dram_load_bytes") == pytest.approx(8 * 15, rel=0.01)
    assert lost.wave_oversubscription > 3
    assert lost.per_work("wave_miss_bytes") == pytest.approx(8 * 15 / 16, rel=0.1)
    assert np.isfinite(lost.dram_bytes)


def test_sectors_that_neighbours_complete_at_once_are_written_once() -> None:
    """Two doubles of a sector each, in a wave that is larger than L2 (section 5.6)."""
    kernel = AddressKernel([Field("a", 8)], [], [("a", "x + 4096*y")], (4096, 4096), (2, 256))
    facts = MI210.section(WARPSPEED)
    assert facts is not None
    small = MI210.with_section(WARPSPEED, replace(facts, l2_effective_bytes=1 << 20))
    found = volumes(kernel, small)
    assert found.wave_oversubscription > 1
    assert found.per_work("l2_store_bytes") == 64 / 2
    assert found.per_work("dram_store_bytes") == pytest.approx(8.0)
    assert found.partial_store_fill_bytes == pytest.approx(0.0)
