"""Occupancy, against cases worked out by hand from NVIDIA's published rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernelcast.errors import LaunchError
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.occupancy import occupancy
from kernelcast.simcore.profile.profile import LaunchShape, Occupancy, OccupancyLimiter
from kernelcast.traces.trace import ResourceNeeds

MANY = 1_000_000
"""Thread blocks: more than any device holds."""


def resident(
    device: str | Device,
    threads: int,
    registers: int | None = None,
    shared: int = 0,
    grid: int = MANY,
    live: int = 16,
    most: int | None = None,
) -> Occupancy:
    needs = ResourceNeeds(live, shared, registers=registers, max_registers=most)
    chosen = load_device(device) if isinstance(device, str) else device
    return occupancy(needs, LaunchShape((grid, 1, 1), (threads, 1, 1)), chosen)


@pytest.mark.parametrize(
    ("device", "fewest", "taken"),
    [
        # 32768 registers for 48 warps: 682 a warp, in units of 64: 20 for each thread
        ("gtx-480", 17, 20),
        ("gtx-480", 21, 24),
        ("gtx-480", 30, 30),
        # 65536 for 64 warps: 32
        ("v100-pcie", 17, 29),
        ("v100-pcie", 29, 29),
        # 65536 for 32 warps: 64
        ("quadro-rtx-4000", 17, 29),
    ],
)
def test_loads_come_early_where_no_warp_loses_its_place(
    device: str, fewest: int, taken: int
) -> None:
    """The estimate of 29 registers, or of the fewest, within what the device has to spare."""
    needs = ResourceNeeds(max(29, fewest), 0, fewest_registers=fewest)
    found = occupancy(needs, LaunchShape((MANY, 1, 1), (256, 1, 1)), load_device(device))
    assert found.registers_per_thread == taken
    assert found.registers_assumed


@pytest.mark.parametrize(
    ("device", "threads", "registers", "shared", "blocks", "limiter"),
    [
        # 1536 // 1024
        ("gtx-480", 1024, 20, 8192, 1, OccupancyLimiter.THREADS),
        ("gtx-480", 256, 20, 0, 6, OccupancyLimiter.THREADS),
        ("gtx-480", 256, 20, 2048, 6, OccupancyLimiter.THREADS),
        # 64 threads are two warps: 48 // 2 = 24, but 8 thread blocks
        ("gtx-480", 64, 20, 0, 8, OccupancyLimiter.THREAD_BLOCKS),
        # 21 registers: 32 * 21 = 672, rounded to 704 a warp; 32768 // 704 = 46 warps, 46 // 8
        ("gtx-480", 256, 21, 0, 5, OccupancyLimiter.REGISTERS),
        # 63 registers: 2016, rounded to 2048 a warp: 16 warps
        ("gtx-480", 256, 63, 0, 2, OccupancyLimiter.REGISTERS),
        # 27 registers: 864, rounded to 896: 36 warps of 36.57; 12 warps each
        ("gtx-480", 384, 27, 0, 3, OccupancyLimiter.REGISTERS),
        # 49152 // 12288, and one byte more is 128 more
        ("gtx-480", 256, 20, 12288, 4, OccupancyLimiter.SHARED_MEMORY),
        ("gtx-480", 256, 20, 12289, 3, OccupancyLimiter.SHARED_MEMORY),
        # CC 3.0: 32 registers are 1024 a warp, 64 warps; 33 are 1280: 51, rounded to 48 warps
        ("gtx-660", 256, 32, 0, 8, OccupancyLimiter.THREADS),
        ("gtx-660", 256, 33, 0, 6, OccupancyLimiter.REGISTERS),
        # 50 registers: 1600, rounded to 1792: 36 warps of 36.57
        ("gtx-660", 384, 50, 0, 3, OccupancyLimiter.REGISTERS),
        ("gtx-660", 64, 32, 0, 16, OccupancyLimiter.THREAD_BLOCKS),
        # 255 registers: 8160, rounded to 8192: 8 warps
        ("tesla-k20c", 256, 255, 0, 1, OccupancyLimiter.REGISTERS),
        # CC 5.2 and 6.1: 98304 // 49152; 32 thread blocks
        ("gtx-960", 256, 32, 49152, 2, OccupancyLimiter.SHARED_MEMORY),
        ("gtx-960", 64, 32, 0, 32, OccupancyLimiter.THREADS),
        ("gtx-960", 32, 32, 0, 32, OccupancyLimiter.THREAD_BLOCKS),
        ("gtx-1060-6gb", 1024, 32, 8192, 2, OccupancyLimiter.THREADS),
        # CC 8.0 on: 1 KB more for each thread block (cuda_occupancy.h); 164, 100 and 228 KB
        ("a100-40gb", 128, 32, 81 * 1024, 2, OccupancyLimiter.SHARED_MEMORY),
        ("a100-40gb", 128, 32, 81 * 1024 + 1, 1, OccupancyLimiter.SHARED_MEMORY),
        ("a100-40gb", 32, 32, 4224 + 1, 31, OccupancyLimiter.SHARED_MEMORY),
        ("a100-40gb", 32, 32, 0, 32, OccupancyLimiter.THREAD_BLOCKS),
        ("rtx-3090", 128, 32, 50 * 1024, 1, OccupancyLimiter.SHARED_MEMORY),
        ("h100-sxm", 128, 32, 56 * 1024, 4, OccupancyLimiter.SHARED_MEMORY),
        ("h100-sxm", 128, 32, 57 * 1024, 3, OccupancyLimiter.SHARED_MEMORY),
        # CC 7.0 reserves nothing
        ("v100-sxm2", 128, 32, 48 * 1024, 2, OccupancyLimiter.SHARED_MEMORY),
        # wavefronts of 64: 24 registers let 256 // 24 = 10 run on each of 4 SIMDs, 25 (28) only 9
        ("r9-nano", 256, 24, 2048, 10, OccupancyLimiter.THREADS),
        ("r9-nano", 256, 25, 2048, 9, OccupancyLimiter.REGISTERS),
        ("r9-nano", 256, 84, 0, 3, OccupancyLimiter.REGISTERS),
        ("r9-nano", 256, 24, 32768, 2, OccupancyLimiter.SHARED_MEMORY),
    ],
)
def test_resident_thread_blocks(
    device: str, threads: int, registers: int, shared: int, blocks: int, limiter: OccupancyLimiter
) -> None:
    found = resident(device, threads, registers, shared)
    assert found.thread_blocks_per_sm == blocks
    assert found.limiter is limiter
    width = load_device(device).architecture.warp_width
    assert found.warps_per_sm == blocks * -(-threads // width)
    assert found.fraction == found.warps_per_sm / load_device(device).sm.max_warps
    assert dict(found.limits)[limiter] == blocks
    assert min(dict(found.limits).values()) == blocks


def test_barriers_limit_work_groups_of_several_wavefronts_only() -> None:
    """16 barriers of a compute unit of CDNA 2, which work-groups of one wavefront need none of."""
    assert resident("mi210", 64, 16).thread_blocks_per_sm == 32
    assert resident("mi210", 128, 16).thread_blocks_per_sm == 16


@pytest.mark.parametrize(("scalar", "warps"), [(80, 10), (81, 9), (88, 9), (100, 8), (102, 7)])
def test_scalar_registers_limit_wavefronts(scalar: int, warps: int) -> None:
    """LLVM, GCNSubtarget::getOccupancyWithNumSGPRs, for GCN 3: wavefronts of a SIMD."""
    device = load_device("r9-nano")
    needs = ResourceNeeds(0, 0, registers=16, scalar_registers=scalar)
    found = occupancy(needs, LaunchShape((MANY, 1, 1), (64, 1, 1)), device)
    assert found.warps_per_sm == 4 * warps


def test_warps_limit_where_threads_leave_lanes_idle() -> None:
    # 65 threads are 3 warps: 1536 // 65 = 23 but 48 // 3 = 16, with room for 32 thread blocks
    device = load_device("gtx-480")
    device = replace(device, sm=replace(device.sm, max_thread_blocks=32))
    found = resident(device, 65, 16)
    assert found.limiter is OccupancyLimiter.WARPS
    assert found.thread_blocks_per_sm == 16


def test_a_small_grid_limits() -> None:
    found = resident("gtx-480", 256, 20, grid=20)
    assert found.limiter is OccupancyLimiter.GRID
    assert found.thread_blocks_per_sm == 2


def test_sgemm_16x16_has_90_resident_thread_blocks() -> None:
    found = resident("gtx-480", 256, 20, 2048)
    assert found.thread_blocks_per_sm * load_device("gtx-480").architecture.sm_count == 90


@pytest.mark.parametrize(("grid", "waves"), [(90, 1.0), (135, 1.5), (9000, 100.0)])
def test_waves(grid: int, waves: float) -> None:
    assert resident("gtx-480", 256, 20, grid=grid).waves == waves


def test_registers_by_thread_block() -> None:
    # CC 1.x: 15 registers of 8 warps are 3840, rounded to 4096 a thread block: 16384 // 4096
    device = load_device("gtx-480")
    sm = replace(
        device.sm,
        registers=16384,
        register_allocation_unit=512,
        register_allocation_per="thread block",
    )
    assert resident(replace(device, sm=sm), 256, 15).thread_blocks_per_sm == 4


@pytest.mark.parametrize(
    ("device", "threads", "live", "most", "registers"),
    [
        ("gtx-480", 256, 20, None, 20),
        # what the target can address
        ("gtx-480", 256, 200, None, 63),
        ("gtx-660", 256, 200, None, 63),
        ("tesla-k20c", 256, 300, None, 255),
        # 1024 threads on 32768 registers, and on 65536
        ("gtx-480", 1024, 200, None, 32),
        ("tesla-k20c", 1024, 200, None, 64),
        # 768 threads are 24 warps: 40 registers are 1280 a warp, 25 of them; 41 are 1344: 24;
        # 42 are 1344 too; 43 are 1408: 23
        ("gtx-480", 768, 200, None, 42),
        # .maxnreg
        ("gtx-480", 256, 200, 24, 24),
        ("gtx-480", 256, 20, 24, 20),
        # never none
        ("gtx-480", 256, 0, None, 1),
    ],
)
def test_assumed_registers(
    device: str, threads: int, live: int, most: int | None, registers: int
) -> None:
    found = resident(device, threads, live=live, most=most)
    assert found.registers_per_thread == registers
    assert found.registers_assumed
    assert found.thread_blocks_per_sm >= 1


def test_a_given_count_is_taken_as_it_is() -> None:
    found = resident("gtx-480", 256, 40, live=10, most=16)
    assert found.registers_per_thread == 40
    assert not found.registers_assumed


@pytest.mark.parametrize(
    ("device", "threads", "registers", "shared", "message"),
    [
        ("r9-nano", 1024, None, 0, "1024 threads per thread block: AMD Radeon R9 Nano allows 256"),
        ("gtx-480", 256, None, 49153, "49153 bytes of shared memory per thread block: GeForce"),
        ("r9-nano", 256, None, 32769, "32769 bytes of shared memory .* allows 32768"),
        ("gtx-480", 256, 64, 0, "64 registers per thread: GeForce GTX 480 allows 1 to 63"),
        ("gtx-480", 256, 0, 0, "0 registers per thread"),
        ("gtx-480", 1024, 33, 0, "33 registers per thread and 32 warps .* exceed the 32768"),
    ],
)
def test_an_impossible_launch_names_device_and_limit(
    device: str, threads: int, registers: int | None, shared: int, message: str
) -> None:
    with pytest.raises(LaunchError, match=message) as caught:
        resident(device, threads, registers, shared)
    assert "\n" not in str(caught.value)


def test_a_device_that_holds_no_thread_block_at_all() -> None:
    device = load_device("gtx-480")
    tiny = replace(device, sm=replace(device.sm, registers=128))
    with pytest.raises(LaunchError, match=r"no thread block of 256 threads fits .*: registers"):
        resident(tiny, 256)
