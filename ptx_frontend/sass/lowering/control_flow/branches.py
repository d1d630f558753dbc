"""Branches, calls and exits."""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.control_flow.flow_context import (
    FLOW,
    Flow,
    flow,
    gone_round,
)
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import LabelOperand, RegisterOperand
from kernelcast.simcore.isa.ir.kernel import (
    Branch,
    Exit,
    Guard,
    Immediate,
    Jump,
    Operand,
    Register,
)
from kernelcast.simcore.isa.opcodes.warp import WARP_OPCODES
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["FLOW", "Flow", "gone_round"]

_EVERYBODY = Immediate(0xFFFFFFFF)


def _go(site: Site, condition: Guard | None, target: int) -> None:
    """The lanes of the condition go to `target`, the others go on."""
    fields = site.counted("bra", is_main=True)
    if condition is None:
        site.builder.end(Jump(**fields, target=target))
        return
    following = site.builder.new()
    branch = Branch(**fields, guard=condition, target=target, otherwise=following)
    site.builder.end_and_continue(branch, following)


def _condition(site: Site) -> Guard | None:
    """The guard of a branch together with the predicates among its operands."""
    found = site.guard
    for operand in site.operands:
        if not isinstance(operand, RegisterOperand) or operand.file not in ("P", "UP"):
            continue
        if operand.number is None and not operand.sign:
            continue
        value: Register = site.predicate_register(operand)
        if found is not None:
            before = found.register
            if found.negated:
                before = site.compute("not.pred", 1, before)
            value = site.compute("and.pred", 1, before, value)
        found = Guard(value, negated=False)
    return found


@lowers("BRA")
def lower_branch(site: Site) -> None:
    """`BRA [P,] label`; `.DIV` and `.CONV` go there where lanes have parted, or have not."""
    label = site.operands[-1]
    if not isinstance(label, LabelOperand):
        raise site.refuse("a branch without a label")
    address = flow(site).body.section.target(label.name)
    if address is None:
        raise site.refuse(f"a branch to {label.name!r} in another section")
    target = flow(site).block(address)
    if site.take("CONV"):
        _go_as_lanes_are(site, "eq", target)
        return
    if site.take("DIV"):
        _go_as_lanes_are(site, "ne", target)
        return
    site.ignore("U", "INC")
    if site.take("ANY"):
        _go_together(site, target)
        return
    _go(site, _condition(site), target)


def _go_as_lanes_are(site: Site, order: str, target: int) -> None:
    """All lanes go where those of the guard are the lanes of the mask, or where they are not."""
    mask = _asked_lanes(site)
    held: Operand = Immediate(1)
    if site.guard is not None:
        held = site.guard.register
        if site.guard.negated:
            held = site.compute("not.pred", 1, held)
    site.guard = None
    lanes = site.register(32)
    site.exchange(WARP_OPCODES["vote.ballot"], (lanes,), (held,))
    asked = site.compute(f"setp.{order}.b32", 1, lanes, mask)
    _go(site, Guard(asked, negated=False), target)


def _go_together(site: Site, target: int) -> None:
    """All lanes go where the predicate holds in any of them."""
    condition = _condition(site)
    if condition is None:
        _go(site, None, target)
        return
    asked = condition.register
    if condition.negated:
        asked = site.compute("not.pred", 1, asked)
    found = site.register(1)
    guard, site.guard = site.guard, None  # lanes without it are asked, too
    site.exchange(WARP_OPCODES["vote.any"], (found,), (asked,), type_=ScalarType.PRED)
    site.guard = guard
    _go(site, Guard(found, negated=False), target)


def _asked_lanes(site: Site) -> Operand:
    """The mask of the lanes that `.CONV` and `.DIV` ask for; all where none is given."""
    lanes = next(
        (o for o in site.operands if isinstance(o, RegisterOperand) and o.file in ("R", "UR")), None
    )
    if lanes is None:
        return _EVERYBODY
    if lanes.number is not None:
        return site.word(lanes)
    if lanes.sign != "~":
        raise site.refuse("an empty mask of lanes")
    return _EVERYBODY


@lowers("EXIT", "KILL")
def lower_exit(site: Site) -> None:
    """The lanes are done: all leave in one place, where those that are done wait for nobody."""
    site.ignore("PREEMPTED", "KEEPREFCOUNT")
    _go(site, _condition(site), site.builder.shared_exit())


@lowers("BPT")
def lower_trap(site: Site) -> None:
    """`BPT.TRAP` fails, as PTX's `trap`; other breakpoints do nothing without a debugger."""
    if not site.take("TRAP"):
        site.rest()
        site.nothing()
        return
    reason = "the kernel executed trap"
    if site.guard is not None:
        _go(site, site.guard, site.builder.trap(site.span, reason))
        return
    fields = site.counted("trap", is_main=True)
    site.builder.end(Exit(**fields, trap=True, reason=reason))
