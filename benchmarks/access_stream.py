"""The accesses of an address kernel in the form of a recorded trace, for the memory simulator.

This is what estimated volumes are compared with and hit rates are fitted to; estimates themselves
use none of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.errors import KernelcastError
from kernelcast.simcore.address.expression import AXES
from kernelcast.simcore.address.kernel import AddressKernel
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.stream import AccessBatch
from kernelcast.traces.trace import AccessTable, InstructionRow

__all__ = ["access_batches", "instruction_rows"]

Ints = npt.NDArray[np.int64]

_FIELD_ALIGNMENT_BYTES = 1 << 21


@dataclass(frozen=True)
class _Column:
    """One load or store of every thread: bytes of each coefficient, and its constant."""

    kind: str
    access_bytes: int
    constant: int
    by_thread: tuple[int, int, int]
    by_thread_block: tuple[int, int, int]


def instruction_rows(kernel: AddressKernel) -> tuple[InstructionRow, ...]:
    """One for each load and store of a thread, loads first."""
    return tuple(
        InstructionRow(
            pc=pc,
            opcode="ld" if column.kind == "load" else "st",
            mnemonic=f"{column.kind} {column.constant}",
            unit="load_store",
            flops=0,
            kind=column.kind,
            basic_block=0,
            space="global",
            access_bytes=column.access_bytes,
            merged_into=pc,
        )
        for pc, column in enumerate(_columns(kernel))
    )


def access_batches(
    kernel: AddressKernel, warp_width: int, first: int, end: int, at_once: int = 256
) -> Iterator[AccessBatch]:
    """Thread blocks `first` <= number < `end` of a domain that whole thread blocks tile.

    A warp issues its loads in the order of the kernel, then its stores; fields follow each other
    in memory. KernelcastError for kernels with loops and for domains that are not tiled.
    """
    if any(size % tile for size, tile in zip(kernel.domain, kernel.tile, strict=True)):
        raise KernelcastError(f"{kernel.domain} is not tiled by thread blocks of {kernel.tile}")
    columns = _columns(kernel)
    lanes = np.arange(-(-kernel.threads_per_thread_block // warp_width) * warp_width)
    x, y, _ = kernel.block
    index = np.stack((lanes % x, lanes // x % y, lanes // (x * y)))
    active = (lanes < kernel.threads_per_thread_block).reshape(-1, warp_width)
    relative = np.stack([np.array(column.by_thread) @ index for column in columns])
    relative = relative.reshape(len(columns), -1, warp_width)
    starts = relative[:, :, 0]
    patterns, numbers = _patterns(relative - starts[:, :, None], active)
    for begin in range(first, end, at_once):
        yield _batch(kernel, columns, starts, numbers, patterns, begin, min(end, begin + at_once))


def _columns(kernel: AddressKernel) -> tuple[_Column, ...]:
    """A value that two cells of a thread share is loaded once."""
    if kernel.loops:
        raise KernelcastError(f"{kernel.name} has loops: their trips are not listed")
    found: dict[_Column, None] = {}
    bases = {field.name: at for at, field in enumerate(kernel.fields)}
    accesses = (
        *(("load", item) for item in kernel.loads),
        *(("store", item) for item in kernel.stores),
    )
    for kind, access in accesses:
        form = access.offset.bind(kernel.block, dict(kernel.parameters), kernel.folding)
        by = [
            tuple(form.coefficient(f"{name}.{axis}") for axis in AXES)
            for name in ("tid", "ctaid", "fold")
        ]
        base = (1 + bases[access.field]) << 40
        for cell in np.ndindex(*kernel.folding):
            constant = base + form.constant + int(np.dot(by[2], cell))
            thread, thread_block = by[0], by[1]
            column = _Column(
                kind,
                access.access_bytes,
                constant,
                (thread[0], thread[1], thread[2]),
                (thread_block[0], thread_block[1], thread_block[2]),
            )
            found[column] = None
    return tuple(sorted(found, key=lambda column: column.kind != "load"))


def _patterns(
    offsets: Ints, active: npt.NDArray[np.bool_]
) -> tuple[PatternTable, npt.NDArray[np.int32]]:
    """The table, and the number of the pattern of each column and warp."""
    columns, warps, width = offsets.shape
    masks = (active.astype(np.uint64) << np.arange(width, dtype=np.uint64)).sum(
        axis=1, dtype=np.uint64
    )
    rows = np.concatenate(
        (
            offsets.reshape(-1, width),
            np.tile(masks.view(np.int64), columns)[:, None],
        ),
        axis=1,
    )
    unique, numbers = np.unique(rows, axis=0, return_inverse=True)
    table = PatternTable(unique[:, -1].copy().view(np.uint64), np.ascontiguousarray(unique[:, :-1]))
    return table, numbers.reshape(columns, warps).astype(np.int32)


def _batch(
    kernel: AddressKernel,
    columns: tuple[_Column, ...],
    starts: Ints,
    numbers: npt.NDArray[np.int32],
    patterns: PatternTable,
    begin: int,
    end: int,
) -> AccessBatch:
    number = np.arange(begin, end)
    nx, ny, _ = kernel.grid
    index = np.stack((number % nx, number // nx % ny, number // (nx * ny)))
    by_block = np.stack([np.array(column.by_thread_block) @ index for column in columns])
    constants = np.array([column.constant for column in columns])
    address = (constants[:, None, None] + by_block[:, :, None] + starts[:, None, :]).transpose(
        1, 2, 0
    )
    blocks, warps, count = address.shape
    warp = np.arange(begin * warps, end * warps, dtype=np.int32)
    order = np.tile(np.arange(count, dtype=np.int32), blocks * warps)
    table = AccessTable(
        pc=order,
        warp=np.repeat(warp, count),
        time=order,
        stage=np.zeros(len(order), np.int32),
        address=address.ravel(),
        pattern=np.broadcast_to(numbers.T[None], address.shape).ravel(),
    )
    return AccessBatch(begin, blocks, table, patterns, np.full(blocks * warps, count, np.int32))
