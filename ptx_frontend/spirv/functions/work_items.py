"""Reads built-in variables by calling the work-item functions of OpenCL C."""

from __future__ import annotations

from kernelcast.ptx_frontend.spirv.functions.body import Argument, Body
from kernelcast.ptx_frontend.spirv.functions.values import Value
from kernelcast.ptx_frontend.spirv.module.binary import Instruction
from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.types import IntType, SpirvType, VectorType

__all__ = ["read_dimension", "read_variable"]

_I32 = IntType("i32", 4, 4, bits=32)


def read_dimension(body: Body, instruction: Instruction, variable: int, index: Value) -> None:
    """One element of the variable as the result of the instruction."""
    type_ = body.result_type(instruction)
    if index.type.text != _I32.text:
        opcode = "trunc" if index.type.size > _I32.size else "zext"
        index = body.compute(_I32, f"{opcode} {index.typed} to i32")
    function = body.module.builtin_variables[variable].function
    body.define(instruction, _converted(body, function, [Argument(index, is_signed=False)], type_))


def read_variable(body: Body, instruction: Instruction, variable: int) -> None:
    """The whole variable as the result of the instruction."""
    found, type_ = body.module.builtin_variables[variable], body.result_type(instruction)
    if not found.is_vector:
        if isinstance(type_, VectorType):
            raise SpirvProblem(f"{found.function} gives no {type_.text}")
        body.define(instruction, _converted(body, found.function, [], type_))
        return
    if not isinstance(type_, VectorType) or type_.count != 3:
        raise SpirvProblem(f"{found.function} gives no {type_.text}")
    current = f"{type_.text} poison"
    for index in range(type_.count):
        argument = Argument(Value(_I32, str(index)), is_signed=False)
        expression = _converted(body, found.function, [argument], type_.element)
        element = body.compute(type_.element, expression)
        inserted = f"insertelement {current}, {element.typed}, i32 {index}"
        if index == type_.count - 1:
            body.define(instruction, inserted)
        else:
            current = body.compute(type_, inserted).typed


def _converted(body: Body, function: str, arguments: list[Argument], type_: SpirvType) -> str:
    """The expression of the call, with the width that the module wants."""
    found = next(x for x in body.module.builtin_variables.values() if x.function == function)
    given = body.module.types.size_type() if found.is_size else _I32
    if not isinstance(type_, IntType):
        raise SpirvProblem(f"{function} gives no {type_.text}")
    expression = body.call_builtin(function, given, arguments)
    if given.text == type_.text:
        return expression
    value = body.compute(given, expression)
    return f"{'zext' if given.bits < type_.bits else 'trunc'} {value.typed} to {type_.text}"
