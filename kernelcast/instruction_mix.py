"""The dynamic instruction histogram of a trace: it needs no device."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kernelcast.traces.trace import Trace

__all__ = ["InstructionMix", "MixCount", "MixIsa", "instruction_mix"]


class MixIsa(Enum):
    """SOURCE: instructions as the source spells them. NATIVE: by the native counting rules."""

    SOURCE = "source"
    NATIVE = "native"


@dataclass(frozen=True, slots=True)
class MixCount:
    """Executions of one opcode: `thread` counts active lanes, `warp` issued instructions."""

    opcode: str
    unit: str
    thread: int
    warp: int


@dataclass(frozen=True, slots=True)
class InstructionMix:
    kernel: str
    isa: MixIsa
    rows: tuple[MixCount, ...]

    @property
    def thread_instructions(self) -> int:
        return sum(row.thread for row in self.rows)

    @property
    def warp_instructions(self) -> int:
        return sum(row.warp for row in self.rows)


def instruction_mix(trace: Trace, isa: MixIsa = MixIsa.SOURCE) -> InstructionMix:
    """Counts of one launch by opcode, the most executed first; opcodes never reached are left out.

    Source counts leave the spelling whole (`ld.global.nc.f64`), so that types stay apart.
    """
    warps, lanes = trace.classes.totals()
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for row in trace.instructions:
        is_counted = row.is_counted_natively if isa is MixIsa.NATIVE else row.is_source
        if not is_counted:
            continue
        key = row.mnemonic, row.unit
        thread, warp = counts.get(key, (0, 0))
        counts[key] = thread + int(lanes[row.pc]), warp + int(warps[row.pc])
    rows = [
        MixCount(opcode, unit, thread, warp)
        for (opcode, unit), (thread, warp) in counts.items()
        if warp
    ]
    return InstructionMix(trace.kernel, isa, tuple(sorted(rows, key=_by_count)))


def _by_count(row: MixCount) -> tuple[int, str]:
    return -row.thread, row.opcode
