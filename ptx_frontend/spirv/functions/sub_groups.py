"""What the work-items of a sub-group do together: calls of OpenCL C's functions.

Instructions of the groups GroupNonUniform, KHR and Intel; those of the first come in two scopes, of
which OpenCL has the sub-group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kernelcast.ptx_frontend.spirv.functions.body import Argument, Body
from kernelcast.ptx_frontend.spirv.functions.synchronisation import CONVERGENT, group_prefix
from kernelcast.ptx_frontend.spirv.functions.values import Value
from kernelcast.ptx_frontend.spirv.module.binary import Instruction
from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.types import (
    BoolType,
    IntType,
    SpirvType,
    VectorType,
    VoidType,
)

__all__ = ["SUB_GROUPS"]

_Handler = Callable[[Body, Instruction], None]
_I32 = IntType("i32", 4, 4, bits=32)
_VOID = VoidType("void")
_MASK = VectorType("<4 x i32>", 16, 16, element=_I32, count=4)
_OPERATIONS = (
    *("sub_group_non_uniform_reduce_{}", "sub_group_non_uniform_scan_inclusive_{}"),
    *("sub_group_non_uniform_scan_exclusive_{}", "sub_group_clustered_reduce_{}"),
)
"""Reduce, InclusiveScan, ExclusiveScan and ClusteredReduce."""
_COUNTS = ("bit_count", "inclusive_scan", "exclusive_scan")


def _sub_group(body: Body, instruction: Instruction) -> None:
    if group_prefix(body, instruction) != "sub_group":
        raise SpirvProblem(
            f"{instruction.name} of a work-group is not supported", is_unsupported=True
        )


def _wide(body: Body, value: Value) -> Value:
    """OpenCL C takes int for what is true or false."""
    if not isinstance(value.type, BoolType):
        return value
    return body.compute(_I32, f"zext {value.typed} to i32")


def _give(
    body: Body, instruction: Instruction, name: str, type_: SpirvType, arguments: list[Argument]
) -> None:
    """The result of the call; Booleans are int in OpenCL C."""
    if not isinstance(type_, BoolType):
        body.define(instruction, body.call_builtin(name, type_, arguments, CONVERGENT))
        return
    answer = body.compute(_I32, body.call_builtin(name, _I32, arguments, CONVERGENT))
    body.define(instruction, f"icmp ne {answer.typed}, 0")


def _function(name: str, count: int, has_scope: bool = True) -> _Handler:
    """A function of the first `count` operands after the scope; all but the first are unsigned."""

    def write(body: Body, instruction: Instruction) -> None:
        if has_scope:
            _sub_group(body, instruction)
        operands = [body.operand(instruction, has_scope + index) for index in range(count)]
        arguments = [
            Argument(
                _wide(body, operand), is_signed=number == 0 and operand.type.text != _MASK.text
            )
            for number, operand in enumerate(operands)
        ]
        _give(body, instruction, name, body.result_type(instruction), arguments)

    return write


def _ballot_count(body: Body, instruction: Instruction) -> None:
    _sub_group(body, instruction)
    number = instruction.operand(1)
    if number >= len(_COUNTS):
        raise SpirvProblem(f"{instruction.name} of group operation {number}")
    arguments = [Argument(body.operand(instruction, 2), is_signed=False)]
    name = f"sub_group_ballot_{_COUNTS[number]}"
    _give(body, instruction, name, body.result_type(instruction), arguments)


def _rotate(body: Body, instruction: Instruction) -> None:
    is_clustered = len(instruction.operands) > 3
    name = "sub_group_clustered_rotate" if is_clustered else "sub_group_rotate"
    _function(name, 3 if is_clustered else 2)(body, instruction)


def _collective(operation: str, is_signed: bool = True) -> _Handler:
    def write(body: Body, instruction: Instruction) -> None:
        _sub_group(body, instruction)
        number, value = instruction.operand(1), body.operand(instruction, 2)
        if number >= len(_OPERATIONS):
            raise SpirvProblem(
                f"{instruction.name} of group operation {number} is not supported",
                is_unsupported=True,
            )
        arguments = [Argument(_wide(body, value), is_signed)]
        if len(instruction.operands) > 3:
            arguments.append(Argument(body.operand(instruction, 3), is_signed=False))
        name = _OPERATIONS[number].format(operation)
        _give(body, instruction, name, value.type, arguments)

    return write


def _block_read(body: Body, instruction: Instruction) -> None:
    pointer, type_ = body.operand(instruction, 0), body.result_type(instruction)
    arguments = [_block_pointer(body, pointer, "K")]
    name = f"intel_sub_group_block_read{_count(type_)}"
    body.define(instruction, body.call_builtin(name, type_, arguments, CONVERGENT))


def _block_write(body: Body, instruction: Instruction) -> None:
    pointer, value = body.operand(instruction, 0), body.operand(instruction, 1)
    arguments = [_block_pointer(body, pointer, ""), Argument(value, is_signed=False)]
    name = f"intel_sub_group_block_write{_count(value.type)}"
    body.emit(body.call_builtin(name, _VOID, arguments, CONVERGENT))


def _block_pointer(body: Body, pointer: Value, qualifiers: str) -> Argument:
    return Argument(pointer, False, body.pointee(pointer), qualifiers)


def _count(type_: SpirvType) -> str:
    """How the name of a function for vectors ends."""
    return str(type_.count) if isinstance(type_, VectorType) else ""


_ARITHMETIC: Mapping[str, tuple[str, bool]] = {
    "IAdd": ("add", True),
    "FAdd": ("add", True),
    "IMul": ("mul", True),
    "FMul": ("mul", True),
    "SMin": ("min", True),
    "UMin": ("min", False),
    "FMin": ("min", True),
    "SMax": ("max", True),
    "UMax": ("max", False),
    "FMax": ("max", True),
    "BitwiseAnd": ("and", True),
    "BitwiseOr": ("or", True),
    "BitwiseXor": ("xor", True),
    "LogicalAnd": ("logical_and", True),
    "LogicalOr": ("logical_or", True),
    "LogicalXor": ("logical_xor", True),
}
_NON_UNIFORM = {
    "Elect": _function("sub_group_elect", 0),
    "All": _function("sub_group_non_uniform_all", 1),
    "Any": _function("sub_group_non_uniform_any", 1),
    "AllEqual": _function("sub_group_non_uniform_all_equal", 1),
    "Broadcast": _function("sub_group_non_uniform_broadcast", 2),
    "BroadcastFirst": _function("sub_group_broadcast_first", 1),
    "Ballot": _function("sub_group_ballot", 1),
    "InverseBallot": _function("sub_group_inverse_ballot", 1),
    "BallotBitExtract": _function("sub_group_ballot_bit_extract", 2),
    "BallotBitCount": _ballot_count,
    "BallotFindLSB": _function("sub_group_ballot_find_lsb", 1),
    "BallotFindMSB": _function("sub_group_ballot_find_msb", 1),
    "Shuffle": _function("sub_group_shuffle", 2),
    "ShuffleXor": _function("sub_group_shuffle_xor", 2),
    "ShuffleUp": _function("sub_group_shuffle_up", 2),
    "ShuffleDown": _function("sub_group_shuffle_down", 2),
    "RotateKHR": _rotate,
    **{name: _collective(*how) for name, how in _ARITHMETIC.items()},
}

SUB_GROUPS: Mapping[str, _Handler] = {
    **{f"OpGroupNonUniform{name}": write for name, write in _NON_UNIFORM.items()},
    "OpSubgroupBallotKHR": _function("sub_group_ballot", 1, has_scope=False),
    "OpSubgroupFirstInvocationKHR": _function("sub_group_broadcast_first", 1, has_scope=False),
    "OpSubgroupAllKHR": _function("sub_group_all", 1, has_scope=False),
    "OpSubgroupAnyKHR": _function("sub_group_any", 1, has_scope=False),
    "OpSubgroupAllEqualKHR": _function("sub_group_non_uniform_all_equal", 1, has_scope=False),
    "OpSubgroupReadInvocationKHR": _function("sub_group_shuffle", 2, has_scope=False),
    "OpSubgroupShuffleINTEL": _function("intel_sub_group_shuffle", 2, has_scope=False),
    "OpSubgroupShuffleXorINTEL": _function("intel_sub_group_shuffle_xor", 2, has_scope=False),
    "OpSubgroupShuffleDownINTEL": _function("intel_sub_group_shuffle_down", 3, has_scope=False),
    "OpSubgroupShuffleUpINTEL": _function("intel_sub_group_shuffle_up", 3, has_scope=False),
    "OpSubgroupBlockReadINTEL": _block_read,
    "OpSubgroupBlockWriteINTEL": _block_write,
}
