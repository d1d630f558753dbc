"""Which thread blocks run together, and which ran before them: boxes of thread-block indices.

Thread blocks start in x-y-z order (Ernst et al. 2022, section 4.4). A wave is as many as reside on
the device at once; the y layer before it is one row of thread blocks, the z layer one plane: one
reuse distance in that direction (section 4.4.2, figure 10).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from kernelcast.errors import LaunchError, ModelNotApplicable
from kernelcast.simcore.address.kernel import AddressKernel
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.profile.occupancy import occupancy
from kernelcast.simcore.profile.profile import LaunchShape
from kernelcast.traces.trace import ResourceNeeds

__all__ = ["GridBox", "WaveSets", "boxes_of_range", "wave_sets"]

_NEIGHBOURS = 16
"""Which part of a wave's number of thread blocks has just run when the wave begins."""

Triple = tuple[int, int, int]
GridBox = tuple[Triple, Triple]
"""Thread blocks from the first index up to but without the second one, along each axis."""


@dataclass(frozen=True, slots=True)
class WaveSets:
    """A representative wave in the middle of the grid and the sets before it.

    `neighbours` are the thread blocks right before it in its row: waves follow each other without a
    pause, so that they have just run.
    `thread_blocks`: of the wave. `layer_cells`: how deep it is in y and z, cells.
    """

    wave: tuple[GridBox, ...]
    neighbours: tuple[GridBox, ...]
    y_layer: tuple[GridBox, ...]
    z_layer: tuple[GridBox, ...]
    thread_blocks: int
    thread_blocks_per_sm: int
    waves: float

    @property
    def shape(self) -> Triple:
        """Thread blocks that the wave spans along each axis."""
        lows = [min(low[axis] for low, _ in self.wave) for axis in range(3)]
        highs = [max(high[axis] for _, high in self.wave) for axis in range(3)]
        x, y, z = (high - low for low, high in zip(lows, highs, strict=True))
        return x, y, z


def wave_sets(kernel: AddressKernel, device: Device) -> WaveSets:
    """The wave of thread blocks and the layers before it; ModelNotApplicable if none fits an SM."""
    needs = ResourceNeeds(kernel.registers or 0, kernel.shared_bytes, registers=kernel.registers)
    try:
        found = occupancy(needs, LaunchShape(kernel.grid, kernel.block), device)
    except LaunchError as error:
        raise ModelNotApplicable(error.message) from error
    total = math.prod(kernel.grid)
    size = min(total, found.thread_blocks_per_sm * device.architecture.sm_count)
    row, plane = kernel.grid[0], kernel.grid[0] * kernel.grid[1]
    first, near = _representative(kernel.grid, size), max(1, size // _NEIGHBOURS)
    plane_start = first // plane * plane
    return WaveSets(
        wave=boxes_of_range(first, first + size, kernel.grid),
        neighbours=boxes_of_range(max(first - near, first // row * row), first, kernel.grid),
        y_layer=boxes_of_range(max(plane_start, first - row), first, kernel.grid),
        z_layer=boxes_of_range(max(0, first - plane), first, kernel.grid),
        thread_blocks=size,
        thread_blocks_per_sm=found.thread_blocks_per_sm,
        waves=found.waves,
    )


def _representative(grid: Triple, size: int) -> int:
    """First thread block of a whole wave in the middle of the grid, within one plane if it can."""
    nx, ny, nz = grid
    plane, total = nx * ny, nx * ny * nz
    if total < 2 * size:
        return 0
    inside = plane // 2 // size * size if plane >= 2 * size else 0
    return min(nz // 2 * plane + inside, total - size)


def boxes_of_range(first: int, end: int, grid: Triple) -> tuple[GridBox, ...]:
    """The thread blocks `first` <= number < `end` of the grid as at most five disjoint boxes."""
    if first >= end:
        return ()
    nx, ny, _ = grid
    found: list[GridBox] = []
    plane = nx * ny
    first_plane, end_plane = -(-first // plane), end // plane
    if first_plane > end_plane:
        return _boxes_in_plane(first, end, nx, plane)
    if first < first_plane * plane:
        found += _boxes_in_plane(first, first_plane * plane, nx, plane)
    if first_plane < end_plane:
        found.append(((0, 0, first_plane), (nx, ny, end_plane)))
    if end_plane * plane < end:
        found += _boxes_in_plane(end_plane * plane, end, nx, plane)
    return tuple(found)


def _boxes_in_plane(first: int, end: int, nx: int, plane: int) -> tuple[GridBox, ...]:
    z, offset = divmod(first, plane)
    last = offset + end - first
    first_row, end_row = -(-offset // nx), last // nx
    if first_row > end_row:
        row = offset // nx
        return (((offset - row * nx, row, z), (last - row * nx, row + 1, z + 1)),)
    found: list[GridBox] = []
    if offset < first_row * nx:
        found.append(((offset - (first_row - 1) * nx, first_row - 1, z), (nx, first_row, z + 1)))
    if first_row < end_row:
        found.append(((0, first_row, z), (nx, end_row, z + 1)))
    if end_row * nx < last:
        found.append(((0, end_row, z), (last - end_row * nx, end_row + 1, z + 1)))
    return tuple(found)
