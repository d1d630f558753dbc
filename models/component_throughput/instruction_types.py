"""Zhang and Owens' type of each instruction, and which loads a device folds into arithmetic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.models.component_throughput.component_facts import COMPONENTS
from kernelcast.models.component_throughput.stage_profile import InstructionType
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.isa.opcodes.columns import Detour
from kernelcast.simcore.isa.types import Unit
from kernelcast.simcore.memory.simulated_memory import MemoryResult
from kernelcast.simcore.timing.kernel.pipelines import detour, pipelines
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline
from kernelcast.traces.trace import InstructionRow

__all__ = ["TypedInstructions", "instruction_weights", "typed_instructions"]

_TYPES = tuple(InstructionType)
_BY_PIPELINE = {
    Pipeline.FP64: InstructionType.IV,
    Pipeline.SPECIAL_FUNCTION: InstructionType.III,
}
"""Type II is everything else but multiplication in single precision, which is of type I."""
_FLOATING_POINT = (
    Pipeline.FP32,
    Pipeline.FP64,
    Pipeline.HALF,
    Pipeline.SPECIAL_FUNCTION,
)
_READS_SHARED = (Unit.FP32.value, Unit.INTEGER.value)
_OPERAND_BYTES = 4

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class TypedInstructions:
    """Types of instructions by pc.

    `weights`: native instructions of each type for one execution, shape (instructions, types);
    `is_computation`: floating-point arithmetic; `is_folded`: a load that arithmetic does.
    """

    weights: Floats
    is_computation: Flags
    is_folded: Flags


def typed_instructions(
    rows: Sequence[InstructionRow], device: Device, memory: MemoryResult
) -> TypedInstructions:
    """Native instructions as docs/counting.md has them, and the device's own rules beside them."""
    found = pipelines(rows, memory)
    is_folded = _folded_loads(rows, device)
    weights = np.zeros((len(rows), len(_TYPES)), np.float64)
    for row, pipeline in zip(rows, found, strict=True):
        if row.is_counted_natively and not is_folded[row.pc]:
            column = _TYPES.index(_type(row, pipeline))
            weights[row.pc, column] = instruction_weights(pipeline, device)
    is_computation = np.array([item in _FLOATING_POINT for item in found], np.bool_)
    return TypedInstructions(weights, is_computation, is_folded)


def instruction_weights(pipeline: Pipeline, device: Device) -> float:
    """Native instructions of one: an integer product may take several of the units for sums."""
    timing = device.timing
    if timing is None or pipeline is not Pipeline.INTEGER_MULTIPLY:
        return 1.0
    return max(1.0, timing.integer.lanes / timing.integer_multiply.lanes)


def _type(row: InstructionRow, pipeline: Pipeline) -> InstructionType:
    if pipeline is Pipeline.FP32 and detour(row) is Detour.PRODUCT:
        return InstructionType.I
    return _BY_PIPELINE.get(pipeline, InstructionType.II)


def _folded_loads(rows: Sequence[InstructionRow], device: Device) -> Flags:
    """Which loads arithmetic does itself, as an operand in shared memory.

    These load one 32-bit word whose only reader is arithmetic of the same basic block that has no
    other such operand; of a merged access either all parts fold or none.
    """
    is_folded = np.zeros(len(rows), np.bool_)
    facts = device.section(COMPONENTS)
    if facts is None or not facts.arithmetic_reads_shared:
        return is_folded
    reader = _only_readers(rows)
    taken: set[int] = set()
    for row in rows:
        user = reader.get(row.pc)
        if user is None or user.pc in taken or not _may_fold(row):
            continue
        if _can_read(row, user, rows):
            is_folded[row.pc] = True
            taken.add(user.pc)
    kept = {row.merged_into for row in rows if row.is_native and not is_folded[row.pc]}
    for row in rows:
        is_folded[row.pc] &= row.merged_into not in kept
    return is_folded


def _may_fold(row: InstructionRow) -> bool:
    return (
        row.kind == "load"
        and row.space == "shared"
        and row.access_bytes == _OPERAND_BYTES
        and row.is_native
        and not row.is_part
        and len(row.writes) == 1
    )


def _only_readers(rows: Sequence[InstructionRow]) -> dict[int, InstructionRow]:
    """The only reader of each register with one writer, by the writer's pc."""
    writers = Counter(register for row in rows for register in row.writes)
    readers: dict[int, list[InstructionRow]] = {}
    for row in rows:
        for register in dict.fromkeys(row.reads):
            readers.setdefault(register, []).append(row)
    return {
        row.pc: readers[row.writes[0]][0]
        for row in rows
        if len(row.writes) == 1
        and writers[row.writes[0]] == 1
        and len(readers.get(row.writes[0], ())) == 1
    }


def _can_read(load: InstructionRow, user: InstructionRow, rows: Sequence[InstructionRow]) -> bool:
    """No store to shared memory and no barrier may stand between the load and its use."""
    if user.basic_block != load.basic_block or user.pc < load.pc:
        return False
    if user.kind != "compute" or user.unit not in _READS_SHARED:
        return False
    return not any(
        row.kind in ("store", "atomic", "barrier") and row.space in ("", "shared", "generic")
        for row in rows[load.pc + 1 : user.pc]
    )
