"""The parameters of a kernel: where they lie, and how their values come into registers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from kernelcast.ptx_frontend.llvm.builtins.image_arguments import image_kind
from kernelcast.ptx_frontend.llvm.lowering.accesses import MemoryPlace, load_value, store_value
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value, register_bits
from kernelcast.ptx_frontend.llvm.lowering.code import Code
from kernelcast.ptx_frontend.llvm.lowering.scope import FunctionScope
from kernelcast.ptx_frontend.llvm.text.cursor import IrProblem
from kernelcast.ptx_frontend.llvm.text.syntax import IrFunction, IrParameter
from kernelcast.ptx_frontend.llvm.text.types import (
    PARAMETER_SPACE,
    IrType,
    PointerType,
    ScalarIrType,
    align_of,
    align_up,
    leaves_of,
    size_of,
)
from kernelcast.simcore.isa.ir.element_types import without_qualifiers
from kernelcast.simcore.isa.ir.kernel import Address, Immediate, Parameter, Register
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["place_parameters", "take_parameters", "type_names_of"]

_LOCAL_SPACE, _GENERIC_SPACE = 3, 4
_MOST_BYTES = 1 << 15
"""The largest size of a parameter in bytes; no GPU takes as much."""
_SAMPLER = "sampler_t"
_COERCED = ".coerce"
"""What clang adds to the names of pointers that AMD's kernels take."""
_NODE = re.compile(r"!(\d+)")
_TEXT = re.compile(r'!"([^"]*)"')
_TYPE_NAMES = "kernel_arg_type"
_QUALIFIERS = re.compile(r"\b(?:__)?(?:read_only|write_only|read_write)\s+")


def place_parameters(
    parameters: Iterable[IrParameter], type_names: Sequence[str] = ()
) -> tuple[Parameter, ...]:
    """Each at a multiple of its alignment; a `__local` array is its address.

    `type_names` are those of the source, where the module has them.
    """
    placed: list[Parameter] = []
    end = 0
    for number, parameter in enumerate(parameters, 1):
        name = parameter.name.removesuffix(_COERCED)
        name = f"argument_{number}" if name.isdecimal() else name
        held = parameter.by_value or parameter.by_reference or parameter.type
        size, offset = size_of(held), align_up(end, align_of(held))
        is_struct, is_pointer, is_local, type_ = False, False, False, ScalarType.B8
        if isinstance(held, PointerType):
            if held.space not in (1, 2, _GENERIC_SPACE, _LOCAL_SPACE):
                raise IrProblem(f"kernel parameters of type {held} are not supported")
            is_local = held.space == _LOCAL_SPACE
            type_, is_pointer = ScalarType.U64, not is_local
        elif held is ScalarIrType.I1:
            type_ = ScalarType.U8
        elif isinstance(held, ScalarIrType):
            type_ = held.as_scalar("u")
        else:
            is_struct = True
        if not size:
            raise IrProblem(f"kernel parameters of type {held} are not supported")
        if size > _MOST_BYTES:
            raise IrProblem(f"a kernel parameter of {size} bytes is not supported")
        source = type_names[number - 1] if number <= len(type_names) else ""
        placed.append(
            Parameter(
                name,
                type_,
                offset,
                size,
                is_struct,
                is_pointer,
                is_local,
                image_kind(source),
                source == _SAMPLER,
                element=_pointee(source) if is_pointer else "",
            )
        )
        end = offset + size
    return tuple(placed)


def _pointee(type_name: str) -> str:
    """`float*` -> `float`; empty for pointers to pointers and what is no pointer."""
    element = without_qualifiers(type_name)
    return element[:-1].rstrip() if element.count("*") == 1 and element.endswith("*") else ""


def type_names_of(function: IrFunction, metadata: Mapping[str, str]) -> list[str]:
    """The types of the parameters as the source names them; empty where the module does not say.

    Today's modules attach the list to the function, old ones to an entry of `opencl.kernels`.
    """
    text = metadata.get(function.attachments.get(_TYPE_NAMES, ""), "")
    if not text:
        for node in _NODE.findall(metadata.get("opencl.kernels", "")):
            entry = metadata.get(node, "")
            if f"@{function.name}" in entry.replace('"', ""):
                parts = [metadata.get(part, "") for part in _NODE.findall(entry)]
                text = next((part for part in parts if f'!"{_TYPE_NAMES}"' in part), "")
    names = [_QUALIFIERS.sub("", name) for name in _TEXT.findall(text)]
    return names[1:] if names[:1] == [_TYPE_NAMES] else names


def take_parameters(scope: FunctionScope, parameters: Iterable[Parameter]) -> None:
    """Loads all parameters into the registers of the kernel's names."""
    for parameter, placed in zip(scope.function.parameters, parameters, strict=True):
        if parameter.by_value is not None:
            value = _copied(scope, parameter.by_value, parameter, placed)
        elif parameter.by_reference is not None:
            value = Value(PointerType(PARAMETER_SPACE), (Immediate(placed.offset),))
        else:
            value = Value(parameter.type, _loaded(scope, parameter, placed.offset))
        scope.values[parameter.name] = value


def _loaded(scope: FunctionScope, parameter: IrParameter, start: int) -> tuple[Register, ...]:
    found: list[Register] = []
    for part, offset in leaves_of(parameter.type, start):
        address = Address(AddressSpace.PARAM, None, offset)
        if part is ScalarIrType.I1:
            found.append(_bit(scope.code, address))
            continue
        register = scope.code.register(register_bits(part))
        type_ = ScalarType.U64 if isinstance(part, PointerType) else part.as_scalar("u")
        scope.code.load(type_, address, (register,))
        found.append(register)
    return tuple(found)


def _bit(code: Code, address: Address) -> Register:
    """A `bool`, the lowest bit of a byte."""
    byte = code.register(32)
    code.load(ScalarType.U8, address, (byte,))
    lowest = code.compute("and.b32", 32, byte, Immediate(1))
    return code.compute("setp.ne.u32", 1, lowest, Immediate(0))


def _copied(scope: FunctionScope, held: IrType, parameter: IrParameter, placed: Parameter) -> Value:
    """A struct by value: memory of the thread, with a copy of the argument."""
    variables = scope.kernel.variables
    place = variables.allocate(parameter.name, placed.size, align_of(held))
    source = MemoryPlace(AddressSpace.PARAM, Immediate(placed.offset), align_of(held))
    copy = Value(held, load_value(scope.code, held, source))
    store_value(scope.code, copy, MemoryPlace(AddressSpace.LOCAL, place, align_of(held)))
    return Value(parameter.type, (place,))
