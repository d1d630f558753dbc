"""Variables of a cubin as the symbols of a kernel."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from kernelcast.ptx_frontend.sass.container.cubin import CodeSymbol, Cubin, CubinFunction
from kernelcast.ptx_frontend.sass.lowering.constants import USER_BANK
from kernelcast.simcore.isa.ir.kernel import Symbol
from kernelcast.simcore.isa.types import AddressSpace

__all__ = ["USER_CONSTANTS", "symbols_of"]

USER_CONSTANTS = "c[0x3]"
"""The symbol that is all of constant bank 3."""
_ALIGNMENT = 256
_INITIALISED, _ZEROED = ".nv.global.init", ".nv.global"


def symbols_of(cubin: Cubin, function: CubinFunction, used: Iterable[str]) -> dict[str, Symbol]:
    """The variables that a kernel uses, and those whose addresses are in their contents."""
    found: dict[str, Symbol] = {}
    pending = list(used)
    while pending:
        name = pending.pop()
        if name in found:
            continue
        symbol = _symbol(cubin, name)
        if symbol is not None:
            found[name] = symbol
            pending.extend(symbol.relocations.values())
    bank = cubin.banks.get(USER_BANK)
    if bank is not None:
        found[USER_CONSTANTS] = Symbol(
            USER_CONSTANTS, AddressSpace.CONST, len(bank), _ALIGNMENT, 0, bank
        )
    return found


def _symbol(cubin: Cubin, name: str) -> Symbol | None:
    known = cubin.symbols.get(name)
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
