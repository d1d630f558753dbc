"""Comparisons of integers and truth tables of predicates."""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__ = ["write_combined", "write_predicates"]

_FALSE, _TRUE = Immediate(0), Immediate(1)
_ORDERS = {name: name.lower() for name in ("LT", "LE", "GT", "GE", "EQ", "NE")}
_BOOLEAN = {"AND": "and.pred", "OR": "or.pred", "XOR": "xor.pred"}
_NEUTRAL = {"and.pred": _TRUE, "or.pred": _FALSE, "xor.pred": _FALSE}


def write_predicates(site: Site, mnemonic: str, a: Operand, b: Operand, position: int) -> None:
    """The comparison into two predicates: `p = (a cmp b) op q`, `p2 = !(a cmp b) op q`.

    `position` is that of q among the operands; the comparison counts as the instruction.
    """
    combines = site.choose(_BOOLEAN, "and.pred")
    other = site.predicate(site.operand(position))
    first, second = site.operand(0), site.operand(1)
    is_plain = other == _NEUTRAL[combines]
    if is_plain and site.is_discarded(second):
        site.main(mnemonic, site.destination(first), a, b)
        return
    held = site.register(1)
    site.main(mnemonic, held, a, b)
    write_combined(site, combines, held, other)


def write_combined(site: Site, combines: str, held: Operand, other: Operand) -> None:
    """`p = held op other` and `p2 = !held op other` into the first two operands."""
    first, second = site.operand(0), site.operand(1)
    found: Operand | None = None
    if not site.is_discarded(second):
        # before the first is written, which may be `other`
        opposite = site.compute("not.pred", 1, held)
        found = site.compute(combines, 1, opposite, other)
    if not site.is_discarded(first):
        site.part(combines, site.destination(first), held, other)
    if found is not None:
        site.part("mov.pred", site.destination(second), found)


_KINDS = {name: name.lower() for name in ("U32", "S32", "U64", "S64")}


@lowers("ISETP", "UISETP")
def lower_comparison(site: Site) -> None:
    """`p, p2, a, b, q[, low]`; `.EX` goes on from the comparison of the lower words."""
    kind = site.choose(_KINDS, "s32")
    extended = site.take("EX")
    order = site.choose(_ORDERS, "")
    constant = None if order else site.choose({"T": _TRUE, "F": _FALSE}, None)
    read = site.pair if kind.endswith("64") else site.word
    a, b = read(site.operand(2), kind), read(site.operand(3), kind)
    if constant is not None:
        write_predicates(site, "setp.eq.b32", _ZERO_WORD, Immediate(1 - constant.bits), 4)
        return
    if not order:
        raise site.refuse("a comparison without order")
    if not extended:
        write_predicates(site, f"setp.{order}.{kind}", a, b, 4)
        return
    combines = site.choose(_BOOLEAN, "and.pred")
    other = site.predicate(site.operand(4))
    low = site.predicate(site.operand(5))
    held = _extended(site, order, kind, (a, b), low)
    write_combined(site, combines, held, other)


_ZERO_WORD = Immediate(0)


def _extended(
    site: Site, order: str, kind: str, words: tuple[Operand, Operand], low: Operand
) -> Operand:
    """The comparison of 64 bits, of whose lower words `low` is the comparison."""
    a, b = words
    equal = site.register(1)
    site.main(f"setp.eq.{kind}", equal, a, b)
    if order == "eq":
        return site.compute("and.pred", 1, equal, low)
    if order == "ne":
        return site.compute("or.pred", 1, site.compute("not.pred", 1, equal), low)
    strict = site.compute(f"setp.{order[0]}t.{kind}", 1, a, b)
    both = site.compute("and.pred", 1, equal, low)
    return site.compute("or.pred", 1, strict, both)
