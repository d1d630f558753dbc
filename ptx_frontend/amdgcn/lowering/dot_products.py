"""Dot products of the parts of two registers, added to a third one.

AMD Instinct MI200 Instruction Set Architecture, chapter 12.10, and RDNA 3 Instruction Set
Architecture, chapter 16.9, whose integers have signs where `neg_lo` says so. Sums of products of
halves are rounded once for each product, the lowest first.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.packed import flag, half_number, half_word
from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__ = ["DOT_PRODUCTS"]

_SIGNED, _UNSIGNED = ("s32", "s32"), ("u32", "u32")
_NIBBLE = Immediate(4)
_HALVES = range(2)


def _kinds(site: Site, kinds: tuple[str, str] | None) -> tuple[str, str]:
    """The types of both factors; None: each has signs where the instruction says so."""
    if kinds is not None:
        return kinds
    first, second = ("s32" if flag(site, "neg_lo", n, "0") else "u32" for n in _HALVES)
    return first, second


def _sum(site: Site) -> Operand:
    """What is added to: the third factor, or the result itself where there are two."""
    return site.code.single(site.operands[3 if len(site.operands) > 3 else 0])


def _of_bytes(kinds: tuple[str, str] | None, site: Site) -> None:
    first, second = _kinds(site, kinds)
    factors = site.integer(1), site.integer(2)
    found = site.main(f"dp4a.{first}.{second}", 32, *factors, _sum(site))
    site.code.set_vector(site.operands[0], found)


def _of_nibbles(kinds: tuple[str, str] | None, site: Site) -> None:
    both = _kinds(site, kinds)
    found = _sum(site)
    for place in range(0, 32, 4):
        parts = (
            site.code.compute(f"bfe.{kind}", 32, site.integer(n), Immediate(place), _NIBBLE)
            for n, kind in enumerate(both, 1)
        )
        found = site.main("mad.lo.s32", 32, *parts, found)
    site.code.set_vector(site.operands[0], found)


def _of_shorts(kind: str, site: Site) -> None:
    found = _sum(site)
    for half in _HALVES:
        parts = (half_word(site, half, n, f"mad.lo.{kind}") for n in (1, 2))
        found = site.main(f"mad.lo.{kind}", 32, *parts, found)
    site.code.set_vector(site.operands[0], found)


def _of_halves(type_: str, site: Site) -> None:
    index = 3 if len(site.operands) > 3 else 0
    found = site.code.number(site.operands[index])
    for half in _HALVES:
        parts = (
            site.code.compute(f"cvt.f32.{type_}", 32, half_number(site, half, n)) for n in (1, 2)
        )
        found = site.main("fma.rn.f32", 32, *parts, found)
    site.code.set_vector(site.operands[0], found)


def _names(stem: str, type_: str) -> tuple[str, str]:
    """Two forms of an instruction: of three factors, and with its result as the third one."""
    return f"v_{stem}_{type_}", f"v_{stem}c_{type_}"


DOT_PRODUCTS: Mapping[str, Lowering] = {
    **dict.fromkeys(_names("dot4", "i32_i8"), partial(_of_bytes, _SIGNED)),
    **dict.fromkeys(_names("dot4", "u32_u8"), partial(_of_bytes, _UNSIGNED)),
    "v_dot4_i32_iu8": partial(_of_bytes, None),
    **dict.fromkeys(_names("dot8", "i32_i4"), partial(_of_nibbles, _SIGNED)),
    **dict.fromkeys(_names("dot8", "u32_u4"), partial(_of_nibbles, _UNSIGNED)),
    "v_dot8_i32_iu4": partial(_of_nibbles, None),
    **dict.fromkeys(_names("dot2", "i32_i16"), partial(_of_shorts, "s32")),
    **dict.fromkeys(_names("dot2", "u32_u16"), partial(_of_shorts, "u32")),
    **dict.fromkeys(_names("dot2", "f32_f16"), partial(_of_halves, "f16")),
    **dict.fromkeys(_names("dot2", "f32_bf16"), partial(_of_halves, "bf16")),
}
