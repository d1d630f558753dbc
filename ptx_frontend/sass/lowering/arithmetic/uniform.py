"""Moves from vector to uniform registers, which are registers of each lane here.

The assembler surrounds what takes uniform registers by a loop over distinct values where lanes may
differ: `R2UR P, UR, R` says in P which lanes have another value than the chosen one, and the loop
runs until none is left. The chosen one is that of the first lane that is active.
"""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register
from kernelcast.simcore.isa.opcodes.warp import WARP_OPCODES

__all__: list[str] = []

_ALL_LANES = Immediate(31)


@lowers("R2UR")
def lower_to_uniform(site: Site) -> None:
    """`[p,] d, a`: p says whether a lane differs; with `.OR` it stays true where it was."""
    keeps = site.take("OR")
    site.ignore("BROADCAST", "FILL")
    first = 1 if site.is_predicate(0) else 0
    value = site.word(site.operand(first + 1))
    differs = None
    if first and not site.is_discarded(site.operand(0)):
        differs = _differs(site, value)
        if keeps:
            before = site.predicate(site.operand(0))
            differs = site.compute("or.pred", 1, before, differs)
    site.main("mov.b32", site.destination(site.operand(first)), value)
    if differs is not None:
        site.part("mov.pred", site.destination(site.operand(0)), differs)


def _differs(site: Site, value: Operand) -> Register:
    """Whether the first active lane has another value."""
    leader, chosen = site.register(32), site.register(32)
    held = site.in_register(value, 32)
    site.exchange(WARP_OPCODES["elect"], (leader, None), ())
    site.exchange(WARP_OPCODES["shfl.idx"], (chosen, None), (held, leader, _ALL_LANES))
    return site.compute("setp.ne.b32", 1, held, chosen)
