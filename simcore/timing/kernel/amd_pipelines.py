"""Which part of a compute unit executes an instruction of AMD's machine code.

A SIMD has one set of lanes for all vector instructions, which slower ones keep for longer; a
compute unit has one scalar unit, a way to vector memory, one to local memory (LDS) and one to the
scalar cache (AMD Graphics Core Next architecture white paper, 2012).
"""

from __future__ import annotations

from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline
from kernelcast.traces.amd_opcodes import AmdKind, amd_instruction
from kernelcast.traces.trace import InstructionRow

__all__ = ["amd_pipeline"]

_ACCESSES = ("load", "store", "atomic")
_PIPELINES = {
    AmdKind.VALU: Pipeline.VECTOR,
    AmdKind.MATRIX: Pipeline.TENSOR,
    AmdKind.SALU: Pipeline.SCALAR,
    AmdKind.SMEM: Pipeline.CONSTANT,
    AmdKind.VMEM: Pipeline.GLOBAL,
    AmdKind.FLAT: Pipeline.GLOBAL,
    AmdKind.LDS: Pipeline.SHARED,
    AmdKind.BRANCH: Pipeline.BRANCH,
    AmdKind.MESSAGE: Pipeline.WAIT,
    AmdKind.INTERNAL: Pipeline.WAIT,
}


def amd_pipeline(row: InstructionRow, is_banked: bool) -> Pipeline | None:
    """The pipeline of an instruction; None for what is not of AMD's code.

    `is_banked`: whether a flat access is only ever one of local memory.
    """
    found = amd_instruction(row.mnemonic)
    if found is None:
        return None
    if row.kind == "exit":
        return Pipeline.EXIT
    if row.kind == "barrier":
        return Pipeline.BARRIER
    if found.kind is AmdKind.FLAT and is_banked:
        return Pipeline.SHARED
    if found.kind is AmdKind.LDS and row.kind not in _ACCESSES:
        return Pipeline.SHUFFLE
    if found.kind is AmdKind.SMEM and row.space == "global":
        return Pipeline.GLOBAL
    if found.kind is AmdKind.MATRIX and not found.tensor_operations:
        return Pipeline.VECTOR
    return _PIPELINES[found.kind]
