"""Variables, loads, stores, addresses and copies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kernelcast.ptx_frontend.spirv.functions.body import Body
from kernelcast.ptx_frontend.spirv.functions.element_addresses import address_operands
from kernelcast.ptx_frontend.spirv.functions.values import Value
from kernelcast.ptx_frontend.spirv.functions.work_items import read_variable
from kernelcast.ptx_frontend.spirv.module.binary import Instruction
from kernelcast.ptx_frontend.spirv.module.constants import integer
from kernelcast.ptx_frontend.spirv.module.decorations import Decoration
from kernelcast.ptx_frontend.spirv.module.module_reader import checked_alignment
from kernelcast.ptx_frontend.spirv.module.problem import SpirvProblem
from kernelcast.ptx_frontend.spirv.module.types import IntType, PointerType, StorageClass, VoidType

__all__ = ["MEMORY"]

_Handler = Callable[[Body, Instruction], None]
_VOLATILE, _ALIGNED, _NONTEMPORAL = 1, 2, 4
_VOID = VoidType("void")


@dataclass(frozen=True, slots=True)
class _Access:
    """The memory operands of an instruction; `align` 0 is the natural one."""

    is_volatile: bool = False
    align: int = 0

    def ending(self) -> str:
        return f", align {self.align}" if self.align else ""

    def beginning(self) -> str:
        return "volatile " if self.is_volatile else ""


def _access(body: Body, instruction: Instruction, index: int, pointer: int) -> _Access:
    """The memory operands from `index` on; a variable decorated Volatile always is volatile."""
    is_volatile = body.module.decorations.has(pointer, Decoration.VOLATILE)
    if index >= len(instruction.operands):
        return _Access(is_volatile)
    mask = instruction.operand(index)
    if mask & ~(_VOLATILE | _ALIGNED | _NONTEMPORAL):
        raise SpirvProblem(f"memory operands {mask:#x} are not supported", is_unsupported=True)
    align = checked_alignment(instruction.operand(index + 1)) if mask & _ALIGNED else 0
    return _Access(is_volatile or bool(mask & _VOLATILE), align)


def _variable(body: Body, instruction: Instruction) -> None:
    type_ = body.result_type(instruction)
    if not isinstance(type_, PointerType) or type_.storage != StorageClass.FUNCTION:
        raise SpirvProblem("a variable of a function is not in the memory of functions")
    held = body.module.types.pointee(type_)
    align = body.module.alignment(instruction.result, held)
    made = body.define(instruction, f"alloca {held.text}, align {align}")
    body.local_variables.add(instruction.result)
    if instruction.operands[1:]:
        initial = body.operand(instruction, 1)
        body.emit(f"store {initial.typed}, {made.typed}, align {align}")


def _load(body: Body, instruction: Instruction) -> None:
    variable = instruction.operand(0)
    if variable in body.module.builtin_variables:
        if instruction.result not in body.builtin_loads:
            read_variable(body, instruction, variable)
        return
    pointer, type_ = body.operand(instruction, 0), body.result_type(instruction)
    body.pointee(pointer)
    access = _access(body, instruction, 1, variable)
    expression = f"load {access.beginning()}{type_.text}, {pointer.typed}{access.ending()}"
    body.define(instruction, expression)


def _store(body: Body, instruction: Instruction) -> None:
    pointer, value = body.operand(instruction, 0), body.operand(instruction, 1)
    body.pointee(pointer)
    access = _access(body, instruction, 2, instruction.operand(0))
    body.emit(f"store {access.beginning()}{value.typed}, {pointer.typed}{access.ending()}")


def _address(opcode: str, has_element: bool) -> _Handler:
    def write(body: Body, instruction: Instruction) -> None:
        operands = [body.value(x) for x in instruction.operands]
        found = address_operands(body.module.types, operands, has_element)
        body.define(instruction, f"{opcode} {', '.join(found)}")

    return write


def _copy(body: Body, instruction: Instruction) -> None:
    held = body.pointee(body.operand(instruction, 0))
    size = integer(body.module.types.size_type(), held.size)
    _copy_bytes(body, instruction, size, 2, held.align)


def _copy_sized(body: Body, instruction: Instruction) -> None:
    _copy_bytes(body, instruction, body.operand(instruction, 2), 3, 1)


def _copy_bytes(body: Body, instruction: Instruction, size: Value, index: int, align: int) -> None:
    """The memory operands from `index` on are of both pointers, or of each of them in turn."""
    pointers = [body.operand(instruction, x) for x in (0, 1)]
    types = [x.type for x in pointers if isinstance(x.type, PointerType)]
    if len(types) != len(pointers):
        raise SpirvProblem(f"{instruction.name} has an operand that is no pointer")
    if not isinstance(size.type, IntType):
        raise SpirvProblem(f"the size of {instruction.name} is no integer")
    written = _access(body, instruction, index, instruction.operand(0))
    following = index + (2 if written.align else 1)
    if following >= len(instruction.operands):
        following = index
    read = _access(body, instruction, following, instruction.operand(1))
    name = f"llvm.memcpy.p{types[0].space}.p{types[1].space}.i{size.type.bits}"
    body.declarations.declare(name, "void", [*(x.text for x in types), size.type.text, "i1"])
    shown = ", ".join(
        f"{pointer.type.text} align {access.align or align} {pointer.text}"
        for pointer, access in zip(pointers, (written, read), strict=True)
    )
    is_volatile = "true" if written.is_volatile or read.is_volatile else "false"
    body.emit(f"call void @{name}({shown}, {size.typed}, i1 {is_volatile})")


def _lifetime(which: str) -> _Handler:
    """LLVM takes it of variables only: a hint about anything else is left out."""

    def write(body: Body, instruction: Instruction) -> None:
        variable = instruction.operand(0)
        while variable in body.aliases:
            variable = body.aliases[variable]
        if variable in body.local_variables:
            pointer = body.value(variable)
            body.emit(body.call(f"llvm.lifetime.{which}.p0", _VOID, [pointer]))

    return write


def _difference(body: Body, instruction: Instruction) -> None:
    """Writes the difference of two pointers, in elements."""
    type_, size_type = body.result_type(instruction), body.module.types.size_type()
    places = [body.operand(instruction, x) for x in (0, 1)]
    held = body.pointee(places[0])
    body.pointee(places[1])
    if not held.size or not isinstance(type_, IntType):
        raise SpirvProblem(f"OpPtrDiff of {held.text}")
    first, second = (
        body.compute(size_type, f"ptrtoint {x.typed} to {size_type.text}") for x in places
    )
    distance = body.compute(size_type, f"sub {first.typed}, {second.text}")
    if type_.bits == size_type.bits:
        body.define(instruction, f"sdiv exact {distance.typed}, {held.size}")
        return
    count = body.compute(size_type, f"sdiv exact {distance.typed}, {held.size}")
    opcode = "trunc" if type_.bits < size_type.bits else "sext"
    body.define(instruction, f"{opcode} {count.typed} to {type_.text}")


MEMORY: Mapping[str, _Handler] = {
    "OpVariable": _variable,
    "OpLoad": _load,
    "OpStore": _store,
    "OpAccessChain": _address("getelementptr", False),
    "OpInBoundsAccessChain": _address("getelementptr inbounds", False),
    "OpPtrAccessChain": _address("getelementptr", True),
    "OpInBoundsPtrAccessChain": _address("getelementptr inbounds", True),
    "OpCopyMemory": _copy,
    "OpCopyMemorySized": _copy_sized,
    "OpLifetimeStart": _lifetime("start"),
    "OpLifetimeStop": _lifetime("end"),
    "OpPtrDiff": _difference,
}
