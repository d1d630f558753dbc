"""What timing asks of single instructions of AMD's machine code."""

from __future__ import annotations

from kernelcast.simcore.device.timing_facts import TimingFacts
from kernelcast.traces.amd_opcodes import AmdKind, amd_instruction
from kernelcast.traces.trace import InstructionRow

__all__ = ["is_scalar_load", "is_second_access", "is_special", "vector_turns"]

_SPECIAL = "special_function"
_TWO_ACCESSES = ("ds_read2", "ds_write2", "ds_load_2addr", "ds_store_2addr")


def is_second_access(row: InstructionRow) -> bool:
    """Whether a part is the second access of an instruction that has two of local memory."""
    return row.is_part and row.merged_into == row.pc and row.text.startswith(_TWO_ACCESSES)


def is_scalar_load(row: InstructionRow) -> bool:
    """Whether an access is one of the wavefront, not of each lane."""
    found = None if row.control is None else amd_instruction(row.mnemonic)
    return found is not None and found.kind is AmdKind.SMEM


def is_special(row: InstructionRow) -> bool:
    """Whether a vector instruction computes a special function."""
    found = amd_instruction(row.mnemonic)
    return found is not None and found.rate == _SPECIAL


def vector_turns(row: InstructionRow, timing: TimingFacts) -> int:
    """How many times as long as the fastest instruction one of AMD's takes its lanes."""
    found = amd_instruction(row.mnemonic)
    if found is None or not found.rate or (found.rate == _SPECIAL and timing.mixed_issues > 1):
        return 1
    lanes = timing.lanes_of(found.rate)
    return max(1, round(timing.lanes_of("vector") / lanes)) if lanes else 1
