"""Comparisons of vector instructions: masks of lanes, with zeros for lanes that take no part.

AMD Instinct MI200 Instruction Set Architecture, chapter 12.8; those that write EXEC: chapter 12.8
there, RDNA 2 Instruction Set Architecture, chapter 12.8, where they write nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.doubles import double_operand
from kernelcast.ptx_frontend.amdgcn.lowering.halves import half_operand
from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Operand

__all__ = ["COMPARISONS"]

_FLOAT_RELATIONS = {
    **{name: name for name in ("lt", "eq", "le", "gt", "ge")},
    "lg": "ne",
    "o": "num",
    "u": "nan",
    "nge": "ltu",
    "nlg": "equ",
    "ngt": "leu",
    "nle": "gtu",
    "neq": "neu",
    "nlt": "geu",
}
_RELATIONS = {"lt": "lt", "eq": "eq", "le": "le", "gt": "gt", "ne": "ne", "ge": "ge"}
_TYPES = {"i": "s", "u": "u"}
_ALONE = 2
"""Operands of an instruction that writes EXEC and no other register."""


def _operand(kind: str, site: Site, index: int) -> Operand:
    if kind == "f64":
        return double_operand(site, index)
    if kind == "f32":
        return site.number(index)
    if kind == "f16":
        return half_operand(site, index)
    if kind.endswith("64"):
        return site.code.wide(site.operands[index], is_signed=kind == "s64")
    value = site.integer(index)
    return site.code.compute("cvt.u16.u32", 16, value) if kind.endswith("16") else value


def _found(relation: str, kind: str, site: Site, first: int) -> Operand:
    operands = [_operand(kind, site, index) for index in (first, first + 1)]
    found = site.main(f"setp.{relation}.{kind}", 1, *operands)
    return site.code.compute("and.pred", 1, found, site.code.exec)


def _compared(relation: str, kind: str, site: Site) -> None:
    site.code.set_mask(site.operands[0], _found(relation, kind, site, 1))


def _compared_to_exec(relation: str, kind: str, site: Site) -> None:
    first = len(site.operands) - _ALONE
    found = _found(relation, kind, site, first)
    if first:
        site.code.set_mask(site.operands[0], found)
    site.code.set_mask("exec", found)


_ALL = {
    **{
        f"{name}_f{bits}": (relation, f"f{bits}")
        for name, relation in _FLOAT_RELATIONS.items()
        for bits in (16, 32, 64)
    },
    **{
        f"{name}_{kind}{bits}": (relation, f"{type_}{bits}")
        for name, relation in _RELATIONS.items()
        for kind, type_ in _TYPES.items()
        for bits in (16, 32, 64)
    },
}
COMPARISONS: Mapping[str, Lowering] = {
    **{f"v_cmp_{name}": partial(_compared, *how) for name, how in _ALL.items()},
    **{f"v_cmpx_{name}": partial(_compared_to_exec, *how) for name, how in _ALL.items()},
}
