"""Moves from vector to uniform registers, which are registers of each lane here.

The assembler surrounds what takes uniform registers by a loop over distinct values where lanes may
differ: `R2UR P, UR, R` says in P which lanes have another value than the chosen one, and the loop
runs until none is left. Here no lane has another value than its own, so all go through at once.
"""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.simcore.isa.ir.kernel import Immediate
from kernelcast.simcore.isa.types import Unit

__all__: list[str] = []

_FALSE = Immediate(0)


@lowers("R2UR", unit=Unit.MOVE)
def lower_to_uniform(site: Site) -> None:
    """`[p,] d, a`: p says whether a lane differs; with `.OR` it stays true where it was."""
    keeps = site.take("OR")
    site.ignore("BROADCAST", "FILL")
    first = 1 if site.is_predicate(0) else 0
    value = site.word(site.operand(first + 1))
    site.main("mov.b32", site.destination(site.operand(first)), value)
    if first and not keeps and not site.is_discarded(site.operand(0)):
        site.part("mov.pred", site.destination(site.operand(0)), _FALSE)
