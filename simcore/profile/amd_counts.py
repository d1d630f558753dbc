"""What rocprof counts of AMD's machine code: instructions of wavefronts by kind, and waves.

Names and meanings: AMD's tables of MI200 and MI300 performance counters (ROCm documentation).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kernelcast.traces.amd_opcodes import AMD_ARCHITECTURE, AmdKind, amd_instruction
from kernelcast.traces.trace import Trace

__all__ = ["AmdCounts", "amd_counts"]


@dataclass(frozen=True, slots=True)
class AmdCounts:
    """Instructions of wavefronts by kind; `reads` and `writes` of vector memory, FLAT among them.

    Atomics that return something are reads and the others writes.
    """

    by_kind: Mapping[AmdKind, float]
    reads: float
    writes: float
    waves: float

    def of(self, *kinds: AmdKind) -> float:
        """Instructions of some kinds."""
        return sum(self.by_kind.get(kind, 0.0) for kind in kinds)


def amd_counts(trace: Trace) -> AmdCounts | None:
    """The counts of one launch; None where no machine code of AMD's was executed."""
    if not trace.is_machine_code or not trace.code.startswith(AMD_ARCHITECTURE):
        return None
    by_kind, moved = defaultdict[AmdKind, float](float), {True: 0.0, False: 0.0}
    for kind, is_write, count in _counted(trace):
        by_kind[kind] += count
        if kind in (AmdKind.VMEM, AmdKind.FLAT):
            moved[is_write] += count
    return AmdCounts(
        by_kind=dict(by_kind),
        reads=moved[False],
        writes=moved[True],
        waves=float(trace.thread_blocks * trace.warps_per_thread_block),
    )


def _counted(trace: Trace) -> Iterator[tuple[AmdKind, bool, float]]:
    """The kind of each instruction, whether it only writes memory, and how often it was issued."""
    warps, _ = trace.classes.totals()
    for row in trace.instructions:
        found = None if row.is_part else amd_instruction(row.mnemonic)
        if found is not None:
            is_write = row.kind == "store" or (row.kind == "atomic" and not row.writes)
            yield found.kind, is_write, float(warps[row.pc])
