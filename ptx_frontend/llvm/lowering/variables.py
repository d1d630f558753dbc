"""The variables that a kernel uses: module variables, allocas, and what they hold at first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kernelcast.ptx_frontend.llvm.lowering.call_site import Value
from kernelcast.ptx_frontend.llvm.text.constants import ConstantReader
from kernelcast.ptx_frontend.llvm.text.cursor import Cursor, IrProblem, ModuleTypes
from kernelcast.ptx_frontend.llvm.text.syntax import IrGlobal, IrModule
from kernelcast.ptx_frontend.llvm.text.types import (
    PointerType,
    align_of,
    align_up,
    leaves_of,
    size_of,
)
from kernelcast.simcore.isa.ir.kernel import Immediate, Symbol, SymbolAddress
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["Variables"]

_LOCAL_ALIGNMENT = 16
_FIRST_LOCAL = 16
"""No variable of a thread lies at address 0, which is the null pointer."""
_POINTER_BYTES = 8
_ADDRESS_BITS = 64


class Variables:
    """Gives places to the variables of one kernel as it comes to use them."""

    def __init__(self, module: IrModule, problems: Mapping[str, Exception]) -> None:
        self._module = module
        self._problems = problems
        self._used: dict[str, IrGlobal] = {}
        self._symbols: dict[str, Symbol] = {}
        self.shared_bytes = 0
        self.has_dynamic_array = False
        """Whether shared memory has an array whose size the launch says (`extern __shared__`)."""
        self._local_end = _FIRST_LOCAL

    @property
    def local_bytes(self) -> int:
        """Local memory that the variables of one thread take, in bytes."""
        if self._local_end == _FIRST_LOCAL:
            return 0
        return align_up(self._local_end, _LOCAL_ALIGNMENT)

    def address(self, name: str) -> SymbolAddress:
        """The address of a module variable; IrProblem when it cannot be used or is none."""
        if name in self._used:
            return SymbolAddress(name)
        variable = self._module.globals.get(name)
        if variable is None:
            if name in self._problems:
                raise self._problems[name]
            if name in self._module.functions:
                raise IrProblem(f"the address of function @{name} is not supported")
            raise IrProblem(f"@{name} is neither a variable nor a function with a body")
        space = PointerType(variable.space).address_space
        if space not in (AddressSpace.GLOBAL, AddressSpace.SHARED):
            raise IrProblem(
                f"variable @{name} is not supported: it lies in address space {variable.space}"
            )
        if not variable.initial and space is AddressSpace.GLOBAL:
            raise IrProblem(f"variable @{name} is declared but not defined")
        size, align = size_of(variable.type), max(variable.align, align_of(variable.type))
        if size >> _ADDRESS_BITS:
            raise IrProblem(f"variable @{name} does not fit {_ADDRESS_BITS} bits of addresses")
        self._used[name] = variable
        offset = 0
        if space is AddressSpace.SHARED:
            offset = align_up(self.shared_bytes, align)
            self.shared_bytes = offset + size
            self.has_dynamic_array |= not size
        self._symbols[name] = Symbol(name, space, size, align, offset)
        return SymbolAddress(name)

    def allocate(self, name: str, size: int, align: int) -> SymbolAddress:
        """A new variable of each thread."""
        unique, number = f"%{name}", 1
        while unique in self._symbols:
            number += 1
            unique = f"%{name}.{number}"
        offset = align_up(self._local_end, align)
        self._local_end = offset + size
        self._symbols[unique] = Symbol(unique, AddressSpace.LOCAL, size, align, offset)
        return SymbolAddress(unique)

    def share(self, name: str, size: int, align: int) -> SymbolAddress:
        """A variable of the thread block that the lowering itself needs; one for each name."""
        if name not in self._symbols:
            offset = align_up(self.shared_bytes, align)
            self.shared_bytes = offset + size
            self._symbols[name] = Symbol(name, AddressSpace.SHARED, size, align, offset)
        return SymbolAddress(name)

    def contents(self, name: str, types: ModuleTypes) -> tuple[bytes, dict[int, str]]:
        """What a module variable holds at first, and where addresses go in it."""
        variable = self._module.globals[name]
        reader = ConstantReader(Cursor(variable.initial, types), self.address)
        value = reader.value(variable.type)
        return _image(value)

    def symbols(self, types: ModuleTypes) -> dict[str, Symbol]:
        """All of them, with their contents; those that only contents name are among them."""
        self._place_dynamic_arrays()
        done: set[str] = set()
        while waiting := [name for name in self._used if name not in done]:
            for name in waiting:
                done.add(name)
                symbol = self._symbols[name]
                if symbol.space is AddressSpace.GLOBAL:
                    data, relocations = self.contents(name, types)
                    self._symbols[name] = Symbol(
                        name, symbol.space, symbol.size, symbol.align, 0, data, relocations
                    )
        return dict(self._symbols)

    def _place_dynamic_arrays(self) -> None:
        """All of them begin behind the static variables."""
        for name, symbol in self._symbols.items():
            if symbol.space is AddressSpace.SHARED and not symbol.size:
                offset = align_up(self.shared_bytes, max(symbol.align, _LOCAL_ALIGNMENT))
                self._symbols[name] = replace(symbol, offset=offset)


def _image(value: Value) -> tuple[bytes, dict[int, str]]:
    """The bytes of a constant; an address is its symbol's plus the number that lies there."""
    data = bytearray(size_of(value.type))
    relocations: dict[int, str] = {}
    for (leaf, offset), part in zip(leaves_of(value.type), value.parts, strict=True):
        width = _POINTER_BYTES if isinstance(leaf, PointerType) else leaf.bytes
        if isinstance(part, SymbolAddress):
            if width != _POINTER_BYTES:
                raise IrProblem("part of an address in an initialiser is not supported")
            relocations[offset] = part.symbol
            number = part.offset
        else:
            assert isinstance(part, Immediate)
            number = part.bits
        mask = (1 << 8 * width) - 1
        data[offset : offset + width] = (number & mask).to_bytes(width, "little")
    return bytes(data), relocations
