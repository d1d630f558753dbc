"""Absolute differences of the parts of words as LLVM IR: the twin of `video`."""

from __future__ import annotations

from kernelcast.simcore.isa.native_bits import part_of
from kernelcast.simcore.isa.native_code import NativeCode
from kernelcast.simcore.isa.opcodes import Context, Emission

__all__ = ["differences_emission", "sum_emission"]


def _differences(code: NativeCode, context: Context, a: str, b: str, count: int) -> list[str]:
    found = []
    for index in range(count):
        x, y = (part_of(code, context.type, word, 32 // count, index) for word in (a, b))
        difference = code.binary("sub", "i32", x, y)
        operands = [(code.type("i32"), difference), ("i1", "false")]
        found.append(code.intrinsic("abs", "i32", operands))
    return found


def differences_emission(count: int) -> Emission:
    """Side by side in a word."""

    def emit(code: NativeCode, context: Context, a: str, b: str, _merged: str) -> str:
        word = code.splat("i32", 0)
        for index, part in enumerate(_differences(code, context, a, b, count)):
            place = code.splat("i32", index * 32 // count)
            word = code.binary("or", "i32", word, code.binary("shl", "i32", part, place))
        return word

    return emit


def sum_emission(count: int) -> Emission:
    """Their sum and c."""

    def emit(code: NativeCode, context: Context, a: str, b: str, c: str) -> str:
        for part in _differences(code, context, a, b, count):
            c = code.binary("add", "i32", c, part)
        return c

    return emit
