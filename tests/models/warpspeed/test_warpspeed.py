"""Model `warpspeed` against the facts that its paper prints (Ernst et al. 2022)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from kernelcast.errors import ModelNotApplicable
from kernelcast.models.estimate import Estimate
from kernelcast.models.warpspeed.model import warpspeed_estimate
from kernelcast.models.warpspeed.volumes.layer_condition import (
    LayerAxis,
    critical_extent,
    sequential_extent,
)
from kernelcast.models.warpspeed.volumes.volumes import Volumes, volumes
from kernelcast.models.warpspeed.warpspeed_facts import WARPSPEED
from kernelcast.simcore.address.kernel import AddressKernel, Field
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device

A100 = load_device("a100-40gb")
RANGE = 4
FOLDINGS = {"": (1, 1, 1), "2y": (1, 2, 1), "2z": (1, 1, 2)}
SHAPES = [
    (1 << x, 1 << y, 1 << (10 - x - y)) for x in range(11) for y in range(11 - x) if 10 - x - y <= 6
]

Triple = tuple[int, int, int]


def star(nx: int = 640, ny: int = 512, nz: int = 512) -> AddressKernel:
    """The 25-point star of range 4, doubles; rows begin on a 128-byte line."""
    shape = (nx + 32, ny + 2 * RANGE, nz + 2 * RANGE)
    points = {(0, 0, 0)}
    for axis in range(3):
        for step in (-4, -3, -2, -1, 1, 2, 3, 4):
            points.add(tuple(step * (at == axis) for at in range(3)))  # type: ignore[arg-type]
    loads = [("src", (f"x + {16 + x}", f"y + {4 + y}", f"z + {4 + z}")) for x, y, z in points]
    return AddressKernel(
        [Field("src", 8, shape), Field("dst", 8, shape)],
        loads,
        [("dst", ("x + 16", "y + 4", "z + 4"))],
        (nx, ny, nz),
        (32, 4, 8),
        flops=25,
        registers=32,
    )


@cache
def estimated(block: Triple, folding: str = "") -> tuple[Volumes, Estimate]:
    kernel = star().with_block(*block).with_folding(*FOLDINGS[folding])
    found = volumes(kernel, A100)
    return found, warpspeed_estimate(found, kernel, A100)


def test_the_paper_has_56_shapes() -> None:
    assert len(SHAPES) == 56


@pytest.mark.parametrize(
    ("depth", "balance"), [(1, 72), (2, 40), (4, 24), (8, 16), (16, 12), (32, 10)]
)
def test_volume_by_depth_of_a_wave_without_reuse_in_z(depth: int, balance: float) -> None:
    """Section 5.7: (8 + depth) / depth values a lattice update, on a domain of small halos."""
    kernel = star(1024, 2048, 2048).with_block(32, 32 // depth, depth)
    found = volumes(kernel, A100)
    assert not found.holds_z_layer
    assert found.per_work("dram_load_bytes") == pytest.approx(balance, rel=0.015)


def test_sequential_layer_condition() -> None:
    """381 holds for 10 MiB; with 10 MB it would be 372."""
    assert sequential_extent(9, 8, 20 << 20) == 381
    assert sequential_extent(9, 8, 20_000_000) == 372


@pytest.mark.parametrize(("depth", "extent"), [(1, 512), (4, 405), (8, 330)])
def test_deeper_waves_run_out_of_cache_earlier(depth: int, extent: int) -> None:
    """2 depth + 8 planes of doubles fill 20 MiB."""

    def square(side: int) -> AddressKernel:
        return star(side, side, 512).with_block(32, 32 // depth, depth)

    assert critical_extent(square, A100, LayerAxis.Z) == pytest.approx(extent, rel=0.1)


def test_dram_volume_of_deep_waves() -> None:
    assert 9.0 <= estimated((16, 2, 32), "2z")[0].per_work("dram_load_bytes") <= 9.3
    assert 10.0 <= estimated((32, 1, 32))[0].per_work("dram_load_bytes") <= 10.6


def test_shallow_waves_load_at_least_four_times_as_much() -> None:
    deep = estimated((16, 2, 32), "2z")[0].per_work("dram_load_bytes")
    for block in ((512, 2, 1), (32, 32, 1), (2, 512, 1)):
        assert estimated(block)[0].per_work("dram_load_bytes") >= 4 * deep


def test_best_and_worst_configurations() -> None:
    ranked = sorted(
        (estimated(block, folding)[1].time_s, block, folding)
        for folding in FOLDINGS
        for block in SHAPES
    )
    assert ((16, 2, 32), "2z") in [row[1:] for row in ranked[:5]]
    narrow = sum(block[0] <= 2 for block in SHAPES) * len(FOLDINGS)
    assert {block[0] for _, block, _ in ranked[-narrow:]} == {1, 2}


def test_narrow_shapes_are_not_limited_by_dram() -> None:
    limits = {estimated((2, y, 512 // y), "")[1].bottleneck for y in (16, 64, 128)}
    assert limits == {"L1 throughput"}


def test_a_cache_that_did_not_duplicate_lines_would_invert_the_order() -> None:
    """One-deep waves keep their z layers in 40 MiB and load least."""
    facts = A100.section(WARPSPEED)
    assert facts is not None
    whole = A100.with_section(WARPSPEED, replace(facts, l2_effective_bytes=40 << 20))

    def loads(device: Device, block: Triple) -> float:
        return volumes(star().with_block(*block), device).per_work("dram_load_bytes")

    shallow, deep = (256, 4, 1), (16, 2, 32)
    assert loads(A100, shallow) > loads(A100, deep)
    assert loads(whole, shallow) < loads(whole, deep)


def test_the_time_is_that_of_the_slowest_limiter() -> None:
    found, estimate = estimated((32, 4, 8))
    assert A100.measured is not None
    dram = found.dram_bytes / A100.measured.dram_bandwidth_bytes_per_s
    assert estimate.time_s == pytest.approx(dram)
    assert estimate.bottleneck == "DRAM bandwidth"
    assert estimate["V_over_z"] == pytest.approx(found.per_work("z_layer_overlap_bytes"))


def test_devices_without_facts_are_refused() -> None:
    with pytest.raises(ModelNotApplicable, match=r"no section \[warpspeed\]"):
        volumes(star(), load_device("gtx-285"))


def test_streams_and_general_kernels() -> None:
    """saxpy moves 8 bytes in and 4 out; a store by columns writes whole sectors in waves only."""
    n = 1 << 24
    fields = [Field("x", 4), Field("y", 4)]
    saxpy = AddressKernel(fields, [("x", "x"), ("y", "x")], [("y", "x")], (n,), (256,), flops=2)
    found = volumes(saxpy, A100)
    assert found.per_work("dram_load_bytes") == pytest.approx(8)
    assert found.per_work("dram_store_bytes") == pytest.approx(4)
    assert found.per_work("l2_store_bytes") == pytest.approx(4)
    assert found.per_work("l1_wavefronts") == pytest.approx(3 / 32)
    side = 4096
    transpose = AddressKernel(
        fields, [("x", f"x + {side}*y")], [("y", f"y + {side}*x")], (side, side), (32, 8)
    )
    found = volumes(transpose, A100)
    assert found.per_work("l2_store_bytes") == pytest.approx(32)
    assert found.per_work("dram_load_bytes") == pytest.approx(4, rel=0.02)
    assert found.per_work("dram_store_bytes") == pytest.approx(4, rel=0.02)
