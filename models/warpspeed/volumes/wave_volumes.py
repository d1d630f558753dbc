"""Volumes between DRAM and L2: what one wave reads and writes (sections 4.4 and 4.5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernelcast.models.warpspeed.volumes.block_volumes import BlockVolumes
from kernelcast.models.warpspeed.volumes.bound_kernel import BoundKernel, FieldAccesses
from kernelcast.models.warpspeed.volumes.footprint import footprints
from kernelcast.models.warpspeed.volumes.wave_reuse import wave_losses
from kernelcast.models.warpspeed.warpspeed_facts import WarpspeedFacts
from kernelcast.simcore.address.address_sets import AddressSets
from kernelcast.simcore.address.boxes import families
from kernelcast.simcore.address.kernel import AddressKernel
from kernelcast.simcore.address.waves import GridBox, WaveSets
from kernelcast.simcore.device.device import Device

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
    """Sectors of the wave, and those that it shares.

    They are shared with its neighbours, with the y layer, to which these belong, and with either
    layer.
    """

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
    bound: BoundKernel,
    sets: WaveSets,
    blocks: BlockVolumes,
    device: Device,
    facts: WarpspeedFacts,
) -> WaveVolumes:
    """Computes the volumes below L2 of one wave of thread blocks."""
    kernel, size, line_bytes = bound.kernel, device.l2.sector_bytes, device.l2.line_bytes
    cells, extent = _cells(kernel, sets.wave)
    share, whole = cells / kernel.cells, bound.once(_whole, size, line_bytes)
    read, written = (_shared(bound, found, sets, size) for found in (bound.loads, bound.stores))
    over = [
        lines * line_bytes / facts.l2_effective_bytes
        for lines in _allocated(bound, sets, line_bytes)
    ]
    y_shared = max(0.0, read.with_y - read.with_neighbours)
    y_overlap = size * y_shared * _with_predecessor(kernel.grid[1])
    z_overlap = size * max(0.0, read.with_z - read.with_y) * _with_predecessor(kernel.grid[2])
    unshared = size * (read.wave - max(read.with_y, read.with_z))
    further = max(0.0, unshared - whole.sectors * size * share)
    lost = wave_losses(bound, sets.wave, over[0], blocks.hit_shares, device, facts)
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
        fill_bytes=_fills(bound, share, missed, device),
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


def _whole(bound: BoundKernel, sector_bytes: int, line_bytes: int) -> _Whole:
    sectors = lines = 0.0
    for of_field in bound.loads:
        touched = bound.once(_of_grid, of_field)
        offset = bound.kernel.field(of_field[0]).base_alignment_bytes
        sectors += footprints(touched, sector_bytes, offset).sectors[0]
        lines += footprints(touched, line_bytes, offset).sectors[0]
    return _Whole(sectors, lines)


def _of_grid(bound: BoundKernel, of_field: FieldAccesses) -> AddressSets:
    grid = ((0, 0, 0), bound.kernel.grid)
    return AddressSets.of_families([families(of_field[1], bound.kernel, (grid,))])


def _with_predecessor(layers: int) -> float:
    """Share of the layers of a grid that come after another one."""
    return (layers - 1) / layers


def _cells(kernel: AddressKernel, boxes: Sequence[GridBox]) -> tuple[int, Triple]:
    """Cells of the domain in all boxes, and how far the boxes reach along each axis."""
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
    bound: BoundKernel, accesses: Sequence[FieldAccesses], sets: WaveSets, size: int
) -> _Units:
    total = _Units()
    for of_field in accesses:
        touched = bound.once(_of_layers, of_field, sets)
        found = footprints(touched, size, bound.kernel.field(of_field[0]).base_alignment_bytes)
        total += _Units(found.sectors[0], *found.shared_with_first[1:])
    return total


def _of_layers(bound: BoundKernel, of_field: FieldAccesses, sets: WaveSets) -> AddressSets:
    """What the wave, its neighbours, the y layer and the z layer touch."""
    layers = (sets.wave, sets.neighbours, sets.y_layer, sets.z_layer)
    return AddressSets.of_families([families(of_field[1], bound.kernel, boxes) for boxes in layers])


def _allocated(bound: BoundKernel, sets: WaveSets, line_bytes: int) -> tuple[float, float, float]:
    """Lines of the wave, of the y layer and of the z layer, loads and stores together."""
    total = (0.0, 0.0, 0.0)
    for of_field in bound.accesses:
        touched = bound.once(_of_layers, of_field, sets)
        offset = bound.kernel.field(of_field[0]).base_alignment_bytes
        wave, _, y_layer, z_layer = footprints(touched, line_bytes, offset).sectors
        total = (total[0] + wave, total[1] + y_layer, total[2] + z_layer)
    return total


def _lost_by_layers(written: _Units, over: Sequence[float], facts: WarpspeedFacts) -> float:
    """Partly written sectors that a layer before the wave left and L2 has written back since."""
    hit_rate = facts.store_hit_rate
    in_y = max(0.0, written.with_y - written.with_neighbours) * (1 - hit_rate.at(over[1]))
    return in_y + max(0.0, written.with_z - written.with_y) * (1 - hit_rate.at(over[2]))


def _fills(bound: BoundKernel, share: float, missed: float, device: Device) -> float:
    """Bytes that are read because a sector is written back incomplete.

    These are sectors written back more than once, and the wave's share of those that the launch
    never completes nor loads.
    """
    if not device.dram.partial_write_fills:
        return 0.0
    return missed + share * max(0.0, bound.once(_incomplete, device.l2.sector_bytes))


def _incomplete(bound: BoundKernel, sector_bytes: int) -> float:
    """Bytes of the sectors that the launch writes in part and does not load."""
    loaded, found = {field for field, _ in bound.loads}, 0.0
    for of_field in bound.stores:
        if of_field[0] in loaded:
            continue
        touched, width = bound.once(_of_grid, of_field), of_field[1][0].access_bytes
        offset = bound.kernel.field(of_field[0]).base_alignment_bytes
        sectors = footprints(touched, sector_bytes, offset).sectors[0] * sector_bytes
        words = footprints(touched, width, offset).sectors[0] * width
        found += min(sectors, 2 * (sectors - words))
    return found
