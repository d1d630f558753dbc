"""Moves and selections."""

from __future__ import annotations

import re

from kernelcast.ptx_frontend.sass.lowering.control_flow.flow_context import flow
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import (
    LabelOperand,
    NameOperand,
    RegisterOperand,
    SassOperand,
)
from kernelcast.simcore.isa.ir.kernel import Immediate

__all__: list[str] = []

_ADDRESS_OF_RETURN = {"Rpc.LO": 0, "Rpc.HI": 1}
"""A register of 64 bits by itself, which the assembler keeps other words in."""
_OWN_PLACE = re.compile(r"(?:\S+ \+ )?(\.L\w+)@srel")


@lowers("MOV", "UMOV")
def lower_move(site: Site) -> None:
    """`d, a`."""
    source = site.operand(1)
    if isinstance(source, LabelOperand) and source.half:
        _move_place(site, source)
        return
    if site.take("64"):
        site.main("mov.b64", site.pair_destination(site.operand(0)), site.pair(source))
        return
    site.ignore("U32", "32I")
    value = site.word(source)
    site.main("mov.b32", site.destination(site.operand(0)), value)


def _move_place(site: Site, label: LabelOperand) -> None:
    """`MOV d, 32@lo(place)` and `32@hi`: where a call of another section returns."""
    named = _OWN_PLACE.fullmatch(label.name)
    address = None if named is None else flow(site).body.section.target(named[1])
    if address is None:
        raise site.refuse(f"the address of {label.name!r}")
    site.ignore("U32", "32I")
    value = Immediate(address if label.half == "lo" else 0)
    site.main("mov.b32", site.destination(site.operand(0)), value)


@lowers("RPCMOV")
def lower_move_of_return_address(site: Site) -> None:
    """`d, a`, of which one is a half of Rpc."""
    if not site.take("32"):
        raise site.refuse()
    target, source = (_half_or_word(site.operand(position)) for position in range(2))
    value = site.word(source)
    site.main("mov.b32", site.destination(target), value)


def _half_or_word(operand: SassOperand) -> SassOperand:
    if isinstance(operand, NameOperand) and operand.name in _ADDRESS_OF_RETURN:
        return RegisterOperand("RPC", _ADDRESS_OF_RETURN[operand.name])
    return operand


@lowers("SEL", "USEL")
def lower_selection(site: Site) -> None:
    """`d, a, b, p`: a where p holds, else b."""
    is_wide = site.take("64")
    site.ignore("U32")
    read = site.pair if is_wide else site.word
    a, b = read(site.operand(1)), read(site.operand(2))
    chosen = site.predicate(site.operand(3))
    bits = 64 if is_wide else 32
    target = site.pair_destination if is_wide else site.destination
    site.main(f"selp.b{bits}", target(site.operand(0)), a, b, chosen)
