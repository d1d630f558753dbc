"""How lanes of a warp come together again: `BSSY`, `BSYNC`, `BREAK`, `WARPSYNC` and collectives.

Engines bring lanes together where their ways meet in the flow of control, which is where `BSYNC`
stands. Only where lanes may spin must they be told to wait: there `BSSY` keeps the lanes that come
to it in a register of its own, and `BSYNC` names them as its members.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from kernelcast.ptx_frontend.sass.lowering.control_flow.flow_context import flow, gone_round
from kernelcast.ptx_frontend.sass.lowering.flow import Body, collective_end
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import RegisterOperand
from kernelcast.ptx_frontend.sass.text.statements import Section
from kernelcast.simcore.isa.ir.kernel import Immediate, Jump, Operand, Register
from kernelcast.simcore.isa.opcodes.warp import WARP_OPCODES

__all__ = ["meet", "members"]

_MEMBERS, _BARRIERS, _COLLECTIVE = "members", "convergence barriers", "collective"
_EVERYBODY = Immediate(0xFFFFFFFF)
_EXCHANGES = ("SHFL", "VOTE", "VOTEU", "MATCH", "REDUX", "CREDUX", "ELECT")
_PARTINGS = ("BRA", "BRX", "BRXU", "EXIT", "RET", "CALL", "BREAK", "BSYNC")
_ATOMICS = ("ATOM", "ATOMG", "ATOMS", "SYNCS")


def members(site: Site) -> Operand | None:
    """The lanes that `WARPSYNC.EXCLUSIVE` or a collective sets apart; None for all."""
    known = site.context.memory.get(_MEMBERS)
    if not isinstance(known, _Gathered) or known.body is not flow(site).body:
        return None
    return known.lanes if site.statement.address < known.end else None


@dataclass(frozen=True, slots=True)
class _Gathered:
    """The lanes of a mask, which are together up to where some may go another way, or come."""

    body: Body
    end: int
    lanes: Operand


def meet(site: Site, lanes: Operand, *, is_main: bool) -> None:
    """The lanes of a mask wait for each other."""
    site.exchange(WARP_OPCODES["bar.warp"], (), (), members=lanes, is_main=is_main)


def _gather(site: Site, lanes: Operand) -> None:
    """The lanes of a mask wait for each other and then are together without the others."""
    meet(site, lanes, is_main=True)
    body, here = flow(site).body, site.statement.address
    # the group parts at a branch, also for lanes that do not take it
    ends = (s.address for s in body.statements if s.opcode in _PARTINGS and s.address > here)
    starts = (start for start in body.starts if start > here)
    after = min((*starts, *ends), default=sys.maxsize)
    kept = site.compute("mov.b32", 32, lanes) if isinstance(lanes, Register) else lanes
    known = None if site.guard is not None else _Gathered(body, after, kept)
    site.context.memory[_MEMBERS] = known


@lowers("WARPSYNC")
def lower_warp_barrier(site: Site) -> None:
    """The lanes of a mask wait for each other.

    After `.EXCLUSIVE` they go on without the others, group by group of different masks: the
    assembler writes it where others must not take part, and elsewhere lets groups stay together.
    After `.COLLECTIVE` follow the operations of the group, then `ENDCOLLECTIVE`, from which it goes
    to the label.
    """
    is_exclusive, is_collective = site.take("EXCLUSIVE"), site.take("COLLECTIVE")
    if site.take("ALL"):
        lanes: Operand = _EVERYBODY
    else:
        lanes = site.word(site.operand(0))
    if is_exclusive or is_collective:
        _gather(site, lanes)
    else:
        meet(site, lanes, is_main=True)
    if is_collective:
        current = flow(site)
        end = collective_end(site.statement, current.body.section)
        if end is None:
            raise site.refuse("a collective without an end")
        site.context.memory[_COLLECTIVE] = current.block(end)


@lowers("ENDCOLLECTIVE")
def lower_end_of_collective(site: Site) -> None:
    """Lanes go on behind the collective."""
    target = site.context.memory.get(_COLLECTIVE)
    if not isinstance(target, int) or site.guard is not None:
        raise site.refuse("the end of a collective without its beginning")
    site.builder.end(Jump(**site.counted("bra", is_main=True), target=target))


@lowers("BSSY")
def lower_barrier_set(site: Site) -> None:
    """`Bn, label`: the lanes that are together here meet again at the label."""
    site.ignore("RECONVERGENT", "RELIABLE")
    barrier = _barrier(site, 0)
    if not _is_kept(site, barrier):
        site.nothing()
        return
    site.exchange(WARP_OPCODES["activemask"], (site.destination(barrier),), (), is_main=True)


@lowers("BSYNC")
def lower_barrier_wait(site: Site) -> None:
    """`Bn`: the lanes of the barrier wait for each other."""
    site.ignore("RECONVERGENT", "RELIABLE")
    barrier = _barrier(site, 0)
    if not _is_kept(site, barrier):
        site.nothing()
        return
    lanes = site.word(barrier)
    with gone_round(site):
        meet(site, lanes, is_main=True)


@lowers("BREAK", "YIELD", "NOP")
def lower_nothing(site: Site) -> None:
    """Nothing is computed: lanes leave a barrier that nobody keeps, or let others run."""
    site.rest()
    site.nothing()


@lowers("BMOV")
def lower_barrier_move(site: Site) -> None:
    """Copies a mask of lanes that only comes back as one: any value does."""
    site.rest()
    target = site.operand(0)
    is_register = isinstance(target, RegisterOperand) and target.file in ("R", "UR")
    if is_register and not site.is_discarded(target):
        site.main("mov.b32", site.destination(target), Immediate(0))


def _barrier(site: Site, position: int) -> RegisterOperand:
    found = site.operand(position)
    if not isinstance(found, RegisterOperand) or found.file != "B" or found.number is None:
        raise site.refuse("a barrier that is none")
    return found


def _is_kept(site: Site, barrier: RegisterOperand) -> bool:
    """Whether the lanes of the barrier must wait for each other because some may spin.

    Lanes leave a barrier that some `BREAK` names, and nobody knows which.
    """
    known = site.context.memory.get(_BARRIERS)
    section = flow(site).body.section
    if not isinstance(known, tuple) or known[0] != section.name:
        known = (section.name, _kept_barriers(section))
        site.context.memory[_BARRIERS] = known
    return barrier.number in known[1]


def _kept_barriers(section: Section) -> frozenset[int | None]:
    opcodes = {statement.opcode for statement in section.statements}
    looks_again = not opcodes.isdisjoint(_ATOMICS) or any(
        "STRONG" in statement.modifiers and statement.opcode.startswith("LD")
        for statement in section.statements
    )
    if opcodes.isdisjoint(_EXCHANGES) or not looks_again:
        return frozenset()
    numbers: dict[bool, set[int | None]] = {False: set(), True: set()}
    for statement in section.statements:
        is_left = statement.opcode in ("BREAK", "BMOV")
        for operand in statement.operands:
            if isinstance(operand, RegisterOperand) and operand.file == "B":
                numbers[is_left].add(operand.number)
    return frozenset(numbers[False] - numbers[True])
