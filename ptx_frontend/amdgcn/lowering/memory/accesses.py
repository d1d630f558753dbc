"""Loads and stores of vectors, local memory (LDS) and scalars.

Meanings: AMD Instinct MI200 Instruction Set Architecture, chapters 8, 10 and 11. What moves several
words is an access for each: hardware asks for an alignment of one word only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.memory.addresses import (
    SPACES,
    further,
    local_place,
    offset,
    own_place,
    place_of,
    scratch_place,
)
from kernelcast.ptx_frontend.amdgcn.lowering.memory.atomics import ATOMICS
from kernelcast.ptx_frontend.amdgcn.lowering.memory.narrow_accesses import NARROW_ACCESSES
from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Address, Immediate, Operand, Register
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["MEMORY", "Arguments", "lower_scalar_load"]

_WORD = ScalarType.B32
_WORDS = {"dword": 1, "dwordx2": 2, "dwordx3": 3, "dwordx4": 4}
_LDS = {"b32": 1, "b64": 2, "b96": 3, "b128": 4}
_SCALAR_LOAD = re.compile(r"s_load_dword(?:x(\d+))?")
_NARROW_LOADS = {
    "s_load_u8": ScalarType.U8,
    "s_load_i8": ScalarType.S8,
    "s_load_u16": ScalarType.U16,
    "s_load_i16": ScalarType.S16,
}


def _load(space: AddressSpace, words: int, site: Site) -> None:
    scalar = site.operands[2] if len(site.operands) > 2 else ""
    address = place_of(site, space, site.operands[1], scalar)
    _load_words(site, address, words)


def _load_words(site: Site, address: Address, words: int) -> None:
    for number, name in enumerate(site.code.names(site.operands[0])[:words]):
        target = site.code.word(name)
        site.code.load(_WORD, further(address, 4 * number), (target,), is_main=number == 0)


def _store(space: AddressSpace, words: int, site: Site) -> None:
    scalar = site.operands[2] if len(site.operands) > 2 else ""
    address = place_of(site, space, site.operands[0], scalar)
    for number, value in enumerate(site.code.source(site.operands[1])[:words]):
        site.code.store(_WORD, further(address, 4 * number), (value,), is_main=number == 0)


# ---- memory of a work-item ----


def _scratch_load(words: int, site: Site) -> None:
    _load_words(site, scratch_place(site, *site.operands[1:3]), words)


def _scratch_store(words: int, site: Site) -> None:
    register, data, scalar = site.operands
    address = scratch_place(site, register, scalar)
    for number, value in enumerate(site.code.source(data)[:words]):
        site.code.store(_WORD, further(address, 4 * number), (value,), is_main=number == 0)


def _own_load(words: int, site: Site) -> None:
    _load_words(site, own_place(site), words)


def _own_store(words: int, site: Site) -> None:
    address = own_place(site)
    for number, value in enumerate(site.code.source(site.operands[0])[:words]):
        site.code.store(_WORD, further(address, 4 * number), (value,), is_main=number == 0)


# ---- local memory ----


def _local_load(words: int, site: Site) -> None:
    _load_words(site, local_place(site, site.operands[1], offset(site)), words)


def _local_load_two(words: int, stride: int, site: Site) -> None:
    names = site.code.names(site.operands[0])
    places = [
        local_place(site, site.operands[1], offset(site, f"offset{half}") * 4 * words * stride)
        for half in range(2)
    ]
    for half, place in enumerate(places):
        for number in range(words):
            target = site.code.word(names[half * words + number])
            address = further(place, 4 * number)
            site.code.load(_WORD, address, (target,), is_main=not half and not number)


def _local_store(words: int, site: Site) -> None:
    base = local_place(site, site.operands[0], offset(site))
    for number, value in enumerate(site.code.source(site.operands[1])[:words]):
        site.code.store(_WORD, further(base, 4 * number), (value,), is_main=number == 0)


def _local_store_two(words: int, stride: int, site: Site) -> None:
    for half in range(2):
        first = offset(site, f"offset{half}") * 4 * words * stride
        place = local_place(site, site.operands[0], first)
        for number, value in enumerate(site.code.source(site.operands[1 + half])[:words]):
            address = further(place, 4 * number)
            site.code.store(_WORD, address, (value,), is_main=not half and not number)


# ---- scalar loads ----


@dataclass(frozen=True)
class Arguments:
    """The memory that a launch hands over: parameters up to `end`, then, a multiple of 8, sizes.

    `size_word` gives a word of those, by its distance in bytes. `first`: the byte that a pair of
    registers points to.
    """

    end: int
    size_word: Callable[[int], Operand]
    first: int = 0


def lower_scalar_load(site: Site, arguments: Arguments | None) -> bool:
    """Lowers `s_load_dword` and its kin, from `arguments` or from memory; False for others."""
    match, type_ = _SCALAR_LOAD.fullmatch(site.opcode), _NARROW_LOADS.get(site.opcode, _WORD)
    if match is None and type_ is _WORD:
        return False
    code, words = site.code, int(match[1] or 1) if match else 1
    text = site.operands[2]
    is_constant = not code.names(text)
    distance = int(text, 0) if is_constant and text != "null" else 0
    distance += offset(site) + (arguments.first if arguments is not None else 0)
    found: list[Operand] = []
    if arguments is not None and is_constant:
        found = [_argument(site, arguments, distance, number, type_) for number in range(words)]
    elif arguments is not None:
        base = code.compute("cvt.u64.u32", 64, code.single(text))
        found = _loaded(site, Address(AddressSpace.PARAM, base, distance), words, type_)
    else:
        base = code.joined(*map(code.word, code.names(site.operands[1])))
        if not is_constant:
            more = code.compute("cvt.u64.u32", 64, code.single(text))
            base = code.compute("add.u64", 64, base, more)
        is_argument = code.is_in_arguments(site.operands[1])
        space = AddressSpace.PARAM if is_argument else AddressSpace.GLOBAL
        found = _loaded(site, Address(space, base, distance), words, type_)
    code.set_scalar(site.operands[0], found)
    return True


def _loaded(site: Site, address: Address, words: int, type_: ScalarType) -> list[Operand]:
    found: list[Operand] = []
    guard, site.code.guard = site.code.guard, None
    for number in range(words):
        target: Register = site.code.register(32)
        site.code.load(type_, further(address, 4 * number), (target,), is_main=number == 0)
        found.append(target)
    site.code.guard = guard
    return found


def _argument(
    site: Site, arguments: Arguments, first: int, number: int, type_: ScalarType
) -> Operand:
    """A word of the arguments; what lies between the last one and the sizes is undefined."""
    distance = first + 4 * number
    sizes = -(-arguments.end // 8) * 8
    if distance >= sizes:
        return _size(site, arguments, distance - sizes, type_)
    if distance >= arguments.end:
        return Immediate(0)
    code, is_main = site.code, number == 0
    guard, code.guard = code.guard, None
    if distance + type_.bytes <= arguments.end:
        found = _parameter(site, type_, distance, is_main=is_main)
    else:
        found = _last_bytes(site, distance, arguments.end - distance, is_main=is_main)
    code.guard = guard
    return found


def _parameter(site: Site, type_: ScalarType, distance: int, *, is_main: bool) -> Operand:
    target = site.code.register(32)
    place = Address(AddressSpace.PARAM, None, distance)
    site.code.load(type_, place, (target,), is_main=is_main)
    return target


def _last_bytes(site: Site, distance: int, count: int, *, is_main: bool) -> Operand:
    """The word of which one to three bytes are the end of the last argument; zero above them."""
    if count == 1:
        return _parameter(site, ScalarType.U8, distance, is_main=is_main)
    low = _parameter(site, ScalarType.U16, distance, is_main=is_main)
    if count == 2:
        return low
    high = _parameter(site, ScalarType.U8, distance + 2, is_main=False)
    moved = site.code.compute("shl.b32", 32, high, Immediate(16))
    return site.code.compute("or.b32", 32, low, moved)


def _size(site: Site, arguments: Arguments, distance: int, type_: ScalarType) -> Operand:
    """A word of the sizes, or the part of one."""
    word = arguments.size_word(distance - distance % 4)
    if type_ is _WORD:
        return word
    kind = "s" if type_.is_signed else "u"
    place = Immediate(8 * (distance % 4)), Immediate(type_.bits)
    return site.main(f"bfe.{kind}32", 32, word, *place)


MEMORY: Mapping[str, Lowering] = {
    **{
        f"{kind}_load_{name}": partial(_load, space, words)
        for kind, space in SPACES.items()
        for name, words in _WORDS.items()
    },
    **{
        f"{kind}_store_{name}": partial(_store, space, words)
        for kind, space in SPACES.items()
        for name, words in _WORDS.items()
    },
    **{f"scratch_load_{name}": partial(_scratch_load, words) for name, words in _WORDS.items()},
    **{f"scratch_store_{name}": partial(_scratch_store, words) for name, words in _WORDS.items()},
    **{f"buffer_load_{name}": partial(_own_load, words) for name, words in _WORDS.items()},
    **{f"buffer_store_{name}": partial(_own_store, words) for name, words in _WORDS.items()},
    **{f"ds_read_{name}": partial(_local_load, words) for name, words in _LDS.items()},
    **{f"ds_write_{name}": partial(_local_store, words) for name, words in _LDS.items()},
    **{
        f"ds_read2{far}_{name}": partial(_local_load_two, words, 64 if far else 1)
        for far in ("", "st64")
        for name, words in (("b32", 1), ("b64", 2))
    },
    **{
        f"ds_write2{far}_{name}": partial(_local_store_two, words, 64 if far else 1)
        for far in ("", "st64")
        for name, words in (("b32", 1), ("b64", 2))
    },
    **NARROW_ACCESSES,
    **ATOMICS,
}
