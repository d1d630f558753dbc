"""Vector instructions whose results are clamped: to what the type holds, or from zero to one.

AMD Instinct MI200 Instruction Set Architecture, chapter 6.2.2; what is no number becomes zero, as
the descriptors that LLVM writes say (`dx10_clamp`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate

__all__ = ["CLAMPED", "is_clamped_single", "lower_clamped_single"]

_SINGLE = re.compile(r"v_(?!pk_|cmp|cvt_(?!f32_))\w+_f32")
_ASIDE = "v65534"
"""A register that no GPU has."""
_ZERO, _LARGEST = Immediate(0), Immediate(0xFFFFFFFF)


def _sum(site: Site) -> None:
    code, first = site.code, site.integer(1)
    total = code.compute("add.u32", 32, first, site.integer(2))
    over = code.compute("setp.lt.u32", 1, total, first)
    code.set_vector(site.operands[0], site.main("selp.b32", 32, _LARGEST, total, over))


def _difference(is_reversed: bool, site: Site) -> None:
    code, first, second = site.code, site.integer(1), site.integer(2)
    if is_reversed:
        first, second = second, first
    found = code.compute("sub.u32", 32, first, second)
    less = code.compute("setp.lt.u32", 1, first, second)
    code.set_vector(site.operands[0], site.main("selp.b32", 32, _ZERO, found, less))


def _signed(mnemonic: str, site: Site) -> None:
    found = site.main(mnemonic, 32, site.integer(1), site.integer(2))
    site.code.set_vector(site.operands[0], found)


def is_clamped_single(site: Site) -> bool:
    """Whether a result of single precision is clamped, and nothing else is done with it."""
    modifiers = site.instruction.modifiers
    is_single = _SINGLE.search(site.opcode) is not None
    return "clamp" in modifiers and is_single and not {"mul", "div"} & set(modifiers)


def lower_clamped_single(site: Site, lower: Lowering) -> None:
    """Lowers the instruction for a register aside, whose value is clamped on its way."""
    code, (target, *sources) = site.code, site.operands
    code.set_vector(_ASIDE, code.word(target))  # what `v_fmac` adds to
    aside = replace(site.instruction, operands=(_ASIDE, *sources))
    lower(replace(site, instruction=aside))
    clamped = code.compute("add.sat.f32", 32, code.word(_ASIDE), _ZERO)
    code.set_vector(target, clamped)


CLAMPED: Mapping[str, Lowering] = {
    "v_add_u32": _sum,
    "v_sub_u32": partial(_difference, False),
    "v_subrev_u32": partial(_difference, True),
    "v_add_i32": partial(_signed, "add.sat.s32"),
    "v_sub_i32": partial(_signed, "sub.sat.s32"),
}
