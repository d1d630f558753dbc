"""A device memory with the variables of one module, which live from launch to launch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import numpy as np

from kernelcast.errors import LaunchError
from kernelcast.simcore.host.limits import check_room
from kernelcast.simcore.isa.ir.kernel import GRID, HEAP, Kernel, Symbol
from kernelcast.simcore.isa.types import WINDOWS, AddressSpace
from kernelcast.simcore.launch.allocations import Allocation
from kernelcast.simcore.launch.device_memory import DeviceMemory
from kernelcast.simcore.launch.memory_spaces import FlatMemory

__all__ = ["ModuleMemory"]

_POINTER_BYTES = 8


class ModuleMemory:
    """What kernels of one module find in `memory`.

    A variable gets its place and its initial contents when a kernel that uses it first needs them.
    Those of constant memory are allocations as well, which each launch copies.
    """

    def __init__(self, memory: DeviceMemory) -> None:
        self.memory = memory
        self._variables: dict[str, Allocation] = {}
        self._literals: dict[str, bytes] = {}
        self._constant_places: dict[str, int] = {}
        self._constant_end = 0

    @classmethod
    def of(cls, memory: DeviceMemory, module: object) -> ModuleMemory:
        """The one of `module` in a device memory, whatever object stands for the module."""
        return memory.kept(module, cls)

    @property
    def variables(self) -> Mapping[str, Allocation]:
        """The variables that were made so far."""
        return MappingProxyType(self._variables)

    def unload(self) -> None:
        """Frees all variables; their next use begins with the initial contents."""
        for variable in self._variables.values():
            self.memory.free(variable)
        self._variables, self._literals = {}, {}

    def load(self, kernel: Kernel, own: DeviceMemory) -> dict[str, int]:
        """The addresses of a kernel's variables, each in its own space.

        What lives as long as a launch is put into `own`, the memory of this one. LaunchError when
        an initialiser names a variable that the kernel does not have.
        """
        symbols = kernel.symbols.values()
        check_room(sum(symbol.size for symbol in symbols), f"the variables of kernel {kernel.name}")
        fresh = [symbol for symbol in symbols if self._is_new(symbol)]
        for symbol in symbols:
            self._check(kernel, symbol)
        found = {symbol.name: self._place(kernel, symbol, own) for symbol in symbols}
        for symbol in fresh:
            if symbol.space is AddressSpace.CONST:
                self._allocate(symbol, is_read_only=True)
        for symbol in fresh:
            self._literals[symbol.name] = _literal(symbol)
            self._write(symbol.name, _contents(kernel, symbol, found))
        return found

    def constants(self, kernel: Kernel, places: dict[str, int]) -> FlatMemory:
        """Constant memory as a launch of the kernel sees it; `places` as `load` gave them."""
        flat = FlatMemory("constant memory", self._constant_end)
        for name, first in self._constant_places.items():
            if name in self._variables:
                variable = self._variables[name]
                flat.bytes[first : first + variable.size] = variable.bytes
        for symbol in kernel.symbols.values():
            if symbol.space is AddressSpace.CONST and symbol.variables is not None:
                content = np.frombuffer(self._bank(kernel, symbol, places), np.uint8)
                first = places[symbol.name]
                flat.bytes[first : first + len(content)] = content
        flat.bytes.flags.writeable = False
        return flat

    def still_has(self, kernel: Kernel, places: dict[str, int]) -> bool:
        """Whether the variables of a kernel are where `load` found them."""
        for symbol in kernel.symbols.values():
            known = self._variables.get(symbol.name)
            if self._is_new(symbol) or any(
                name not in self._variables for name, _ in (symbol.variables or {}).values()
            ):
                return False
            if known is None or symbol.space is not AddressSpace.GLOBAL:
                continue
            if known.address != places[symbol.name]:
                return False
        return True

    def prepare(self, kernel: Kernel) -> None:
        """Makes the variables of a kernel, as its first launch would."""
        self.constants(kernel, self.load(kernel, self.memory.for_launch()))

    def variable(self, name: str, kernels: Iterable[Kernel]) -> Allocation:
        """The allocation of a variable that one of the kernels uses; LaunchError without any."""
        for kernel in kernels:
            if name not in self._variables and _has_variable(kernel, name):
                self.prepare(kernel)
        if name not in self._variables:
            raise LaunchError(f"no kernel uses a variable {name!r} of global or constant memory")
        return self._variables[name]

    def _is_new(self, symbol: Symbol) -> bool:
        is_variable = symbol.space in (AddressSpace.GLOBAL, AddressSpace.CONST)
        is_own = symbol.name in (GRID, HEAP) or symbol.variables is not None
        return is_variable and not is_own and symbol.name not in self._variables

    def _check(self, kernel: Kernel, symbol: Symbol) -> None:
        """Raises LaunchError for a variable that another code made with other contents."""
        known = self._variables.get(symbol.name)
        if known is None or symbol.variables is not None:
            return
        if known.size < symbol.size:
            raise LaunchError(
                f"variable {symbol.name} has {symbol.size} bytes in kernel {kernel.name} and "
                f"{known.size} in another kernel of its module"
            )
        if self._literals.setdefault(symbol.name, _literal(symbol)) != _literal(symbol):
            raise LaunchError(
                f"variable {symbol.name} has other initial contents in kernel {kernel.name} than "
                "where it was made: with addresses of functions a module runs in one code only"
            )

    def _place(self, kernel: Kernel, symbol: Symbol, own: DeviceMemory) -> int:
        if symbol.space is AddressSpace.CONST:
            return self._constant_place(kernel, symbol)
        if symbol.space is not AddressSpace.GLOBAL:
            return symbol.offset
        if symbol.name == GRID:
            return own.allocate(symbol.size, symbol.name).address
        if symbol.name == HEAP:
            return self.memory.heap(symbol.size).first
        if symbol.name not in self._variables:
            self._allocate(symbol)
        return self._variables[symbol.name].address

    def _constant_place(self, kernel: Kernel, symbol: Symbol) -> int:
        name = symbol.name
        if symbol.variables is not None:  # each kernel has its own
            name = f"{name} of {kernel.name}, {kernel.code}"
        if name not in self._constant_places:
            first = -(-self._constant_end // symbol.align) * symbol.align
            self._constant_places[name] = first
            self._constant_end = first + symbol.size
        return self._constant_places[name]

    def _allocate(self, symbol: Symbol, *, is_read_only: bool = False) -> None:
        size = symbol.size if is_read_only else max(symbol.size, 1)
        made = self.memory.allocate(size, symbol.name, is_read_only=is_read_only)
        self._variables[symbol.name] = made

    def _bank(self, kernel: Kernel, symbol: Symbol, places: dict[str, int]) -> bytes:
        """A bank of constants with what its variables hold by now."""
        content = bytearray(_contents(kernel, symbol, places))
        for first, (name, size) in (symbol.variables or {}).items():
            initial = bytes(content[first : first + size])
            if name not in self._variables:
                variable = Symbol(name, AddressSpace.CONST, size, 1, 0, initial)
                self._allocate(variable, is_read_only=True)
                self._write(name, initial)
            content[first : first + size] = self._variables[name].bytes[:size].tobytes()
        return bytes(content)

    def _write(self, name: str, content: bytes) -> None:
        self.memory.write(self._variables[name], np.frombuffer(content, np.uint8))


def _contents(kernel: Kernel, symbol: Symbol, places: dict[str, int]) -> bytes:
    """What a variable holds at first, with the addresses of others; the rest is zeros."""
    content = bytearray(symbol.data)
    for position, target in symbol.relocations.items():
        end = position + _POINTER_BYTES
        addend = int.from_bytes(content[position:end], "little")
        address = _generic(kernel, target, places) + addend & (1 << 64) - 1
        content[position:end] = address.to_bytes(_POINTER_BYTES, "little")
    return bytes(content)


def _literal(symbol: Symbol) -> bytes:
    """What a variable holds at first but for addresses of others, without zeros at the end."""
    content = bytearray(symbol.data)
    for position in symbol.relocations:
        content[position : position + _POINTER_BYTES] = bytes(_POINTER_BYTES)
    return bytes(content).rstrip(b"\0")


def _generic(kernel: Kernel, name: str, places: dict[str, int]) -> int:
    if name not in places:
        raise LaunchError(f"variable {name} is used by an initialiser but is not defined")
    return places[name] + WINDOWS.get(kernel.symbols[name].space, 0)


def _has_variable(kernel: Kernel, name: str) -> bool:
    banks = (symbol.variables or {} for symbol in kernel.symbols.values())
    return name in kernel.symbols or any(
        name == known for bank in banks for known, _ in bank.values()
    )
