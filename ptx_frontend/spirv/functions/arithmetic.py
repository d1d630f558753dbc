"""Arithmetic, comparisons, bit operations and selection."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kernelcast.ptx_frontend.spirv.functions.body import Body
from kernelcast.ptx_frontend.spirv.functions.integer_arithmetic import BINARY, COMPARISONS
from kernelcast.ptx_frontend.spirv.functions.values import Value
from kernelcast.ptx_frontend.spirv.module.binary import Instruction
from kernelcast.ptx_frontend.spirv.module.constants import integer, splat
from kernelcast.ptx_frontend.spirv.module.decorations import Decoration
from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.types import (
    BoolType,
    IntType,
    SpirvType,
    VectorType,
)

__all__ = ["ARITHMETIC", "element_of", "operand_pair", "with_element"]

_Handler = Callable[[Body, Instruction], None]
_FLOAT_BINARY = {
    "OpFAdd": "fadd",
    "OpFSub": "fsub",
    "OpFMul": "fmul",
    "OpFDiv": "fdiv",
}
_FLOAT_COMPARISONS = {
    "OpOrdered": "ord",
    "OpUnordered": "uno",
    "OpLessOrGreater": "one",
    "OpFOrdEqual": "oeq",
    "OpFUnordEqual": "ueq",
    "OpFOrdNotEqual": "one",
    "OpFUnordNotEqual": "une",
    "OpFOrdLessThan": "olt",
    "OpFUnordLessThan": "ult",
    "OpFOrdGreaterThan": "ogt",
    "OpFUnordGreaterThan": "ugt",
    "OpFOrdLessThanEqual": "ole",
    "OpFUnordLessThanEqual": "ule",
    "OpFOrdGreaterThanEqual": "oge",
    "OpFUnordGreaterThanEqual": "uge",
}
_SHIFTS = ("shl", "lshr", "ashr")
_FAST_MATH = {
    0x1: "nnan",
    0x2: "ninf",
    0x4: "nsz",
    0x8: "arcp",
    0x10: "fast",
    0x10000: "contract",
    0x20000: "reassoc",
}


def element_of(type_: SpirvType) -> SpirvType:
    """The type of one element; of a scalar itself."""
    return type_.element if isinstance(type_, VectorType) else type_


def with_element(shape: SpirvType, element: SpirvType) -> SpirvType:
    """The type with as many elements as `shape`."""
    if not isinstance(shape, VectorType):
        return element
    size = element.size * (4 if shape.count == 3 else shape.count)
    text = f"<{shape.count} x {element.text}>"
    return VectorType(text, size, size, element=element, count=shape.count)


def operand_pair(body: Body, instruction: Instruction) -> tuple[Value, Value]:
    """The two operands of an instruction; SpirvProblem where their types differ."""
    left, right = body.operand(instruction, 0), body.operand(instruction, 1)
    if left.type.text != right.type.text:
        raise SpirvProblem(f"{instruction.name} of {left.type.text} and {right.type.text}")
    return left, right


def _wrapping(body: Body, identifier: int) -> str:
    decorations = body.module.decorations
    flags = ""
    if decorations.has(identifier, Decoration.NO_UNSIGNED_WRAP):
        flags += "nuw "
    if decorations.has(identifier, Decoration.NO_SIGNED_WRAP):
        flags += "nsw "
    return flags


def _fast_math(body: Body, identifier: int) -> str:
    mask = body.module.decorations.literal(identifier, Decoration.FAST_MATH_MODE) or 0
    return "".join(f"{name} " for bit, name in _FAST_MATH.items() if mask & bit)


def _integer_binary(opcode: str) -> _Handler:
    def write(body: Body, instruction: Instruction) -> None:
        if opcode in _SHIFTS:
            left, right = _shift_operands(body, instruction)
        else:
            left, right = operand_pair(body, instruction)
        flags = (
            _wrapping(body, instruction.result) if opcode in ("add", "sub", "mul", "shl") else ""
        )
        body.define(instruction, f"{opcode} {flags}{left.typed}, {right.text}")

    return write


def _shift_operands(body: Body, instruction: Instruction) -> tuple[Value, Value]:
    """LLVM wants the amount as wide as what is shifted."""
    left, right = body.operand(instruction, 0), body.operand(instruction, 1)
    if left.type.text == right.type.text:
        return left, right
    if not isinstance(element_of(right.type), IntType) or not isinstance(
        element_of(left.type), IntType
    ):
        raise SpirvProblem(f"{instruction.name} of {left.type.text} and {right.type.text}")
    if right.bits is not None:
        return left, integer(left.type, right.bits)
    opcode = "zext" if element_of(right.type).size < element_of(left.type).size else "trunc"
    return left, body.compute(left.type, f"{opcode} {right.typed} to {left.type.text}")


def _float_binary(opcode: str) -> _Handler:
    def write(body: Body, instruction: Instruction) -> None:
        left, right = operand_pair(body, instruction)
        flags = _fast_math(body, instruction.result)
        body.define(instruction, f"{opcode} {flags}{left.typed}, {right.text}")

    return write


def _comparison(opcode: str, predicate: str) -> _Handler:
    def write(body: Body, instruction: Instruction) -> None:
        left, right = operand_pair(body, instruction)
        flags = _fast_math(body, instruction.result) if opcode == "fcmp" else ""
        body.define(instruction, f"{opcode} {flags}{predicate} {left.typed}, {right.text}")

    return write


def _negate(body: Body, instruction: Instruction) -> None:
    source = body.operand(instruction, 0)
    zero = splat(source.type, 0) if source.type.text[0] == "i" else None
    left = zero.text if zero else "zeroinitializer"
    flags = _wrapping(body, instruction.result)
    body.define(instruction, f"sub {flags}{source.type.text} {left}, {source.text}")


def _negate_float(body: Body, instruction: Instruction) -> None:
    flags = _fast_math(body, instruction.result)
    body.define(instruction, f"fneg {flags}{body.operand(instruction, 0).typed}")


def _complement(body: Body, instruction: Instruction) -> None:
    source = body.operand(instruction, 0)
    body.define(instruction, f"xor {source.typed}, {splat(source.type, -1).text}")


def _extension(chosen: Value, other: Value) -> str:
    """The opcode if the constants are those of an extended Boolean, or of a vector of them."""
    element = element_of(chosen.type)
    count = chosen.type.count if isinstance(chosen.type, VectorType) else 0

    def is_all(value: Value, number: int) -> bool:
        one = integer(element, number)
        whole = f"<{', '.join([one.typed] * count)}>" if count else one.text
        return value.text == whole or (number == 0 and value.text == "zeroinitializer")

    if not isinstance(element, IntType) or not is_all(other, 0):
        return ""
    return "zext" if is_all(chosen, 1) else "sext" if is_all(chosen, -1) else ""


def _select(body: Body, instruction: Instruction) -> None:
    """Writes a selection; of 1 and 0, or -1 and 0, it is how SPIR-V extends a Boolean."""
    condition = body.operand(instruction, 0)
    chosen, other = body.operand(instruction, 1), body.operand(instruction, 2)
    if chosen.type.text != other.type.text:
        raise SpirvProblem(f"OpSelect of {chosen.type.text} and {other.type.text}")
    if not isinstance(element_of(condition.type), BoolType):
        raise SpirvProblem("the condition of OpSelect is no Boolean")
    extension = _extension(chosen, other)
    if extension:
        body.define(instruction, f"{extension} {condition.typed} to {chosen.type.text}")
        return
    body.define(instruction, f"select {condition.typed}, {chosen.typed}, {other.typed}")


ARITHMETIC: Mapping[str, _Handler] = {
    **{name: _integer_binary(opcode) for name, opcode in BINARY.items()},
    **{name: _float_binary(opcode) for name, opcode in _FLOAT_BINARY.items()},
    **{name: _comparison("icmp", predicate) for name, predicate in COMPARISONS.items()},
    **{name: _comparison("fcmp", x) for name, x in _FLOAT_COMPARISONS.items()},
    "OpSNegate": _negate,
    "OpFNegate": _negate_float,
    "OpNot": _complement,
    "OpLogicalNot": _complement,
    "OpSelect": _select,
}
