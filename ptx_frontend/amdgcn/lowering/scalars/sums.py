"""Scalar sums and differences, products with constants, and fields of 64 bits.

AMD Instinct MI200 Instruction Set Architecture, chapters 12.1 and 12.2.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, SymbolAddress

__all__ = ["SCALAR_SUMS"]


_SUMS = {"s_add_u32": "add.u32", "s_sub_u32": "sub.u32"}
_SIGNED_SUMS = {"s_add_i32": "add.s32", "s_sub_i32": "sub.s32"}
_SYMBOL = re.compile(r"(?P<name>[^@]+)@rel32@(?P<half>lo|hi)(?P<distance>[+-]\d+)")
_ZERO = Immediate(0)


def _value(site: Site, index: int) -> Operand:
    """An operand of 32 bits; half of the address of a variable, where it names one."""
    text = site.operands[index]
    found = _SYMBOL.fullmatch(text)
    if found is None:
        return site.code.single(text)
    if found["name"] not in site.code.variables:
        raise site.code.refused(f"the content of {found['name']} is not known")
    site.code.addressed.add(found["name"])
    address = site.code.register(64)
    offset = int(found["distance"]) - site.code.behind_counter
    site.code.unguarded("mov.b64", address, SymbolAddress(found["name"], offset))
    return site.code.halves(address)[0 if found["half"] == "lo" else 1]


def _sum(mnemonic: str, site: Site) -> None:
    """The condition is the carry, or the borrow."""
    first, second = _value(site, 1), _value(site, 2)
    found = site.main(mnemonic, 32, first, second)
    if mnemonic.startswith("add"):
        site.scc(lambda: site.code.compute("setp.lt.u32", 1, found, first))
    else:
        site.scc(lambda: site.code.compute("setp.lt.u32", 1, first, second))
    site.code.set_scalar(site.operands[0], [found])


def _signed_sum(mnemonic: str, site: Site) -> None:
    """The condition is the overflow: the result is not the exact one."""
    code, first, second = site.code, _value(site, 1), _value(site, 2)
    found = site.main(mnemonic, 32, first, second)
    site.scc(lambda: _overflows(site, mnemonic, found, first, second))
    code.set_scalar(site.operands[0], [found])


def _overflows(
    site: Site, mnemonic: str, found: Operand, first: Operand, second: Operand
) -> Operand:
    clamped = site.code.compute(mnemonic.replace(".s32", ".sat.s32"), 32, first, second)
    return site.code.compute("setp.ne.s32", 1, found, clamped)


def _sum_with_carry(site: Site) -> None:
    code = site.code
    first, second = _value(site, 1), _value(site, 2)
    carry = code.compute("selp.b32", 32, Immediate(1), _ZERO, code.scc)
    half = code.compute("add.u32", 32, first, second)
    found = site.main("add.u32", 32, half, carry)
    overflows = code.compute("setp.lt.u32", 1, half, first)
    again = code.compute("setp.lt.u32", 1, found, half)
    site.scc(lambda: code.compute("or.pred", 1, overflows, again))
    code.set_scalar(site.operands[0], [found])


def _difference_with_borrow(site: Site) -> None:
    code = site.code
    first, second = site.integer(1), site.integer(2)
    borrow = code.compute("selp.b32", 32, Immediate(1), _ZERO, code.scc)
    half = code.compute("sub.u32", 32, first, second)
    found = site.main("sub.u32", 32, half, borrow)
    less = code.compute("setp.lt.u32", 1, first, second)
    again = code.compute("setp.lt.u32", 1, half, borrow)
    site.scc(lambda: code.compute("or.pred", 1, less, again))
    code.set_scalar(site.operands[0], [found])


def _add_constant(site: Site) -> None:
    first, second = site.integer(0), site.short_constant(1)
    found = site.main("add.s32", 32, first, second)
    site.scc(lambda: _overflows(site, "add.s32", found, first, second))
    site.code.set_scalar(site.operands[0], [found])


def _shifted_sum(distance: int, site: Site) -> None:
    """`s_lshl2_add_u32` and its kin: the condition is the carry out of the whole sum."""
    code = site.code
    wide = code.compute("cvt.u64.u32", 64, site.integer(1))
    moved = code.compute("shl.b64", 64, wide, Immediate(distance))
    other = code.compute("cvt.u64.u32", 64, site.integer(2))
    found, over = code.halves(site.main("add.u64", 64, moved, other))
    site.scc(lambda: code.compute("setp.ne.u32", 1, over, Immediate(0)))
    code.set_scalar(site.operands[0], [found])


def _product_with_constant(site: Site) -> None:
    found = site.main("mul.lo.s32", 32, site.integer(0), site.short_constant(1))
    site.code.set_scalar(site.operands[0], [found])


def _wide_sum(mnemonic: str, site: Site) -> None:
    """Pairs of registers as numbers of 64 bits; the condition stays as it is."""
    code = site.code
    found = site.main(mnemonic, 64, code.wide(site.operands[1]), code.wide(site.operands[2]))
    code.set_scalar(site.operands[0], code.halves(found))


def _wide_field(kind: str, site: Site) -> None:
    """Offset in bits 5 to 0, width in bits 22 to 16 of the second operand."""
    code, how = site.code, site.integer(2)
    offset = code.compute("and.b32", 32, how, Immediate(63))
    width = code.compute("shr.u32", 32, how, Immediate(16))
    width = code.compute("and.b32", 32, width, Immediate(127))
    value = code.wide(site.operands[1], is_signed=kind == "s")
    found = site.main(f"bfe.{kind}64", 64, value, offset, width)
    site.scc(lambda: code.compute("setp.ne.u64", 1, found, Immediate(0)))
    code.set_scalar(site.operands[0], code.halves(found))


SCALAR_SUMS: Mapping[str, Lowering] = {
    **{name: partial(_sum, mnemonic) for name, mnemonic in _SUMS.items()},
    **{name: partial(_signed_sum, mnemonic) for name, mnemonic in _SIGNED_SUMS.items()},
    "s_addc_u32": _sum_with_carry,
    "s_subb_u32": _difference_with_borrow,
    "s_addk_i32": _add_constant,
    **{f"s_lshl{n}_add_u32": partial(_shifted_sum, n) for n in range(1, 5)},
    "s_mulk_i32": _product_with_constant,
    "s_add_nc_u64": partial(_wide_sum, "add.u64"),
    "s_sub_nc_u64": partial(_wide_sum, "sub.u64"),
    "s_mul_u64": partial(_wide_sum, "mul.lo.u64"),
    "s_bfe_u64": partial(_wide_field, "u"),
    "s_bfe_i64": partial(_wide_field, "s"),
}
