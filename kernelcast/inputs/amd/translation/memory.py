"""Addresses, loads, stores and fences as LLVM IR for AMD's GPUs.

Global addresses are numbers of 64 bits, as in PTX; those of shared memory and of a thread's own are
numbers of 32 bits there. Generic addresses are AMD's flat ones.
"""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.inputs.amd.translation.directed import NotTranslated
from kernelcast.inputs.amd.translation.function_code import FunctionCode
from kernelcast.simcore.isa.ir.kernel import (
    GRID,
    HEAP,
    Address,
    Fence,
    Instruction,
    Load,
    Store,
    Symbol,
    SymbolAddress,
)
from kernelcast.simcore.isa.types import AddressSpace

__all__ = [
    "ARGUMENTS",
    "OWN_MEMORY",
    "SPACES",
    "address_value",
    "is_copy",
    "pointer",
    "symbol_name",
    "write_fence",
    "write_load",
    "write_store",
]

SPACES: Mapping[AddressSpace, int] = {
    AddressSpace.GENERIC: 0,
    AddressSpace.GLOBAL: 1,
    AddressSpace.SHARED: 3,
    AddressSpace.CONST: 4,
    AddressSpace.PARAM: 4,
    AddressSpace.LOCAL: 5,
}
"""The numbers of address spaces (LLVM's AMDGPU usage guide, "Address Spaces")."""
_NARROW = (AddressSpace.SHARED, AddressSpace.LOCAL)
ARGUMENTS, OWN_MEMORY = "%arguments", "%own"
"""The kernel's parameters as they lie in memory, and the local memory of a thread."""
_COPIES, _IN_BULK = "cp.async.", "cp.async.bulk"
_UNCHANGED = "!invariant.load !0"


def symbol_name(symbol: Symbol) -> str:
    """What LLVM calls a variable of the module or the kernel."""
    return f'@"{symbol.name}"'


def _bits(space: AddressSpace) -> int:
    return 32 if space in _NARROW else 64


def _kind(space: AddressSpace) -> str:
    number = SPACES[space]
    return f"ptr addrspace({number})" if number else "ptr"


def _moved(code: FunctionCode, space: AddressSpace, base: str, offset: int) -> str:
    if not offset:
        return base
    index = f"i{_bits(space)} {offset}"
    return code.lanes.op(f"getelementptr i8, {_kind(space)} {base}, {index}")


def _variable(code: FunctionCode, place: SymbolAddress) -> tuple[AddressSpace, str, int]:
    """The space that a variable is in, a pointer that its place counts from, and the distance."""
    symbol = code.kernel.symbols[place.symbol]
    if symbol.name in (GRID, HEAP):
        raise NotTranslated("thread blocks that wait for each other, or a heap")
    if symbol.space is AddressSpace.LOCAL:
        return symbol.space, OWN_MEMORY, symbol.offset + place.offset
    return symbol.space, symbol_name(symbol), place.offset


def address_value(code: FunctionCode, place: SymbolAddress) -> tuple[str, int]:
    """The address of a variable as a number: (value, bits)."""
    space, base, offset = _variable(code, place)
    found = _moved(code, space, base, offset)
    bits = _bits(space)
    return code.lanes.op(f"ptrtoint {_kind(space)} {found} to i{bits}"), bits


def pointer(code: FunctionCode, address: Address) -> str:
    """Where an access is: a pointer with its type."""
    space, base = address.space, address.base
    if space not in SPACES:
        raise NotTranslated(f"{space.value} memory")
    if space is AddressSpace.PARAM:
        if base is not None:
            raise NotTranslated("parameters at a computed place")
        return f"{_kind(space)} {_moved(code, space, ARGUMENTS, address.offset)}"
    if isinstance(base, SymbolAddress):
        own, name, offset = _variable(code, base)
        if own is space:
            return f"{_kind(space)} {_moved(code, space, name, offset + address.offset)}"
    bits = _bits(space)
    number = str(address.offset) if base is None else code.read_bits(base, bits)
    found = code.lanes.op(f"inttoptr i{bits} {number} to {_kind(space)}")
    return f"{_kind(space)} {found if base is None else _moved(code, space, found, address.offset)}"


def write_load(code: FunctionCode, load: Load) -> None:
    """Reads neighbouring elements, in one access."""
    with code.guarded(load.guard):
        count, bits = len(load.destinations), load.type.bits
        kind = f"i{bits}" if count == 1 else f"<{count} x i{bits}>"
        how = "load volatile" if load.volatile else "load"
        is_fixed = load.cache == "nc" or load.address.space in (
            AddressSpace.CONST,
            AddressSpace.PARAM,
        )
        note = f", {_UNCHANGED}" if is_fixed and not load.volatile else ""
        alignment = count * load.type.bytes
        if load.address.space is AddressSpace.PARAM:
            alignment = load.type.bytes
        at = pointer(code, load.address)
        found = code.lanes.op(f"{how} {kind}, {at}, align {alignment}{note}")
        for index, register in enumerate(load.destinations):
            if register is None:
                continue
            part = found
            if count > 1:
                part = code.lanes.op(f"extractelement {kind} {found}, i32 {index}")
            part = code.fitted(part, bits, register.bits, is_signed=load.type.is_signed)
            code.store_register(register, part)


def write_store(code: FunctionCode, store: Store) -> None:
    """Writes neighbouring elements, in one access."""
    with code.guarded(store.guard):
        count, bits = len(store.sources), store.type.bits
        values = [code.read_bits(source, bits) for source in store.sources]
        kind = f"i{bits}" if count == 1 else f"<{count} x i{bits}>"
        stored = values[0]
        if count > 1:
            stored = "poison"
            for index, value in enumerate(values):
                stored = code.lanes.op(
                    f"insertelement {kind} {stored}, i{bits} {value}, i32 {index}"
                )
        how = "store volatile" if store.volatile else "store"
        at = pointer(code, store.address)
        code.lanes.do(f"{how} {kind} {stored}, {at}, align {count * store.type.bytes}")


def write_fence(code: FunctionCode, fence: Fence) -> None:
    """Orders accesses of all threads of the device.

    Asynchronous copies are made at once: what closes groups of them does nothing, and a wait orders
    accesses of the thread block.
    """
    if is_copy(fence):
        if fence.groups_left is None:
            return
        scope = "workgroup"
    elif fence.groups_left is not None:
        raise NotTranslated("a wait for asynchronous operations")
    else:
        scope = "agent"
    with code.guarded(fence.guard):
        code.lanes.do(f'fence syncscope("{scope}") seq_cst')


def is_copy(instruction: Instruction) -> bool:
    """Whether an instruction is one of the family `cp.async`, but for copies in bulk."""
    name = instruction.mnemonic
    return name.startswith(_COPIES) and not name.startswith(_IN_BULK)
