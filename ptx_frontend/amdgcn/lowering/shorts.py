"""Vector instructions on integers of 16 bits, whose results are half of a register.

AMD Instinct MI200 Instruction Set Architecture, chapters 12.7 and 12.11; RDNA 3 Instruction Set
Architecture, chapter 7.2: there either half of a register may be an operand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import zip_longest

from kernelcast.ptx_frontend.amdgcn.lowering.bit_fields import truth_table
from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Operand

__all__ = ["SHORTS", "short_operand", "with_halves"]

_OF_TWO = {
    **{f"v_{name}_u16": f"{name}.u32" for name in ("add", "sub", "min", "max")},
    **{f"v_{name}_i16": f"{name}.s32" for name in ("add", "sub", "min", "max")},
    **{f"v_{name}_b16": f"{name}.b32" for name in ("and", "or", "xor")},
    "v_mul_lo_u16": "mul.lo.u32",
}
_SHIFTS = {"v_lshlrev_b16": "shl.b32", "v_lshrrev_b16": "shr.u32", "v_ashrrev_i16": "shr.s32"}


def with_halves(lower: Lowering) -> Lowering:
    """Names the halves that `op_sel:[0,1,1]` chooses, of the operands and last of the result."""

    def lowered(site: Site) -> None:
        flags = site.instruction.modifiers.get("op_sel", "").strip("[]").split(",")
        chosen = [flags[-1], *flags[:-1]]
        operands = tuple(
            f"{text}.h" if flag == "1" else text
            for text, flag in zip_longest(site.operands, chosen, fillvalue="")
        )
        lower(replace(site, instruction=replace(site.instruction, operands=operands)))

    return lowered


def short_operand(site: Site, index: int, mnemonic: str = "") -> Operand:
    """16 bits as a word, with their sign where the operation is signed."""
    part = site.code.compute("cvt.u16.u32", 16, site.integer(index))
    if ".s" in mnemonic:
        return site.code.compute("cvt.s32.s16", 32, part)
    return site.code.compute("cvt.u32.u16", 32, part)


def _of_two(mnemonic: str, site: Site) -> None:
    found = site.main(mnemonic, 32, *(short_operand(site, n, mnemonic) for n in (1, 2)))
    site.code.set_half(site.operands[0], found)


def _reversed_difference(site: Site) -> None:
    found = site.main("sub.u32", 32, short_operand(site, 2, ""), short_operand(site, 1, ""))
    site.code.set_half(site.operands[0], found)


def _shift(mnemonic: str, site: Site) -> None:
    found = site.main(mnemonic, 32, short_operand(site, 2, mnemonic), site.amount(1, 16))
    site.code.set_half(site.operands[0], found)


def _product_sum(site: Site) -> None:
    found = site.main("mad.lo.u32", 32, *(short_operand(site, n, "") for n in (1, 2, 3)))
    site.code.set_half(site.operands[0], found)


def _of_three_bits(site: Site) -> None:
    sources = (short_operand(site, n) for n in (1, 2, 3))
    site.code.set_half(site.operands[0], site.main("lop3.b32", 32, *sources, truth_table(site)))


def _move(site: Site) -> None:
    site.code.set_half(site.operands[0], site.main("mov.b32", 32, site.integer(1)))


def _choice(site: Site) -> None:
    mask = site.code.compute("mov.pred", 1, site.code.mask(site.operands[3]))
    found = site.main("selp.b32", 32, site.integer(2), site.integer(1), mask)
    site.code.set_half(site.operands[0], found)


_ALL: Mapping[str, Lowering] = {
    **{name: partial(_of_two, mnemonic) for name, mnemonic in _OF_TWO.items()},
    **{name: partial(_shift, mnemonic) for name, mnemonic in _SHIFTS.items()},
    "v_subrev_u16": _reversed_difference,
    "v_mad_u16": _product_sum,
    "v_mad_legacy_u16": _product_sum,
    "v_bitop3_b16": _of_three_bits,
    "v_mov_b16": _move,
    "v_cndmask_b16": _choice,
}
SHORTS: Mapping[str, Lowering] = {name: with_halves(lower) for name, lower in _ALL.items()}
