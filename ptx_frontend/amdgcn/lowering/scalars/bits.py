"""Scalar instructions on single bits: set, sought, reversed, and signs extended.

AMD Instinct MI200 Instruction Set Architecture, chapter 12.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate

__all__ = ["SCALAR_BITS"]

_ONE = Immediate(1)


def _set_bit(to: int, site: Site) -> None:
    """One bit of the result changes, the rest stays."""
    code = site.code
    bit = code.compute("shl.b32", 32, _ONE, site.amount(1))
    own = site.integer(0)
    if to:
        found = site.main("or.b32", 32, own, bit)
    else:
        found = site.main("and.b32", 32, own, code.compute("not.b32", 32, bit))
    code.set_scalar(site.operands[0], [found])


def _extended(bits: int, site: Site) -> None:
    found = site.main("bfe.s32", 32, site.integer(1), Immediate(0), Immediate(bits))
    site.code.set_scalar(site.operands[0], [found])


def _reversed(site: Site) -> None:
    found = site.main("brev.b64", 64, site.code.wide(site.operands[1]))
    site.code.set_scalar(site.operands[0], site.code.halves(found))


def _bit_search(is_from_below: bool, site: Site) -> None:
    """How many zeros come before the first one, from the top or from below; -1 without any."""
    code, value = site.code, site.code.wide(site.operands[1])
    turned = code.compute("brev.b64", 64, value) if is_from_below else value
    zeros = site.main("clz.b64", 32, turned)
    none = code.compute("setp.eq.u64", 1, value, Immediate(0))
    found = code.compute("selp.b32", 32, Immediate(0xFFFFFFFF), zeros, none)
    code.set_scalar(site.operands[0], [found])


def _packed(upper: tuple[bool, bool], site: Site) -> None:
    """A half of each operand, that of the first one below; `upper`: whether it is the upper one."""
    code, halves = site.code, []
    for index, is_upper in enumerate(upper, 1):
        value = site.integer(index)
        if is_upper:
            value = code.compute("shr.u32", 32, value, Immediate(16))
        halves.append(code.compute("and.b32", 32, value, Immediate(0xFFFF)))
    above = code.compute("shl.b32", 32, halves[1], Immediate(16))
    code.set_scalar(site.operands[0], [site.main("or.b32", 32, halves[0], above)])


def _field_of_ones(bits: int, site: Site) -> None:
    """`s_bfm`: so many ones, so far up."""
    code, kind = site.code, f"b{bits}"
    one = code.compute(f"shl.{kind}", bits, _ONE, site.amount(1, bits))
    ones = code.compute(f"sub.u{bits}", bits, one, _ONE)
    found = site.main(f"shl.{kind}", bits, ones, site.amount(2, bits))
    code.set_scalar(site.operands[0], [found] if bits == 32 else code.halves(found))


def _distance(site: Site) -> None:
    """`s_absdiff_i32`."""
    code = site.code
    found = site.main("abs.s32", 32, code.compute("sub.s32", 32, site.integer(1), site.integer(2)))
    site.scc(lambda: code.compute("setp.ne.u32", 1, found, Immediate(0)))
    code.set_scalar(site.operands[0], [found])


SCALAR_BITS: Mapping[str, Lowering] = {
    "s_bfm_b32": partial(_field_of_ones, 32),
    "s_bfm_b64": partial(_field_of_ones, 64),
    "s_absdiff_i32": _distance,
    "s_bitset0_b32": partial(_set_bit, 0),
    "s_bitset1_b32": partial(_set_bit, 1),
    "s_sext_i32_i8": partial(_extended, 8),
    "s_sext_i32_i16": partial(_extended, 16),
    "s_brev_b64": _reversed,
    **{
        f"s_pack_{'lh'[first]}{'lh'[second]}_b32_b16": partial(_packed, (first, second))
        for first in (False, True)
        for second in (False, True)
    },
    "s_flbit_i32_b64": partial(_bit_search, False),
    "s_ff1_i32_b64": partial(_bit_search, True),
}
