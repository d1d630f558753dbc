"""How many thread blocks of a launch one SM holds at a time, and what keeps it from more.

The rules are those of NVIDIA's CUDA Occupancy Calculator; AMD's compute units follow the same ones
with the granularities of their device files, and have scalar registers besides (LLVM,
GCNSubtarget::getOccupancyWithNumSGPRs).
"""

from __future__ import annotations

import math

import numpy as np

from kernelcast.errors import LaunchError
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.profile import LaunchShape, Occupancy, OccupancyLimiter
from kernelcast.simcore.profile.register_count import registers_per_thread, warps_that_fit
from kernelcast.traces.trace import ResourceNeeds, Trace

__all__ = ["held_share", "occupancy"]

_ROUNDING = 1e-12


def held_share(trace: Trace) -> float:
    """Mean share of its resources that a thread block holds when warps give theirs back early.

    A warp holds its part for as long as it issues, the thread block for as long as the warp that
    issues most: warps that only wait at barriers for others count as finished. Above 0, at most 1.
    """
    warps = trace.warp_time.reshape(-1, trace.warps_per_thread_block)
    longest = np.zeros(len(warps), np.int64)
    for column in warps.T:  # whole columns at once: rows are short
        np.maximum(longest, column, out=longest)
    held = warps.shape[1] * int(longest.sum())
    return int(warps.sum(dtype=np.int64)) / held if held else 1.0


def occupancy(
    needs: ResourceNeeds, launch: LaunchShape, device: Device, share: float = 1.0
) -> Occupancy:
    """Resident thread blocks per SM with each resource's own bound; the first tightest limits.

    `waves` is the number of rounds in which the device works through the grid, with a fraction for
    the last one. With early release all but the youngest thread block hold `share` of what they
    began with. LaunchError when not even one thread block can run.
    """
    _check_limits(needs, launch, device)
    threads = launch.threads_per_thread_block
    warps = -(-threads // device.architecture.warp_width)
    registers = registers_per_thread(needs, warps, device)
    held = share if device.early_release else 1.0
    bounds = {
        resource: _resident(fitting, 1.0 if resource is OccupancyLimiter.THREAD_BLOCKS else held)
        for resource, fitting in _fitting(needs, threads, registers.per_thread, device).items()
    }
    sms = device.architecture.sm_count
    bounds[OccupancyLimiter.GRID] = -(-launch.thread_blocks // sms)
    limiter = min(bounds, key=lambda resource: bounds[resource])
    resident = bounds[limiter]
    if not resident:
        raise LaunchError(
            f"no thread block of {threads} threads fits an SM of {device.title}: {limiter.value}"
        )
    live_warps = int(warps * (1 + (resident - 1) * held))
    return Occupancy(
        thread_blocks_per_sm=resident,
        warps_per_sm=live_warps,
        fraction=live_warps / device.sm.max_warps,
        limiter=limiter,
        limits=tuple(bounds.items()),
        registers_per_thread=registers.per_thread,
        registers_assumed=registers.assumed,
        waves=launch.thread_blocks / (resident * sms),
    )


def _fitting(
    needs: ResourceNeeds, threads: int, registers: int, device: Device
) -> dict[OccupancyLimiter, float]:
    """How many thread blocks, and which fraction of a further one, have room in each resource."""
    sm = device.sm
    warps = -(-threads // device.architecture.warp_width)
    found = {
        OccupancyLimiter.THREADS: sm.max_threads / threads,
        OccupancyLimiter.WARPS: sm.max_warps / warps,
        OccupancyLimiter.THREAD_BLOCKS: float(_most_thread_blocks(warps, device)),
        OccupancyLimiter.REGISTERS: float(warps_that_fit(registers, warps, device) // warps),
    }
    if needs.scalar_registers and sm.scalar_registers:
        schedulers = sm.warp_schedulers
        each = sm.scalar_registers // schedulers // needs.scalar_registers
        found[OccupancyLimiter.SCALAR_REGISTERS] = float(each * schedulers // warps)
    if needs.shared_bytes:
        taken = needs.shared_bytes + (sm.reserved_shared_bytes or 0)
        allocated = -(-taken // sm.shared_allocation_bytes)
        found[OccupancyLimiter.SHARED_MEMORY] = sm.shared_bytes / (
            allocated * sm.shared_allocation_bytes
        )
    return found


def _most_thread_blocks(warps: int, device: Device) -> int:
    """Thread blocks of so many warps that there are places or barriers for."""
    alone = device.sm.max_single_warp_thread_blocks
    return device.sm.max_thread_blocks if alone is None or warps > 1 else alone


def _resident(fitting: float, held: float) -> int:
    """Thread blocks of which the youngest holds all its resources and each other one `held`."""
    if fitting < 1:
        return 0
    return 1 + math.floor((fitting - 1) / held * (1 + _ROUNDING))


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
