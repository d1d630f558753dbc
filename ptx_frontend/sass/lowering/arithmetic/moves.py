"""Moves and selections."""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers

__all__: list[str] = []


@lowers("MOV", "UMOV")
def lower_move(site: Site) -> None:
    """`d, a`."""
    if site.take("64"):
        site.main("mov.b64", site.pair_destination(site.operand(0)), site.pair(site.operand(1)))
        return
    site.ignore("U32", "32I")
    value = site.word(site.operand(1))
    site.main("mov.b32", site.destination(site.operand(0)), value)


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
