"""Branches, calls, exits and barriers of a thread block.

Reconvergence (`BSSY`, `BSYNC`, `BREAK`, `YIELD`) changes nothing that is computed: engines bring
lanes together where they meet in the flow of control.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import IMPLICIT_PC
from kernelcast.ptx_frontend.sass.lowering.flow import Body
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import LabelOperand, RegisterOperand
from kernelcast.simcore.isa.ir.kernel import Branch, Exit, Guard, Jump, Register
from kernelcast.simcore.isa.opcodes.warp import WARP_OPCODES
from kernelcast.simcore.isa.types import Unit

__all__ = ["FLOW", "Flow", "gone_round"]

FLOW = "flow"
"""The key of the flow of control in what statements share."""


@dataclass(slots=True)
class Flow:
    """The body that is being lowered, and how a call of another one is."""

    body: Body
    call: Callable[[Site, int], None]
    """Lowers the function at an address, then goes on behind the call."""

    def block(self, address: int) -> int:
        """The basic block that begins at an address."""
        return self.body.blocks[address]


def _flow(site: Site) -> Flow:
    found = site.context.memory[FLOW]
    assert isinstance(found, Flow)
    return found


@contextmanager
def gone_round(site: Site) -> Iterator[None]:
    """Lanes whose guard does not hold leave out what is written inside."""
    guard = site.guard
    if guard is None:
        yield
        return
    builder = site.builder
    inside, following = builder.new(), builder.new()
    around = Branch(
        pc=IMPLICIT_PC,
        mnemonic="",
        span=site.span,
        guard=guard,
        target=inside,
        otherwise=following,
    )
    builder.end_and_continue(around, inside)
    site.guard = None
    yield
    site.guard = guard
    builder.place(following)


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


@lowers("BRA", unit=Unit.CONTROL)
def lower_branch(site: Site) -> None:
    """`BRA [P,] label`. Where `.DIV` and `.CONV` ask whether lanes have parted, they are joined."""
    label = site.operands[-1]
    if not isinstance(label, LabelOperand):
        raise site.refuse("a branch without a label")
    address = _flow(site).body.section.target(label.name)
    if address is None:
        raise site.refuse(f"a branch to {label.name!r} in another section")
    target = _flow(site).block(address)
    if site.take("DIV", "CONV"):
        _asks_for_lanes(site, target)
        return
    site.ignore("U", "ANY", "INC")
    _go(site, _condition(site), target)


def _asks_for_lanes(site: Site, target: int) -> None:
    members = next(
        (o for o in site.operands if isinstance(o, RegisterOperand) and o.file in ("R", "UR")), None
    )
    if members is not None:
        mask = site.context.registers.word(members.file, members.number or 0)
        site.exchange(WARP_OPCODES["bar.warp"], (), (), members=mask)
    if "CONV" in site.statement.modifiers:
        _go(site, site.guard, target)
    else:
        site.nothing()


@lowers("EXIT", "KILL", unit=Unit.CONTROL)
def lower_exit(site: Site) -> None:
    """The lanes are done."""
    site.ignore("PREEMPTED", "KEEPREFCOUNT")
    condition = _condition(site)
    if condition is not None:
        _go(site, condition, site.builder.shared_exit())
        return
    site.builder.end(Exit(**site.counted("exit", is_main=True)))


@lowers("BPT", unit=Unit.CONTROL)
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


@lowers("CALL", unit=Unit.CONTROL)
def lower_call(site: Site) -> None:
    """A direct call: the function stands here once more, and its return leads behind the call."""
    site.ignore("NOINC", "REL")
    label = site.operands[-1]
    if not isinstance(label, LabelOperand):
        raise site.refuse("a call through a register")
    section = _flow(site).body.section
    address = section.target(label.name)
    if address is None:
        raise site.refuse(f"a call of {label.name!r} in another section")
    with gone_round(site):
        site.nothing()
        _flow(site).call(site, address)


@lowers("RET", unit=Unit.CONTROL)
def lower_return(site: Site) -> None:
    """Back behind the call."""
    site.ignore("REL", "NODEC", "ABS")
    target = _flow(site).body.return_to
    if target is None:
        raise site.refuse("a return outside of a function")
    _go(site, _condition(site), target)


@lowers("BSSY", "BSYNC", "BREAK", "YIELD", "NOP", "NANOSLEEP", "BMOV", unit=Unit.CONTROL)
def lower_reconvergence(site: Site) -> None:
    """Nothing is computed; lanes come together where their ways do."""
    site.rest()
    site.nothing()
