"""`add`, `sub` and `fma` of f32 that take f16 or bf16, widened exactly (PTX ISA 8.6).

Widening comes first: `add` and `sub` take one such operand, `fma` both factors.
"""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.isa.numerics.lane_code import LaneCode
from kernelcast.simcore.isa.numerics.packed import Array, single
from kernelcast.simcore.isa.opcodes import ptx_forms
from kernelcast.simcore.isa.opcodes.columns import Columns, PtxForms
from kernelcast.simcore.isa.opcodes.llvm.alternate_formats import (
    from_alternate as emit_from_alternate,
)
from kernelcast.simcore.isa.opcodes.rounding import ROUNDINGS
from kernelcast.simcore.isa.opcodes.table import OPCODES, Context, opcode
from kernelcast.simcore.isa.types import ScalarType

__all__: list[str] = []

_SOURCES = (ScalarType.F16, ScalarType.BF16)
_MODIFIERS = (*ROUNDINGS, "sat")


def _single_context(context: Context) -> Context:
    return Context(context.type, context.type, context.modifiers)


def _widened(context: Context, value: Array) -> Array:
    if context.source_type is ScalarType.BF16:
        return single(value)
    return np.asarray(value).astype(np.float32)


def _emit_widened(code: LaneCode, context: Context, value: str) -> str:
    if context.source_type is ScalarType.BF16:
        return emit_from_alternate(code, value, context.source_type)
    return code.cast("fpext", "half", value, "float")


def _register(root: str, signature: str, flops: int, forms: PtxForms) -> None:
    """The entry of `root` for f32, after the operands of type `s` are widened."""
    entry, narrow = OPCODES[root], signature.split("=")[1].count("s")

    def emit(code: LaneCode, context: Context, *operands: str) -> str:
        wide = (_emit_widened(code, context, x) for x in operands[:narrow])
        result = entry.emit(code, _single_context(context), *wide, *operands[narrow:])
        assert isinstance(result, str)
        return result

    @opcode(
        f"{root}.mixed",
        signature,
        (ScalarType.F32,),
        sources=_SOURCES,
        modifiers=_MODIFIERS,
        columns=Columns(flops=flops, forms=forms),
        llvm=emit,
    )
    def _mixed(context: Context, *operands: Array) -> Array:
        wide = (_widened(context, x) for x in operands[:narrow])
        result: Array = entry.compute(_single_context(context), *wide, *operands[narrow:])
        return result


_register("add", "t=st", 1, ptx_forms.MIXED_SUM)
_register("sub", "t=st", 1, ptx_forms.MIXED_SUM)
_register("fma", "t=sst", 2, ptx_forms.MIXED_FUSED)
