"""What AMD's machine instructions (GCN, CDNA and RDNA) are, by mnemonic.

A wavefront's instructions are of the kinds below, of which a SIMD issues one of each in its turn,
from different wavefronts (AMD Graphics Core Next architecture white paper, 2012, "Compute unit
front-end"). Names and widths: AMD Instinct MI200 Instruction Set Architecture, chapters 5 to 12.
Rates of vector instructions carry the names that `[timing]` of a device file has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

__all__ = ["AMD_ARCHITECTURE", "AmdInstruction", "AmdKind", "amd_instruction", "amd_wavefront"]

AMD_ARCHITECTURE = "gfx"
"""How names of AMD's architectures begin: `gfx90a`."""


class AmdKind(Enum):
    """What executes an instruction; the values are names in reports."""

    VALU = "VALU"
    MATRIX = "matrix"
    SALU = "SALU"
    SMEM = "SMEM"
    VMEM = "VMEM"
    FLAT = "FLAT"
    LDS = "LDS"
    BRANCH = "branch"
    MESSAGE = "message"
    INTERNAL = "internal"
    """Waits, barriers and the like, which the instruction buffer of a wavefront obeys by itself."""


@dataclass(frozen=True, slots=True)
class AmdInstruction:
    """`rate`: which lanes of `[timing]` a vector instruction takes.

    `results`: how many numbers each lane computes of what the IR counts once. `flops` of a lane
    where two instructions are one. `tensor_type` and
    `tensor_operations`, of one lane, are those of a product of matrices.
    """

    kind: AmdKind
    rate: str = ""
    results: int = 1
    tensor_type: str = ""
    tensor_operations: int = 0
    flops: int | None = None


_ENCODING = re.compile(r"_(?:e32|e64|sdwa|dpp|e64_dpp)$")
_INTERNAL = (
    *(
        "s_waitcnt",
        "s_wait_",
        "s_nop",
        "s_sleep",
        "s_barrier",
        "s_setprio",
        "s_code_end",
        "s_inst_prefetch",
    ),
    *(
        "s_delay_alu",
        "s_set_inst_prefetch",
        "s_icache_inv",
        "s_clause",
        "s_wakeup",
        "s_sethalt",
        "s_ttracedata",
    ),
)
_CACHES = ("buffer_gl0", "buffer_gl1", "buffer_inv", "buffer_wb", "global_inv", "global_wb")
"""How instructions begin that write back or forget what caches hold."""
_TOGETHER = "::"
"""What stands between the names of two instructions that RDNA 3 issues as one."""
_DUAL_FLOPS = {
    **dict.fromkeys(("fmac", "fmaak", "fmamk"), 2),
    **dict.fromkeys(("add", "sub", "subrev", "mul"), 1),
}
_DUAL_FLOAT = re.compile(r"v_dual_([a-z]+)_f32")
_BRANCHES = ("s_branch", "s_cbranch", "s_endpgm", "s_setpc", "s_swappc", "s_call", "s_trap")
_SCALAR_MEMORY = ("s_load", "s_store", "s_buffer", "s_dcache", "s_memtime", "s_memrealtime")
_MATRIX = re.compile(
    r"v_mfma_(?:f32|f64|i32)_(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)"
    r"(?:_(?P<blocks>\d+)b)?(?P<end>_?(?P<type>[a-z]+\d+)(?:_1k)?)"
)
_MATRIX_TYPES = {
    "f32": "fp32",
    "f64": "fp64",
    "f16": "fp16",
    "bf16": "bf16",
    "i8": "int8",
    "xf32": "tf32",
    "iu8": "int8",
    "iu4": "int4",
    "fp8": "fp8",
    "bf8": "fp8",
}
_WAVE_MATRIX = re.compile(
    r"v_wmma_(?P<sum>f32|f16|bf16|i32)_(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)_(?P<type>[a-z]+\d+)"
)
_NARROW_LANES = 32
"""Lanes of a wavefront whose products of matrices are executed on RDNA."""
_IN_A_LANE = {"f32": 1, "f64": 1, "bf16": 2, "f16": 4, "bf16_1k": 4, "i8": 4}
"""Elements of A that a lane holds where the name does not say how many blocks there are."""
_SIMPLE_DOUBLE = re.compile(r"v_(?:mov|lshlrev|lshrrev|ashrrev|lshl_add|pk_mov)_")
_SPECIAL = re.compile(r"v_(?:rcp|rsq|sqrt|exp|log|sin|cos)_(?:iflag_)?f(?:16|32)$")
_PRODUCT = re.compile(r"v_(?:mul_lo|mul_hi)_(?!\w*24$)|v_mad_[ui]64_[ui]32$")
_CONVERSION = re.compile(r"v_cvt_|v_(?:rndne|floor|ceil|trunc|fract)_f(?:16|32)$")
_FLOAT = re.compile(r"_f32$|_legacy$")
_HALF = re.compile(r"_f16$|_bf16$")


def amd_wavefront() -> int:
    """Lanes of a wavefront of the architectures whose code is executed."""
    return 64


def amd_instruction(mnemonic: str) -> AmdInstruction | None:
    """`global_load_dword`, `v_fma_f32` and the like; None when it is not of AMD's."""
    name = _ENCODING.sub("", mnemonic)
    if name.startswith("s_"):
        return AmdInstruction(_scalar_kind(name))
    if name.startswith("v_mfma"):
        return _product(name)
    if name.startswith("v_wmma"):
        return _product_of_rdna(name)
    if _TOGETHER in name:
        flops = sum(_DUAL_FLOPS.get(half, 0) for half in _DUAL_FLOAT.findall(name))
        return AmdInstruction(AmdKind.VALU, "fp32", flops=flops)
    if name.startswith("v_"):
        return AmdInstruction(AmdKind.VALU, _rate(name), 2 if name.startswith("v_pk_") else 1)
    if name.startswith("ds_"):
        return AmdInstruction(AmdKind.LDS)
    if name.startswith("flat_"):
        return AmdInstruction(AmdKind.FLAT)
    if name.startswith(_CACHES):
        return AmdInstruction(AmdKind.INTERNAL)
    if name.startswith(("global_", "buffer_", "scratch_", "tbuffer_", "image_")):
        return AmdInstruction(AmdKind.VMEM)
    return None


def _scalar_kind(name: str) -> AmdKind:
    if name.startswith(_INTERNAL):
        return AmdKind.INTERNAL
    if name.startswith("s_sendmsg"):
        return AmdKind.MESSAGE
    if name.startswith(_BRANCHES):
        return AmdKind.BRANCH
    return AmdKind.SMEM if name.startswith(_SCALAR_MEMORY) else AmdKind.SALU


def _rate(name: str) -> str:
    """What is wide but only moved takes the lanes of integers."""
    if _SPECIAL.search(name):
        return "special_function"
    if _PRODUCT.search(name):
        return "integer_multiply"
    if _CONVERSION.search(name) and "f64" not in name:
        return "conversion"
    if "f64" in name:
        return "fp64"
    if _HALF.search(name):
        return "half"
    return "fp32" if _FLOAT.search(name) and not _SIMPLE_DOUBLE.match(name) else "integer"


def _product(name: str) -> AmdInstruction:
    """A product of a shape that is not known computes nothing that is counted."""
    found = _MATRIX.match(name)
    type_ = "" if found is None else _MATRIX_TYPES.get(found["type"], "")
    if found is None or not type_:
        return AmdInstruction(AmdKind.MATRIX)
    m, n, k = (int(found[name]) for name in ("m", "n", "k"))
    blocks = int(found["blocks"] or 1)
    if found["end"] in _IN_A_LANE:
        blocks = amd_wavefront() * _IN_A_LANE[found["end"]] // (m * k)
    operations = 2 * m * n * k * blocks // amd_wavefront()
    return AmdInstruction(AmdKind.MATRIX, tensor_type=type_, tensor_operations=operations)


def _product_of_rdna(name: str) -> AmdInstruction:
    """`v_wmma`: sums of halves have a rate of their own."""
    found = _WAVE_MATRIX.match(name)
    type_ = "" if found is None else _MATRIX_TYPES.get(found["type"], "")
    if found is None or not type_:
        return AmdInstruction(AmdKind.MATRIX)
    m, n, k = (int(found[name]) for name in ("m", "n", "k"))
    tensor_type = "fp16_fp16" if found["sum"] == "f16" else type_
    operations = 2 * m * n * k // _NARROW_LANES
    return AmdInstruction(AmdKind.MATRIX, tensor_type=tensor_type, tensor_operations=operations)
