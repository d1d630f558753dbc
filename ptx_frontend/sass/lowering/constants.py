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
from kernelcast.simcore.isa.ir.kernel import Immediate, Special, SpecialRegister, SymbolAddress
from kernelcast.simcore.isa.types import WINDOWS, AddressSpace

__all__ = [
    "ADDRESSES_BANK",
    "BANK_SYMBOLS",
    "LITERALS_BANK",
    "USER_BANK",
    "DriverWord",
    "GridWord",
    "HalfOf",
    "Reciprocal",
    "bank_of",
    "driver_words",
    "literal",
]

LITERALS_BANK, USER_BANK, ADDRESSES_BANK = 2, 3, 4
BANK_SYMBOLS = {bank: f"c[{bank:#x}]" for bank in (LITERALS_BANK, USER_BANK, ADDRESSES_BANK)}
"""Symbols that are all of a constant bank."""
_VOLTA, _AMPERE, _HOPPER, _BLACKWELL = 70, 80, 90, 100
_SIZES = (
    *(Special.NTID_X, Special.NTID_Y, Special.NTID_Z),
    *(Special.NCTAID_X, Special.NCTAID_Y, Special.NCTAID_Z),
)

_CLUSTER_SIZES = (Special.CLUSTER_NCTAID_X, Special.CLUSTER_NCTAID_Y, Special.CLUSTER_NCTAID_Z)
_CLUSTERS = (Special.NCLUSTERID_X, Special.NCLUSTERID_Y, Special.NCLUSTERID_Z)
_SYSTEM_BYTES = 1024
_ALIAS_FENCE = (0x18C, 0x2D8)
"""The places of what says which of two fences `fence.proxy.alias` is, of Hopper and Blackwell."""
_CLUSTER_PLACE, _END = 0x2A0, 1 << 16
_FIRST_PARAMETER = 0x160
"""Where parameters begin in bank 0, from Volta to Ada."""
_ENVIRONMENT = 32
"""Words of `%envreg0` and so on, which a driver may set: here they are 0."""


@dataclass(frozen=True, slots=True)
class Reciprocal:
    """1 over a special register as f32, rounded up: products with it are never too small."""

    which: Special


@dataclass(frozen=True, slots=True)
class HalfOf:
    """A word of a special register of 64 bits."""

    which: Special
    is_upper: bool


@dataclass(frozen=True, slots=True)
class GridWord:
    """Half of the address of the memory by which thread blocks of a cooperative launch wait."""

    is_upper: bool


DriverWord = SpecialRegister | Immediate | Reciprocal | HalfOf | GridWord | None
"""What a word of bank 0 below the parameters is: of a special register, a number, half of an
address, or None for the first address of the stack."""


def _halves(place: int, value: int) -> dict[int, DriverWord]:
    return {
        place: Immediate(value & 0xFFFFFFFF),
        place + 4: Immediate(value >> 32),
    }


def system_shared_bytes(architecture: int, shared_bytes: int) -> int:
    """How many of a kernel's shared bytes are the system's: from Hopper on the first 1,024."""
    return min(shared_bytes, _SYSTEM_BYTES) if architecture >= _HOPPER else 0


def driver_words(architecture: int, shared_bytes: int) -> dict[int, DriverWord]:
    """The words of bank 0 below the parameters by byte offset.

    `shared_bytes` of a kernel, those of the system among them.
    """
    system_bytes = system_shared_bytes(architecture, shared_bytes)
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
    if dynamic is not None:
        found[dynamic] = SpecialRegister(Special.DYNAMIC_SMEM_SIZE)
    if descriptor is not None:
        found |= _halves(descriptor, 0)
    if _VOLTA <= architecture < _BLACKWELL:
        found |= _halves(0x18, WINDOWS[AddressSpace.SHARED])
        found |= _halves(0x20, WINDOWS[AddressSpace.LOCAL])
    if architecture >= _VOLTA:
        found |= _of_device(architecture, system_bytes)
    if architecture >= _HOPPER:
        found |= _of_clusters(architecture)
    return found


def _of_device(architecture: int, system_bytes: int) -> dict[int, DriverWord]:
    """The numbers of multiprocessors and of the grid, the environment, windows, system memory."""
    if architecture >= _BLACKWELL:
        multiprocessors, grid, environment, reserved, window = 0x2D0, 0x140, 0x250, 0x16C, 0x120
    elif architecture >= _HOPPER:
        multiprocessors, grid, environment, reserved, window = 0x10C, 0x30, 0x40, 0x114, 0xD0
    else:
        multiprocessors, grid, environment, reserved, window = 0x10C, 0x30, 0x88, 0x114, 0x50
    end = min(
        environment + 4 * _ENVIRONMENT, _CLUSTER_PLACE if architecture >= _BLACKWELL else _END
    )
    found: dict[int, DriverWord] = {place: Immediate(0) for place in range(environment, end, 4)}
    found |= {environment + 4: GridWord(True), environment + 8: GridWord(False)}
    found[multiprocessors] = SpecialRegister(Special.NSMID)
    found[grid], found[grid + 4] = HalfOf(Special.GRIDID, False), HalfOf(Special.GRIDID, True)
    found[reserved] = Immediate(system_bytes)
    found |= _halves(window, WINDOWS[AddressSpace.CONST])
    if architecture >= _BLACKWELL:
        found |= _halves(0x2F8, WINDOWS[AddressSpace.LOCAL])
    return found | _of_parameters(architecture)


def _of_parameters(architecture: int) -> dict[int, DriverWord]:
    """The generic address of the parameters, before Hopper of the bank that they are in."""
    start = WINDOWS[AddressSpace.PARAM]
    if architecture >= _BLACKWELL:
        return _halves(0x348, start)
    if architecture >= _HOPPER:
        return _halves(0x198, start)
    return _halves(0x40, start - _FIRST_PARAMETER)


def _of_clusters(architecture: int) -> dict[int, DriverWord]:
    """Sizes of clusters and how many there are; every launch is one of clusters, be it of one."""
    if architecture >= _BLACKWELL:
        flag, sizes, reciprocals, counts, rank, most = (
            0x36C,
            _CLUSTER_PLACE,
            0x2B0,
            0x2C0,
            0x2CC,
            0x2BC,
        )
    else:
        flag, sizes, reciprocals, counts, rank, most = 0x140, 0x144, 0x150, 0x15C, 0x188, 0x13C
    found: dict[int, DriverWord] = {
        _ALIAS_FENCE[architecture >= _BLACKWELL]: Immediate(0),
        flag: Immediate(1),
        rank: SpecialRegister(Special.CLUSTER_NCTARANK),
        most: Immediate(0xFFFFFFFF),
    }
    for index in range(3):
        found[sizes + 4 * index] = SpecialRegister(_CLUSTER_SIZES[index])
        found[reciprocals + 4 * index] = Reciprocal(_CLUSTER_SIZES[index])
        found[counts + 4 * index] = SpecialRegister(_CLUSTERS[index])
    return found


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
