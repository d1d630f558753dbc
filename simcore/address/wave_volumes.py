"""Between DRAM and L2: what one wave of thread blocks reads and writes (sections 4.4 and 4.5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernelcast.simcore.address.block_volumes import BlockVolumes, by_field
from kernelcast.simcore.address.boxes import BoundAccess, families
from kernelcast.simcore.address.footprint import footprints
from kernelcast.simcore.address.kernel import AddressKernel
from kernelcast.simcore.address.wave_reuse import wave_losses
from kernelcast.simcore.address.waves import GridBox, WaveSets
from kernelcast.simcore.device import Device
from kernelcast.simcore.warpspeed_facts import WarpspeedFacts

__all__ = ["WaveVolumes", "wave_volumes"]

Triple = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class WaveVolumes:
    """Bytes of one wave of `cells`; `extent`: cells that it spans along each axis.

    `load_bytes` is the wave's share of what the whole launch loads at least, with the halos at the
    ends of the domain, and of what it shares with none but waves still further back, as far as L2
    lost that.
    """

    sets: WaveSets
    cells: int
    extent: Triple
    load_bytes: float
    y_overlap_bytes: float
    z_overlap_bytes: float
    y_miss_bytes: float
    z_miss_bytes: float
    wave_miss_bytes: float
    fill_bytes: float
    store_bytes: float
    redundant_store_bytes: float
    oversubscription: float
    y_oversubscription: float
    z_oversubscription: float


@dataclass(frozen=True, slots=True)
class _Units:
    """Sectors of the wave, and those that it shares with its neighbours, with the y layer, to which
    these belong, and with either layer."""

    wave: float = 0.0
    with_neighbours: float = 0.0
    with_y: float = 0.0
    with_z: float = 0.0

    def __add__(self, other: _Units) -> _Units:
        return _Units(
            self.wave + other.wave,
            self.with_neighbours + other.with_neighbours,
            self.with_y + other.with_y,
            self.with_z + other.with_z,
        )


def wave_volumes(
    loads: Sequence[BoundAccess],
    stores: Sequence[BoundAccess],
    kernel: AddressKernel,
    sets: WaveSets,
    blocks: BlockVolumes,
    device: Device,
    facts: WarpspeedFacts,
) -> WaveVolumes:
    size, capacity = device.l2.sector_bytes, facts.l2_effective_bytes
    cells, extent = _cells(kernel, sets.wave)
    share, whole = cells / kernel.cells, _whole(loads, kernel, device)
    read, written = _shared(loads, kernel, sets, size), _shared(stores, kernel, sets, size)
    over = [
        lines * device.l2.line_bytes / capacity
        for lines in _allocated((*loads, *stores), kernel, sets, device.l2.line_bytes)
    ]
    y_shared = max(0.0, read.with_y - read.with_neighbours)
    y_overlap = size * y_shared * _with_predecessor(kernel.grid[1])
    z_overlap = size * max(0.0, read.with_z - read.with_y) * _with_predecessor(kernel.grid[2])
    unshared = size * (read.wave - max(read.with_y, read.with_z))
    further = max(0.0, unshared - whole.sectors * size * share)
    lost = wave_losses(kernel, sets.wave, over[0], blocks.hit_shares, device, facts)
    missed = size * (lost.stores + _lost_by_layers(written, over, facts))
    return WaveVolumes(
        sets=sets,
        cells=cells,
        extent=extent,
        load_bytes=whole.sectors * size * share + further * whole.lost(device, facts),
        y_overlap_bytes=y_overlap,
        z_overlap_bytes=z_overlap,
        y_miss_bytes=y_overlap * (1 - facts.y_layer_hit_rate.at(over[1])),
        z_miss_bytes=z_overlap * (1 - facts.z_layer_hit_rate.at(over[2])),
        wave_miss_bytes=size * lost.loads,
        fill_bytes=_fills(stores, loads, kernel, share, missed, device),
        store_bytes=size * (written.wave - written.with_z),
        redundant_store_bytes=missed,
        oversubscription=over[0],
        y_oversubscription=over[1],
        z_oversubscription=over[2],
    )


@dataclass(frozen=True, slots=True)
class _Whole:
    """Distinct sectors and lines that the launch loads."""

    sectors: float
    lines: float

    def lost(self, device: Device, facts: WarpspeedFacts) -> float:
        """Share that L2 loses between uses that the whole launch may lie between."""
        over = self.lines * device.l2.line_bytes / facts.l2_effective_bytes
        return 1 - facts.z_layer_hit_rate.at(over)


def _whole(loads: Sequence[BoundAccess], kernel: AddressKernel, device: Device) -> _Whole:
    sectors = lines = 0.0
    for field, members in by_field(loads):
        touched = [families(members, kernel, (((0, 0, 0), kernel.grid),))]
        phase = kernel.field(field).base_alignment_bytes
        sectors += footprints(touched, device.l2.sector_bytes, phase).sectors[0]
        lines += footprints(touched, device.l2.line_bytes, phase).sectors[0]
    return _Whole(sectors, lines)


def _with_predecessor(layers: int) -> float:
    """Share of the layers of a grid that come after another one."""
    return (layers - 1) / layers


def _cells(kernel: AddressKernel, boxes: Sequence[GridBox]) -> tuple[int, Triple]:
    """In the domain, of all boxes; and how far they reach along each axis."""
    total, lows, highs = 0, [], []
    for low, high in boxes:
        tile = np.array(kernel.tile)
        first = np.maximum(np.array(low) * tile, kernel.origin)
        end = np.minimum(np.array(high) * tile, kernel.domain)
        if (end > first).all():
            total += math.prod((end - first).tolist())
            lows.append(first)
            highs.append(end)
    x, y, z = (np.max(highs, axis=0) - np.min(lows, axis=0)).tolist()
    return total, (x, y, z)


def _shared(
    accesses: Sequence[BoundAccess], kernel: AddressKernel, sets: WaveSets, size: int
) -> _Units:
    total = _Units()
    layers = (sets.wave, sets.neighbours, sets.y_layer, sets.z_layer)
    for field, members in by_field(accesses):
        touched = [families(members, kernel, boxes) for boxes in layers]
        found = footprints(touched, size, kernel.field(field).base_alignment_bytes)
        total += _Units(found.sectors[0], *found.shared_with_first[1:])
    return total


def _allocated(
    accesses: Sequence[BoundAccess], kernel: AddressKernel, sets: WaveSets, line_bytes: int
) -> list[float]:
    """Lines of the wave, of the y layer and of the z layer, loads and stores together."""
    total = [0.0, 0.0, 0.0]
    layers = (sets.wave, sets.y_layer, sets.z_layer)
    for field, members in by_field(accesses):
        touched = [families(members, kernel, boxes) for boxes in layers]
        found = footprints(touched, line_bytes, kernel.field(field).base_alignment_bytes)
        total = [before + lines for before, lines in zip(total, found.sectors, strict=True)]
    return total


def _lost_by_layers(written: _Units, over: Sequence[float], facts: WarpspeedFacts) -> float:
    """Partly written sectors that a layer before the wave left and L2 has written back since."""
    hit_rate = facts.store_hit_rate
    in_y = max(0.0, written.with_y - written.with_neighbours) * (1 - hit_rate.at(over[1]))
    return in_y + max(0.0, written.with_z - written.with_y) * (1 - hit_rate.at(over[2]))


def _fills(
    stores: Sequence[BoundAccess],
    loads: Sequence[BoundAccess],
    kernel: AddressKernel,
    share: float,
    missed: float,
    device: Device,
) -> float:
    """Bytes that are read because a sector is written back incomplete: those written back more than
    once, and the wave's share of those that the launch never completes nor loads."""
    if not device.dram.partial_write_fills:
        return 0.0
    size, loaded = device.l2.sector_bytes, {access.field for access in loads}
    foreign = [access for access in stores if access.field not in loaded]
    incomplete = 0.0
    for field, members in by_field(foreign):
        touched = [families(members, kernel, (((0, 0, 0), kernel.grid),))]
        phase, width = kernel.field(field).base_alignment_bytes, members[0].access_bytes
        sectors = footprints(touched, size, phase).sectors[0]
        words = footprints(touched, width, phase).sectors[0]
        incomplete += min(sectors * size, 2 * (sectors * size - words * width))
    return missed + share * max(0.0, incomplete)
