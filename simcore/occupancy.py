"""How many thread blocks of a launch one SM holds at a time, and what keeps it from more.

The rules are those of NVIDIA's CUDA Occupancy Calculator; AMD's compute units follow the same ones
with the granularities of their device files.
"""

from __future__ import annotations

from kernelcast.errors import LaunchError
from kernelcast.simcore.device import Device
from kernelcast.simcore.profile import LaunchShape, Occupancy, OccupancyLimiter
from kernelcast.simcore.registers import registers_per_thread, warps_that_fit
from kernelcast.traces.trace import ResourceNeeds

__all__ = ["occupancy"]


def occupancy(needs: ResourceNeeds, launch: LaunchShape, device: Device) -> Occupancy:
    """Resident thread blocks per SM with each resource's own bound; the first tightest limits.

    `waves` is the number of rounds in which the device works through the grid, with a fraction for
    the last one. LaunchError when not even one thread block can run.
    """
    _check_limits(needs, launch, device)
    sm, width = device.sm, device.architecture.warp_width
    threads = launch.threads_per_thread_block
    warps = -(-threads // width)
    registers = registers_per_thread(needs, warps, device)
    bounds = {
        OccupancyLimiter.THREADS: sm.max_threads // threads,
        OccupancyLimiter.WARPS: sm.max_warps // warps,
        OccupancyLimiter.THREAD_BLOCKS: sm.max_thread_blocks,
        OccupancyLimiter.REGISTERS: warps_that_fit(registers.per_thread, warps, device) // warps,
    }
    if needs.shared_bytes:
        allocated = -(-needs.shared_bytes // sm.shared_allocation_bytes)
        bounds[OccupancyLimiter.SHARED_MEMORY] = sm.shared_bytes // (
            allocated * sm.shared_allocation_bytes
        )
    sms = device.architecture.sm_count
    bounds[OccupancyLimiter.GRID] = -(-launch.thread_blocks // sms)
    limiter = min(bounds, key=lambda resource: bounds[resource])
    resident = bounds[limiter]
    if not resident:
        raise LaunchError(
            f"no thread block of {threads} threads fits an SM of {device.title}: {limiter.value}"
        )
    return Occupancy(
        thread_blocks_per_sm=resident,
        warps_per_sm=resident * warps,
        fraction=resident * warps / sm.max_warps,
        limiter=limiter,
        limits=tuple(bounds.items()),
        registers_per_thread=registers.per_thread,
        registers_assumed=registers.assumed,
        waves=launch.thread_blocks / (resident * sms),
    )


def _check_limits(needs: ResourceNeeds, launch: LaunchShape, device: Device) -> None:
    sm, threads = device.sm, launch.threads_per_thread_block
    if threads > sm.max_threads_per_thread_block:
        raise LaunchError(
            f"{threads} threads per thread block: {device.title} allows "
            f"{sm.max_threads_per_thread_block}"
        )
    if needs.shared_bytes > sm.max_shared_bytes_per_thread_block:
        raise LaunchError(
            f"{needs.shared_bytes} bytes of shared memory per thread block: {device.title} allows "
            f"{sm.max_shared_bytes_per_thread_block}"
        )
