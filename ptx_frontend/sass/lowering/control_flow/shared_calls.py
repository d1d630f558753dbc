"""Calls of functions that stand in a kernel once, and how these return."""

from __future__ import annotations

from kernelcast.ptx_frontend.instruction_writer import InstructionWriter
from kernelcast.ptx_frontend.sass.lowering.flow import INSTRUCTION_BYTES
from kernelcast.ptx_frontend.sass.lowering.functions import SharedFunction
from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.simcore.isa.ir.kernel import Branch, Guard, Immediate, Jump, Operand, Register

__all__ = ["branch_if_equal", "call_shared", "go_back", "return_address"]

_ASTRAY = "the kernel returned to where no call was made"


def return_address(site: Site) -> int:
    """Where a call returns: the statement behind it."""
    return site.statement.address + INSTRUCTION_BYTES


def call_shared(site: Site, function: SharedFunction) -> None:
    """Goes to the function; the caller's return address is in a register already."""
    following = site.builder.new()
    function.sites[return_address(site)] = following
    site.builder.end(Jump(**site.counted("call"), target=function.entry))
    site.builder.place(following)


def go_back(writer: InstructionWriter, function: SharedFunction) -> None:
    """Goes from the end of a shared function to the place behind its call."""
    builder = writer.builder
    for address, block in function.sites.items():
        following = builder.new()
        branch_if_equal(writer, function.back, Immediate(address), block, following)
        builder.place(following)
    astray = builder.trap(builder.start, _ASTRAY, is_part=True)
    builder.end(Jump(**writer.counted("bra"), target=astray))


def branch_if_equal(
    writer: InstructionWriter, value: Register, other: Operand, target: int, otherwise: int
) -> None:
    """Ends the basic block: to `target` where the register holds the other value."""
    equal = writer.compute(f"setp.eq.b{value.bits}", 1, value, other)
    guard = Guard(equal, negated=False)
    fields = writer.counted("bra")
    writer.builder.end(Branch(**fields, guard=guard, target=target, otherwise=otherwise))
