"""Operations across the lanes of a warp: shuffles, votes, matches, reductions, elections.

None has a mask: lanes that are active together take part. Where `WARPSYNC.EXCLUSIVE` stands in
front of one, the lanes of its mask are together and no others (`reconvergence.members`).
"""

from __future__ import annotations

from collections.abc import Sequence

from kernelcast.ptx_frontend.sass.lowering.control_flow.reconvergence import members
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import RegisterOperand, SassOperand
from kernelcast.simcore.isa.ir.kernel import Operand, Register
from kernelcast.simcore.isa.opcodes.warp import WARP_OPCODES
from kernelcast.simcore.isa.types import ScalarType

__all__: list[str] = []

_SHUFFLES = {"IDX": "idx", "UP": "up", "DOWN": "down", "BFLY": "bfly"}
_VOTES = {"ALL": "all", "ANY": "any", "EQ": "uni"}
_REDUCTIONS = {"SUM": "add", "OR": "or", "XOR": "xor", "AND": "and", "MIN": "min", "MAX": "max"}
_EXTREMA = {
    "MIN": ("min",),
    "MAX": ("max",),
    "MINABS": ("min", "abs"),
    "MAXABS": ("max", "abs"),
}


def _exchange(
    site: Site,
    name: str,
    destinations: Sequence[Register | None],
    sources: Sequence[Operand],
    type_: ScalarType = ScalarType.B32,
) -> None:
    site.exchange(
        WARP_OPCODES[name],
        destinations,
        sources,
        type_=type_,
        members=members(site),
        is_main=True,
    )


def _wanted(site: Site, operand: SassOperand) -> Register | None:
    """A destination; None where nobody wants it."""
    return None if site.is_discarded(operand) else site.destination(operand)


@lowers("SHFL")
def lower_shuffle(site: Site) -> None:
    """`p, d, a, lane, c`, as PTX's `shfl` has them."""
    mode = site.choose(_SHUFFLES, "")
    if not mode:
        raise site.refuse("a shuffle of no known kind")
    sources = [site.word(site.operand(position)) for position in (2, 3, 4)]
    inside, target = _wanted(site, site.operand(0)), _wanted(site, site.operand(1))
    _exchange(site, f"shfl.{mode}", (target, inside), sources)


@lowers("VOTE", "VOTEU")
def lower_vote(site: Site) -> None:
    """`[d,] p, a`: d the lanes where a holds, p whether all, any, or all or none of them do."""
    vote = site.choose(_VOTES, "")
    if not vote:
        raise site.refuse("a vote of no known kind")
    first = 0 if site.is_predicate(0) else 1
    asked = site.predicate_register(site.operand(first + 1))
    lanes = None if first == 0 else _wanted(site, site.operand(0))
    outcome = _wanted(site, site.operand(first))
    if outcome is None:
        _exchange(site, "vote.ballot", (lanes,), (asked,))
        return
    if lanes is not None:
        site.exchange(WARP_OPCODES["vote.ballot"], (lanes,), (asked,), members=members(site))
    _exchange(site, f"vote.{vote}", (outcome,), (asked,), ScalarType.PRED)


@lowers("MATCH")
def lower_match(site: Site) -> None:
    """`d, a`: the lanes that hold the same; `p, d, a` of `.ALL`: whether all do, and all lanes."""
    is_wide = site.take("U64")
    type_ = ScalarType.B64 if is_wide else ScalarType.B32
    read = site.pair if is_wide else site.word
    if site.take("ANY"):
        value = read(site.operand(1))
        _exchange(site, "match.any", (_wanted(site, site.operand(0)),), (value,), type_)
        return
    if not site.take("ALL"):
        raise site.refuse("a match of no known kind")
    value = read(site.operand(2))
    agree, lanes = _wanted(site, site.operand(0)), _wanted(site, site.operand(1))
    _exchange(site, "match.all", (lanes, agree), (value,), type_)


@lowers("REDUX")
def lower_reduction(site: Site) -> None:
    """`ud, a`; without a modifier it is `and`, without `.S32` of unsigned numbers."""
    operation = site.choose(_REDUCTIONS, "and")
    signed = site.take("S32")
    type_ = ScalarType.B32
    if operation in ("add", "min", "max"):
        type_ = ScalarType.S32 if signed else ScalarType.U32
    elif signed:
        raise site.refuse("a bitwise reduction of signed numbers")
    value = site.word(site.operand(1))
    _exchange(site, f"redux.{operation}", (_wanted(site, site.operand(0)),), (value,), type_)


@lowers("CREDUX")
def lower_extremum(site: Site) -> None:
    """`ud, a`: the smallest or largest, of `.F32` also of magnitudes."""
    parts = list(site.choose(_EXTREMA, ()))
    if not parts:
        raise site.refuse("a reduction of no known kind")
    is_float = site.take("F32")
    type_ = ScalarType.S32 if site.take("S32") else ScalarType.U32
    if is_float:
        type_ = ScalarType.F32
        parts += ["NaN"] if site.take("NAN") else []
    elif len(parts) > 1:
        raise site.refuse("magnitudes of integers")
    value = site.word(site.operand(1))
    name = ".".join(("redux", *parts))
    _exchange(site, name, (_wanted(site, site.operand(0)),), (value,), type_)


@lowers("ELECT")
def lower_election(site: Site) -> None:
    """`p, ud, PT`: p holds in the first of the lanes, whose number is ud."""
    everybody = site.operand(2)
    if not isinstance(everybody, RegisterOperand) or everybody.number is not None or everybody.sign:
        raise site.refuse("an election among some lanes")
    chosen, leader = _wanted(site, site.operand(0)), _wanted(site, site.operand(1))
    _exchange(site, "elect", (leader, chosen), ())
