"""Instruction counts of a trace under the native counting rules, beside those of the source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.types import AddressSpace, Unit
from kernelcast.simcore.profile.profile import InstructionCounts, MixRow
from kernelcast.traces.trace import InstructionRow, Trace

__all__ = [
    "divergence",
    "instruction_counts",
    "instruction_mix",
    "is_compute_load_store",
    "tensor_operations",
]

_MEMORY_KINDS = ("load", "store", "atomic")
_COMPUTE_SPACES = tuple(
    space.value
    for space in (
        AddressSpace.GLOBAL,
        AddressSpace.LOCAL,
        AddressSpace.SHARED,
        AddressSpace.GENERIC,
    )
)
_FUSED_FLOPS = 2


def is_compute_load_store(row: InstructionRow) -> bool:
    """What nvprof's inst_compute_ld_st counts: not parameters, not constants."""
    return row.kind in _MEMORY_KINDS and row.space in _COMPUTE_SPACES


def instruction_counts(trace: Trace) -> InstructionCounts:
    """Counts the instructions of a launch, in the trace's own warps."""
    issues, lanes = trace.classes.totals()
    rows = trace.instructions

    def threads(belongs: Callable[[InstructionRow], bool]) -> float:
        chosen = [row.pc for row in rows if row.is_counted_natively and belongs(row)]
        return float(lanes[chosen].sum())

    def unit(which: Unit, flops: int | None = None) -> float:
        return threads(lambda row: row.unit == which.value and flops in (None, row.flops))

    native = _native(trace)
    source = np.array([row.is_source for row in rows], np.bool_)
    return InstructionCounts(
        fma32=unit(Unit.FP32, _FUSED_FLOPS),
        fma64=unit(Unit.FP64, _FUSED_FLOPS),
        fp32=unit(Unit.FP32),
        fp64=unit(Unit.FP64),
        integer=unit(Unit.INTEGER),
        load_store=threads(is_compute_load_store),
        warp_instructions=float(issues[native].sum()),
        thread_instructions=float(lanes[native].sum()),
        conversion=unit(Unit.CONVERSION),
        control=unit(Unit.CONTROL),
        special_function=unit(Unit.SPECIAL_FUNCTION),
        source_warp_instructions=float(issues[source].sum()),
        source_thread_instructions=float(lanes[source].sum()),
        tensor_operations=tensor_operations(trace),
    )


def tensor_operations(trace: Trace) -> dict[str, float]:
    """Tensor operations of one launch by type; a row counts for each lane that takes part."""
    _, lanes = trace.classes.totals()
    counts: dict[str, float] = defaultdict(float)
    for row in trace.instructions:
        if row.tensor_operations and lanes[row.pc]:
            counts[row.tensor_type] += float(lanes[row.pc]) * row.tensor_operations
    return dict(sorted(counts.items()))


def divergence(trace: Trace) -> float | None:
    """Mean share of active lanes per native warp instruction; None where there is none."""
    issues, lanes = trace.classes.totals()
    native = _native(trace)
    issued = float(issues[native].sum()) * trace.warp_width
    return float(lanes[native].sum()) / issued if issued else None


def instruction_mix(trace: Trace) -> tuple[MixRow, ...]:
    """Executions by opcode and unit, unmerged, most executed first."""
    issues, lanes = trace.classes.totals()
    counts: dict[tuple[str, str], npt.NDArray[np.float64]] = defaultdict(lambda: np.zeros(3))
    for row in trace.instructions:
        if row.is_part:
            continue
        native = lanes[row.pc] if row.is_counted_natively else 0
        source = (lanes[row.pc], issues[row.pc]) if row.is_source else (0, 0)
        counts[row.opcode, row.unit] += (*source, native)
    rows = [
        MixRow(opcode, unit, float(thread), float(warp), float(native))
        for (opcode, unit), (thread, warp, native) in counts.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.thread, row.opcode)))


def _native(trace: Trace) -> npt.NDArray[np.bool_]:
    return np.array([row.is_counted_natively for row in trace.instructions], np.bool_)
