"""Loads from constant banks, also at places that are known only at run time."""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.constants import BANK_SYMBOLS, LITERALS_BANK
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import (
    ConstantOperand,
    RegisterOperand,
    SassOperand,
)
from kernelcast.simcore.isa.ir.kernel import Address, Immediate, Register, SymbolAddress
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__: list[str] = []

_NARROW = {"U8": "u8", "S8": "s8", "U16": "u16", "S16": "s16"}
_SIZES = {"64": 8, "128": 16, "256": 32}
_WORD, _LONG = 4, 8
_ZERO = Immediate(0)


@lowers("LDC", "ULDC", "LDCU")
def lower_constant_load(site: Site) -> None:
    """`d, c[bank][place]`."""
    operand = site.operand(1)
    if not isinstance(operand, ConstantOperand):
        raise site.refuse("a constant that is none")
    if operand.bank_register is not None:
        raise site.refuse("a constant bank in a register")
    site.ignore("U", "ENL2")
    if site.take("IL", "IS", "ISL"):
        raise site.refuse("a constant's place in two parts")
    narrow, size = site.choose(_NARROW, ""), site.choose(_SIZES, _WORD)
    is_indexed = operand.index is not None and operand.index.number is not None
    if is_indexed and _is_driver_word(site, operand):
        is_indexed = False
        operand = ConstantOperand(operand.bank, operand.offset)
    if narrow:
        _narrow(site, operand, ScalarType.named(narrow), is_indexed)
    elif is_indexed or not _known(site, operand, size):
        _from_memory(site, operand, ScalarType.B32, size // _WORD)


def _is_driver_word(site: Site, operand: ConstantOperand) -> bool:
    """Whether a place of bank 0 is a word of the driver's, moved by the size of a cluster."""
    entry = site.context.entry
    return operand.bank == 0 and operand.offset > 0 and entry.is_of_driver(operand.offset)


def _known(site: Site, operand: ConstantOperand, size: int) -> bool:
    """Writes what stands at a fixed place; False where that is not known but by a load."""
    entry, target = site.context.entry, site.operand(0)
    step = min(size, _LONG)
    places = range(operand.offset, operand.offset + size, step)
    found = [entry.constant(operand.bank, place, step) for place in places]
    if operand.bank in BANK_SYMBOLS and None in found:
        return False
    if step == _WORD:
        site.main("mov.b32", site.destination(target), site.constant(operand, _WORD))
        return True
    if found[0] is None:
        raise site.refuse(f"what c[{operand.bank:#x}][{operand.offset:#x}] holds is not known")
    for number, value in enumerate(found):
        write = site.main if number == 0 else site.part
        destination = site.pair_destination(_neighbour(site, target, 2 * number))
        write("mov.b64", destination, _ZERO if value is None else value)  # behind all parameters
    return True


def _neighbour(site: Site, target: SassOperand, distance: int) -> RegisterOperand:
    if not isinstance(target, RegisterOperand):
        raise site.refuse("a destination is no register")
    number = None if target.number is None else target.number + distance
    return RegisterOperand(target.file, number)


def _narrow(site: Site, operand: ConstantOperand, type_: ScalarType, is_indexed: bool) -> None:
    """A byte or half of a word."""
    entry = site.context.entry
    is_fixed = not is_indexed and not entry.is_parameter(operand.bank, operand.offset)
    start = operand.offset % _WORD
    if is_fixed and (type_.bits == 8 or start % 2 == 0):
        word = entry.constant(operand.bank, operand.offset - start, _WORD)
        if word is not None:
            kind = "s32" if type_.is_signed else "u32"
            field = Immediate(8 * start), Immediate(type_.bits)
            site.main(f"bfe.{kind}", site.destination(site.operand(0)), word, *field)
            return
    _from_memory(site, operand, type_, 1)


def _from_memory(site: Site, operand: ConstantOperand, type_: ScalarType, count: int) -> None:
    """A load of parameters, of variables, or of what the compiler put into a bank."""
    address = _address(site, operand)
    target = site.operand(0)
    targets: tuple[Register | None, ...]
    if count > 1 and site.is_wide(target):
        type_ = ScalarType.B64
        targets = tuple(
            site.pair_destination(_neighbour(site, target, 2 * number))
            for number in range(count // 2)
        )
    else:
        targets = site.destinations(target, count)
    site.load(type_, address, targets, is_main=True)


def _address(site: Site, operand: ConstantOperand) -> Address:
    index: Register | None = None
    if operand.index is not None and operand.index.number is not None:
        # negative where the place is: modulo 2**32
        word = site.in_register(site.word(operand.index), 32)
        index = site.compute("cvt.s64.s32", 64, word)
    if operand.bank == 0:
        offset = operand.offset - site.context.entry.base
        return Address(AddressSpace.PARAM, index, offset)
    if operand.bank not in BANK_SYMBOLS:
        raise site.refuse(f"a load of constant bank {operand.bank}")
    symbol = BANK_SYMBOLS[operand.bank]
    if operand.bank >= LITERALS_BANK:
        site.context.entry.symbols.add(symbol)
    base = SymbolAddress(symbol)
    if index is None:
        return Address(AddressSpace.CONST, base, operand.offset)
    start = site.compute("mov.u64", 64, base)
    return Address(AddressSpace.CONST, site.compute("add.s64", 64, start, index), operand.offset)
