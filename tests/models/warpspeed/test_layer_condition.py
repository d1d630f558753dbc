"""Layer conditions of L1 and L2 against closed forms, and where they break."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernelcast.errors import KernelcastError, ModelNotApplicable
from kernelcast.models.warpspeed.volumes.layer_condition import (
    LayerAxis,
    critical_extent,
    layer_conditions,
)
from kernelcast.models.warpspeed.warpspeed_facts import WARPSPEED
from kernelcast.simcore.address.kernel import AddressKernel, Field
from kernelcast.simcore.device.file import load_device

A100 = load_device("a100-40gb")
FACTS = A100.section(WARPSPEED)
assert FACTS is not None
KIB = 1 << 10


def seven_points(nx: int, ny: int, nz: int = 256, depth: int = 1) -> AddressKernel:
    """Doubles; rows and arrays begin on a line."""
    shape = (nx + 32, ny + 2, nz + 2)
    steps = [(0, 0, 0), *((s, 0, 0) for s in (-1, 1)), *((0, s, 0) for s in (-1, 1))]
    steps += [(0, 0, s) for s in (-1, 1)]
    loads = [("a", (f"x + {16 + x}", f"y + {1 + y}", f"z + {1 + z}")) for x, y, z in steps]
    store = ("b", ("x + 16", "y + 1", "z + 1"))
    fields = [Field("a", 8, shape, 128), Field("b", 8, shape, 128)]
    return AddressKernel(fields, loads, [store], (nx, ny, nz), (32, 8 // depth, depth))


def test_a_plane_of_thread_blocks_allocates_its_layers() -> None:
    """Depth + 2 planes are read and depth written, with rows of two lines more and two rows."""
    nx, ny = 512, 384
    of_l1, _, of_z = layer_conditions(seven_points(nx, ny, depth=2), A100)
    planes = (2 + 2) * nx * ny + 2 * nx * ny
    assert (of_z.level, of_z.axis) == ("L2", LayerAxis.Z)
    assert of_z.layer_bytes == pytest.approx(8 * planes, rel=0.03)
    assert of_z.capacity_bytes == 20 << 20
    assert of_z.overlap_bytes == pytest.approx(8 * 2 / 2, rel=0.02)
    assert of_z.holds == (of_z.layer_bytes <= 20 << 20)
    assert (of_l1.level, of_l1.axis) == ("L1", LayerAxis.THREAD_BLOCK)
    assert of_l1.holds


def test_a_row_of_thread_blocks_allocates_its_rows() -> None:
    nx = 4096
    _, of_y, _ = layer_conditions(seven_points(nx, 512), A100)
    lines = 8 * nx * (8 + 2 + 2 * 8) + 8 * nx * 8
    assert of_y.axis is LayerAxis.Y
    assert of_y.layer_bytes == pytest.approx(lines, rel=0.03)
    rows = 8 * (108 * 8) / (nx / 32)  # of a wave of eight thread blocks on each SM
    assert of_y.overlap_bytes == pytest.approx(8 * 2 / rows, rel=0.05)


def test_the_critical_extent_is_the_last_that_holds() -> None:
    def square(side: int) -> AddressKernel:
        return seven_points(32 * side, 32 * side)

    found = critical_extent(square, A100)
    assert layer_conditions(square(found), A100)[2].holds
    assert not layer_conditions(square(found + 1), A100)[2].holds
    # three planes read, one written
    assert 32 * found == pytest.approx((20 * KIB * KIB / 32) ** 0.5, rel=0.05)


def test_conditions_that_hold_nowhere_or_everywhere() -> None:
    assert FACTS is not None
    tiny = A100.with_section(WARPSPEED, replace(FACTS, l2_effective_bytes=KIB))
    with pytest.raises(KernelcastError, match="holds for no extent"):
        critical_extent(lambda side: seven_points(32 * side, 32, 4096), tiny)
    assert critical_extent(lambda side: seven_points(32, 8 * side), A100, largest=4) == 4


def test_caches_that_loads_pass_by_have_no_condition() -> None:
    assert A100.l1 is not None
    passed = replace(A100, l1=replace(A100.l1, caches_global_loads=False))
    levels = [item.level for item in layer_conditions(seven_points(256, 256), passed)]
    assert levels == ["L2", "L2"]


def test_devices_without_facts_are_refused() -> None:
    with pytest.raises(ModelNotApplicable, match=r"no section \[warpspeed\]"):
        layer_conditions(seven_points(256, 256), A100.with_section(WARPSPEED, None))
