"""`OpSpecConstantOp`: integers are computed, addresses become constant expressions of LLVM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from kernelcast.ptx_frontend.spirv.functions.element_addresses import address_operands
from kernelcast.ptx_frontend.spirv.functions.integer_arithmetic import (
    BINARY,
    COMPARISONS,
    folded,
    signed,
)
from kernelcast.ptx_frontend.spirv.functions.values import Value
from kernelcast.ptx_frontend.spirv.module.binary import Instruction
from kernelcast.ptx_frontend.spirv.module.constants import integer
from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.published_tables import instruction_form
from kernelcast.ptx_frontend.spirv.module.type_reader import TypeReader
from kernelcast.ptx_frontend.spirv.module.types import BoolType, IntType, PointerType, SpirvType

__all__ = ["ConstantExpressions"]

_ACCESS_CHAINS = {
    "OpAccessChain": "getelementptr",
    "OpInBoundsAccessChain": "getelementptr inbounds",
    "OpPtrAccessChain": "getelementptr",
    "OpInBoundsPtrAccessChain": "getelementptr inbounds",
}
_POINTER_CASTS = {
    "OpPtrCastToGeneric": "addrspacecast",
    "OpGenericCastToPtr": "addrspacecast",
    "OpConvertPtrToU": "ptrtoint",
    "OpConvertUToPtr": "inttoptr",
}
_UNARY: dict[str, Callable[[int], int]] = {
    "OpSNegate": lambda x: -x,
    "OpNot": lambda x: ~x,
    "OpLogicalNot": lambda x: ~x,
    "OpCopyObject": lambda x: x,
    "OpUConvert": lambda x: x,
}


class ConstantExpressions:
    """Evaluates them; `value_of` gives the constants and variables before."""

    def __init__(self, types: TypeReader, value_of: Callable[[int], Value]) -> None:
        self._types = types
        self._value_of = value_of

    def value(self, instruction: Instruction) -> Value:
        """Evaluates an expression: an integer, or a constant expression of LLVM."""
        opcode = instruction_form(instruction.operand(0)).name
        type_ = self._types.type(instruction.type_id)
        inner = replace(instruction, name=opcode, operands=instruction.operands[1:])
        if opcode in _ACCESS_CHAINS:
            return self._address(inner, type_)
        if opcode in _POINTER_CASTS or opcode == "OpBitcast":
            return self._cast(inner, type_)
        operands = [self._whole_number(inner, index) for index in range(len(inner.operands))]
        result = _evaluated(opcode, operands)
        if result is None:
            raise _refused(opcode)
        return integer(type_, result)

    def _whole_number(self, instruction: Instruction, index: int) -> tuple[int, int]:
        """A whole number constant as (value, width in bits)."""
        value = self._value_of(instruction.operand(index))
        if value.bits is None or not isinstance(value.type, IntType | BoolType):
            raise _refused(instruction.name)
        return value.bits, value.type.bits if isinstance(value.type, IntType) else 1

    def _address(self, instruction: Instruction, type_: SpirvType) -> Value:
        operands = [self._value_of(x) for x in instruction.operands]
        has_element = "Ptr" in instruction.name
        found = address_operands(self._types, operands, has_element)
        opcode = _ACCESS_CHAINS[instruction.name]
        return Value(type_, f"{opcode} ({', '.join(found)})")

    def _cast(self, instruction: Instruction, type_: SpirvType) -> Value:
        source = self._value_of(instruction.operand(0))
        if (
            source.bits is not None
            and isinstance(type_, IntType)
            and instruction.name == "OpBitcast"
        ):
            return integer(type_, source.bits)
        if instruction.name == "OpBitcast" and source.type.text == type_.text:
            return Value(type_, source.text, source.bits)
        opcode = _POINTER_CASTS.get(instruction.name, "bitcast")
        if opcode == "bitcast" and isinstance(source.type, PointerType) != isinstance(
            type_, PointerType
        ):
            opcode = "inttoptr" if isinstance(type_, PointerType) else "ptrtoint"
        return Value(type_, f"{opcode} ({source.typed} to {type_.text})")


def _evaluated(opcode: str, operands: Sequence[tuple[int, int]]) -> int | None:
    values = [value for value, _ in operands]
    if opcode in BINARY or opcode in COMPARISONS:
        return folded(opcode, values[0], values[1], operands[0][1]) if len(values) == 2 else None
    if opcode in _UNARY and len(values) == 1:
        return _UNARY[opcode](values[0])
    if opcode == "OpSConvert" and len(values) == 1:
        return signed(*operands[0])
    if opcode == "OpSelect" and len(values) == 3:
        return values[1] if values[0] else values[2]
    return None


def _refused(opcode: str) -> SpirvProblem:
    return SpirvProblem(f"{opcode} of these constants is not supported", is_unsupported=True)
