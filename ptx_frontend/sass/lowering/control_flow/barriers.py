"""Barriers of a thread block, with votes or without, and memory fences."""

from __future__ import annotations

from math import prod

from kernelcast.ptx_frontend.sass.lowering.control_flow.flow_context import gone_round
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import RegisterOperand
from kernelcast.simcore.isa.ir.kernel import (
    BarrierArrive,
    BarrierResult,
    BarrierSync,
    BarrierVote,
    Immediate,
    Operand,
    Register,
)

__all__: list[str] = []

_REDUCTIONS = {"POPC": "popc", "AND": "and", "OR": "or"}
_NUMBER, _COUNT_AT, _COUNT = Immediate(0xFFFF), Immediate(16), Immediate(0xFFF)
_RESULT = "barrier result", 0
"""The register, named nowhere, that holds what came of the last vote."""


@lowers("BAR")
def lower_barrier(site: Site) -> None:
    """`id[, threads][, p]`: `.SYNC`, `.ARV` or `.RED` with a vote."""
    site.ignore("DEFER_BLOCKING")
    if site.take("SYNC"):
        number, count = _barrier(site, len(site.operands))
        with gone_round(site):
            _pass(site, number, count)
    elif site.take("ARV"):
        number, count = _barrier(site, len(site.operands))
        if count is None:
            raise site.refuse("an arrival at a barrier without a number of threads")
        site.builder.append(
            BarrierArrive(
                **site.fields("bar.arrive", is_main=True),
                number=number,
                count=count,
            )
        )
    elif site.take("RED"):
        _vote(site)
    else:
        raise site.refuse()


def _barrier(site: Site, operands: int) -> tuple[Operand, Operand | None]:
    """The barrier's number and how many threads it is for, None for all of the thread block.

    One register for both holds the number in its lower half and the threads above it.
    """
    first = site.operand(0)
    number, count = site.word(first), None
    if operands > 2:
        raise site.refuse(f"a barrier with {operands} operands")
    if operands == 2:
        second = site.operand(1)
        if isinstance(first, RegisterOperand) and isinstance(second, RegisterOperand):
            if first.number != second.number:
                raise site.refuse("a barrier with two registers")
            above = site.compute("shr.u32", 32, number, _COUNT_AT)
            return site.compute("and.b32", 32, number, _NUMBER), site.compute(
                "and.b32", 32, above, _COUNT
            )
        count = site.word(second)
    if isinstance(number, Register):
        number = site.compute("and.b32", 32, number, _NUMBER)
    required = site.context.entry.required_threads
    if required is not None and count == Immediate(prod(required)):
        count = None
    return number, count


def _pass(site: Site, number: Operand, count: Operand | None) -> None:
    """Waits at the barrier."""
    following = site.builder.new()
    is_fixed = isinstance(number, Immediate)
    sync = BarrierSync(
        **site.counted("bar.sync", is_main=True),
        barrier=number.bits if isinstance(number, Immediate) else -1,
        target=following,
        number=None if is_fixed else number,
        count=count,
    )
    site.builder.end_and_continue(sync, following)


def _vote(site: Site) -> None:
    """The vote, the barrier, and what came of it, which `B2R.RESULT` reads later."""
    reduction = site.choose(_REDUCTIONS, "")
    if not reduction:
        raise site.refuse("a vote of no known kind")
    last = len(site.operands) - 1
    number, count = _barrier(site, last)
    held = site.predicate_register(site.operand(last))
    if count is not None or not isinstance(number, Immediate):
        raise site.refuse("a vote of a part of the thread block")
    result = site.context.registers.word(*_RESULT)
    with gone_round(site):
        site.builder.append(BarrierVote(**site.fields("bar.vote"), predicate=held, negated=False))
        _pass(site, number, count)
        came = result if reduction == "popc" else site.register(1)
        site.builder.append(
            BarrierResult(**site.fields("bar.result"), reduction=reduction, destination=came)
        )
        if came is not result:
            site.part("selp.b32", result, Immediate(1), Immediate(0), came)


@lowers("B2R")
def lower_result(site: Site) -> None:
    """`d[, p]`: what came of the last vote at a barrier."""
    if not site.take("RESULT"):
        raise site.refuse("a barrier in a register")
    result = site.context.registers.word(*_RESULT)
    if len(site.operands) > 1 and not site.is_discarded(site.operand(1)):
        if not site.is_discarded(site.operand(0)):
            site.part("mov.b32", site.destination(site.operand(0)), result)
        site.main("setp.ne.u32", site.destination(site.operand(1)), result, Immediate(0))
        return
    site.main("mov.b32", site.destination(site.operand(0)), result)


@lowers("MEMBAR")
def lower_fence(site: Site) -> None:
    """Nothing that a thread could see happens: memory is sequentially consistent here."""
    site.ignore("SC", "ALL", "CTA", "SM", "GPU", "GL", "SYS", "VC", "IVALLD")
    site.fence()


@lowers("FENCE")
def lower_proxy_fence(site: Site) -> None:
    """`FENCE.VIEW.ASYNC`: copies in bulk see what was written before."""
    if not site.take("VIEW"):
        raise site.refuse()
    site.ignore("ASYNC", "S", "G", "T")
    site.fence()


@lowers("ERRBAR", "CGAERRBAR")
def lower_error_barrier(site: Site) -> None:
    """Errors of accesses so far are known, as they always are here."""
    site.nothing()


@lowers("PMTRIG")
def lower_event(site: Site) -> None:
    """`pmevent`: an event that performance monitors count, nothing that is computed."""
    site.nothing()


@lowers("NANOSLEEP")
def lower_sleep(site: Site) -> None:
    """A fence in the intermediate representation, as PTX's `nanosleep` is."""
    site.ignore("WARP", "SYNCS")
    site.fence()
