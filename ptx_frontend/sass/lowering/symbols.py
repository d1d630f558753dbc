"""Variables of a cubin as the symbols of a kernel."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from kernelcast.ptx_frontend.sass.container.cubin import CodeSymbol, Cubin, CubinFunction
from kernelcast.ptx_frontend.sass.lowering.constants import (
    BANK_SYMBOLS,
    USER_BANK,
    bank_of,
)
from kernelcast.simcore.isa.ir.host_functions import HostFunction
from kernelcast.simcore.isa.ir.kernel import Symbol
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["DRIVER_CALLS", "symbols_of", "unlinked"]

DRIVER_CALLS = "__cuda_syscall_"
"""How names of functions begin that the driver has."""
_ALIGNMENT = 256
_USER_SECTION = f".nv.constant{USER_BANK}"
_HOST_FUNCTIONS = frozenset(item.value for item in HostFunction)
_DRIVER_TABLES = "refDescSize"
_QUESTION = "a question about a texture or surface that only the driver's tables answer"
_INITIALISED, _ZEROED = ".nv.global.init", ".nv.global"


def unlinked(cubin: Cubin, function: CubinFunction) -> list[str]:
    """Why symbols that a kernel's code names are not there: another file has to bring them.

    The driver has tables of what it knows of textures and surfaces besides their sizes.
    """
    named = dict.fromkeys(relocation.symbol for relocation in function.relocations)
    known = (cubin.symbols.get(name) for name in named)
    return [
        _QUESTION
        if symbol.name.endswith(_DRIVER_TABLES)
        else f"the cubin has no {symbol.name!r}: link the program, as nvcc does without -dc"
        for symbol in known
        if symbol is not None and not symbol.section and not _is_brought(symbol.name)
    ]


def _is_brought(name: str) -> bool:
    """Whether the vendor's runtime or the driver has the function."""
    return name in _HOST_FUNCTIONS or name.startswith(DRIVER_CALLS)


def symbols_of(cubin: Cubin, function: CubinFunction, used: Iterable[str]) -> dict[str, Symbol]:
    """The variables that a kernel uses, and those whose addresses are in their contents."""
    found: dict[str, Symbol] = {}
    pending = list(used)
    while pending:
        name = pending.pop()
        if name in found:
            continue
        symbol = _bank(cubin, function, name) or _symbol(cubin, name)
        if symbol is not None:
            found[name] = symbol
            pending.extend(symbol.relocations.values())
    return found


def _bank(cubin: Cubin, function: CubinFunction, name: str) -> Symbol | None:
    bank = next((bank for bank, known in BANK_SYMBOLS.items() if known == name), None)
    if bank is None:
        return None
    content, relocations = bank_of(cubin, function, bank)
    addresses = {offset: symbol for offset, (symbol, _) in relocations.items()}
    return Symbol(
        name,
        AddressSpace.CONST,
        len(content),
        _ALIGNMENT,
        0,
        content,
        addresses,
        _user_variables(cubin) if bank == USER_BANK else {},
    )


def _user_variables(cubin: Cubin) -> dict[int, tuple[str, int]]:
    """Name and bytes of the variables in constant memory, by their places in the bank."""
    return {
        symbol.value: (symbol.name, symbol.size)
        for symbol in cubin.symbols.values()
        if symbol.section == _USER_SECTION and symbol.size
    }


def _symbol(cubin: Cubin, name: str) -> Symbol | None:
    known = cubin.symbols.get(name)
    if known is not None and known.section == _USER_SECTION:
        content = cubin.banks.get(USER_BANK, b"")
        data = content[known.value : known.value + known.size]
        addresses = _relocations(cubin, known)
        return Symbol(name, AddressSpace.CONST, known.size, _ALIGNMENT, 0, data, addresses)
    if known is None or not known.section.startswith(_ZEROED):
        return None
    content = cubin.variables.get(known.section, b"")
    data = content[known.value : known.value + known.size]
    return Symbol(
        name,
        AddressSpace.GLOBAL,
        known.size,
        _ALIGNMENT,
        0,
        data,
        _relocations(cubin, known),
    )


def _relocations(cubin: Cubin, symbol: CodeSymbol) -> dict[int, str]:
    """Positions of the symbol's contents where addresses of other symbols stand."""
    return {
        item.offset - symbol.value: item.symbol
        for item in cubin.relocations.get(symbol.section, ())
        if symbol.value <= item.offset <= symbol.value + symbol.size - struct.calcsize("<Q")
    }
