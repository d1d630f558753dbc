"""The dynamic instruction histogram of a trace: it needs no device."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from kernelcast.notebook import Tabular
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.simcore.profile.instruction_counts import tensor_operations
from kernelcast.traces.amd_opcodes import AMD_ARCHITECTURE, amd_instruction
from kernelcast.traces.trace import AS_WRITTEN, SOURCE_CODE, InstructionRow, Trace

__all__ = ["Counting", "InstructionMix", "MixCount", "instruction_mix"]


class Counting(Enum):
    """PLAIN: instructions as the code spells them.

    MERGED: those of PTX and LLVM IR by rules for what an assembler folds and merges
    (docs/counting.md); machine code has nothing of that left.
    """

    PLAIN = "plain"
    MERGED = "merged"


_BETWEEN_UNITS = ", "


@dataclass(frozen=True, slots=True)
class MixCount:
    """Executions of one opcode: `thread` counts active lanes, `warp` issued instructions.

    `unit` joins several by commas.
    """

    opcode: str
    unit: str
    thread: int
    warp: int


@dataclass(frozen=True, slots=True, repr=False)
class InstructionMix(Tabular):
    """How often each instruction of a kernel was executed."""

    kernel: str
    counting: Counting
    rows: tuple[MixCount, ...]
    tensor_operations: Mapping[str, float] = field(default_factory=dict)
    """Tensor operations by type, two for each multiply-add."""
    code: str = SOURCE_CODE
    """What was executed: `source`, or the architecture of machine code."""
    registers: int | None = None
    """Registers per thread, where machine code or the user says it."""
    classes: Mapping[str, int] = field(default_factory=dict)
    """Warp instructions of AMD's machine code by the kind of unit: VALU, SALU, SMEM, ..."""
    note: str = ""
    """Why no machine code was executed, although it was to be tried."""

    @property
    def label(self) -> str:
        """What was executed, how much of it."""
        name, count = source_name(self.kernel), self.warp_instructions
        return f"instruction mix of {name}: {count:,} warp instructions of {self.code}"

    @property
    def architecture(self) -> str | None:
        """The architecture of machine code; None for a source form."""
        return None if self.code in (SOURCE_CODE, AS_WRITTEN) else self.code

    @property
    def thread_instructions(self) -> int:
        """Thread instructions of all rows."""
        return sum(row.thread for row in self.rows)

    @property
    def warp_instructions(self) -> int:
        """Warp instructions of all rows."""
        return sum(row.warp for row in self.rows)


def instruction_mix(trace: Trace, counting: Counting = Counting.PLAIN) -> InstructionMix:
    """Counts of one launch by opcode, the most executed first; opcodes never reached are left out.

    Plain counts leave the spelling whole (`ld.global.nc.f64`), so that types stay apart. LLVM's
    `add` or `phi` may be work of several units: it is one row all the same, which names them all.
    Merged counts keep units apart.
    """
    warps, lanes = trace.classes.totals()
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for row in trace.instructions:
        is_merged = counting is Counting.MERGED
        is_counted = row.is_counted_natively if is_merged else row.is_source
        if not is_counted:
            continue
        unit = _kind(row) or row.unit
        key = row.mnemonic, unit
        thread, warp = counts.get(key, (0, 0))
        counts[key] = thread + int(lanes[row.pc]), warp + int(warps[row.pc])
    rows = [
        MixCount(opcode, unit, thread, warp)
        for (opcode, unit), (thread, warp) in counts.items()
        if warp
    ]
    if counting is Counting.PLAIN:
        rows = _by_opcode(rows)
    ordered = tuple(sorted(rows, key=_by_count))
    return InstructionMix(
        trace.kernel,
        counting,
        ordered,
        tensor_operations(trace),
        trace.code,
        trace.resources.registers,
        _classes(ordered, trace),
    )


def _kind(row: InstructionRow) -> str:
    """What AMD calls the unit of an instruction of its machine code; empty for all other code."""
    found = None if row.control is None else amd_instruction(row.mnemonic)
    return "" if found is None else found.kind.value


def _classes(rows: Iterable[MixCount], trace: Trace) -> dict[str, int]:
    """Warp instructions by kind, the most frequent first."""
    if not trace.code.startswith(AMD_ARCHITECTURE):
        return {}
    found: dict[str, int] = {}
    for row in rows:
        found[row.unit] = found.get(row.unit, 0) + row.warp
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _by_opcode(rows: Iterable[MixCount]) -> list[MixCount]:
    """One row an opcode; its units are joined, the most used first."""
    merged: dict[str, MixCount] = {}
    for row in sorted(rows, key=lambda row: (-row.thread, row.unit)):
        found = merged.get(row.opcode)
        if found is not None:
            unit = f"{found.unit}{_BETWEEN_UNITS}{row.unit}"
            row = MixCount(row.opcode, unit, found.thread + row.thread, found.warp + row.warp)
        merged[row.opcode] = row
    return list(merged.values())


def _by_count(row: MixCount) -> tuple[int, str, str]:
    return -row.thread, row.opcode, row.unit
