"""Loads and stores of bytes and halves, into whole registers or one half of them.

Meanings: AMD Instinct MI200 Instruction Set Architecture, chapters 12.13, 12.16 and 12.17.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.memory.addresses import (
    SPACES,
    local_place,
    offset,
    own_place,
    place_of,
    scratch_place,
)
from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Address, Immediate, Operand
from kernelcast.simcore.isa.types import AddressSpace, ScalarType

__all__ = ["NARROW_ACCESSES"]

_TYPES = {
    "ubyte": (ScalarType.U8, "cvt.u32.u16", 0xFF),
    "sbyte": (ScalarType.S8, "cvt.s32.s16", 0),
    "ushort": (ScalarType.U16, "cvt.u32.u16", 0),
    "sshort": (ScalarType.S16, "cvt.s32.s16", 0),
}
_LOADED = {
    **{name: (name, "") for name in _TYPES},
    **{
        f"{name}_d16{half}": (kind, f"d16{half}")
        for name, kind in (("ubyte", "ubyte"), ("sbyte", "sbyte"), ("short", "ushort"))
        for half in ("", "_hi")
    },
}
"""The type, and the half of the register that is written where not all of it is, by name."""
_STORED = {
    f"{name}{half}": (type_, half)
    for name, type_ in (("byte", ScalarType.B8), ("short", ScalarType.B16))
    for half in ("", "_d16_hi")
}
_LOCAL_LOADED = {
    "u8": "ubyte",
    "i8": "sbyte",
    "u16": "ushort",
    "i16": "sshort",
    **{
        f"{name}_d16{half}": f"{kind}_d16{half}"
        for name, kind in (("u8", "ubyte"), ("i8", "sbyte"), ("u16", "short"))
        for half in ("", "_hi")
    },
}
_LOCAL_STORED = {
    f"{name}{half}": f"{kind}{half}"
    for name, kind in (("b8", "byte"), ("b16", "short"))
    for half in ("", "_d16_hi")
}
_LOW = Immediate(0xFFFF)
_HIGH = Immediate(0xFFFF0000)
_HALF = Immediate(16)
_Place = Callable[[Site, bool], Address]


def _vector_place(space: AddressSpace, site: Site, is_load: bool) -> Address:
    scalar = site.operands[2] if len(site.operands) > 2 else ""
    return place_of(site, space, site.operands[1 if is_load else 0], scalar)


def _scratch(site: Site, is_load: bool) -> Address:
    return scratch_place(site, site.operands[1 if is_load else 0], site.operands[2])


def _buffer(site: Site, _is_load: bool) -> Address:
    return own_place(site)


def _local(site: Site, is_load: bool) -> Address:
    return local_place(site, site.operands[1 if is_load else 0], offset(site))


def _load(place: _Place, name: str, site: Site) -> None:
    kind, half = _LOADED[name]
    type_, conversion, mask = _TYPES[kind]
    code, part = site.code, site.code.register(16)
    code.load(type_, place(site, True), (part,), is_main=True)
    wide: Operand = code.compute(conversion, 32, part)
    if mask:
        wide = code.compute("and.b32", 32, wide, Immediate(mask))
    if half:
        own = code.single(site.operands[0])
        is_upper = half.endswith("_hi")
        kept = code.compute("and.b32", 32, own, _LOW if is_upper else _HIGH)
        low = code.compute("and.b32", 32, wide, _LOW)
        moved = code.compute("shl.b32", 32, low, _HALF) if is_upper else low
        wide = code.compute("or.b32", 32, kept, moved)
    code.set_vector(site.operands[0], wide)


def _store(place: _Place, name: str, value_at: int, site: Site) -> None:
    type_, half = _STORED[name]
    address = place(site, False)
    value = site.code.single(site.operands[value_at])
    if half:
        value = site.code.compute("shr.u32", 32, value, _HALF)
    part = site.code.compute("cvt.u16.u32", 16, value)
    site.code.store(type_, address, (part,), is_main=True)


_PLACES: Mapping[str, tuple[_Place, int]] = {
    **{kind: (partial(_vector_place, space), 1) for kind, space in SPACES.items()},
    "scratch": (_scratch, 1),
    "buffer": (_buffer, 0),
}
"""The place, and which operand is stored, by the beginning of a name."""
NARROW_ACCESSES: Mapping[str, Lowering] = {
    **{
        f"{kind}_load_{name}": partial(_load, place, name)
        for kind, (place, _) in _PLACES.items()
        for name in _LOADED
    },
    **{
        f"{kind}_store_{name}": partial(_store, place, name, value_at)
        for kind, (place, value_at) in _PLACES.items()
        for name in _STORED
    },
    **{f"ds_read_{name}": partial(_load, _local, kind) for name, kind in _LOCAL_LOADED.items()},
    **{
        f"ds_write_{name}": partial(_store, _local, kind, 1) for name, kind in _LOCAL_STORED.items()
    },
}
