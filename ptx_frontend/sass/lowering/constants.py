"""Constant banks: what their words become.

Bank 0 holds what the driver tells of the launch, then the parameters. Bank 2 holds literals of the
compiler, bank 3 the variables of `__constant__`, bank 4 addresses of variables. Where the driver
puts sizes and windows differs by architecture; the places below were found by compiling kernels
that read one thing each (docs/sass.md).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from kernelcast.ptx_frontend.sass.container.cubin import Cubin, CubinFunction
from kernelcast.simcore.isa.address_windows import WINDOWS
from kernelcast.simcore.isa.ir.kernel import Immediate, Special, SpecialRegister, SymbolAddress
from kernelcast.simcore.isa.types import AddressSpace

__all__ = [
    "ADDRESSES_BANK",
    "LITERALS_BANK",
    "USER_BANK",
    "DriverWord",
    "GridWord",
    "bank_of",
    "driver_words",
    "literal",
]

LITERALS_BANK, USER_BANK, ADDRESSES_BANK = 2, 3, 4
_VOLTA, _AMPERE, _HOPPER, _BLACKWELL = 70, 80, 90, 100
_SIZES = (
    *(Special.NTID_X, Special.NTID_Y, Special.NTID_Z),
    *(Special.NCTAID_X, Special.NCTAID_Y, Special.NCTAID_Z),
)


@dataclass(frozen=True, slots=True)
class GridWord:
    """Half of the address of the memory by which thread blocks of a cooperative launch wait."""

    is_upper: bool


DriverWord = SpecialRegister | Immediate | GridWord | None
"""What a word of bank 0 below the parameters is: a special register, a number, half of an address,
or None for the first address of the stack."""
_ENVIRONMENT_REGISTERS = 32


def _halves(place: int, value: int) -> dict[int, DriverWord]:
    return {
        place: Immediate(value & 0xFFFFFFFF),
        place + 4: Immediate(value >> 32),
    }


def driver_words(architecture: int) -> dict[int, DriverWord]:
    """The words of bank 0 below the parameters by byte offset."""
    if architecture >= _BLACKWELL:
        first, stack, dynamic, descriptor = 0x360, 0x37C, 0x2AC, 0x358
    elif architecture >= _HOPPER:
        first, stack, dynamic, descriptor = 0x0, 0x28, 0x2C, 0x208
    elif architecture >= _VOLTA:
        first, stack, dynamic, descriptor = 0x0, 0x28, 0x2C, 0x118
    else:
        first, stack, dynamic, descriptor = 0x8, 0x20, None, None
    found: dict[int, DriverWord] = {
        first + 4 * index: SpecialRegister(special) for index, special in enumerate(_SIZES)
    }
    if architecture >= _BLACKWELL:
        # a word of padding lies between the sizes of thread blocks and of the grid
        found = {
            **{first + 4 * i: SpecialRegister(_SIZES[i]) for i in range(3)},
            **{first + 0x10 + 4 * i: SpecialRegister(_SIZES[3 + i]) for i in range(3)},
        }
    found[stack] = None
    found |= _environment(architecture)
    if dynamic is not None:
        found[dynamic] = SpecialRegister(Special.DYNAMIC_SMEM_SIZE)
    if descriptor is not None:
        found |= _halves(descriptor, 0)
    if architecture >= _BLACKWELL:
        found |= _halves(0x2F8, WINDOWS[AddressSpace.LOCAL])
        found |= _halves(0x120, WINDOWS[AddressSpace.CONST])
    elif architecture >= _VOLTA:
        found |= _halves(0x18, WINDOWS[AddressSpace.SHARED])
        found |= _halves(0x20, WINDOWS[AddressSpace.LOCAL])
        found |= _halves(0xD0 if architecture >= _HOPPER else 0x50, WINDOWS[AddressSpace.CONST])
    return found


def _environment(architecture: int) -> dict[int, DriverWord]:
    """The words of `%envreg0` to `%envreg31`, as PTX has them here."""
    if architecture < _VOLTA:
        return {}
    first = 0x88 if architecture < _HOPPER else 0x40 if architecture < _BLACKWELL else 0x250
    found: dict[int, DriverWord] = {
        first + 4 * number: Immediate(0) for number in range(_ENVIRONMENT_REGISTERS)
    }
    return found | {first + 4: GridWord(True), first + 8: GridWord(False)}


@dataclass(frozen=True, slots=True)
class _Bank:
    content: bytes
    symbols: dict[int, tuple[str, int]]
    """Symbols whose addresses stand at places, with what is added."""


def bank_of(
    cubin: Cubin, function: CubinFunction, bank: int
) -> tuple[bytes, dict[int, tuple[str, int]]]:
    """The content of a bank, and the symbols whose addresses stand at places, with an addend."""
    found = _bank(cubin, function, bank)
    return found.content, found.symbols


def _bank(cubin: Cubin, function: CubinFunction, bank: int) -> _Bank:
    own = function.banks.get(bank)
    name = f".nv.constant{bank}" + ("" if own is None else f".{function.name}")
    content = cubin.banks.get(bank, b"") if own is None else own
    symbols = {item.offset: (item.symbol, item.addend) for item in cubin.relocations.get(name, ())}
    return _Bank(content, symbols)


def literal(
    cubin: Cubin, function: CubinFunction, bank: int, offset: int, size: int
) -> Immediate | SymbolAddress | None:
    """What stands at a place of a bank whose content is known; None outside of it.

    A symbol's address is 64 bits wide: SymbolAddress for the whole of it, None for a half.
    """
    found = _bank(cubin, function, bank)
    if offset in found.symbols and size == 8:
        symbol, addend = found.symbols[offset]
        return SymbolAddress(symbol, addend)
    if any(place in found.symbols for place in (offset, offset - 4)):
        return None
    data = found.content[offset : offset + size]
    if offset < 0 or len(data) < size:
        return None
    return Immediate(struct.unpack("<I" if size == 4 else "<Q", data)[0])
