"""Volumes between L2 and the registers: what thread blocks ask of L1, and L1 of L2.

Thread blocks share nothing in L1 (Ernst et al. 2022, section 4.3): those on one SM are rarely
neighbours. Lines are allocated whole, sectors transferred one by one; stores are written through.
Each use of a sector hits or not by what came between it and the use before (see `l1_reuse`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.models.warpspeed.volumes.bound_kernel import BoundKernel, FieldAccesses
from kernelcast.models.warpspeed.volumes.footprint import footprints
from kernelcast.models.warpspeed.volumes.l1_reuse import l1_reuse
from kernelcast.models.warpspeed.volumes.thread_blocks import ThreadBlockClass
from kernelcast.models.warpspeed.volumes.wavefronts import RequestRules, Requests, requests_of
from kernelcast.models.warpspeed.warpspeed_facts import WarpspeedFacts
from kernelcast.simcore.address.address_sets import AddressSets
from kernelcast.simcore.address.boxes import families
from kernelcast.simcore.address.expression import AXES
from kernelcast.simcore.address.kernel import AddressKernel
from kernelcast.simcore.device.device import Device

__all__ = ["BlockVolumes", "block_volumes"]


@dataclass(frozen=True)
class BlockVolumes:
    """Volumes of all thread blocks of the launch.

    `requested_bytes`: the sectors of all warp-level loads; `oversubscription`: of L1 by all that
    the thread blocks on an SM allocate; `hit_shares`: of the sectors of each load of a thread, in
    their order, those that hit L1; empty without L1.
    """

    requests: Requests
    requested_bytes: float
    load_bytes: float
    capacity_bytes: float
    store_bytes: float
    oversubscription: float
    hit_shares: npt.NDArray[np.float64]


def block_volumes(
    bound: BoundKernel, thread_blocks_per_sm: int, device: Device, facts: WarpspeedFacts
) -> BlockVolumes:
    """Computes the volumes above L2, class by class of thread blocks."""
    kernel, l1, rules = bound.kernel, device.l1 or device.l2, RequestRules.of(device, facts)
    asked, written, distinct, allocated = Requests(), Requests(), 0.0, 0.0
    redundant = dict[ThreadBlockClass, float]()
    for shape in bound.thread_blocks:
        for _, accesses in bound.stores:
            written += bound.once(requests_of, accesses, shape, rules).times(shape.count)
        found, sectors, lines = Requests(), 0.0, 0.0
        for of_field in bound.loads:
            found += bound.once(requests_of, of_field[1], shape, rules)
            units = bound.once(_footprint, of_field, shape, l1.sector_bytes, l1.line_bytes)
            sectors, lines = sectors + units[0], lines + units[1]
        asked += found.times(shape.count)
        distinct += shape.count * sectors
        redundant[shape] = found.sectors - sectors
        allocated = max(allocated, lines)
    capacity, over, hit_shares = asked.sectors - distinct, 0.0, np.zeros(0)
    if device.l1 is not None and device.l1.caches_global_loads:
        room = max(1, _l1_room(kernel, thread_blocks_per_sm, device)) / device.l1.line_bytes
        over = allocated * thread_blocks_per_sm / room
        shape = max(redundant, key=lambda item: item.count)
        again = bound.once(l1_reuse, shape, l1.sector_bytes, l1.line_bytes)
        hit_rates = facts.l1_hit_rate.at_each(again.lines(thread_blocks_per_sm) / room)
        hit_shares = again.hit_shares(hit_rates)
        lost = float((again.sectors * (1 - hit_rates)).sum())
        capacity *= min(1.0, lost / redundant[shape]) if redundant[shape] > 0 else 0.0
    return BlockVolumes(
        requests=asked + written,
        requested_bytes=asked.sectors * l1.sector_bytes,
        load_bytes=distinct * l1.sector_bytes,
        capacity_bytes=max(0.0, capacity) * l1.sector_bytes,
        store_bytes=written.sectors * l1.sector_bytes,
        oversubscription=over,
        hit_shares=hit_shares,
    )


def _l1_room(kernel: AddressKernel, thread_blocks_per_sm: int, device: Device) -> int:
    """Bytes of L1 that shared memory leaves where both are one memory."""
    assert device.l1 is not None
    is_shared = device.l1.capacity_bytes > device.sm.shared_bytes
    taken = kernel.shared_bytes * thread_blocks_per_sm if is_shared else 0
    return device.l1.capacity_bytes - taken


def _footprint(
    bound: BoundKernel,
    of_field: FieldAccesses,
    shape: ThreadBlockClass,
    sector_bytes: int,
    line_bytes: int,
) -> tuple[float, float]:
    """Distinct sectors and lines of one thread block, means over where thread blocks begin."""
    field, accesses = of_field
    offset = bound.kernel.field(field).base_alignment_bytes
    factors = [dict(access.coefficients) for access in accesses]
    step = math.gcd(*(found.get(f"ctaid.{axis}", 0) for found in factors for axis in AXES))
    touched = AddressSets.of_families([families(accesses, bound.kernel, (shape.box,))])
    sectors = footprints(touched, sector_bytes, offset, step).sectors[0]
    return sectors, footprints(touched, line_bytes, offset, step).sectors[0]
