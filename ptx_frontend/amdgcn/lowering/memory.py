"""Loads and stores of vectors, local memory (LDS) and scalars, and atomics.

Meanings: AMD Instinct MI200 Instruction Set Architecture, chapters 8, 10 and 11. What moves several
words is an access for each: hardware asks for an alignment of one word only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Address, Immediate, Operand, Register
from kernelcast.simcore.isa.opcodes.warp import WARP_OPCODES
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["MEMORY", "Arguments", "lower_scalar_load"]

_WORD = ScalarType.B32
_NARROW = {
    "ubyte": (ScalarType.U8, "cvt.u32.u16", 0xFF),
    "sbyte": (ScalarType.S8, "cvt.s32.s16", 0),
    "ushort": (ScalarType.U16, "cvt.u32.u16", 0),
    "sshort": (ScalarType.S16, "cvt.s32.s16", 0),
}
_STORED = {"byte": ScalarType.B8, "short": ScalarType.B16}
_WORDS = {"dword": 1, "dwordx2": 2, "dwordx3": 3, "dwordx4": 4}
_SPACES = {"global": AddressSpace.GLOBAL, "flat": AddressSpace.GENERIC}
_LDS = {"b32": 1, "b64": 2, "b96": 3, "b128": 4}
_COMPARED = "cas"
_ATOMICS = {
    "add": ("add", "u32"),
    "add_u32": ("add", "u32"),
    "smin": ("min", "s32"),
    "min_i32": ("min", "s32"),
    "smax": ("max", "s32"),
    "max_i32": ("max", "s32"),
    "umin": ("min", "u32"),
    "min_u32": ("min", "u32"),
    "umax": ("max", "u32"),
    "max_u32": ("max", "u32"),
    "and": ("and", "b32"),
    "and_b32": ("and", "b32"),
    "or": ("or", "b32"),
    "or_b32": ("or", "b32"),
    "xor": ("xor", "b32"),
    "xor_b32": ("xor", "b32"),
    "swap": ("exch", "b32"),
    "cmpswap": (_COMPARED, "b32"),
}
_RETURNS = {"glc", "sc0"}
_SCALAR_LOAD = re.compile(r"s_load_dword(?:x(\d+))?")


def _offset(site: Site, name: str = "offset") -> int:
    return int(site.instruction.modifiers.get(name, "0"), 0)


def _place(site: Site, space: AddressSpace, vector: str, scalar: str) -> Address:
    """The address of an access: a pair of vector registers, or one and a pair of scalar ones."""
    code = site.code
    if scalar in ("", "off"):
        return Address(space, code.joined(*map(code.word, code.names(vector))), _offset(site))
    base = code.joined(*map(code.word, code.names(scalar)))
    distance = code.compute("cvt.u64.u32", 64, code.single(vector))
    return Address(space, code.compute("add.u64", 64, base, distance), _offset(site))


def _further(address: Address, distance: int) -> Address:
    return Address(address.space, address.base, address.offset + distance)


def _load(space: AddressSpace, words: int, site: Site) -> None:
    scalar = site.operands[2] if len(site.operands) > 2 else ""
    address = _place(site, space, site.operands[1], scalar)
    _load_words(site, address, words)


def _load_words(site: Site, address: Address, words: int) -> None:
    for number, name in enumerate(site.code.names(site.operands[0])[:words]):
        target = site.code.word(name)
        site.code.load(_WORD, _further(address, 4 * number), (target,), is_main=number == 0)


def _load_narrow(space: AddressSpace, name: str, site: Site) -> None:
    scalar = site.operands[2] if len(site.operands) > 2 else ""
    address = _place(site, space, site.operands[1], scalar)
    _load_part(site, address, name)


def _load_part(site: Site, address: Address, name: str) -> None:
    type_, conversion, mask = _NARROW[name]
    code, part = site.code, site.code.register(16)
    code.load(type_, address, (part,), is_main=True)
    wide: Operand = code.compute(conversion, 32, part)
    if mask:
        wide = code.compute("and.b32", 32, wide, Immediate(mask))
    code.set_vector(site.operands[0], wide)


def _store(space: AddressSpace, words: int, site: Site) -> None:
    scalar = site.operands[2] if len(site.operands) > 2 else ""
    address = _place(site, space, site.operands[0], scalar)
    for number, value in enumerate(site.code.source(site.operands[1])[:words]):
        site.code.store(_WORD, _further(address, 4 * number), (value,), is_main=number == 0)


def _store_narrow(space: AddressSpace, name: str, site: Site) -> None:
    scalar = site.operands[2] if len(site.operands) > 2 else ""
    address = _place(site, space, site.operands[0], scalar)
    part = site.code.compute("cvt.u16.u32", 16, site.code.single(site.operands[1]))
    site.code.store(_STORED[name], address, (part,), is_main=True)


def _atomic(space: AddressSpace, name: str, site: Site) -> None:
    """An atomic; where it says `glc` or `sc0` the old value comes back, into the first operand."""
    operation, kind = _ATOMICS[name]
    operands = list(site.operands)
    returned = site.code.register(32) if _RETURNS & set(site.instruction.modifiers) else None
    if returned is not None:
        operands = operands[1:]
    address = _place(site, space, operands[0], operands[2] if len(operands) > 2 else "")
    values = site.code.source(operands[1])
    if operation == _COMPARED:  # the new value, then the one that is compared with
        values = [values[1], values[0]]
    type_ = ScalarType.named(kind)
    site.code.atomic(operation, type_, address, *values, destination=returned, is_main=True)
    if returned is not None:
        site.code.set_vector(site.operands[0], returned)


# ---- memory of a work-item ----


def _own_place(site: Site) -> Address:
    """A register or none, the descriptor of the memory, and a distance from its beginning."""
    code, (descriptor, distance) = site.code, site.operands[-2:]
    if code.names(descriptor)[0] not in code.own_memory or not distance.isdigit():
        raise code.refused("a buffer that is not the memory of the work-item")
    register = site.operands[1]
    place = Immediate(0) if register == "off" else code.single(register)
    base = code.compute("cvt.u64.u32", 64, place)
    return Address(AddressSpace.LOCAL, base, int(distance) + _offset(site))


def _scratch_place(site: Site, register: str, scalar: str) -> Address:
    """A vector register, a scalar one, both or none of them."""
    code = site.code
    parts = [code.single(text) for text in (register, scalar) if text != "off"]
    total: Operand = parts[0] if parts else Immediate(0)
    if len(parts) > 1:
        total = code.compute("add.u32", 32, *parts)
    base = code.compute("cvt.u64.u32", 64, total)
    return Address(AddressSpace.LOCAL, base, _offset(site))


def _scratch_load(words: int, site: Site) -> None:
    _load_words(site, _scratch_place(site, *site.operands[1:3]), words)


def _scratch_store(words: int, site: Site) -> None:
    register, data, scalar = site.operands
    address = _scratch_place(site, register, scalar)
    for number, value in enumerate(site.code.source(data)[:words]):
        site.code.store(_WORD, _further(address, 4 * number), (value,), is_main=number == 0)


def _own_load(words: int, site: Site) -> None:
    _load_words(site, _own_place(site), words)


def _own_store(words: int, site: Site) -> None:
    address = _own_place(site)
    for number, value in enumerate(site.code.source(site.operands[0])[:words]):
        site.code.store(_WORD, _further(address, 4 * number), (value,), is_main=number == 0)


# ---- local memory ----


def _local(site: Site, register: str, distance: int) -> Address:
    """An address of 32 bits, whose sum with the distance wraps around."""
    place = site.code.single(register)
    if distance:
        place = site.code.compute("add.u32", 32, place, Immediate(distance))
    return Address(AddressSpace.SHARED, site.code.compute("cvt.u64.u32", 64, place), 0)


def _local_load(words: int, site: Site) -> None:
    _load_words(site, _local(site, site.operands[1], _offset(site)), words)


def _local_load_two(words: int, stride: int, site: Site) -> None:
    names = site.code.names(site.operands[0])
    places = [
        _local(site, site.operands[1], _offset(site, f"offset{half}") * 4 * words * stride)
        for half in range(2)
    ]
    for half, place in enumerate(places):
        for number in range(words):
            target = site.code.word(names[half * words + number])
            address = _further(place, 4 * number)
            site.code.load(_WORD, address, (target,), is_main=not half and not number)


def _local_store(words: int, site: Site) -> None:
    base = _local(site, site.operands[0], _offset(site))
    for number, value in enumerate(site.code.source(site.operands[1])[:words]):
        site.code.store(_WORD, _further(base, 4 * number), (value,), is_main=number == 0)


def _local_store_two(words: int, stride: int, site: Site) -> None:
    for half in range(2):
        first = _offset(site, f"offset{half}") * 4 * words * stride
        place = _local(site, site.operands[0], first)
        for number, value in enumerate(site.code.source(site.operands[1 + half])[:words]):
            address = _further(place, 4 * number)
            site.code.store(_WORD, address, (value,), is_main=not half and not number)


def _local_atomic(name: str, is_returned: bool, site: Site) -> None:
    operation, kind = _ATOMICS[name]
    operands = site.operands[1:] if is_returned else site.operands
    returned = site.code.register(32) if is_returned else None
    address = _local(site, operands[0], _offset(site))
    value, type_ = site.code.single(operands[1]), ScalarType.named(kind)
    site.code.atomic(operation, type_, address, value, destination=returned, is_main=True)
    if returned is not None:
        site.code.set_vector(site.operands[0], returned)


def _permuted(site: Site) -> None:
    """`ds_bpermute_b32`: the value of the lane at a byte address, four bytes a lane."""
    code = site.code
    place = code.single(site.operands[1])
    if _offset(site):
        place = code.compute("add.u32", 32, place, Immediate(_offset(site)))
    lane = code.compute("shr.u32", 32, place, Immediate(2))
    found = code.register(32)
    value = code.single(site.operands[2])
    code.exchange(WARP_OPCODES["lane.read"], (found,), (value, lane), is_main=True)
    code.set_vector(site.operands[0], found)


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
    match = _SCALAR_LOAD.fullmatch(site.opcode)
    if match is None:
        return False
    code, words = site.code, int(match[1] or 1)
    text = site.operands[2]
    is_constant = not code.names(text)
    distance = int(text, 0) if is_constant and text != "null" else 0
    distance += _offset(site) + (arguments.first if arguments is not None else 0)
    found: list[Operand] = []
    if arguments is not None and is_constant:
        found = [
            _argument(site, arguments, distance + 4 * number, number) for number in range(words)
        ]
    elif arguments is not None:
        base = code.compute("cvt.u64.u32", 64, code.single(text))
        found = _loaded(site, Address(AddressSpace.PARAM, base, distance), words)
    else:
        base = code.joined(*map(code.word, code.names(site.operands[1])))
        if not is_constant:
            more = code.compute("cvt.u64.u32", 64, code.single(text))
            base = code.compute("add.u64", 64, base, more)
        found = _loaded(site, Address(AddressSpace.GLOBAL, base, distance), words)
    code.set_scalar(site.operands[0], found)
    return True


def _loaded(site: Site, address: Address, words: int) -> list[Operand]:
    found: list[Operand] = []
    guard, site.code.guard = site.code.guard, None
    for number in range(words):
        target: Register = site.code.register(32)
        site.code.load(_WORD, _further(address, 4 * number), (target,), is_main=number == 0)
        found.append(target)
    site.code.guard = guard
    return found


def _argument(site: Site, arguments: Arguments, distance: int, number: int) -> Operand:
    """A word of the arguments; what lies between the last one and the sizes is undefined."""
    sizes = -(-arguments.end // 8) * 8
    if distance >= sizes:
        return arguments.size_word(distance - sizes)
    if distance >= arguments.end:
        return Immediate(0)
    if distance + 4 > arguments.end:
        raise site.code.refused("a parameter of less than a word at the end")
    target = site.code.register(32)
    guard, site.code.guard = site.code.guard, None
    address = Address(AddressSpace.PARAM, None, distance)
    site.code.load(_WORD, address, (target,), is_main=number == 0)
    site.code.guard = guard
    return target


MEMORY: Mapping[str, Lowering] = {
    **{
        f"{kind}_load_{name}": partial(_load, space, words)
        for kind, space in _SPACES.items()
        for name, words in _WORDS.items()
    },
    **{
        f"{kind}_load_{name}": partial(_load_narrow, space, name)
        for kind, space in _SPACES.items()
        for name in _NARROW
    },
    **{
        f"{kind}_store_{name}": partial(_store, space, words)
        for kind, space in _SPACES.items()
        for name, words in _WORDS.items()
    },
    **{
        f"{kind}_store_{name}": partial(_store_narrow, space, name)
        for kind, space in _SPACES.items()
        for name in _STORED
    },
    **{
        f"{kind}_atomic_{name}": partial(_atomic, space, name)
        for kind, space in _SPACES.items()
        for name in _ATOMICS
        if "_" not in name
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
    **{f"ds_{name}": partial(_local_atomic, name, False) for name in _ATOMICS if "_" in name},
    **{
        f"ds_{name.replace('_', '_rtn_')}": partial(_local_atomic, name, True)
        for name in _ATOMICS
        if "_" in name
    },
    "ds_bpermute_b32": _permuted,
}
