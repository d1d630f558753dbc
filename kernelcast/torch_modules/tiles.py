"""Tile shapes at which kernels of ours stand for those of a library.

A product takes the tile with which the SM that has most of them is done first, if it multiplies and
reads operands from L2 one behind the other. Shapes and depth are those in the names of the kernels
that cuBLAS chooses on Hopper (`validation/measured/triton/h200.json`: 256 x 128, 128 x 128,
128 x 64 and smaller ones, 64 deep), stages those of CUTLASS's default configurations for Ampere
(128 x 256 x 64 in three stages) and Turing (two stages).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from kernelcast.simcore.device.device import Device

__all__ = ["Tile", "attention_tile", "product_tile"]

_SHAPES = ((128, 256, 8), (128, 128, 8), (64, 128, 4), (64, 64, 4), (32, 64, 4), (16, 64, 4))
"""Rows, columns and warps."""
_DEPTH = 64
_LEAST_DEPTH = 16
_STAGES = (4, 3, 2)
_FIRST_WITH_ASYNCHRONOUS_COPIES = 80
_ATTENTION = (128, 64, 8)
_LONG_HEAD = 128


@dataclass(frozen=True, slots=True)
class Tile:
    """What a thread block makes: `rows` x `columns`, `depth` at a time, in `stages`."""

    rows: int
    columns: int
    depth: int
    stages: int
    warps: int

    def __str__(self) -> str:
        shape = f"{self.rows}x{self.columns}x{self.depth}"
        return f"{shape}, {self.stages} stages, {self.warps} warps"

    def count(self, m: int, n: int) -> int:
        """The tiles of a matrix of `m` x `n`."""
        return -(-m // self.rows) * -(-n // self.columns)


def product_tile(
    device: Device, m: int, n: int, batches: int, *, element_bytes: int, rate: float
) -> Tile:
    """The tile for `batches` products of `m` x `n` with elements of so many bytes.

    `rate`: multiply-adds of an SM in a cycle.
    """
    sms = device.architecture.sm_count
    l2_bytes = _l2_bytes_per_cycle(device)
    tiles = [_fitting(device, *shape, element_bytes) for shape in _SHAPES]

    def cycles(tile: Tile) -> float:
        """Cycles of the SM with most tiles, for each element of the depth."""
        read = (tile.rows + tile.columns) * element_bytes / l2_bytes
        multiplied = tile.rows * tile.columns / rate
        return -(-tile.count(m, n) * batches // sms) * (multiplied + read)

    return min(tiles, key=cycles)


def attention_tile(device: Device, head: int, element_bytes: int) -> Tile:
    """Queries and keys of a thread block for heads of that many elements."""
    rows, columns, warps = _ATTENTION
    if head > _LONG_HEAD or element_bytes > 2:
        rows, columns, warps = rows // 2, columns // 2, warps // 2
    stages = 3 if _has_asynchronous_copies(device) and head <= _LONG_HEAD else 2
    return Tile(rows, columns, head, stages, warps)


def _fitting(device: Device, rows: int, columns: int, warps: int, element_bytes: int) -> Tile:
    """The deepest tile, with the most stages, whose stages fit into shared memory."""
    most = device.sm.max_shared_bytes_per_thread_block
    is_large = rows * columns > 64 * 128
    stages = _STAGES[is_large:] if _has_asynchronous_copies(device) else _STAGES[-1:]
    depth = _DEPTH * 2 // max(element_bytes, 2)
    while depth > _LEAST_DEPTH:
        for count in stages:
            if (rows + columns) * depth * element_bytes * count <= most:
                return Tile(rows, columns, depth, count, warps)
        depth //= 2
    return Tile(rows, columns, depth, stages[-1], warps)


def _l2_bytes_per_cycle(device: Device) -> float:
    """What L2 gives an SM in a cycle when all of them read; infinite where nobody knows."""
    if device.timing is None:
        return math.inf
    architecture = device.architecture
    all_sms = device.timing.l2_bandwidth_bytes_per_s
    return all_sms / architecture.clock_hz / architecture.sm_count


def _has_asynchronous_copies(device: Device) -> bool:
    major, _, minor = device.architecture.compute_capability.partition(".")
    return int(major) * 10 + int(minor or 0) >= _FIRST_WITH_ASYNCHRONOUS_COPIES
