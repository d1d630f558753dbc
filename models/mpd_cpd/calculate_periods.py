"""Calculate periods along the dynamic instruction streams of warps (Luo and Suda, section 3.2).

A computation task is a run of computation instructions, a memory task the run of accesses to global
or local memory that follows it; both make a calculate period. Loops are unrolled, because the
streams are what warps executed. Accesses to shared memory, constants and parameters never leave the
multiprocessor: they are computation instructions of no listed operation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.models.mpd_cpd.ptx_costs import PtxCostFacts
from kernelcast.traces.warp_paths import WarpPaths

__all__ = [
    "ACCESS",
    "CalculatePeriods",
    "InstructionStream",
    "PtxOperation",
    "calculate_periods",
    "computation_proportion",
    "executions",
    "is_off_chip",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PtxOperation:
    """A row and a column of Table 1: `name` without modifiers, `operand_kind` as `int_const`."""

    name: str
    operand_kind: str = ""


ACCESS = PtxOperation("ld/st")
"""A load, store or atomic of global or local memory."""


@dataclass(frozen=True)
class InstructionStream:
    """The warps of `paths` as PTX instructions.

    Their `operations` by pc, None for what the source does not have. Of accesses:
    `bytes_per_thread` by pc (D_mem of equation 1), shape (instructions,), and `transactions` by
    event of `paths` (N_trans), shape (events,); 0 for what is no access, and for an access that a
    wider one of native code swallows. `path_share` as in TimedKernel.
    """

    paths: WarpPaths
    operations: tuple[PtxOperation | None, ...]
    bytes_per_thread: Floats
    transactions: Floats
    thread_blocks: int
    thread_blocks_per_sm: int
    warp_width: int
    path_share: float = 1.0


@dataclass(frozen=True)
class CalculatePeriods:
    """Warp w has the periods `start[w]` to `start[w + 1]`; the other columns are by period.

    `computation_clocks` (c_i) and `access_clocks` (m_i): a task's clocks, 0 where there is none.
    `bytes_per_thread` and `transactions`: sums over the accesses of the memory task.
    """

    start: Ints
    computation_clocks: Floats
    access_clocks: Floats
    bytes_per_thread: Floats
    transactions: Floats

    @property
    def is_first(self) -> Flags:
        """Whether each period is the first of its warp."""
        first = np.zeros(len(self.computation_clocks), np.bool_)
        first[self.start[:-1][np.diff(self.start) > 0]] = True
        return first


def is_off_chip(operations: Sequence[PtxOperation | None]) -> Flags:
    """Whether each pc accesses global or local memory."""
    return np.array([item == ACCESS for item in operations], np.bool_)


def executions(stream: InstructionStream) -> dict[PtxOperation, int]:
    """How often the recorded warps executed each operation."""
    found: dict[PtxOperation, int] = {}
    for pc, count in enumerate(np.bincount(stream.paths.pc, minlength=len(stream.operations))):
        operation = stream.operations[pc]
        if operation is not None and count:
            found[operation] = found.get(operation, 0) + int(count)
    return found


def computation_proportion(counts: Mapping[PtxOperation, float], costs: PtxCostFacts) -> float:
    """P of section 3.4: clocks of the computation instructions over those of all; 0 of nothing."""
    clocks = {item: count * _clocks(item, costs) for item, count in counts.items()}
    total = sum(clocks.values())
    return 1.0 - clocks.get(ACCESS, 0.0) / total if total else 0.0


def _clocks(operation: PtxOperation, costs: PtxCostFacts) -> float:
    if operation == ACCESS:
        return costs.access_cycles
    return costs.clocks(operation.name, operation.operand_kind)


def calculate_periods(stream: InstructionStream, costs: PtxCostFacts) -> CalculatePeriods:
    """The calculate periods of all recorded warps.

    A stream that begins with an access has a first period without computation, one that ends with
    computation a last one without accesses.
    """
    paths, operations = stream.paths, stream.operations
    counts = np.array([item is not None for item in operations], np.bool_)
    clocks = np.array([0.0 if item is None else _clocks(item, costs) for item in operations])
    warps = len(paths.start) - 1
    warp = np.repeat(np.arange(warps), np.diff(paths.start))
    kept = counts[paths.pc]
    pc, warp = paths.pc[kept], warp[kept]
    is_access = is_off_chip(operations)[pc]
    begins = np.ones(len(pc), np.bool_)
    begins[1:] = (warp[1:] != warp[:-1]) | (is_access[:-1] & ~is_access[1:])
    period = np.cumsum(begins) - 1

    def total(values: Floats, chosen: Flags) -> Floats:
        """Sums over the chosen events of each period."""
        found = np.bincount(period[chosen], values[chosen], int(begins.sum()))
        return found.astype(np.float64)

    return CalculatePeriods(
        start=np.searchsorted(warp[begins], np.arange(warps + 1)).astype(np.int64),
        computation_clocks=total(clocks[pc], ~is_access),
        access_clocks=total(clocks[pc], is_access),
        bytes_per_thread=total(stream.bytes_per_thread[pc], is_access),
        transactions=total(stream.transactions[kept], is_access),
    )
