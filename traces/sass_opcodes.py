"""What NVIDIA's machine instructions (SASS) do, by opcode, from Kepler to Hopper.

Opcodes after the instruction set reference of "CUDA Binary Utilities". An opcode counts as the PTX
instruction that it implements does (docs/counting.md). Units and spaces carry the names that the
IR gives them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

__all__ = ["SASS_OPCODES", "SassInstruction", "sass_instruction"]


@dataclass(frozen=True, slots=True)
class SassInstruction:
    """Fields as in InstructionRow. `access_bytes` is 0 where the spelling does not tell."""

    opcode: str
    unit: str
    kind: str = "compute"
    flops: int = 0
    space: str = ""
    access_bytes: int = 0
    cache: str = ""
    tensor_type: str = ""
    tensor_operations: int = 0

    def of_bytes(self, access_bytes: int) -> SassInstruction:
        """The instruction with the width of its access."""
        return replace(self, access_bytes=access_bytes)


def _compute(
    unit: str, opcodes: str, flops: int = 0, kind: str = "compute"
) -> Iterator[SassInstruction]:
    for opcode in opcodes.split():
        yield SassInstruction(opcode, unit, kind, flops)


def _access(kind: str, **opcodes: str) -> Iterator[SassInstruction]:
    """Opcodes by address space."""
    for space, names in opcodes.items():
        for opcode in names.split():
            yield SassInstruction(opcode, "load/store", kind, space=space)


SASS_OPCODES: Mapping[str, SassInstruction] = {
    item.opcode: item
    for items in (
        _compute("fp32", "FADD FMUL FSWZADD FHADD", flops=1),
        _compute("fp32", "FFMA FADD2 FMUL2 FHFMA", flops=2),
        _compute("fp32", "FFMA2", flops=4),
        _compute("fp32", "FMNMX FMNMX3 FSET FSETP FCMP FCHK FSWZ RRO"),
        _compute("fp64", "DADD DMUL", flops=1),
        _compute("fp64", "DFMA", flops=2),
        _compute("fp64", "DMNMX DSET DSETP"),
        _compute("fp16", "HADD2 HMUL2", flops=2),
        _compute("fp16", "HFMA2", flops=4),
        _compute("fp16", "HMNMX2 HSET2 HSETP2"),
        _compute("integer", "IADD IADD3 IMAD IMADSP IMUL ISUB ISAD ISCADD IABS IMNMX ISET ISETP"),
        _compute("integer", "ICMP IDP IDP4A LEA LOP LOP3 SHF SHL SHR BFE BFI BMSK BREV FLO POPC"),
        _compute("integer", "SGXT XMAD VABSDIFF VABSDIFF4 VADD VMAD VMNMX VSET VSETP VSHL VSHR"),
        _compute("integer", "VIADD VIADDMNMX VIMNMX VIMNMX3 VHMNMX CLEA"),
        _compute("integer", "PRMT VOTE VOTEU"),
        _compute("integer", "PLOP3 PSET PSETP CSET CSETP LEPC QSPC REDUX CREDUX MATCH"),
        _compute("tensor", "HMMA IMMA BMMA DMMA QMMA"),
        _compute("move", "MOV SEL FSEL S2R CS2R CS2UR S2UR R2UR P2R R2P P2UR UR2UP R2B B2R"),
        _compute("move", "MOVM BMOV GETLMEMBASE SETLMEMBASE"),
        _compute("conversion", "F2F F2I I2F I2I I2IP FRND F2FP F2IP I2FP"),
        _compute("special function", "MUFU"),
        _compute("control", "NOP PMTRIG NANOSLEEP DEPBAR ERRBAR CGAERRBAR SETCTAID ELECT"),
        _compute(
            "control",
            "SSY PBK PCNT PRET BSSY WARPSYNC ENDCOLLECTIVE YIELD RTT RPCMOV BPT WARPGROUP",
        ),
        _compute("control", "BRA BRX BRXU JMP JMX JMXU CALL CAL JCAL RET", kind="branch"),
        _compute("control", "SYNC BRK CONT BSYNC BREAK", kind="branch"),
        _compute("control", "EXIT KILL", kind="exit"),
        _compute("barrier", "BAR", kind="barrier"),
        _compute("load/store", "SHFL"),
        _compute("load/store", "MEMBAR LDGDEPBAR CCTL CCTLL CCTLT FENCE", kind="fence"),
        _access("load", generic="LD", local="LDL", shared="LDS LDSM", const="LDC LDCU"),
        _access("load", **{"global": "LDG LDGSTS"}),
        _access("store", generic="ST", local="STL", shared="STS STSM", **{"global": "STG"}),
        _access("atomic", generic="ATOM", shared="ATOMS", **{"global": "ATOMG RED REDG"}),
    )
    for item in items
}
"""Instructions by opcode without modifiers, `32I` at its end or the uniform datapath's `U`."""

_IMMEDIATE = re.compile(r"_?32I$")
_WIDTH = re.compile(r"[USF]?(8|16|32|64|128)$")
_MATRIX_ROW_BYTES = 16  # LDSM and STSM: each address is that of a row of an 8 by 8 matrix of halves
_MATRIX_DEPTHS: Mapping[str, tuple[int, ...]] = {
    "HMMA": (4, 8, 16, 32),
    "IMMA": (16, 32, 64, 128),
    "BMMA": (128, 256, 512),
    "DMMA": (4, 8, 16),
    "QMMA": (16, 32, 64),
}
"""Depths of products of 8 or 16 rows and 8 columns; sparse ones are twice as deep."""
_MATRIX_SHAPES: Mapping[tuple[str, str], int] = {
    (opcode, f"{rows}8{depth}"): rows * 8 * depth
    for opcode, depths in _MATRIX_DEPTHS.items()
    for rows in (8, 16)
    for depth in depths
} | {("HMMA", "1684"): 16 * 8 * 4}
"""Multiply-adds of the whole warp, m times n times k. Four steps of Volta's `884` make four such
products, one in each quad pair."""
_WARP_WIDTH = 32


def sass_instruction(spelling: str) -> SassInstruction | None:
    """`LDG.E.64.CONSTANT` and the like; None when it is not known."""
    name, *modifiers = spelling.split(".")
    name = _IMMEDIATE.sub("", name)
    found = SASS_OPCODES.get(name)
    if found is None and name.startswith("U"):
        found = SASS_OPCODES.get(name[1:])
    if found is None:
        return None
    if found.kind in ("load", "store", "atomic"):
        return _memory_instruction(found, modifiers)
    if found.unit == "tensor":
        return _product(found, modifiers)
    if name == "MUFU" and "SQRT" in modifiers:
        return replace(found, flops=1)
    if name == "BAR" and "ARV" in modifiers:
        return replace(found, kind="compute")  # arrives, but does not wait
    return found


def _product(found: SassInstruction, modifiers: list[str]) -> SassInstruction | None:
    """None for a shape that is not known."""
    shapes = [(found.opcode, part) for part in modifiers if (found.opcode, part) in _MATRIX_SHAPES]
    if not shapes:
        return None
    operations = 2 * _MATRIX_SHAPES[shapes[0]] // _WARP_WIDTH
    type_ = _product_type(found.opcode, modifiers)
    return replace(
        found,
        flops=0 if type_.startswith(("int", "b1")) else operations,
        tensor_type=f"{type_} sparse" if "SP" in modifiers else type_,
        tensor_operations=operations,
    )


def _product_type(opcode: str, modifiers: list[str]) -> str:
    """The name of `kernelcast.simcore.isa.tensor_types`; results of HMMA are F32 or F16."""
    match opcode:
        case "DMMA":
            return "fp64"
        case "BMMA":
            return "b1"
        case "IMMA":
            return "int4" if {"S4", "U4"} & set(modifiers) else "int8"
        case "QMMA":
            return "fp8" if "F32" in modifiers else "fp8_fp16"
    for name in ("TF32", "BF16"):
        if name in modifiers:
            return name.lower()
    return "fp16" if "F32" in modifiers else "fp16_fp16"


def _memory_instruction(found: SassInstruction, modifiers: list[str]) -> SassInstruction:
    widths = [int(match[1]) // 8 for match in map(_WIDTH.match, modifiers) if match]
    cache = ""
    if found.kind == "load" and {"CONSTANT", "CI"} & set(modifiers):
        cache = "nc"
    elif found.kind == "load" and {"STRONG", "BYPASS"} & set(modifiers):
        cache = "cg"
    size = widths[0] if widths else 0
    if found.opcode in ("LDSM", "STSM"):
        size = _MATRIX_ROW_BYTES
    return replace(found, access_bytes=size, cache=cache)
