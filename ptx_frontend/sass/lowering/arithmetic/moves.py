"""Moves and selections."""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import NameOperand, RegisterOperand, SassOperand

__all__: list[str] = []

_ADDRESS_OF_RETURN = {"Rpc.LO": 0, "Rpc.HI": 1}
"""A register of 64 bits by itself, which the assembler keeps other words in."""


@lowers("MOV", "UMOV")
def lower_move(site: Site) -> None:
    """`d, a`."""
    if site.take("64"):
        site.main("mov.b64", site.pair_destination(site.operand(0)), site.pair(site.operand(1)))
        return
    site.ignore("U32", "32I")
    value = site.word(site.operand(1))
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
