"""Barriers of a thread block: for all its threads or a part of them, with votes or without."""

from __future__ import annotations

from math import prod

from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.guards import go_round
from kernelcast.ptx_frontend.ptx.lowering.instruction_parts import InstructionParts
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.lowering.partial_votes import lower_partial_votes
from kernelcast.ptx_frontend.ptx.text import syntax
from kernelcast.simcore.isa.ir.kernel import (
    BarrierArrive,
    BarrierResult,
    BarrierSync,
    BarrierVote,
    Immediate,
    Operand,
    Register,
)
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["barrier_kind", "lower_barrier"]

_MAX_BARRIERS = 16
_REDUCTIONS = ("red.popc.u32", "red.and.pred", "red.or.pred")


def lower_barrier(
    site: Site, builder: BasicBlockBuilder, required: tuple[int, int, int] | None
) -> None:
    """Guarded, it becomes a branch around the barrier."""
    match barrier_kind(site):
        case "sync":
            site.expect_operands(1, 2)
            following = builder.new()
            go_round(site, builder, following)
            builder.end_and_continue(_sync(site, 0, following, required), following)
        case "arrive":
            site.expect_operands(2)
            builder.append(_arrive(site))
        case "red":
            _reduce(site, builder, required)
        case _:
            raise site.refused()


def barrier_kind(site: Site) -> str:
    """`sync`, `arrive` or `red`; empty for anything else. `bar` is aligned and does not say so."""
    root, *parts = site.mnemonic.split(".")
    if parts[:1] == ["cta"]:
        parts = parts[1:]
    if root == "bar" and "aligned" in parts:
        return ""
    parts = [part for part in parts if part != "aligned"]
    if len(parts) == 1 and parts[0] in ("sync", "arrive"):
        return parts[0]
    return "red" if ".".join(parts) in _REDUCTIONS else ""


def _reduce(site: Site, builder: BasicBlockBuilder, required: tuple[int, int, int] | None) -> None:
    """`bar.red op d, a{, b}, {!}c`: votes, the barrier, and what came of them."""
    site.expect_operands(3, 4)
    _, name, type_ = _reduction(site)
    following = builder.new()
    go_round(site, builder, following)
    after = builder.new()
    barrier = _sync(site, 1, after, required)
    if barrier.is_counted:
        predicate, negated = _voted(site)
        if negated:
            predicate = InstructionParts(site, builder, None).compute("not.pred", 1, predicate)
        destination = site.destination(site.operands[0], 0, type_)
        lower_partial_votes(site, builder, barrier, predicate, name, destination)
        builder.place(following)
        return
    builder.append(_vote(site))
    builder.end_and_continue(barrier, after)
    builder.append(
        BarrierResult(
            **site.place(2),
            reduction=name,
            destination=site.destination(site.operands[0], 0, type_),
        )
    )
    builder.place(following)


def _voted(site: Site) -> tuple[Register, bool]:
    """The last operand, a predicate, and whether its negation stands there."""
    last = len(site.operands) - 1
    operand = site.operands[last]
    negated = isinstance(operand, syntax.NegatedOperand)
    if isinstance(operand, syntax.NegatedOperand):
        operand = syntax.NameOperand(operand.name)
    predicate = site.source(operand, last, ScalarType.PRED)
    if not isinstance(predicate, Register):
        raise site.error(f"{site.mnemonic!r} takes a predicate here", last)
    return predicate, negated


def _vote(site: Site) -> BarrierVote:
    predicate, negated = _voted(site)
    return BarrierVote(
        **site.place(),
        predicate=predicate,
        negated=negated,
    )


def _reduction(site: Site) -> tuple[str, str, ScalarType]:
    parts = [part for part in site.mnemonic.split(".")[1:] if part not in ("cta", "aligned")]
    root, name, type_name = parts
    return root, name, ScalarType.named(type_name)


def _sync(
    site: Site, first: int, target: int, required: tuple[int, int, int] | None
) -> BarrierSync:
    """The barrier whose number is operand `first`."""
    number, count = _number(site, first), None
    is_reduction = first > 0
    if len(site.operands) == first + 2 + is_reduction:
        count = _thread_count(site, first + 1, required)
    is_fixed = isinstance(number, Immediate)
    return BarrierSync(
        **site.place(is_reduction),
        barrier=number.bits if isinstance(number, Immediate) else -1,
        target=target,
        number=None if is_fixed else number,
        count=count,
    )


def _arrive(site: Site) -> BarrierArrive:
    return BarrierArrive(
        **site.fields(),
        number=_number(site, 0),
        count=site.source(site.operands[1], 1, ScalarType.U32),
    )


def _number(site: Site, index: int) -> Operand:
    barrier = site.operands[index]
    if isinstance(barrier, syntax.Integer) and not 0 <= barrier.value < _MAX_BARRIERS:
        raise site.error(f"barriers have numbers from 0 to {_MAX_BARRIERS - 1}", index)
    return site.source(barrier, index, ScalarType.U32)


def _thread_count(site: Site, index: int, required: tuple[int, int, int] | None) -> Operand | None:
    """How many threads the barrier is for; None where that is the whole thread block."""
    count = site.operands[index]
    if required is not None and count == syntax.Integer(prod(required)):
        return None
    return site.source(count, index, ScalarType.U32)
