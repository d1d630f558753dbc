"""The parameters of a kernel: where they lie, and how their values come into registers."""

from __future__ import annotations

from collections.abc import Iterable

from kernelcast.ptx_frontend.llvm.accesses import MemoryPlace, load_value, store_value
from kernelcast.ptx_frontend.llvm.call_site import Value, register_bits
from kernelcast.ptx_frontend.llvm.cursor import IrProblem
from kernelcast.ptx_frontend.llvm.scope import FunctionScope
from kernelcast.ptx_frontend.llvm.syntax import IrParameter
from kernelcast.ptx_frontend.llvm.types import (
    IrType,
    PointerType,
    ScalarIrType,
    align_of,
    align_up,
    leaves_of,
    size_of,
)
from kernelcast.ptx_frontend.llvm.variables import LOCAL_ARGUMENT_ALIGNMENT
from kernelcast.simcore.isa.kernel import Address, Immediate, Operand, Parameter, Register
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["place_parameters", "take_parameters"]

_LOCAL_SPACE = 3


def place_parameters(parameters: Iterable[IrParameter]) -> tuple[Parameter, ...]:
    """Each at a multiple of its alignment; a `__local` array is its size in bytes."""
    placed: list[Parameter] = []
    end = 0
    for number, parameter in enumerate(parameters, 1):
        name = f"argument_{number}" if parameter.name.isdecimal() else parameter.name
        held = parameter.type if parameter.by_value is None else parameter.by_value
        size, offset = size_of(held), align_up(end, align_of(held))
        is_struct, is_pointer, type_ = False, False, ScalarType.B8
        if isinstance(held, PointerType):
            if held.space not in (1, 2, _LOCAL_SPACE):
                raise IrProblem(f"kernel parameters of type {held} are not supported")
            type_, is_pointer = ScalarType.U64, held.space != _LOCAL_SPACE
        elif isinstance(held, ScalarIrType) and held is not ScalarIrType.I1:
            type_ = held.as_scalar("u")
        else:
            is_struct = True
        if not size:
            raise IrProblem(f"kernel parameters of type {held} are not supported")
        placed.append(Parameter(name, type_, offset, size, is_struct, is_pointer))
        end = offset + size
    return tuple(placed)


def take_parameters(scope: FunctionScope, parameters: Iterable[Parameter]) -> None:
    """Loads all parameters into the registers of the kernel's names."""
    local_end: Operand | None = None
    pairs = zip(scope.function.parameters, parameters, strict=True)
    arrays = [x for x in scope.function.parameters if _is_local_array(x)]
    for parameter, placed in pairs:
        if parameter.by_value is not None:
            scope.values[parameter.name] = _copied(scope, parameter.by_value, parameter, placed)
            continue
        parts: tuple[Operand, ...] = _loaded(scope, parameter, placed.offset)
        if _is_local_array(parameter):
            first = local_end or scope.kernel.variables.local_arguments()
            if parameter is not arrays[-1]:
                local_end = _after(scope, first, parts[0])
            parts = (first,)
        scope.values[parameter.name] = Value(parameter.type, parts)


def _is_local_array(parameter: IrParameter) -> bool:
    return isinstance(parameter.type, PointerType) and parameter.type.space == _LOCAL_SPACE


def _after(scope: FunctionScope, first: Operand, size: Operand) -> Register:
    """Where the next array begins: arrays lie at multiples of the alignment."""
    code, mask = scope.code, LOCAL_ARGUMENT_ALIGNMENT - 1
    rounded = code.result("add.u64", 64, size, Immediate(mask))
    rounded = code.result("and.b64", 64, rounded, Immediate((1 << 64) - 1 - mask))
    return code.result("add.u64", 64, code.in_register(first, 64), rounded)


def _loaded(scope: FunctionScope, parameter: IrParameter, start: int) -> tuple[Register, ...]:
    found: list[Register] = []
    for part, offset in leaves_of(parameter.type, start):
        register = scope.code.register(register_bits(part))
        type_ = ScalarType.U64 if isinstance(part, PointerType) else part.as_scalar("u")
        if type_ is ScalarType.PRED:
            raise IrProblem("kernel parameters of single bits are not supported")
        address = Address(AddressSpace.PARAM, None, offset)
        scope.code.load(type_, address, (register,))
        found.append(register)
    return tuple(found)


def _copied(scope: FunctionScope, held: IrType, parameter: IrParameter, placed: Parameter) -> Value:
    """A struct by value: memory of the thread, with a copy of the argument."""
    variables = scope.kernel.variables
    place = variables.allocate(parameter.name, placed.size, align_of(held))
    source = MemoryPlace(AddressSpace.PARAM, Immediate(placed.offset), align_of(held))
    copy = Value(held, load_value(scope.code, held, source))
    store_value(scope.code, copy, MemoryPlace(AddressSpace.LOCAL, place, align_of(held)))
    return Value(parameter.type, (place,))
