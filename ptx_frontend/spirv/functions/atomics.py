"""Atomic operations: functions of OpenCL 1.2, or LLVM's own instructions where it has none."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kernelcast.ptx_frontend.spirv.functions.body import Argument, Body
from kernelcast.ptx_frontend.spirv.functions.values import Value
from kernelcast.ptx_frontend.spirv.module.binary import Instruction
from kernelcast.ptx_frontend.spirv.module.constants import integer
from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.types import FloatType, IntType, SpirvType

__all__ = ["ATOMICS"]

_Handler = Callable[[Body, Instruction], None]
_VALUE_OPERAND = 3
"""The index of the value: after the pointer, the scope and the order."""
_I32 = IntType("i32", 4, 4, bits=32)


def _expression(
    body: Body, name: str, pointer: Value, values: list[Value], is_signed: bool, type_: SpirvType
) -> str:
    """`atomic_` for 32 bits, `atom_` of the extensions for 64."""
    body.pointee(pointer)
    if not isinstance(type_, IntType | FloatType) or type_.bits not in (32, 64):
        raise SpirvProblem(f"atomics of {type_.text} are not supported", is_unsupported=True)
    if any(value.type.text != type_.text for value in values):
        raise SpirvProblem(f"an atomic of {type_.text} takes a value of another type")
    prefix = "atomic" if type_.bits == 32 else "atom"
    place = Argument(pointer, is_signed, type_, "V")
    arguments = [place, *(Argument(value, is_signed) for value in values)]
    return body.call_builtin(f"{prefix}_{name}", type_, arguments)


def _update(name: str, is_signed: bool = True) -> _Handler:
    def write(body: Body, instruction: Instruction) -> None:
        values = [body.operand(instruction, _VALUE_OPERAND)]
        pointer, type_ = body.operand(instruction, 0), body.result_type(instruction)
        body.define(instruction, _expression(body, name, pointer, values, is_signed, type_))

    return write


def _step(name: str) -> _Handler:
    def write(body: Body, instruction: Instruction) -> None:
        pointer, type_ = body.operand(instruction, 0), body.result_type(instruction)
        body.define(instruction, _expression(body, name, pointer, [], True, type_))

    return write


def _compare_exchange(body: Body, instruction: Instruction) -> None:
    """SPIR-V names the new value before the one that is compared."""
    pointer, type_ = body.operand(instruction, 0), body.result_type(instruction)
    value, comparator = body.operand(instruction, 4), body.operand(instruction, 5)
    values = [comparator, value]
    body.define(instruction, _expression(body, "cmpxchg", pointer, values, True, type_))


def _load(body: Body, instruction: Instruction) -> None:
    pointer, type_ = body.operand(instruction, 0), body.result_type(instruction)
    body.pointee(pointer)
    expression = f"load atomic {type_.text}, {pointer.typed} seq_cst, align {type_.align}"
    body.define(instruction, expression)


def _store(body: Body, instruction: Instruction) -> None:
    pointer, value = body.operand(instruction, 0), body.operand(instruction, _VALUE_OPERAND)
    body.pointee(pointer)
    body.emit(f"store atomic {value.typed}, {pointer.typed} seq_cst, align {value.type.align}")


def _flag_set(body: Body, instruction: Instruction) -> None:
    """Whether the flag was set before."""
    pointer = body.operand(instruction, 0)
    expression = _expression(body, "xchg", pointer, [integer(_I32, 1)], True, _I32)
    old = body.compute(_I32, expression)
    body.define(instruction, f"icmp ne {old.typed}, 0")


def _flag_clear(body: Body, instruction: Instruction) -> None:
    pointer = body.operand(instruction, 0)
    body.pointee(pointer)
    body.emit(f"store atomic i32 0, {pointer.typed} seq_cst, align 4")


def _float_update(operation: str) -> _Handler:
    def write(body: Body, instruction: Instruction) -> None:
        pointer, value = body.operand(instruction, 0), body.operand(instruction, _VALUE_OPERAND)
        body.pointee(pointer)
        body.define(instruction, f"atomicrmw {operation} {pointer.typed}, {value.typed} seq_cst")

    return write


ATOMICS: Mapping[str, _Handler] = {
    "OpAtomicLoad": _load,
    "OpAtomicStore": _store,
    "OpAtomicExchange": _update("xchg"),
    "OpAtomicCompareExchange": _compare_exchange,
    "OpAtomicCompareExchangeWeak": _compare_exchange,
    "OpAtomicIIncrement": _step("inc"),
    "OpAtomicIDecrement": _step("dec"),
    "OpAtomicIAdd": _update("add"),
    "OpAtomicISub": _update("sub"),
    "OpAtomicSMin": _update("min"),
    "OpAtomicUMin": _update("min", is_signed=False),
    "OpAtomicSMax": _update("max"),
    "OpAtomicUMax": _update("max", is_signed=False),
    "OpAtomicAnd": _update("and"),
    "OpAtomicOr": _update("or"),
    "OpAtomicXor": _update("xor"),
    "OpAtomicFlagTestAndSet": _flag_set,
    "OpAtomicFlagClear": _flag_clear,
    "OpAtomicFAddEXT": _float_update("fadd"),
    "OpAtomicFMinEXT": _float_update("fmin"),
    "OpAtomicFMaxEXT": _float_update("fmax"),
}
