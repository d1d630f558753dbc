"""Arithmetic that takes several instructions of LLVM IR or a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kernelcast.ptx_frontend.spirv.functions.arithmetic import (
    element_of,
    operand_pair,
    with_element,
)
from kernelcast.ptx_frontend.spirv.functions.body import Argument, Body
from kernelcast.ptx_frontend.spirv.functions.values import Value
from kernelcast.ptx_frontend.spirv.module.binary import Instruction
from kernelcast.ptx_frontend.spirv.module.constants import splat
from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.types import (
    BoolType,
    FloatType,
    IntType,
    SpirvType,
    StructType,
    VectorType,
)

__all__ = ["COMPOUND_ARITHMETIC"]

_Handler = Callable[[Body, Instruction], None]
_CLASSIFICATIONS = {
    "OpIsNan": "isnan",
    "OpIsInf": "isinf",
    "OpIsFinite": "isfinite",
    "OpIsNormal": "isnormal",
    "OpSignBitSet": "signbit",
}


def _signed_modulo(body: Body, instruction: Instruction) -> None:
    """The remainder with the sign of the divisor."""
    left, right = operand_pair(body, instruction)
    type_, truth = left.type, with_element(left.type, BoolType("i1", 1, 1))
    zero = splat(type_, 0).text
    rest = body.compute(type_, f"srem {left.typed}, {right.text}")
    differs = body.compute(type_, f"xor {rest.typed}, {right.text}")
    is_other = body.compute(truth, f"icmp slt {differs.typed}, {zero}")
    is_left = body.compute(truth, f"icmp ne {rest.typed}, {zero}")
    both = body.compute(truth, f"and {is_other.typed}, {is_left.text}")
    moved = body.compute(type_, f"add {rest.typed}, {right.text}")
    body.define(instruction, f"select {both.typed}, {moved.typed}, {rest.typed}")


def _float_modulo(body: Body, instruction: Instruction) -> None:
    """The remainder with the sign of the divisor."""
    left, right = operand_pair(body, instruction)
    type_, truth = left.type, with_element(left.type, BoolType("i1", 1, 1))
    rest = body.compute(type_, body.call_builtin("fmod", type_, [Argument(left), Argument(right)]))
    below = body.compute(truth, f"fcmp olt {rest.typed}, zeroinitializer")
    divisor = body.compute(truth, f"fcmp olt {right.typed}, zeroinitializer")
    is_other = body.compute(truth, f"xor {below.typed}, {divisor.text}")
    is_left = body.compute(truth, f"fcmp one {rest.typed}, zeroinitializer")
    both = body.compute(truth, f"and {is_other.typed}, {is_left.text}")
    moved = body.compute(type_, f"fadd {rest.typed}, {right.text}")
    body.define(instruction, f"select {both.typed}, {moved.typed}, {rest.typed}")


def _float_remainder(body: Body, instruction: Instruction) -> None:
    """The remainder with the sign of the dividend."""
    arguments = [Argument(value) for value in operand_pair(body, instruction)]
    body.define(instruction, body.call_builtin("fmod", arguments[0].value.type, arguments))


def _dot(body: Body, instruction: Instruction) -> None:
    arguments = [Argument(value) for value in operand_pair(body, instruction)]
    body.define(instruction, body.call_builtin("dot", body.result_type(instruction), arguments))


def _scale(body: Body, instruction: Instruction) -> None:
    vector, factor = body.operand(instruction, 0), body.operand(instruction, 1)
    if not isinstance(vector.type, VectorType):
        raise SpirvProblem(f"{instruction.name} of {vector.type.text}")
    type_ = vector.type
    single = body.compute(type_, f"insertelement {type_.text} poison, {factor.typed}, i32 0")
    mask = f"<{type_.count} x i32> zeroinitializer"
    wide = body.compute(type_, f"shufflevector {single.typed}, {type_.text} poison, {mask}")
    body.define(instruction, f"fmul {vector.typed}, {wide.text}")


def _intrinsic(name: str) -> _Handler:
    """A bit operation that LLVM has a function for."""

    def write(body: Body, instruction: Instruction) -> None:
        source, type_ = body.operand(instruction, 0), body.result_type(instruction)
        symbol = f"llvm.{name}.{_intrinsic_suffix(source.type)}"
        expression = body.call(symbol, source.type, [source])
        if type_.text == source.type.text:
            body.define(instruction, expression)
            return
        counted = body.compute(source.type, expression)
        opcode = "zext" if element_of(source.type).size < element_of(type_).size else "trunc"
        body.define(instruction, f"{opcode} {counted.typed} to {type_.text}")

    return write


def _intrinsic_suffix(type_: SpirvType) -> str:
    """How LLVM's functions name a type: `v4i32`."""
    element = element_of(type_)
    if not isinstance(element, IntType | FloatType):
        raise SpirvProblem(f"a function of the type {type_.text}")
    letter = "i" if isinstance(element, IntType) else "f"
    count = f"v{type_.count}" if isinstance(type_, VectorType) else ""
    return f"{count}{letter}{element.bits}"


def _classification(name: str) -> _Handler:
    """OpenCL C answers with int, or with -1 in the elements of a vector of the same width."""

    def write(body: Body, instruction: Instruction) -> None:
        source = body.operand(instruction, 0)
        answer = _truth_type(source.type)
        called = body.compute(answer, body.call_builtin(name, answer, [Argument(source)]))
        body.define(instruction, f"icmp ne {called.typed}, {splat(answer, 0).text}")

    return write


def _truth_type(type_: SpirvType) -> SpirvType:
    if not isinstance(type_, VectorType):
        return IntType("i32", 4, 4, bits=32)
    size = type_.element.size
    return with_element(type_, IntType(f"i{size * 8}", size, size, bits=size * 8))


def _any_or_all(name: str) -> _Handler:
    """OpenCL C's functions look at the highest bit of every element; LLVM gives them integers."""

    def write(body: Body, instruction: Instruction) -> None:
        source = body.operand(instruction, 0)
        if isinstance(element_of(source.type), BoolType):
            wide = with_element(source.type, IntType("i8", 1, 1, bits=8))
            source = body.compute(wide, f"sext {source.typed} to {wide.text}")
        answer = IntType("i32", 4, 4, bits=32)
        called = body.compute(answer, body.call_builtin(name, answer, [Argument(source)]))
        body.define(instruction, f"icmp ne {called.typed}, 0")

    return write


def _with_carry(opcode: str) -> _Handler:
    """A struct of the result and of the carry or borrow, 0 or 1."""

    def write(body: Body, instruction: Instruction) -> None:
        left, right = operand_pair(body, instruction)
        pair, type_ = _result_pair(body, instruction, left), left.type
        truth = with_element(type_, BoolType("i1", 1, 1))
        low = body.compute(type_, f"{opcode} {left.typed}, {right.text}")
        operands = (low, left) if opcode == "add" else (left, right)
        carried = body.compute(truth, f"icmp ult {operands[0].typed}, {operands[1].text}")
        high = body.compute(type_, f"zext {carried.typed} to {type_.text}")
        first = body.compute(pair, f"insertvalue {pair.text} undef, {low.typed}, 0")
        body.define(instruction, f"insertvalue {first.typed}, {high.typed}, 1")

    return write


def _extended_product(is_signed: bool) -> _Handler:
    """A struct of the low and the high half."""

    def write(body: Body, instruction: Instruction) -> None:
        left, right = operand_pair(body, instruction)
        pair, type_ = _result_pair(body, instruction, left), left.type
        low = body.compute(type_, f"mul {left.typed}, {right.text}")
        arguments = [Argument(left, is_signed), Argument(right, is_signed)]
        high = body.compute(type_, body.call_builtin("mul_hi", type_, arguments))
        first = body.compute(pair, f"insertvalue {pair.text} undef, {low.typed}, 0")
        body.define(instruction, f"insertvalue {first.typed}, {high.typed}, 1")

    return write


def _result_pair(body: Body, instruction: Instruction, operand: Value) -> StructType:
    pair = body.result_type(instruction)
    if not isinstance(pair, StructType) or [x.text for x in pair.members] != (
        [operand.type.text] * 2
    ):
        raise SpirvProblem(f"{instruction.name} gives no pair of {operand.type.text}")
    return pair


COMPOUND_ARITHMETIC: Mapping[str, _Handler] = {
    **{name: _classification(function) for name, function in _CLASSIFICATIONS.items()},
    "OpSMod": _signed_modulo,
    "OpFMod": _float_modulo,
    "OpFRem": _float_remainder,
    "OpDot": _dot,
    "OpVectorTimesScalar": _scale,
    "OpBitCount": _intrinsic("ctpop"),
    "OpBitReverse": _intrinsic("bitreverse"),
    "OpAny": _any_or_all("any"),
    "OpAll": _any_or_all("all"),
    "OpIAddCarry": _with_carry("add"),
    "OpISubBorrow": _with_carry("sub"),
    "OpUMulExtended": _extended_product(False),
    "OpSMulExtended": _extended_product(True),
}
