"""Opcodes on whole numbers, and what they are in LLVM IR."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["BINARY", "COMPARISONS", "folded", "signed"]

BINARY: Mapping[str, str] = {
    "OpIAdd": "add",
    "OpISub": "sub",
    "OpIMul": "mul",
    "OpUDiv": "udiv",
    "OpSDiv": "sdiv",
    "OpUMod": "urem",
    "OpSRem": "srem",
    "OpShiftLeftLogical": "shl",
    "OpShiftRightLogical": "lshr",
    "OpShiftRightArithmetic": "ashr",
    "OpBitwiseOr": "or",
    "OpBitwiseXor": "xor",
    "OpBitwiseAnd": "and",
    "OpLogicalOr": "or",
    "OpLogicalAnd": "and",
    "OpLogicalNotEqual": "xor",
}
COMPARISONS: Mapping[str, str] = {
    "OpIEqual": "eq",
    "OpINotEqual": "ne",
    "OpUGreaterThan": "ugt",
    "OpSGreaterThan": "sgt",
    "OpUGreaterThanEqual": "uge",
    "OpSGreaterThanEqual": "sge",
    "OpULessThan": "ult",
    "OpSLessThan": "slt",
    "OpULessThanEqual": "ule",
    "OpSLessThanEqual": "sle",
    "OpLogicalEqual": "eq",
    "OpPtrEqual": "eq",
    "OpPtrNotEqual": "ne",
}


def signed(value: int, bits: int) -> int:
    """The number that the bits mean in two's complement."""
    return value - (1 << bits) if value >> (bits - 1) else value


def folded(opcode: str, left: int, right: int, bits: int) -> int | None:
    """The result on constants of `bits` bits, to be wrapped; None if LLVM leaves it undefined."""
    operation = BINARY.get(opcode)
    if operation is None:
        return _compared(COMPARISONS[opcode], left, right, bits)
    if operation in ("udiv", "urem", "sdiv", "srem"):
        return _divided(operation, left, right, bits)
    if operation in ("shl", "lshr", "ashr"):
        if right >= bits:
            return None
        if operation == "shl":
            return left << right
        return (signed(left, bits) if operation == "ashr" else left) >> right
    if operation in ("and", "or", "xor"):
        return {"and": left & right, "or": left | right, "xor": left ^ right}[operation]
    return {"add": left + right, "sub": left - right, "mul": left * right}[operation]


def _divided(operation: str, left: int, right: int, bits: int) -> int | None:
    """The quotient towards zero or the remainder, which has the sign of the dividend."""
    if right == 0:
        return None
    if operation[0] == "s":
        left, right = signed(left, bits), signed(right, bits)
    quotient = abs(left) // abs(right)
    if (left < 0) != (right < 0):
        quotient = -quotient
    return quotient if operation.endswith("div") else left - quotient * right


def _compared(predicate: str, left: int, right: int, bits: int) -> int:
    if predicate[0] == "s":
        left, right = signed(left, bits), signed(right, bits)
    outcomes = {"eq": left == right, "ne": left != right}
    outcomes |= {"gt": left > right, "ge": left >= right, "lt": left < right, "le": left <= right}
    return int(outcomes[predicate if predicate in outcomes else predicate[1:]])
