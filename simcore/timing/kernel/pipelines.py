"""Which pipeline executes an instruction: by its unit, with the opcodes that leave their unit.

Opcodes of PTX and of SASS stand side by side, as they do in traces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.isa.opcodes.columns import Detour
from kernelcast.simcore.isa.opcodes.table import OPCODES
from kernelcast.simcore.isa.opcodes.warp import WARP_OPCODES
from kernelcast.simcore.isa.types import AddressSpace, Unit
from kernelcast.simcore.memory.simulated_memory import MemoryResult
from kernelcast.simcore.timing.kernel.amd_pipelines import amd_pipeline
from kernelcast.simcore.timing.kernel.amd_rows import is_second_access, is_special
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline
from kernelcast.traces.trace import InstructionRow

__all__ = ["BULK_COPY", "COMMITS", "DETOURS", "detour", "device_pipelines", "pipelines"]

_BY_UNIT: Mapping[str, Pipeline] = {
    Unit.FP16.value: Pipeline.HALF,
    Unit.FP32.value: Pipeline.FP32,
    Unit.FP64.value: Pipeline.FP64,
    Unit.CONVERSION.value: Pipeline.CONVERSION,
    Unit.SPECIAL_FUNCTION.value: Pipeline.SPECIAL_FUNCTION,
    Unit.TEXTURE.value: Pipeline.SPECIAL_FUNCTION,
    Unit.TENSOR.value: Pipeline.TENSOR,
}
"""Everything else that computes, moves or controls takes the integer pipeline."""
_BY_KIND: Mapping[str, Pipeline] = {
    "barrier": Pipeline.BARRIER,
    "fence": Pipeline.FENCE,
    "branch": Pipeline.BRANCH,
    "call": Pipeline.BRANCH,
    "exit": Pipeline.EXIT,
}
_BY_SPACE: Mapping[str, Pipeline] = {"shared": Pipeline.SHARED, "const": Pipeline.CONSTANT}
_ACCESSES = ("load", "store", "atomic")
_ON_CHIP = (AddressSpace.SHARED.value, AddressSpace.PARAM.value, AddressSpace.CONST.value)
"""Spaces where parts of an instruction take no pipeline of their own.

They are the description of an image or a copy, and constants that are operands.
"""
_WIDE, _WIDE_INTEGERS = "f64", ("s64", "u64")
_INTEGERS = frozenset(f"{sign}{bits}" for sign in "us" for bits in (8, 16, 32, 64))
_WIDENING = ("zext", "sext", "trunc")
"""What conversions among integers are called in LLVM IR."""
BULK_COPY = "cp.async.bulk"
"""What rows call all copies in bulk."""
_WITHOUT_WAITING = ("bar.arrive",)
_ARRIVAL = "BAR.ARV"
_CONSTANT_LOADS = ("LDC", "LDCU")
"""Loads of SASS whose results may be known before, as no memory is read then."""
_CONSTANT_OPERAND = "ULDC"
"""A load of SASS that the assembler sets no scoreboard for: stalls cover it, as operands of
arithmetic, and no counter of the unit for constants has it (sm_75 to sm_90)."""
_PLACE_OF_THREAD = "SR_TID"
"""A special register that comes through the load/store unit and the banks of shared memory.

Counters of an H100 and an H200 have an instruction of `lsu` and a wavefront of shared memory for
each that is read (validation/measured/h200.json).
"""
_RECONVERGENCE = "BSYNC"
_UNIFORM = "U"
"""How opcodes of the uniform datapath begin: it is beside the lanes, one instruction at a time."""
COMMITS = ("cp.async.mbarrier.arrive", "tcgen05.commit", "ARRIVES", "UTCBAR")
"""How instructions begin that tell an mbarrier of what their thread began before."""
_GROUPING = frozenset(
    (
        *("cp", "wgmma", "tcgen05", "setmaxnreg", "griddepcontrol", "createpolicy"),
        *("LDGDEPBAR", "DEPBAR", "WARPGROUP", "HGMMA", "QGMMA", "IGMMA", "BGMMA"),
    )
)
"""First parts of names that stand among fences and order no memory: they take an issue slot."""
_FENCES = ("fence", "membar")
_OF_BLOCK = frozenset(("cta", "shared::cta"))
DETOURS: Mapping[Detour, Mapping[str, Pipeline]] = {
    Detour.NONE: {},
    Detour.PRODUCT: {Unit.INTEGER.value: Pipeline.INTEGER_MULTIPLY},
    Detour.QUOTIENT: {Unit.FP32.value: Pipeline.SPECIAL_FUNCTION},
    Detour.BIT_SEARCH: {Unit.INTEGER.value: Pipeline.SPECIAL_FUNCTION},
    Detour.EXCHANGE: {
        Unit.LOAD_STORE.value: Pipeline.SHUFFLE,
        Unit.MOVE.value: Pipeline.SHUFFLE,
    },
}
"""Pipelines by unit, for each detour."""
_OF_SASS: Mapping[str, Detour] = {
    **dict.fromkeys(("IMAD", "IMADSP", "IMUL", "XMAD", "VMAD", "IDP", "IDP4A"), Detour.PRODUCT),
    "FMUL": Detour.PRODUCT,
    **dict.fromkeys(("POPC", "FLO"), Detour.BIT_SEARCH),
    "SHFL": Detour.EXCHANGE,
}


def pipelines(instructions: Sequence[InstructionRow], memory: MemoryResult) -> tuple[Pipeline, ...]:
    """The pipeline of each pc; a generic access only ever seen in shared memory belongs there."""
    is_banked = (memory.wavefronts.requests > 0) & (memory.traffic.by_instruction.requests == 0)
    return tuple(_of_amd(row, is_banked) or _pipeline(row, is_banked) for row in instructions)


def device_pipelines(
    instructions: Sequence[InstructionRow], memory: MemoryResult, device: Device
) -> tuple[Pipeline, ...]:
    """The pipeline of each pc on a device.

    Conversions from and to 64-bit types take the unit of double precision where that is slower than
    other conversions (CUDA C++ Programming Guide, throughput of native arithmetic instructions: 2
    instead of 16 results a cycle for compute capability 7.5 and 8.6). Integer products of machine
    code take the unit of single precision (Nsight Compute, Kernel Profiling Guide, pipelines: FMA),
    of which half, `integer_multiply.lanes`, can make them where it has two halves. RDNA computes
    special functions beside its vector lanes (AMD RDNA architecture white paper).
    """
    found = pipelines(instructions, memory)
    timing = device.timing
    if timing is not None and timing.mixed_issues > 1:
        found = tuple(
            Pipeline.SPECIAL_FUNCTION if item is Pipeline.VECTOR and is_special(row) else item
            for row, item in zip(instructions, found, strict=True)
        )
    if timing is not None and timing.integer_multiply.lanes == timing.fp32.lanes:
        found = tuple(
            Pipeline.FP32 if row.control is not None and item is Pipeline.INTEGER_MULTIPLY else item
            for row, item in zip(instructions, found, strict=True)
        )
    if timing is None or timing.fp64.lanes >= timing.conversion.lanes:
        return found
    return tuple(
        Pipeline.FP64 if item is Pipeline.CONVERSION and _converts_64_bits(row) else item
        for row, item in zip(instructions, found, strict=True)
    )


def _converts_64_bits(row: InstructionRow) -> bool:
    """Whether a 64-bit number is converted; integers among each other are only copied."""
    types = row.mnemonic.lower().split(".")
    is_wide_integer = any(name in types for name in _WIDE_INTEGERS)
    is_float = types[0] in ("i2f", "f2i") or any(name[:1] == "f" for name in types[1:])
    return _WIDE in types or (is_wide_integer and is_float)


def _of_amd(row: InstructionRow, is_banked: npt.NDArray[np.bool_]) -> Pipeline | None:
    is_whole = row.control is not None and not row.is_part
    return amd_pipeline(row, bool(is_banked[row.pc])) if is_whole else None


def _pipeline(row: InstructionRow, is_banked: npt.NDArray[np.bool_]) -> Pipeline:
    if row.is_part:
        return _pipeline_of_part(row)
    if not row.is_counted_natively:
        return Pipeline.NONE
    if row.mnemonic.startswith(COMMITS):
        return Pipeline.COMMIT
    if row.opcode == BULK_COPY and row.space == AddressSpace.SHARED.value:
        return Pipeline.WAIT
    if row.control is not None and row.kind == "compute" and _is_beside_lanes(row):
        return Pipeline.WAIT
    access = _access(row, is_banked)
    if access is not None:
        return access
    if row.control is not None and row.opcode == _RECONVERGENCE:
        return Pipeline.RECONVERGENCE
    if row.kind == "fence" and (row.mnemonic.split(".")[0] in _GROUPING or _stays_in_block(row)):
        return Pipeline.WAIT
    if row.kind in _BY_KIND and not _only_arrives(row):
        return _BY_KIND[row.kind]
    if _copies_integer(row):
        return Pipeline.INTEGER
    usual = _BY_UNIT.get(row.unit, Pipeline.INTEGER)
    return DETOURS[detour(row)].get(row.unit, usual)


def _access(row: InstructionRow, is_banked: npt.NDArray[np.bool_]) -> Pipeline | None:
    """The pipeline of what goes through the load/store unit or the constant cache."""
    if row.opcode in _CONSTANT_LOADS:
        return Pipeline.CONSTANT
    if row.opcode == _CONSTANT_OPERAND:
        return Pipeline.WAIT
    if row.special_register.startswith(_PLACE_OF_THREAD):
        return Pipeline.SHARED
    if row.kind not in _ACCESSES:
        return None
    if row.space == "generic" and is_banked[row.pc]:
        return Pipeline.SHARED
    return _BY_SPACE.get(row.space, Pipeline.GLOBAL)


def _pipeline_of_part(row: InstructionRow) -> Pipeline:
    """The second of two accesses of local memory in AMD's code takes its passes."""
    if row.kind not in _ACCESSES or row.merged_into != row.pc:
        return Pipeline.NONE
    if row.space not in _ON_CHIP:
        return Pipeline.GLOBAL
    return Pipeline.SHARED if is_second_access(row) else Pipeline.NONE


def _stays_in_block(row: InstructionRow) -> bool:
    """Whether a fence orders what one thread block sees, or its shared memory for copies.

    On an H200 they take 8 to 17 cycles, where one for the GPU takes 270 (`fence_block` of
    `instructions.csv`, `fence_proxy_shared` of `asynchronous.csv` of its micro-kernels).
    """
    name, *modifiers = row.mnemonic.lower().split(".")
    if modifiers[:2] == ["view", "async"]:
        return "s" in modifiers[2:]
    return name in _FENCES and bool(_OF_BLOCK.intersection(modifiers))


def _copies_integer(row: InstructionRow) -> bool:
    """Whether an integer is made wider or narrower without a limit: a move, a mask or a sign.

    ptxas 13.0 has PRMT, LOP3 and SHF for them from sm_75 on, none for the unit of conversions.
    """
    if row.unit != Unit.CONVERSION.value or row.opcode != "cvt":
        return False
    name, *types = row.mnemonic.split(".")
    if name in _WIDENING:
        return True
    return name == "cvt" and len(types) == 2 and all(item in _INTEGERS for item in types)


def _is_beside_lanes(row: InstructionRow) -> bool:
    """Whether an instruction of machine code computes in no lane."""
    return row.unit == Unit.CONTROL.value or row.opcode.startswith(_UNIFORM)


def _only_arrives(row: InstructionRow) -> bool:
    return row.opcode in _WITHOUT_WAITING or row.mnemonic.startswith(_ARRIVAL)


def detour(row: InstructionRow) -> Detour:
    """The detour of an opcode of the table, or of SASS; none for what is neither."""
    entry = OPCODES.get(row.opcode) or WARP_OPCODES.get(row.opcode)
    if entry is not None:
        return entry.detour
    return _OF_SASS.get(row.opcode.split(".")[0], Detour.NONE)
