"""Barriers, fences and what the work-items of a group do together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum

from kernelcast.ptx_frontend.spirv.functions.body import Argument, Body
from kernelcast.ptx_frontend.spirv.module.binary import Instruction
from kernelcast.ptx_frontend.spirv.module.constants import integer
from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.types import BoolType, IntType, VectorType, VoidType

__all__ = ["CONVERGENT", "SYNCHRONISATION", "group_prefix"]

_Handler = Callable[[Body, Instruction], None]
_I32 = IntType("i32", 4, 4, bits=32)
_VOID = VoidType("void")
CONVERGENT = "convergent nounwind"
_FENCE_FLAGS = {0x100: 1, 0x200: 2, 0x800: 4}
"""WorkgroupMemory, CrossWorkgroupMemory and ImageMemory as OpenCL C's CLK_..._MEM_FENCE."""
_ACQUIRE, _RELEASE, _BOTH = 0x2, 0x4, 0x18


class _Scope(IntEnum):
    WORKGROUP = 2
    SUBGROUP = 3


_PREFIXES = {_Scope.WORKGROUP: "work_group", _Scope.SUBGROUP: "sub_group"}
_OPERATIONS = ("reduce_{}", "scan_inclusive_{}", "scan_exclusive_{}")
"""Reduce, InclusiveScan and ExclusiveScan."""


def _constant(body: Body, instruction: Instruction, index: int) -> int:
    bits = body.operand(instruction, index).bits
    if bits is None:
        raise SpirvProblem(
            f"{instruction.name} with a scope or order that is no constant is not supported",
            is_unsupported=True,
        )
    return bits


def group_prefix(body: Body, instruction: Instruction) -> str:
    """How the functions of the scope begin."""
    number = _constant(body, instruction, 0)
    if number not in set(_Scope):
        raise SpirvProblem(
            f"{instruction.name} in scope {number} is not supported", is_unsupported=True
        )
    return _PREFIXES[_Scope(number)]


def _flags(semantics: int) -> Argument:
    flags = sum(flag for bit, flag in _FENCE_FLAGS.items() if semantics & bit)
    return Argument(integer(_I32, flags), is_signed=False)


def _barrier(body: Body, instruction: Instruction) -> None:
    prefix = group_prefix(body, instruction)
    name = "barrier" if prefix == "work_group" else "sub_group_barrier"
    flags = _flags(_constant(body, instruction, 2))
    body.emit(body.call_builtin(name, _VOID, [flags], CONVERGENT))


def _fence(body: Body, instruction: Instruction) -> None:
    semantics = _constant(body, instruction, 1)
    name = "mem_fence"
    if not semantics & _BOTH and bool(semantics & _ACQUIRE) != bool(semantics & _RELEASE):
        name = "read_mem_fence" if semantics & _ACQUIRE else "write_mem_fence"
    body.emit(body.call_builtin(name, _VOID, [_flags(semantics)]))


def _vote(name: str) -> _Handler:
    """OpenCL C takes and gives int."""

    def write(body: Body, instruction: Instruction) -> None:
        prefix, predicate = group_prefix(body, instruction), body.operand(instruction, 1)
        wide = body.compute(_I32, f"zext {predicate.typed} to i32")
        call = body.call_builtin(f"{prefix}_{name}", _I32, [Argument(wide)], CONVERGENT)
        answer = body.compute(_I32, call)
        body.define(instruction, f"icmp ne {answer.typed}, 0")

    return write


def _broadcast(body: Body, instruction: Instruction) -> None:
    """A place of two or three dimensions is a vector in SPIR-V and arguments in OpenCL C."""
    prefix, value = group_prefix(body, instruction), body.operand(instruction, 1)
    place = body.operand(instruction, 2)
    places = [place]
    if isinstance(place.type, VectorType):
        places = [
            body.compute(place.type.element, f"extractelement {place.typed}, i32 {index}")
            for index in range(place.type.count)
        ]
    arguments = [Argument(value), *(Argument(x, is_signed=False) for x in places)]
    expression = body.call_builtin(f"{prefix}_broadcast", value.type, arguments, CONVERGENT)
    body.define(instruction, expression)


def _collective(operation: str, is_signed: bool = True) -> _Handler:
    def write(body: Body, instruction: Instruction) -> None:
        prefix, value = group_prefix(body, instruction), body.operand(instruction, 2)
        number = instruction.operand(1)
        if number >= len(_OPERATIONS):
            raise SpirvProblem(
                f"{instruction.name} of group operation {number} is not supported",
                is_unsupported=True,
            )
        name = f"{prefix}_{_OPERATIONS[number].format(operation)}"
        if not isinstance(value.type, BoolType):
            arguments = [Argument(value, is_signed)]
            body.define(instruction, body.call_builtin(name, value.type, arguments, CONVERGENT))
            return
        wide = Argument(body.compute(_I32, f"zext {value.typed} to i32"))
        answer = body.compute(_I32, body.call_builtin(name, _I32, [wide], CONVERGENT))
        body.define(instruction, f"icmp ne {answer.typed}, 0")

    return write


def _copy(body: Body, instruction: Instruction) -> None:
    target, source, count, stride, event = (body.operand(instruction, x) for x in range(1, 6))
    held, type_ = body.pointee(target), body.result_type(instruction)
    if held.text != body.pointee(source).text:
        raise SpirvProblem("OpGroupAsyncCopy between different types")
    arguments = [
        Argument(target, pointee=held),
        Argument(source, pointee=held, qualifiers="K"),
        Argument(count, is_signed=False),
    ]
    name = "async_work_group_copy"
    if stride.bits != 1:
        name = "async_work_group_strided_copy"
        arguments.append(Argument(stride, is_signed=False))
    arguments.append(Argument(event))
    body.define(instruction, body.call_builtin(name, type_, arguments, CONVERGENT))


def _wait(body: Body, instruction: Instruction) -> None:
    count, events = body.operand(instruction, 1), body.operand(instruction, 2)
    arguments = [Argument(count), Argument(events, pointee=body.pointee(events))]
    body.emit(body.call_builtin("wait_group_events", _VOID, arguments, CONVERGENT))


SYNCHRONISATION: Mapping[str, _Handler] = {
    "OpControlBarrier": _barrier,
    "OpMemoryBarrier": _fence,
    "OpGroupAll": _vote("all"),
    "OpGroupAny": _vote("any"),
    "OpGroupBroadcast": _broadcast,
    "OpGroupIAdd": _collective("add"),
    "OpGroupFAdd": _collective("add"),
    "OpGroupFMin": _collective("min"),
    "OpGroupUMin": _collective("min", is_signed=False),
    "OpGroupSMin": _collective("min"),
    "OpGroupFMax": _collective("max"),
    "OpGroupUMax": _collective("max", is_signed=False),
    "OpGroupSMax": _collective("max"),
    **{
        f"OpGroup{name}KHR": _collective(operation)
        for name, operation in (
            *(("IMul", "mul"), ("FMul", "mul"), ("BitwiseAnd", "and"), ("BitwiseOr", "or")),
            *(("BitwiseXor", "xor"), ("LogicalAnd", "logical_and"), ("LogicalOr", "logical_or")),
            ("LogicalXor", "logical_xor"),
        )
    },
    "OpGroupAsyncCopy": _copy,
    "OpGroupWaitEvents": _wait,
}
