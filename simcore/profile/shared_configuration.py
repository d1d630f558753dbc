"""What shared memory leaves of the memory that it has in common with L1.

Since Volta both lie in one memory, which the driver divides for each kernel into one of a few
configurations (CUDA C++ Programming Guide, compute capabilities, shared memory). Which one it takes
is not published. The rule here is that of 149 kernels on an H100 under the driver 580.159
(`launch__shared_mem_config_size` of Nsight Compute): room for twice the thread blocks that an SM
can hold for other reasons, up to 132 KB; for four times as many where only the system's share is
needed; more than that where the thread blocks themselves need it.
"""

from __future__ import annotations

from dataclasses import replace

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.profile import Occupancy, OccupancyLimiter
from kernelcast.traces.trace import ResourceNeeds

__all__ = ["configuration_bytes", "with_l1_left"]

_TIMES, _TIMES_OF_SYSTEM = 2, 4
_MOST_IN_VAIN = 132 << 10
_OTHER_LIMITS = (
    OccupancyLimiter.THREADS,
    OccupancyLimiter.WARPS,
    OccupancyLimiter.THREAD_BLOCKS,
    OccupancyLimiter.REGISTERS,
)


def with_l1_left(device: Device, needs: ResourceNeeds, resident: Occupancy) -> Device:
    """The device with the L1 that a kernel with these needs finds there."""
    if device.l1 is None:
        return device
    smallest = _configurations(device)[0]
    taken = configuration_bytes(device, needs, resident) - smallest
    left = max(device.l1.line_bytes, device.l1.capacity_bytes - taken)
    return replace(device, l1=replace(device.l1, capacity_bytes=left))


def configuration_bytes(device: Device, needs: ResourceNeeds, resident: Occupancy) -> int:
    """Bytes of an SM's common memory that the kernel has as shared memory."""
    sm, sizes = device.sm, _configurations(device)
    asked = needs.shared_bytes + (sm.reserved_shared_bytes or 0)
    each = -(-asked // sm.shared_allocation_bytes) * sm.shared_allocation_bytes
    bounds = dict(resident.limits)
    blocks = min(bounds[limit] for limit in _OTHER_LIMITS if limit in bounds)
    times = _TIMES if needs.shared_bytes else _TIMES_OF_SYSTEM
    needed = blocks * each
    roomy = min(sm.max_thread_blocks, times * blocks) * each
    wanted = max(needed, min(roomy, _MOST_IN_VAIN))
    return next((size for size in sizes if size >= wanted), sizes[-1])


def _configurations(device: Device) -> list[int]:
    return [int(size) << 10 for size in device.sm.shared_configurations_kib.split()]
