"""Names of overloaded functions as C++ compilers write them (Itanium C++ ABI, 5.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.types import (
    BoolType,
    FloatType,
    IntType,
    OpaqueType,
    PointerType,
    SpirvType,
    StructType,
    VectorType,
    VoidType,
)

__all__ = ["MangledParameter", "mangled", "type_name"]

_SIGNED = {8: "c", 16: "s", 32: "i", 64: "l"}
_UNSIGNED = {8: "h", 16: "t", 32: "j", 64: "m"}
_FLOATS = {16: "Dh", 32: "f", 64: "d"}
_NAMES = {8: "char", 16: "short", 32: "int", 64: "long"}
_FLOAT_NAMES = {16: "half", 32: "float", 64: "double"}
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class MangledParameter:
    """A parameter of a built-in function: SPIR-V's integers and pointers do not say all of it.

    `pointee` is what a pointer points to; `qualifiers` are K and V, in the order of the ABI.
    """

    type: SpirvType
    is_signed: bool = True
    pointee: SpirvType | None = None
    qualifiers: str = ""


def mangled(name: str, parameters: Iterable[MangledParameter]) -> str:
    """The symbol of the function."""
    known: dict[str, int] = {}
    parts = [_parameter(parameter, known) for parameter in parameters]
    return f"_Z{len(name.encode())}{name}{''.join(parts) or 'v'}"


def type_name(type_: SpirvType, is_signed: bool) -> str:
    """OpenCL C's name of a number or vector, as in the names of conversions."""
    if isinstance(type_, VectorType):
        return f"{type_name(type_.element, is_signed)}{type_.count}"
    if isinstance(type_, IntType):
        return ("" if is_signed else "u") + _NAMES[type_.bits]
    if isinstance(type_, FloatType):
        return _FLOAT_NAMES[type_.bits]
    raise SpirvProblem(f"OpenCL C has no name for the type {type_.text}")


def _parameter(parameter: MangledParameter, known: dict[str, int]) -> str:
    if not isinstance(parameter.type, PointerType):
        return _compound(_spelt(parameter.type, parameter.is_signed), known)
    space = parameter.type.space
    qualifiers = (f"U3AS{space}" if space else "") + parameter.qualifiers
    pointee = _spelt(parameter.pointee or VoidType("void"), parameter.is_signed)
    return _compound(("P", *((qualifiers,) if qualifiers else ()), *pointee), known)


def _spelt(type_: SpirvType, is_signed: bool) -> tuple[str, ...]:
    """The parts of a type: each that is left out at the front leaves a type of its own."""
    if isinstance(type_, VectorType):
        return (f"Dv{type_.count}_", *_spelt(type_.element, is_signed))
    if isinstance(type_, IntType):
        return ((_SIGNED if is_signed else _UNSIGNED)[type_.bits],)
    if isinstance(type_, FloatType):
        return (_FLOATS[type_.bits],)
    if isinstance(type_, BoolType):
        return ("b",)
    if isinstance(type_, PointerType):
        return ("P", "v")
    if isinstance(type_, OpaqueType | StructType):
        name = type_.name.removeprefix("struct.")
        return (f"{len(name.encode())}{name}",)
    return ("v",)


def _compound(parts: tuple[str, ...], known: dict[str, int]) -> str:
    """Types that stood before are referred to by number, `S_`, `S0_`, `S1_`, ..."""
    whole = "".join(parts)
    if whole in known:
        return _substitution(known[whole])
    is_plain = len(parts) == 1 and not parts[0][0].isdigit()
    if is_plain:
        return whole
    inner = _compound(parts[1:], known) if len(parts) > 1 else ""
    known[whole] = len(known)
    return parts[0] + inner


def _substitution(number: int) -> str:
    if number == 0:
        return "S_"
    digits = ""
    number -= 1
    while True:
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
        if number == 0:
            return f"S{digits}_"
