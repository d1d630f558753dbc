"""Calls, returns and branches to places in registers.

The code of a kernel begins at address 0, so that places relative to it are addresses, too.
"""

from __future__ import annotations

from kernelcast.ptx_frontend.sass.lowering.control_flow.branches import go
from kernelcast.ptx_frontend.sass.lowering.control_flow.flow_context import flow, gone_round
from kernelcast.ptx_frontend.sass.lowering.control_flow.host_calls import (
    call_by_name,
    call_host,
    is_of_host,
)
from kernelcast.ptx_frontend.sass.lowering.control_flow.shared_calls import (
    branch_if_equal,
    return_address,
)
from kernelcast.ptx_frontend.sass.lowering.flow import INSTRUCTION_BYTES, jumps
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.ptx_frontend.sass.lowering.table import lowers
from kernelcast.ptx_frontend.sass.text.operands import (
    ImmediateOperand,
    LabelOperand,
    RegisterOperand,
    SassOperand,
)
from kernelcast.simcore.isa.ir.kernel import Immediate, Jump, Register

__all__: list[str] = []

_WORD = 0xFFFFFFFF
_NO_FUNCTION = "the kernel called through a pointer that is no function"


@lowers("BRX", "BRXU", "JMX", "JMXU")
def lower_indirect_branch(site: Site) -> None:
    """`R, imm`: to R + imm + the place behind the branch, one of those that are listed.

    `JMX` goes to R + imm. The last of the places takes all other values.
    """
    body = flow(site).body
    targets = jumps(site.statement, body.section)
    if not site.statement.targets or not targets:
        raise site.refuse("a branch to places that are not listed")
    distance = _immediate(site, 1)
    if site.statement.opcode.startswith("BRX"):
        distance += site.statement.address + INSTRUCTION_BYTES
    place = site.in_register(site.word(site.operand(0), "b32", ("64",)), 32)
    with gone_round(site):
        site.nothing()
        for address in targets[:-1]:
            following = site.builder.new()
            wanted = Immediate(address - distance & _WORD)
            branch_if_equal(site, place, wanted, body.blocks[address], following)
            site.builder.place(following)
        last = body.blocks[targets[-1]]
        site.builder.end(Jump(**site.counted("bra"), target=last))


def _immediate(site: Site, position: int) -> int:
    """The number that is added to a register; 0 where there is none."""
    if position >= len(site.operands):
        return 0
    operand = site.operands[position]
    if not isinstance(operand, ImmediateOperand) or operand.value is None:
        raise site.refuse("a distance that is no number")
    return operand.value


@lowers("CALL")
def lower_call(site: Site) -> None:
    """`label`, or `R, label` for a function in a register; the return address is in another.

    A function that is called directly stands here once more unless it is shared.
    """
    site.ignore("NOINC")
    is_absolute = site.take("ABS")
    site.ignore("REL")
    first = site.operand(0)
    if isinstance(first, RegisterOperand):
        with gone_round(site):
            site.nothing()
            if is_absolute:
                call_host(site, first)
            else:
                _call_pointed(site, first)
        return
    if not isinstance(first, LabelOperand):
        raise site.refuse("a call of nothing known")
    address = flow(site).body.section.target(first.name)
    if address is None and is_of_host(first.name):
        with gone_round(site):
            site.nothing()
            call_by_name(site, first.name)
        return
    if address is None:
        raise site.refuse(f"a call of {first.name!r} in another section")
    if jumps(site.statement, flow(site).body.section):
        go(site, site.guard, flow(site).block(address))
        return
    with gone_round(site):
        site.nothing()
        flow(site).call(site, address)


def _call_pointed(site: Site, operand: SassOperand) -> None:
    """One of the functions that registers may hold; any other place fails."""
    here = flow(site)
    value = site.in_register(site.word(operand), 32)
    behind = site.builder.new()
    for address in here.pointed:
        function = here.shared(address)
        function.sites[return_address(site)] = behind
        following = site.builder.new()
        branch_if_equal(site, value, Immediate(address), function.entry, following)
        site.builder.place(following)
    failing = site.builder.trap(site.span, _NO_FUNCTION, is_part=True)
    site.builder.end(Jump(**site.counted("bra"), target=failing))
    site.builder.place(behind)


@lowers("RET")
def lower_return(site: Site) -> None:
    """`R, label` or `R imm`: back behind the call, to the address in R."""
    is_absolute = site.take("ABS")
    site.ignore("REL", "NODEC")
    here = flow(site)
    if here.own is None:
        if here.body.return_to is None:
            raise site.refuse("a return outside of a function")
        with gone_round(site):
            site.builder.end(Jump(**site.counted("ret", is_main=True), target=here.body.return_to))
        return
    value = site.in_register(site.word(site.operand(0)), 32)
    distance = _immediate(site, 1) if is_absolute else 0
    with gone_round(site):
        moved = _added(site, value, distance)
        site.assign("mov.b32", here.own.back, moved)
        site.builder.end(Jump(**site.counted("ret", is_main=True), target=here.own.leave))


def _added(site: Site, value: Register, distance: int) -> Register:
    if not distance:
        return value
    return site.compute("add.u32", 32, value, Immediate(distance & _WORD))


@lowers("LEPC")
def lower_own_place(site: Site) -> None:
    """`d[, label]`: the address of the label, or of the instruction itself."""
    address: int | None = site.statement.address
    if len(site.operands) > 1:
        label = site.operands[1]
        address = None
        if isinstance(label, LabelOperand):
            address = flow(site).body.section.target(label.name)
    if address is None:
        raise site.refuse("the address of no known place")
    site.main("mov.b64", site.pair_destination(site.operand(0)), Immediate(address))
