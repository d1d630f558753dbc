"""`OpExtInst` of OpenCL.std: calls of the functions of OpenCL C."""

from __future__ import annotations

from kernelcast.ptx_frontend.spirv.functions.body import Argument, Body
from kernelcast.ptx_frontend.spirv.functions.values import Value
from kernelcast.ptx_frontend.spirv.module.binary import Instruction
from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.published_tables import extended_names
from kernelcast.ptx_frontend.spirv.module.types import (
    FloatType,
    OpaqueType,
    PointerType,
    SpirvType,
    VectorType,
    VoidType,
)

__all__ = ["write_extended"]

_RENAMED = {"fclamp": "clamp", "fmax_common": "max", "fmin_common": "min"}
_UNSIGNED = ("nan", "vloadn", "vload_half", "vload_halfn", "vloada_halfn", "prefetch")
"""Functions with unsigned operands besides those that begin with `u_`."""
_ROUNDINGS = ("_rte", "_rtz", "_rtp", "_rtn")
_HALF = FloatType("half", 2, 2, bits=16)
_READ_ONLY = ("vload", "vloada_half", "prefetch")


def write_extended(body: Body, instruction: Instruction) -> None:
    """The operands after the set and the number of the instruction are the arguments."""
    module = body.module
    if module.is_debug_set(instruction.operand(0)):
        return
    if instruction.operand(0) not in module.extended_sets:
        raise SpirvProblem(f"%{instruction.operand(0)} is no instruction set")
    number = instruction.operand(1)
    name = extended_names().get(number)
    if name is None:
        raise SpirvProblem(f"OpenCL.std has no instruction {number}")
    if name == "printf":
        _print(body, instruction)
        return
    function, words = _function(body, name, instruction.operands[2:])
    values = [body.value(x) for x in words]
    arguments = [_argument(body, name, index, values) for index in range(len(values))]
    returned = module.types.type(instruction.type_id)
    expression = body.call_builtin(function, returned, arguments)
    if isinstance(returned, VoidType):
        body.emit(expression)
    else:
        body.define(instruction, expression)


def _function(body: Body, name: str, words: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """OpenCL C's name, which holds what SPIR-V has as literals, and the other operands."""
    if not name.startswith(("vload", "vstore")):
        return _RENAMED.get(name, name.removeprefix("s_").removeprefix("u_")), words
    if not words:
        raise SpirvProblem(f"{name} has too few operands")
    count, ending = "", ""
    if name.endswith("_r"):
        rounding, words = words[-1], words[:-1]
        if rounding >= len(_ROUNDINGS) or not words:
            raise SpirvProblem(f"rounding mode {rounding} is not supported", is_unsupported=True)
        name, ending = name.removesuffix("_r"), _ROUNDINGS[rounding]
    if name.endswith("n"):
        name = name.removesuffix("n")
        if name.startswith("vload"):
            count, words = str(words[-1]), words[:-1]
        else:
            stored = body.value(words[0]).type
            count = str(stored.count) if isinstance(stored, VectorType) else ""
    return f"{name}{count}{ending}", words


def _argument(body: Body, name: str, index: int, values: list[Value]) -> Argument:
    value = values[index]
    is_signed = not name.startswith("u_") and name not in _UNSIGNED
    if name in ("shuffle", "shuffle2"):
        is_signed = index != len(values) - 1
    elif name.startswith("vstore"):
        is_signed = index != 1
    elif name == "s_upsample":
        is_signed = index == 0
    if not isinstance(value.type, PointerType):
        return Argument(value, is_signed)
    pointee = _pointee(body, name, value)
    return Argument(value, True, pointee, "K" if name.startswith(_READ_ONLY) else "")


def _pointee(body: Body, name: str, pointer: Value) -> SpirvType:
    """The type pointed to; of the half functions it is half, however the module declares it."""
    held = body.pointee(pointer)
    return _HALF if "half" in name and not isinstance(held, OpaqueType) else held


def _print(body: Body, instruction: Instruction) -> None:
    """`printf` takes any number of arguments, and keeps its name."""
    values = [body.value(x) for x in instruction.operands[2:]]
    if not values or not isinstance(values[0].type, PointerType):
        raise SpirvProblem("printf without a format")
    returned = body.result_type(instruction)
    types = f"{values[0].type.text}, ..."
    body.declarations.declare("printf", returned.text, [types])
    shown = ", ".join(value.typed for value in values)
    signature = f"{returned.text} ({types})"
    body.define(instruction, f"call spir_func {signature} @printf({shown})")
