"""Loads and stores of global, shared, local and generic memory, and questions about addresses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kernelcast.ptx_frontend.sass.lowering.memory_access.addresses import address_of
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import RegisterOperand, SassOperand
from kernelcast.simcore.isa.ir.kernel import Address, Guard, Immediate, Operand, Register
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["HINTS", "address_of"]

_SPACES = {
    "G": AddressSpace.GLOBAL,
    "S": AddressSpace.SHARED,
    "L": AddressSpace.LOCAL,
    "": AddressSpace.GENERIC,
}
_NARROW = {"U8": "u8", "S8": "s8", "U16": "u16", "S16": "s16"}
_CACHES = {"CONSTANT": "nc", "CI": "nc", "CV": "cv"}
HINTS = (
    *("E", "U", "EF", "EL", "LU", "NA", "EN", "WT", "PRIVATE", "WEAK", "32", "ENL2", "ELL2"),
    *("LTC64B", "LTC128B", "LTC256B", "CTA", "SM", "GPU", "SYS", "VC", "MMIO"),
)
"""Modifiers that change when data arrives and where they are kept, not what is read."""
_WINDOWED_BEFORE = 70
"""The architecture before which generic accesses name a predicate that changes nothing."""
_QUERIES = {"G": "global", "S": "shared", "D": "shared", "L": "local"}
"""`D`, shared memory of other thread blocks, is asked for after `S`."""
_LONG = 0xFFFFFFFF_FFFFFFFF
_TRUE, _FALSE = Immediate(1), Immediate(0)


@dataclass(frozen=True, slots=True)
class _Read:
    """What a load reads and where to; None for words that nobody wants."""

    type: ScalarType
    address: Address
    destinations: tuple[Register | None, ...]
    cache: str
    is_ordered: bool


def _element(site: Site, value: SassOperand) -> tuple[ScalarType, int]:
    """The type of an access and how many elements it has."""
    narrow = site.choose(_NARROW, "")
    if narrow:
        return ScalarType.named(narrow), 1
    words = site.choose({"64": 2, "128": 4, "256": 8}, 1)
    if words > 1 and site.is_wide(value):
        return ScalarType.B64, words // 2
    return ScalarType.B32, words


def _common(site: Site) -> bool:
    """Takes what changes nothing; whether the access is ordered, as volatile ones are."""
    site.ignore(*HINTS)
    return site.take("STRONG")


def _check_predicates(site: Site, positions: Iterable[int]) -> None:
    """Refuses an access under a predicate that is not its guard."""
    for position in positions:
        if not site.is_predicate(position):
            continue
        operand = site.operand(position)
        assert isinstance(operand, RegisterOperand)
        is_plain = operand.number is None and not operand.sign
        is_legacy = site.architecture < _WINDOWED_BEFORE and site.statement.opcode in ("LD", "ST")
        if not (is_plain or is_legacy):
            raise site.refuse("an access with a predicate among its operands")


def _registers(site: Site, operand: SassOperand, count: int) -> list[RegisterOperand]:
    """The registers that hold pairs of an operand of several."""
    if not isinstance(operand, RegisterOperand):
        raise site.refuse("an operand of several registers is none")
    number = operand.number
    return [
        RegisterOperand(operand.file, None if number is None else number + 2 * i)
        for i in range(count)
    ]


def _destinations(
    site: Site, targets: Sequence[SassOperand], type_: ScalarType, count: int
) -> tuple[Register | None, ...]:
    """What a load writes: `count` elements, an equal part of them to each target."""
    each = count // len(targets)
    found: list[Register | None] = []
    for target in targets:
        if type_ is ScalarType.B64:
            found += [
                None if pair.number is None else site.pair_destination(pair)
                for pair in _registers(site, target, each)
            ]
        else:
            found += site.destinations(target, each)
    return tuple(found)


def _sources(
    site: Site, values: Sequence[SassOperand], type_: ScalarType, count: int
) -> tuple[Operand, ...]:
    each = count // len(values)
    found: list[Operand] = []
    for value in values:
        if type_ is ScalarType.B64:
            found += [site.pair(pair) for pair in _registers(site, value, each)]
        else:
            found += site.words(value, each)
    return tuple(found)


def _some_words(
    site: Site, halves: Sequence[SassOperand], wanted: int
) -> tuple[Register | None, ...]:
    """Where the words of a mask go: those of each half to neighbours without gaps."""
    found: list[Register | None] = []
    for number, half in enumerate(halves):
        mask = wanted >> 4 * number & 0xF
        left = iter(site.destinations(half, mask.bit_count()))
        found += [next(left) if mask >> word & 1 else None for word in range(4)]
    return tuple(found)


def _wanted_words(site: Site, position: int) -> int | None:
    """The mask of the words that a load of 256 bits writes; None where it has none."""
    if position >= len(site.operands) or site.is_predicate(position):
        return None
    mask = site.word(site.operand(position))
    if not isinstance(mask, Immediate):
        raise site.refuse("a mask of words in a register")
    return mask.bits


@lowers("LDG", "LDS", "LDL", "LD")
def lower_load(site: Site) -> None:
    """`d, [address]`; 256 bits go to two registers and their neighbours: upper half, lower half."""
    space = _SPACES[site.statement.opcode[2:]]
    first = 1 if site.is_predicate(0) else 0
    halves = 2 if "256" in site.statement.modifiers else 1
    targets = [site.operand(first + half) for half in range(halves)]
    place = first + halves
    _check_predicates(site, (0,) if space is AddressSpace.GLOBAL else (0, place + 1))
    holds: Operand = _TRUE
    if space is AddressSpace.GLOBAL and site.is_predicate(place + 1):
        holds = site.predicate(site.operand(place + 1))
    cache = site.choose(_CACHES, "")
    is_ordered = _common(site)
    type_, count = _element(site, targets[-1])
    wanted = _wanted_words(site, place + 1)
    address = address_of(site, site.operand(place), space)
    if wanted is None:
        destinations = _destinations(site, targets[::-1], type_, count)
    else:
        type_ = ScalarType.B32
        destinations = _some_words(site, targets[::-1], wanted)
    if holds == _TRUE:
        site.load(type_, address, destinations, volatile=is_ordered, cache=cache, is_main=True)
        return
    read = _Read(type_, address, destinations, cache, is_ordered)
    _load_or_zero(site, read, site.in_register(holds, 1))


def _load_or_zero(site: Site, read: _Read, holds: Register) -> None:
    """Lanes whose predicate does not hold read nothing and get zeros.

    No PTX becomes this form. The vendor's own libraries store what it gives to shared memory, as
    tiles of a product in a loop, without another write of those registers: zeros it must be, as
    with `LDGSTS`, whose predicate stands in the same bits.
    """
    bits = max(32, read.type.bits)
    values = [site.register(bits) for _ in read.destinations]
    for value in values:
        site.assign(f"mov.b{bits}", value, _FALSE)
    outer = site.guard
    if outer is not None:
        mine = site.compute("not.pred", 1, outer.register) if outer.negated else outer.register
        holds = site.compute("and.pred", 1, holds, mine)
    site.guard = Guard(holds, negated=False)
    site.load(
        read.type,
        read.address,
        values,
        volatile=read.is_ordered,
        cache=read.cache,
        is_main=True,
    )
    site.guard = outer
    for destination, value in zip(read.destinations, values, strict=True):
        if destination is not None:
            site.part(f"mov.b{bits}", destination, value)


@lowers("STG", "STS", "STL", "ST")
def lower_store(site: Site) -> None:
    """`[address], a`."""
    space = _SPACES[site.statement.opcode[2:]]
    halves = 2 if "256" in site.statement.modifiers else 1
    values = [site.operand(1 + half) for half in range(halves)]
    _check_predicates(site, (1 + halves,))
    is_ordered = _common(site)
    type_, count = _element(site, values[0])
    address = address_of(site, site.operand(0), space)
    site.store(
        type_, address, _sources(site, values, type_, count), volatile=is_ordered, is_main=True
    )


@lowers("QSPC")
def lower_query_of_space(site: Site) -> None:
    """`p, RZ, [address]`: whether a generic address is one of global, shared or local memory."""
    site.ignore("E")
    space = site.choose(_QUERIES, "")
    if not space or not site.is_discarded(site.operand(1)):
        raise site.refuse()
    address = address_of(site, site.operand(2), AddressSpace.GENERIC)
    assert isinstance(address.base, Register)
    value = address.base
    if address.offset:
        value = site.compute("add.s64", 64, value, Immediate(address.offset & _LONG))
    site.main(f"isspacep.{space}", site.destination(site.operand(0)), value)


@lowers("CCTL", "CCTLL", "CCTLT")
def lower_cache_control(site: Site) -> None:
    """Lines are fetched or thrown away, which no thread can see."""
    site.rest()
    site.nothing()
