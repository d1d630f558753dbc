"""Conversions between types; those that saturate or round are functions of OpenCL C."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kernelcast.ptx_frontend.spirv.functions.arithmetic import element_of
from kernelcast.ptx_frontend.spirv.functions.body import Argument, Body
from kernelcast.ptx_frontend.spirv.functions.mangling import type_name
from kernelcast.ptx_frontend.spirv.module.binary import Instruction
from kernelcast.ptx_frontend.spirv.module.decorations import Decoration
from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.types import (
    FloatType,
    IntType,
    PointerType,
    SpirvType,
    VectorType,
)

__all__ = ["CONVERSIONS"]

_Handler = Callable[[Body, Instruction], None]
_ROUNDINGS = ("_rte", "_rtz", "_rtp", "_rtn")


def _number_bits(type_: SpirvType, kind: type[IntType] | type[FloatType]) -> int:
    element = element_of(type_)
    if not isinstance(element, kind):
        raise SpirvProblem(f"a conversion of the type {type_.text}")
    return element.bits


def _count(type_: SpirvType) -> int:
    return type_.count if isinstance(type_, VectorType) else 1


def _conversion(
    opcodes: tuple[str, str],
    kinds: tuple[type[IntType] | type[FloatType], type[IntType] | type[FloatType]],
    signs: tuple[bool, bool],
    always_saturates: bool = False,
) -> _Handler:
    """`opcodes` to a narrower and to a wider type; `kinds` and `signs` of source and result."""

    def write(body: Body, instruction: Instruction) -> None:
        source, type_ = body.operand(instruction, 0), body.result_type(instruction)
        before, after = _number_bits(source.type, kinds[0]), _number_bits(type_, kinds[1])
        if _count(source.type) != _count(type_):
            raise SpirvProblem(f"{instruction.name} from {source.type.text} to {type_.text}")
        suffix = _suffix(body, instruction.result, always_saturates)
        if suffix:
            name = f"convert_{type_name(type_, signs[1])}{suffix}"
            body.define(instruction, body.call_builtin(name, type_, [Argument(source, signs[0])]))
        else:
            opcode = opcodes[after > before]
            if after == before and opcodes[0] != opcodes[1]:
                opcode = "bitcast"
            body.define(instruction, f"{opcode} {source.typed} to {type_.text}")

    return write


def _suffix(body: Body, identifier: int, always_saturates: bool) -> str:
    """The suffix of the function's name, as in `convert_uchar_sat_rte`."""
    decorations = body.module.decorations
    saturates = always_saturates or decorations.has(identifier, Decoration.SATURATED_CONVERSION)
    rounding = decorations.literal(identifier, Decoration.ROUNDING_MODE)
    if rounding is not None and rounding >= len(_ROUNDINGS):
        raise SpirvProblem(f"rounding mode {rounding} is not supported", is_unsupported=True)
    return ("_sat" if saturates else "") + (_ROUNDINGS[rounding] if rounding is not None else "")


def _bitcast(body: Body, instruction: Instruction) -> None:
    source, type_ = body.operand(instruction, 0), body.result_type(instruction)
    is_pointer = isinstance(source.type, PointerType), isinstance(type_, PointerType)
    opcode = {(True, False): "ptrtoint", (False, True): "inttoptr"}.get(is_pointer, "bitcast")
    if is_pointer == (True, True) and source.type.text == type_.text:
        body.aliases[instruction.result] = instruction.operand(0)
    if opcode == "bitcast" and source.type.size != type_.size:
        raise SpirvProblem(f"OpBitcast from {source.type.text} to {type_.text}")
    body.define(instruction, f"{opcode} {source.typed} to {type_.text}")


def _cast(opcode: str) -> _Handler:
    def write(body: Body, instruction: Instruction) -> None:
        source, type_ = body.operand(instruction, 0), body.result_type(instruction)
        body.define(instruction, f"{opcode} {source.typed} to {type_.text}")

    return write


def _explicit_cast(body: Body, instruction: Instruction) -> None:
    """Null for a pointer into another memory."""
    names = {0: "__to_private", 1: "__to_global", 3: "__to_local"}
    type_ = body.result_type(instruction)
    if not isinstance(type_, PointerType) or type_.space not in names:
        raise SpirvProblem(f"{instruction.name} to {type_.text}")
    source = body.operand(instruction, 0)
    body.define(instruction, body.call(names[type_.space], type_, [source]))


def _quantize(body: Body, instruction: Instruction) -> None:
    source, type_ = body.operand(instruction, 0), body.result_type(instruction)
    if source.type.text != "float" or type_.text != "float":
        raise SpirvProblem("OpQuantizeToF16 of this type is not supported", is_unsupported=True)
    narrow = body.compute(FloatType("half", 2, 2, bits=16), f"fptrunc {source.typed} to half")
    body.define(instruction, f"fpext {narrow.typed} to float")


CONVERSIONS: Mapping[str, _Handler] = {
    "OpConvertFToU": _conversion(("fptoui", "fptoui"), (FloatType, IntType), (True, False)),
    "OpConvertFToS": _conversion(("fptosi", "fptosi"), (FloatType, IntType), (True, True)),
    "OpConvertSToF": _conversion(("sitofp", "sitofp"), (IntType, FloatType), (True, True)),
    "OpConvertUToF": _conversion(("uitofp", "uitofp"), (IntType, FloatType), (False, True)),
    "OpUConvert": _conversion(("trunc", "zext"), (IntType, IntType), (False, False)),
    "OpSConvert": _conversion(("trunc", "sext"), (IntType, IntType), (True, True)),
    "OpFConvert": _conversion(("fptrunc", "fpext"), (FloatType, FloatType), (True, True)),
    "OpSatConvertSToU": _conversion(("", ""), (IntType, IntType), (True, False), True),
    "OpSatConvertUToS": _conversion(("", ""), (IntType, IntType), (False, True), True),
    "OpBitcast": _bitcast,
    "OpConvertPtrToU": _cast("ptrtoint"),
    "OpConvertUToPtr": _cast("inttoptr"),
    "OpPtrCastToGeneric": _cast("addrspacecast"),
    "OpGenericCastToPtr": _cast("addrspacecast"),
    "OpGenericCastToPtrExplicit": _explicit_cast,
    "OpQuantizeToF16": _quantize,
}
