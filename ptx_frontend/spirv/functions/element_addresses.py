"""The operands of `getelementptr` for SPIR-V's access chains."""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.ptx_frontend.spirv.functions.values import Value
from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.type_reader import TypeReader
from kernelcast.ptx_frontend.spirv.module.types import (
    ArrayType,
    IntType,
    PointerType,
    SpirvType,
    StructType,
    VectorType,
)

__all__ = ["address_operands", "member_type"]


def address_operands(types: TypeReader, operands: Sequence[Value], has_element: bool) -> list[str]:
    """[type, pointer, indexes ...] as LLVM writes them.

    `operands` are the pointer and the indexes; without `has_element` the first index steps into
    the object itself.
    """
    if not operands:
        raise SpirvProblem("an access chain has too few operands")
    pointer, indexes = operands[0], operands[1:]
    if not isinstance(pointer.type, PointerType):
        raise SpirvProblem("an access chain begins with no pointer")
    held = types.pointee(pointer.type)
    shown = [held.text, pointer.typed]
    if has_element:
        if not indexes:
            raise SpirvProblem("an access chain has too few operands")
        shown.append(_index(indexes[0]))
        indexes = indexes[1:]
    else:
        shown.append("i32 0")
    for index in indexes:
        if isinstance(held, StructType):
            shown.append(f"i32 {index.bits}")
        else:
            shown.append(_index(index))
        held = member_type(held, index.bits)
    return shown


def member_type(aggregate: SpirvType, index: int | None) -> SpirvType:
    """What lies at an index, which only arrays and vectors take as a variable."""
    if isinstance(aggregate, ArrayType | VectorType):
        return aggregate.element
    if not isinstance(aggregate, StructType):
        raise SpirvProblem(f"the type {aggregate.text} has no members")
    if index is None or index >= len(aggregate.members):
        raise SpirvProblem(f"the type {aggregate.text} has no such member")
    return aggregate.members[index]


def _index(index: Value) -> str:
    if not isinstance(index.type, IntType):
        raise SpirvProblem("an index is no integer")
    return index.typed
