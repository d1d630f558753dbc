"""Layer conditions: up to which domain size a cache keeps what neighbouring layers share.

Sequential traversal keeps whole layers of a grid at once (Rivera and Tseng, SC 2000); waves keep
what all thread blocks touch that run between two uses (Ernst et al. 2022, 4.4.2 and 5.7).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from kernelcast.errors import KernelcastError, LaunchError
from kernelcast.models.warpspeed.volumes.volumes import Volumes, volumes
from kernelcast.models.warpspeed.warpspeed_facts import WARPSPEED
from kernelcast.simcore.address.kernel import AddressKernel
from kernelcast.simcore.device.device import Device

__all__ = [
    "LayerAxis",
    "LayerCondition",
    "critical_extent",
    "layer_conditions",
    "sequential_extent",
]

_LARGEST_EXTENT = 1 << 20


class LayerAxis(Enum):
    """What must stay in the cache between two uses of one datum."""

    THREAD_BLOCK = "thread blocks of an SM"
    Y = "y layer"
    Z = "z layer"


@dataclass(frozen=True, slots=True)
class LayerCondition:
    """Whether a cache keeps what neighbouring layers share.

    `level`: "L1" or "L2"; `layer_bytes` allocated by the layer; `overlap_bytes` a unit of work that
    are loaded again where it does not hold.
    """

    level: str
    axis: LayerAxis
    layer_bytes: float
    capacity_bytes: int
    overlap_bytes: float

    @property
    def oversubscription(self) -> float:
        """Bytes of the layer over the capacity of the cache."""
        return self.layer_bytes / self.capacity_bytes

    @property
    def holds(self) -> bool:
        """Whether the layer fits the cache."""
        return self.oversubscription <= 1


def layer_conditions(kernel: AddressKernel, device: Device) -> tuple[LayerCondition, ...]:
    """The layer conditions of L1, then of L2 in y and z. ModelNotApplicable as `volumes`."""
    found, facts = volumes(kernel, device), device.section(WARPSPEED)
    assert facts is not None
    found_l1 = []
    if device.l1 is not None and device.l1.caches_global_loads:
        capacity = device.l1.capacity_bytes
        again = found.l1_requested_bytes - found.l2_load_compulsory_bytes
        found_l1.append(
            LayerCondition(
                "L1",
                LayerAxis.THREAD_BLOCK,
                found.l1_oversubscription * capacity,
                capacity,
                again / found.work,
            )
        )
    l2 = facts.l2_effective_bytes
    return (
        *found_l1,
        _of_l2(LayerAxis.Y, found.y_layer_oversubscription, found, "y_layer_overlap_bytes", l2),
        _of_l2(LayerAxis.Z, found.z_layer_oversubscription, found, "z_layer_overlap_bytes", l2),
    )


def _of_l2(
    axis: LayerAxis, oversubscription: float, found: Volumes, overlap: str, capacity: int
) -> LayerCondition:
    layer_bytes = oversubscription * capacity
    return LayerCondition("L2", axis, layer_bytes, capacity, found.per_work(overlap))


def critical_extent(
    kernel_of_extent: Callable[[int], AddressKernel],
    device: Device,
    axis: LayerAxis = LayerAxis.Z,
    largest: int = _LARGEST_EXTENT,
) -> int:
    """The largest extent with which the layer condition of `axis` holds, by bisection.

    `kernel_of_extent` makes the kernel of a domain size: square planes, rows or whatever grows.
    KernelcastError when it holds nowhere, `largest` when it holds everywhere.
    """

    def holds(extent: int) -> bool:
        conditions = layer_conditions(kernel_of_extent(extent), device)
        return all(item.holds for item in conditions if item.axis is axis)

    low = _smallest_extent(kernel_of_extent, largest)
    high = 2 * low
    if not holds(low):
        raise KernelcastError(f"the condition of the {axis.value} holds for no extent")
    while high <= largest and holds(high):
        low, high = high, 2 * high
    if high > largest:
        return largest
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _smallest_extent(kernel_of_extent: Callable[[int], AddressKernel], largest: int) -> int:
    """The first power of two that leaves cells: kernels with a border have none in tiny domains."""
    extent = 1
    while True:
        try:
            kernel_of_extent(extent)
        except LaunchError:
            if 2 * extent > largest:
                raise
            extent *= 2
        else:
            return extent


def sequential_extent(layers: int, element_bytes: int, capacity_bytes: int) -> int:
    """Side of the largest square plane of which `layers` fit half of the cache.

    The other half is for what is stored: floor(sqrt(10 MiB / 72 B)) = 381 for range 4 and 20 MiB
    (5.7).
    """
    return math.isqrt(capacity_bytes // 2 // (layers * element_bytes))
