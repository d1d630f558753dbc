"""What a warp does once for all its lanes: copies in bulk and what else takes uniform operands.

Uniform registers are registers of each lane here, which all have the same value as long as all
lanes write them. Where lanes may bring different values, the assembler takes them in turn: in a
loop, `ELECT` chooses a lane or `R2UR P, UR, R` those with one value, `R2UR` gives all lanes what
the chosen one has, and the instruction runs once. So in kernels with such instructions R2UR does
what it does on hardware.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.text.statements import Statement
from kernelcast.simcore.isa.ir.kernel import Guard, Immediate, Operand, Register
from kernelcast.simcore.isa.opcodes.warp import WARP_OPCODES
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["chooses_lanes", "is_once", "lower_choice", "once"]

_ONCE = ("UBLK", "UTMA", "UTC", "UGETNEXTWORKID")
_LAST_LANE = Immediate(31)


def is_once(statement: Statement) -> bool:
    """Whether a warp executes the statement once, not each lane."""
    return statement.opcode.startswith(_ONCE)


def chooses_lanes(statement: Statement) -> bool:
    """Whether R2UR takes what some of the lanes have."""
    if statement.opcode != "R2UR":
        return False
    return statement.guard is not None or len(statement.operands) > 2


@contextmanager
def once(site: Site) -> Iterator[None]:
    """What is written inside is done by the first of the lanes that the guard lets through."""
    guard = site.guard
    chosen = site.compute("mov.pred", 1, Immediate(0))
    site.exchange(WARP_OPCODES["elect"], (None, chosen), ())
    site.guard = Guard(chosen, negated=False)
    yield
    site.guard = guard


def lower_choice(site: Site) -> None:
    """`[p,] d, a`: what the first of the lanes has; p says which lanes have something else.

    With `.OR`, p stays true where it was.
    """
    keeps = site.take("OR")
    site.ignore("BROADCAST", "FILL")
    first = 1 if site.is_predicate(0) else 0
    value = site.word(site.operand(first + 1))
    guard, site.guard = site.guard, None
    asked = _asked(site, guard)
    lanes = site.register(32)
    site.exchange(WARP_OPCODES["vote.ballot"], (lanes,), (asked,), type_=ScalarType.B32)
    taken = site.register(32)
    leader = _lowest(site, lanes)
    site.exchange(WARP_OPCODES["shfl.idx"], (taken, None), (value, leader, _LAST_LANE))
    destination = site.destination(site.operand(first))
    some = site.compute("setp.ne.u32", 1, lanes, Immediate(0))
    site.main("selp.b32", destination, taken, destination, some)
    site.guard = guard
    if first and not site.is_discarded(site.operand(0)):
        differs = site.compute("setp.ne.u32", 1, value, taken)
        target = site.destination(site.operand(0))
        if keeps:
            site.part("or.pred", target, target, differs)
        else:
            site.part("mov.pred", target, differs)


def _asked(site: Site, guard: Guard | None) -> Operand:
    """The guard as a predicate of every lane."""
    if guard is None:
        return site.compute("mov.pred", 1, Immediate(1))
    if guard.negated:
        return site.compute("not.pred", 1, guard.register)
    return guard.register


def _lowest(site: Site, lanes: Register) -> Register:
    """The number of the lowest lane of a mask."""
    lower = site.compute("sub.u32", 32, lanes, Immediate(1))
    outside = site.compute("not.b32", 32, lanes)
    below = site.compute("and.b32", 32, lower, outside)
    return site.compute("popc.b32", 32, below)
