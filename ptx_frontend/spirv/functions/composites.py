"""Vectors, arrays and structs as values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kernelcast.ptx_frontend.spirv.functions.body import Body
from kernelcast.ptx_frontend.spirv.functions.element_addresses import member_type
from kernelcast.ptx_frontend.spirv.functions.values import Value
from kernelcast.ptx_frontend.spirv.functions.work_items import read_dimension
from kernelcast.ptx_frontend.spirv.module.binary import Instruction
from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.types import (
    ArrayType,
    IntType,
    SpirvType,
    StructType,
    VectorType,
)

__all__ = ["COMPOSITES"]

_Handler = Callable[[Body, Instruction], None]
_UNDEFINED_ELEMENT = 0xFFFFFFFF


def _vector_of(value: Value) -> VectorType:
    if not isinstance(value.type, VectorType):
        raise SpirvProblem(f"{value.typed} is no vector")
    return value.type


def _extract_dynamic(body: Body, instruction: Instruction) -> None:
    variable = body.builtin_loads.get(instruction.operand(0))
    index = body.operand(instruction, 1)
    if not isinstance(index.type, IntType):
        raise SpirvProblem("the index of an element is no integer")
    if variable is not None:
        read_dimension(body, instruction, variable, index)
        return
    vector = body.operand(instruction, 0)
    _vector_of(vector)
    body.define(instruction, f"extractelement {vector.typed}, {index.typed}")


def _insert_dynamic(body: Body, instruction: Instruction) -> None:
    vector, element, index = (body.operand(instruction, x) for x in range(3))
    _vector_of(vector)
    body.define(instruction, f"insertelement {vector.typed}, {element.typed}, {index.typed}")


def _shuffle(body: Body, instruction: Instruction) -> None:
    """LLVM wants two vectors of one size: the shorter is filled up."""
    left, right = body.operand(instruction, 0), body.operand(instruction, 1)
    counts = _vector_of(left).count, _vector_of(right).count
    size = max(counts)
    mask = []
    for index in instruction.operands[2:]:
        if index == _UNDEFINED_ELEMENT:
            mask.append("i32 poison")
        elif index >= sum(counts):
            raise SpirvProblem(f"OpVectorShuffle takes element {index} of {sum(counts)}")
        else:
            mask.append(f"i32 {index if index < counts[0] else index - counts[0] + size}")
    left, right = _filled(body, left, size), _filled(body, right, size)
    if not mask:
        raise SpirvProblem("OpVectorShuffle has too few operands")
    shown = f"<{len(mask)} x i32> <{', '.join(mask)}>"
    body.define(instruction, f"shufflevector {left.typed}, {right.typed}, {shown}")


def _filled(body: Body, value: Value, size: int) -> Value:
    type_ = _vector_of(value)
    if type_.count == size:
        return value
    element = type_.element
    wide = VectorType(f"<{size} x {element.text}>", element=element, count=size)
    mask = ", ".join(f"i32 {x}" if x < type_.count else "i32 poison" for x in range(size))
    operands = f"{value.typed}, {type_.text} poison, <{size} x i32> <{mask}>"
    return body.compute(wide, f"shufflevector {operands}")


def _construct(body: Body, instruction: Instruction) -> None:
    type_ = body.result_type(instruction)
    parts = [body.value(x) for x in instruction.operands]
    if isinstance(type_, VectorType):
        parts = _elements(body, parts)
        expected: Sequence[SpirvType] = [type_.element] * type_.count
        opcode = "insertelement"
    elif isinstance(type_, ArrayType) and type_.count == len(parts):
        expected, opcode = [type_.element] * type_.count, "insertvalue"
    elif isinstance(type_, StructType):
        expected, opcode = type_.members, "insertvalue"
    else:
        raise SpirvProblem(f"OpCompositeConstruct of {type_.text}")
    if [x.type.text for x in parts] != [x.text for x in expected] or not parts:
        raise SpirvProblem(f"the members of OpCompositeConstruct do not make {type_.text}")
    current = f"{type_.text} poison"
    for index, part in enumerate(parts):
        place = f"i32 {index}" if opcode == "insertelement" else f"{index}"
        expression = f"{opcode} {current}, {part.typed}, {place}"
        if index == len(parts) - 1:
            body.define(instruction, expression)
        else:
            current = body.compute(type_, expression).typed


def _elements(body: Body, parts: list[Value]) -> list[Value]:
    """The scalars, from vectors too."""
    found = []
    for part in parts:
        if isinstance(part.type, VectorType):
            for index in range(part.type.count):
                expression = f"extractelement {part.typed}, i32 {index}"
                found.append(body.compute(part.type.element, expression))
        else:
            found.append(part)
    return found


def _extract(body: Body, instruction: Instruction) -> None:
    variable = body.builtin_loads.get(instruction.operand(0))
    if variable is not None:
        index = Value(IntType("i32", 4, 4, bits=32), str(instruction.operand(1)))
        read_dimension(body, instruction, variable, index)
        return
    value, path = body.operand(instruction, 0), instruction.operands[1:]
    if not path:
        raise SpirvProblem("OpCompositeExtract has too few operands")
    outer, element = _split(value.type, path)
    if outer and element is None:
        body.define(instruction, f"extractvalue {value.typed}, {_shown(outer)}")
        return
    if outer:
        type_ = _member(value.type, outer)
        value = body.compute(type_, f"extractvalue {value.typed}, {_shown(outer)}")
    body.define(instruction, f"extractelement {value.typed}, i32 {element}")


def _insert(body: Body, instruction: Instruction) -> None:
    part, value = body.operand(instruction, 0), body.operand(instruction, 1)
    path = instruction.operands[2:]
    if not path:
        raise SpirvProblem("OpCompositeInsert has too few operands")
    outer, element = _split(value.type, path)
    if element is None:
        body.define(instruction, f"insertvalue {value.typed}, {part.typed}, {_shown(outer)}")
        return
    if not outer:
        body.define(instruction, f"insertelement {value.typed}, {part.typed}, i32 {element}")
        return
    type_ = _member(value.type, outer)
    vector = body.compute(type_, f"extractvalue {value.typed}, {_shown(outer)}")
    changed = body.compute(type_, f"insertelement {vector.typed}, {part.typed}, i32 {element}")
    body.define(instruction, f"insertvalue {value.typed}, {changed.typed}, {_shown(outer)}")


def _split(type_: SpirvType, path: Sequence[int]) -> tuple[Sequence[int], int | None]:
    """The indexes of aggregates, and that of the element of a vector."""
    held = type_
    for position, index in enumerate(path):
        if isinstance(held, VectorType):
            if position != len(path) - 1 or index >= held.count:
                raise SpirvProblem(f"the type {type_.text} has no such member")
            return path[:-1], index
        if isinstance(held, ArrayType) and index >= held.count:
            raise SpirvProblem(f"the type {type_.text} has no such member")
        held = member_type(held, index)
    return path, None


def _member(type_: SpirvType, path: Sequence[int]) -> SpirvType:
    for index in path:
        type_ = member_type(type_, index)
    return type_


def _shown(path: Sequence[int]) -> str:
    return ", ".join(map(str, path))


def _copy(body: Body, instruction: Instruction) -> None:
    value = body.operand(instruction, 0)
    if value.type.text != body.result_type(instruction).text:
        raise SpirvProblem("OpCopyObject changes the type")
    body.set_value(instruction.result, value)


def _undefined(body: Body, instruction: Instruction) -> None:
    body.set_value(instruction.result, Value(body.result_type(instruction), "undef"))


COMPOSITES: Mapping[str, _Handler] = {
    "OpVectorExtractDynamic": _extract_dynamic,
    "OpVectorInsertDynamic": _insert_dynamic,
    "OpVectorShuffle": _shuffle,
    "OpCompositeConstruct": _construct,
    "OpCompositeExtract": _extract,
    "OpCompositeInsert": _insert,
    "OpCopyObject": _copy,
    "OpUndef": _undefined,
}
