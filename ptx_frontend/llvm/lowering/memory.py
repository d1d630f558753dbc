"""Addresses, loads, stores and allocas."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kernelcast.ptx_frontend.llvm.lowering.accesses import MemoryPlace, load_value, store_value
from kernelcast.ptx_frontend.llvm.lowering.arithmetic import element_of
from kernelcast.ptx_frontend.llvm.lowering.atomics import ATOMIC_INSTRUCTIONS
from kernelcast.ptx_frontend.llvm.lowering.call_site import Value
from kernelcast.ptx_frontend.llvm.lowering.constant_parts import constant_part
from kernelcast.ptx_frontend.llvm.lowering.scope import Pointer, Site
from kernelcast.ptx_frontend.llvm.text.constants import signed
from kernelcast.ptx_frontend.llvm.text.cursor import Cursor, IrProblem
from kernelcast.ptx_frontend.llvm.text.tokens import TokenKind
from kernelcast.ptx_frontend.llvm.text.types import (
    IntegerIrType,
    IrType,
    PointerType,
    ScalarIrType,
    StructType,
    VectorType,
    align_of,
    component,
    element_offset,
    size_of,
)
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register

__all__ = ["MEMORY", "access_name"]

_SPACE_NAMES = {
    0: "private",
    1: "global",
    2: "constant",
    3: "local",
    4: "generic",
    101: "parameter",
}
_PRIVATE = 0
_GEP_FLAGS = ("inbounds", "nuw", "nusw", "inrange")
_MOST_ALLOCA_BYTES = 1 << 20
_WIDEST_FACTOR = 1 << 31


def access_name(opcode: str, pointer: IrType, size: int) -> str:
    """What a load or store counts as: with the address space, and its bytes."""
    space = pointer.space if isinstance(pointer, PointerType) else 0
    return f"{opcode} {_SPACE_NAMES.get(space, str(space))} ({size} bytes)"


def _element_pointer(site: Site) -> None:
    """A constant part of the distance goes into the accesses, as native addresses have one."""
    site.cursor.skip_words(*_GEP_FLAGS)
    type_ = site.cursor.type()
    if _gives_vector(site):
        _element_pointers(site, type_)
        return
    base = site.next_pointer()
    pointer, offset, is_first = base.base, base.offset, True
    while site.cursor.accept(","):
        if site.cursor.peek().kind is TokenKind.METADATA:
            break
        index = site.operand()
        if not isinstance(index.type, ScalarIrType) or index.type.is_float:
            raise IrProblem(f"an index of type {index.type} is not supported")
        (number,) = index.parts
        scale, type_ = _next_type(type_, number, is_first)
        is_first = False
        if isinstance(number, Immediate):
            offset += scale(signed(number, index.type.bits))
        else:
            varying, constant = constant_part(site, number)
            offset += constant * scale(1)
            pointer = _scaled(site, pointer, varying, index.type, scale(1))
    site.result_pointer(Pointer(base.type, pointer, offset))


def _gives_vector(site: Site) -> bool:
    """Whether the base or an index is a vector: then addresses are computed by element."""
    ahead, depth = 0, 0
    while site.cursor.peek(ahead).text:
        token = site.cursor.peek(ahead)
        if token.kind is TokenKind.PUNCTUATION:
            if token.text == "<" and not depth:
                return True
            depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        ahead += 1
    return False


def _element_pointers(site: Site, type_: IrType) -> None:
    """Scalars among base and indices go with every element."""
    values = [site.next_operand()]
    while site.cursor.accept(","):
        if site.cursor.peek().kind is TokenKind.METADATA:
            break
        values.append(site.operand())
    count = max(len(value.parts) for value in values)
    pointer = element_of(values[0].type)
    made: list[Operand] = []
    for lane in range(count):
        address, inner, is_first = _part(values[0], lane), type_, True
        for index in values[1:]:
            kind, number = element_of(index.type), _part(index, lane)
            if not isinstance(kind, ScalarIrType) or kind.is_float:
                raise IrProblem(f"an index of type {index.type} is not supported")
            scale, inner = _next_type(inner, number, is_first)
            is_first = False
            if not isinstance(number, Immediate):
                address = _scaled(site, address, number, kind, scale(1))
            elif distance := scale(signed(number, kind.bits)):
                step = Immediate(distance & (1 << 64) - 1)
                base = site.code.in_register(address, 64)
                address = site.code.compute("add.s64", 64, base, step)
        made.append(address)
    site.result(VectorType(pointer, count), tuple(made))


def _part(value: Value, lane: int) -> Operand:
    return value.parts[lane if len(value.parts) > 1 else 0]


def _next_type(
    type_: IrType, number: Operand, is_first: bool
) -> tuple[Callable[[int], int], IrType]:
    """How far an index leads, by its number, and to what; the first one goes over whole values."""
    if is_first:
        size = size_of(type_)
        return lambda index: index * size, type_
    field = number.bits if isinstance(number, Immediate) else 0
    is_struct = isinstance(type_, StructType)
    inner = component(type_, field if is_struct else 0)
    if inner is None or (is_struct and not isinstance(number, Immediate)):
        raise IrProblem(f"no such element of {type_}", False)
    return partial(element_offset, type_), inner


def _scaled(
    site: Site, pointer: Operand, number: Operand, type_: ScalarIrType, scale: int
) -> Register:
    """Computes pointer + number * scale; the number is signed.

    Addresses that only differ in what is constant get one base, as native compilers arrange it.
    """
    known = site.scope.sums.get((pointer, number, scale))
    if known is None:
        known = _new_sum(site, pointer, number, type_, scale)
        site.scope.sums[pointer, number, scale] = known
    return known


def _new_sum(
    site: Site, pointer: Operand, number: Operand, type_: ScalarIrType, scale: int
) -> Register:
    code = site.code
    base = code.in_register(pointer, 64)
    if type_ is ScalarIrType.I32 and scale < _WIDEST_FACTOR:
        return code.compute("mad.wide.s32", 64, number, Immediate(scale), base)
    if type_ is ScalarIrType.I1:
        ones = Immediate((1 << 64) - 1)
        wide: Operand = code.compute("selp.b64", 64, ones, Immediate(0), number)
    elif type_ is ScalarIrType.I64:
        wide = number
    else:
        wide = code.compute(f"cvt.s64.s{type_.bits}", 64, number)
    if scale == 1:
        return code.compute("add.s64", 64, base, wide)
    return code.compute("mad.lo.s64", 64, wide, Immediate(scale), base)


def _alignment(cursor: Cursor, type_: IrType) -> int:
    """What `, align 4` says somewhere after the operands; by default that of the type."""
    align = align_of(type_)
    while not cursor.at_end:
        if cursor.take().text == "align":
            return cursor.integer()
    return align


def _place(site: Site, pointer: Pointer, type_: IrType, is_volatile: bool) -> MemoryPlace:
    align = _alignment(site.cursor, type_)
    return MemoryPlace(pointer.space, pointer.base, align, pointer.offset, is_volatile)


def _touched(type_: IrType) -> int:
    return type_.bytes if isinstance(type_, IntegerIrType) else size_of(type_)


def _load(site: Site) -> None:
    is_atomic = bool(site.cursor.accept("atomic"))
    is_volatile = bool(site.cursor.accept("volatile")) or is_atomic
    type_ = site.cursor.type()
    pointer = site.next_pointer()
    place = _place(site, pointer, type_, is_volatile)
    name = access_name("load", pointer.type, _touched(type_))
    site.result(type_, load_value(site.code, type_, place, name))


def _store(site: Site) -> None:
    is_atomic = bool(site.cursor.accept("atomic"))
    is_volatile = bool(site.cursor.accept("volatile")) or is_atomic
    value = site.operand()
    pointer = site.next_pointer()
    place = _place(site, pointer, value.type, is_volatile)
    name = access_name("store", pointer.type, _touched(value.type))
    store_value(site.code, value, place, name)


def _alloca(site: Site) -> None:
    """Memory of the thread; only where its size is known and it is taken once."""
    scope = site.scope
    site.cursor.accept("inalloca")
    type_ = site.cursor.type()
    count, align = 1, align_of(type_)
    while site.cursor.accept(","):
        if site.cursor.accept("align"):
            align = site.cursor.integer()
        elif site.cursor.peek().text == "addrspace":
            if site.cursor.address_space() != _PRIVATE:
                raise IrProblem("alloca in another address space is not supported")
        elif site.cursor.peek().kind is TokenKind.METADATA:
            break
        else:
            number = site.operand().parts[0]
            if not isinstance(number, Immediate):
                raise IrProblem("alloca of a size that is not constant is not supported")
            count = number.bits
    if scope.label != scope.function.blocks[0].label:
        raise IrProblem("alloca outside of the first basic block is not supported")
    size = count * size_of(type_)
    if size > _MOST_ALLOCA_BYTES:
        raise IrProblem(f"alloca of more than {_MOST_ALLOCA_BYTES} bytes is not supported")
    name = f"{scope.function.name}.{site.instruction.result}"
    site.result(PointerType(_PRIVATE), (scope.kernel.variables.allocate(name, size, align),))


MEMORY = {
    "getelementptr": _element_pointer,
    "load": _load,
    "store": _store,
    "alloca": _alloca,
    **ATOMIC_INSTRUCTIONS,
}
"""How each of these instructions is lowered, by opcode."""
