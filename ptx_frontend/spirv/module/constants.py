"""Constants: their LLVM spelling, and the values of those that are whole numbers."""

from __future__ import annotations

import struct
from collections.abc import Callable

from kernelcast.ptx_frontend.spirv.functions.values import Value
from kernelcast.ptx_frontend.spirv.module.binary import WORD_BYTES, Instruction
from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.types import (
    ArrayType,
    BoolType,
    FloatType,
    IntType,
    OpaqueType,
    PointerType,
    SamplerType,
    SpirvType,
    StructType,
    VectorType,
)

__all__ = ["integer", "is_constant", "read_constant", "splat"]

_MOST_CHARACTERS = 1 << 22
_FORMATS = {16: "<e", 32: "<f", 64: "<d"}


def integer(type_: SpirvType, value: int) -> Value:
    """A constant of an integer type, wrapped to its width."""
    if isinstance(type_, BoolType):
        return Value(type_, "true" if value & 1 else "false", value & 1)
    if not isinstance(type_, IntType):
        raise SpirvProblem(f"{type_.text} is no integer type")
    bits = value % (1 << type_.bits)
    shown = bits - (1 << type_.bits) if bits >> (type_.bits - 1) else bits
    return Value(type_, str(shown), bits)


def splat(type_: SpirvType, value: int) -> Value:
    """The integer, or a vector that has it in every element."""
    if isinstance(type_, VectorType):
        return Value(type_, f"splat ({integer(type_.element, value).typed})")
    return integer(type_, value)


def is_constant(instruction: Instruction) -> bool:
    """Whether the instruction defines a constant that is no expression."""
    return instruction.name.startswith(("OpConstant", "OpSpecConstant")) and (
        instruction.name != "OpSpecConstantOp"
    )


def read_constant(
    instruction: Instruction, type_: SpirvType, value_of: Callable[[int], Value]
) -> Value:
    """The value of an `OpConstant...`; specialisation constants have their defaults."""
    kind = instruction.name.replace("OpSpecConstant", "OpConstant").removeprefix("OpConstant")
    if kind in ("True", "False"):
        if not isinstance(type_, BoolType):
            raise SpirvProblem(f"{instruction.name} has the type {type_.text}")
        return integer(type_, int(kind == "True"))
    if kind == "Sampler":
        return _sampler(instruction, type_)
    if kind == "Null":
        return _null(type_)
    if kind == "Composite":
        return _composite(type_, [value_of(x) for x in instruction.operands])
    if kind:
        raise SpirvProblem(f"{instruction.name} is not supported", is_unsupported=True)
    return _number(instruction, type_)


def _sampler(instruction: Instruction, type_: SpirvType) -> Value:
    """Addressing, normalized coordinates and filter, as the bits that OpenCL C has for them."""
    addressing, normalized, linear = (instruction.operand(index) for index in range(3))
    if not isinstance(type_, SamplerType) or addressing > 4 or normalized > 1 or linear > 1:
        raise SpirvProblem("a constant sampler of no known kind")
    bits = 2 * addressing | normalized | (0x20 if linear else 0x10)
    return Value(type_, f"inttoptr (i64 {bits} to {type_.text})", bits)


def _number(instruction: Instruction, type_: SpirvType) -> Value:
    raw = b"".join(word.to_bytes(WORD_BYTES, "little") for word in instruction.operands)
    if isinstance(type_, IntType | FloatType) and len(raw) < type_.size:
        raise SpirvProblem(f"{instruction.name} has too few operands")
    if isinstance(type_, IntType):
        return integer(type_, int.from_bytes(raw[: type_.size], "little"))
    if not isinstance(type_, FloatType):
        raise SpirvProblem(f"{instruction.name} has the type {type_.text}")
    return Value(type_, _float_text(raw[: type_.size], type_.bits))


def _float_text(raw: bytes, bits: int) -> str:
    """LLVM writes floats as the bits of a double that has the same value."""
    pattern = int.from_bytes(raw, "little")
    if bits == 16:
        return f"0xH{pattern:04X}"
    if bits == 32:
        pattern = _widened(pattern)
    return f"0x{pattern:016X}"


def _widened(pattern: int) -> int:
    """The bits of the double of equal value; the payload of a NaN is kept."""
    sign, exponent, fraction = pattern >> 31, pattern >> 23 & 0xFF, pattern & 0x7FFFFF
    if exponent == 0xFF:
        return sign << 63 | 0x7FF << 52 | fraction << 29
    (value,) = struct.unpack("<f", pattern.to_bytes(4, "little"))
    return int.from_bytes(struct.pack("<d", value), "little")


def _null(type_: SpirvType) -> Value:
    if isinstance(type_, BoolType | IntType):
        return integer(type_, 0)
    if isinstance(type_, FloatType):
        return Value(type_, "0.0")
    if isinstance(type_, PointerType | OpaqueType):
        return Value(type_, "null")
    if isinstance(type_, VectorType | ArrayType | StructType):
        return Value(type_, "zeroinitializer")
    raise SpirvProblem(f"there is no constant of the type {type_.text}")


def _composite(type_: SpirvType, parts: list[Value]) -> Value:
    if isinstance(type_, VectorType | ArrayType):
        expected = [type_.element] * len(parts)
        count = type_.count
    elif isinstance(type_, StructType):
        expected, count = list(type_.members), len(type_.members)
    else:
        raise SpirvProblem(f"{type_.text} has no members")
    if len(parts) != count:
        raise SpirvProblem(f"a constant of the type {type_.text} has {len(parts)} members")
    for part, member in zip(parts, expected, strict=True):
        if part.type.text != member.text:
            raise SpirvProblem(f"a member {part.type.text} where {member.text} belongs")
    if sum(len(part.text) for part in parts) > _MOST_CHARACTERS:
        raise SpirvProblem("a constant is too large", is_unsupported=True)
    inner = ", ".join(part.typed for part in parts)
    if isinstance(type_, VectorType):
        return Value(type_, f"<{inner}>")
    if isinstance(type_, ArrayType):
        return Value(type_, f"[{inner}]")
    is_packed = type_.definition.startswith("<")
    return Value(type_, f"<{{ {inner} }}>" if is_packed else f"{{ {inner} }}")
