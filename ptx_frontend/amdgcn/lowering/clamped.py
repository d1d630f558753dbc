"""Vector instructions whose results are clamped: to what the type holds, or from zero to one.

AMD Instinct MI200 Instruction Set Architecture, chapter 6.2.2; what is no number becomes zero, as
the descriptors that LLVM writes say (`dx10_clamp`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.packed import half_number, half_word, write_halves
from kernelcast.ptx_frontend.amdgcn.lowering.shorts import short_operand, with_halves
from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__ = ["CLAMPED", "is_clamped_number", "lower_clamped_number"]

_SINGLE = re.compile(r"v_(?!pk_|cmp|cvt_(?!f32_))\w+_f32")
_HALF = re.compile(r"v_(?:cvt_f16_\w+|(?!pk_|cmp|cvt_|fma_mix|dot|frexp_exp|pack)\w+_f16)")
"""Instructions whose result is a single, and those whose result is a half."""
_ASIDE = "v65534"
"""A register that no GPU has."""
_WITHOUT_CARRY = 3
_ZERO, _LARGEST = Immediate(0), Immediate(0xFFFFFFFF)


def _sum(site: Site) -> None:
    code, (first, second) = site.code, _last_two(site)
    total = code.compute("add.u32", 32, first, second)
    over = code.compute("setp.lt.u32", 1, total, first)
    _write(site, site.main("selp.b32", 32, _LARGEST, total, over), over)


def _difference(is_reversed: bool, site: Site) -> None:
    code, (first, second) = site.code, _last_two(site)
    if is_reversed:
        first, second = second, first
    found = code.compute("sub.u32", 32, first, second)
    less = code.compute("setp.lt.u32", 1, first, second)
    _write(site, site.main("selp.b32", 32, _ZERO, found, less), less)


def _last_two(site: Site) -> tuple[Operand, Operand]:
    count = len(site.operands)
    return site.integer(count - 2), site.integer(count - 1)


def _write(site: Site, value: Operand, carry: Operand) -> None:
    """Writes a result, and the carry where the instruction has one."""
    code = site.code
    if len(site.operands) > _WITHOUT_CARRY:
        code.set_mask(site.operands[1], code.compute("and.pred", 1, carry, code.exec))
    code.set_vector(site.operands[0], value)


def _signed(mnemonic: str, site: Site) -> None:
    found = site.main(mnemonic, 32, site.integer(1), site.integer(2))
    site.code.set_vector(site.operands[0], found)


def is_clamped_number(site: Site) -> bool:
    """Whether a result of single or half precision is clamped, and nothing else done with it."""
    modifiers = site.instruction.modifiers
    if "clamp" not in modifiers or {"mul", "div"} & set(modifiers):
        return False
    if _HALF.fullmatch(site.opcode):
        return "op_sel" not in modifiers
    return _SINGLE.search(site.opcode) is not None


def lower_clamped_number(site: Site, lower: Lowering) -> None:
    """Lowers the instruction for a register aside, whose value is clamped on its way."""
    code, (target, *sources) = site.code, site.operands
    code.set_vector(_ASIDE, code.word(target))  # what `v_fmac` adds to
    aside = replace(site.instruction, operands=(_ASIDE, *sources))
    lower(replace(site, instruction=aside))
    if _HALF.fullmatch(site.opcode):
        half = code.compute("cvt.u16.u32", 16, code.word(_ASIDE))
        clamped = code.compute("add.sat.f16", 16, half, _ZERO)
        code.set_half(target, code.compute("cvt.u32.u16", 32, clamped))
    else:
        code.set_vector(target, code.compute("add.sat.f32", 32, code.word(_ASIDE), _ZERO))


_RANGES = {"u16": (0, 0xFFFF), "i16": (-0x8000 & 0xFFFFFFFF, 0x7FFF)}


def _to_short(site: Site, name: str, kind: str, operands: Sequence[Operand]) -> Operand:
    """A sum or difference of words that hold 16 bits each, as near as 16 bits come."""
    low, high = _RANGES[kind]
    found = site.main(f"{name}.s32", 32, *operands)
    above = site.code.compute("max.s32", 32, found, Immediate(low))
    return site.code.compute("min.s32", 32, above, Immediate(high))


def _short(name: str, kind: str, site: Site) -> None:
    sign = ".s" if kind == "i16" else ""
    operands = [short_operand(site, index, sign) for index in (1, 2)]
    site.code.set_half(site.operands[0], _to_short(site, name, kind, operands))


def _pair_of_shorts(name: str, kind: str, site: Site) -> None:
    sign = ".s" if kind == "i16" else ""
    write_halves(
        site,
        *(
            _to_short(site, name, kind, [half_word(site, half, n, sign) for n in (1, 2)])
            for half in range(2)
        ),
    )


def _pair_of_halves(mnemonic: str, site: Site) -> None:
    """Results from zero to one."""
    code, count, found = site.code, len(site.operands), []
    for half in range(2):
        numbers = (half_number(site, half, n) for n in range(1, count))
        kept = code.compute("add.sat.f16", 16, site.main(mnemonic, 16, *numbers), _ZERO)
        found.append(code.compute("cvt.u32.u16", 32, kept))
    write_halves(site, *found)


CLAMPED: Mapping[str, Lowering] = {
    **dict.fromkeys(("v_add_u32", "v_add_co_u32"), _sum),
    **dict.fromkeys(("v_sub_u32", "v_sub_co_u32"), partial(_difference, False)),
    **dict.fromkeys(("v_subrev_u32", "v_subrev_co_u32"), partial(_difference, True)),
    "v_add_i32": partial(_signed, "add.sat.s32"),
    "v_sub_i32": partial(_signed, "sub.sat.s32"),
    **{
        f"v_{name}_{kind}": with_halves(partial(_short, name, kind))
        for name in ("add", "sub")
        for kind in _RANGES
    },
    **{
        f"v_pk_{name}_{kind}": partial(_pair_of_shorts, name, kind)
        for name in ("add", "sub")
        for kind in _RANGES
    },
    **{f"v_pk_{name}_f16": partial(_pair_of_halves, f"{name}.f16") for name in ("add", "mul")},
    "v_pk_fma_f16": partial(_pair_of_halves, "fma.rn.f16"),
}
