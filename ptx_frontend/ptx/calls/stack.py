"""`alloca`, `stacksave`, `stackrestore`: local memory whose size the kernel computes."""

from __future__ import annotations

from kernelcast.ptx_frontend.ptx.calls.added_instructions import AddedCode
from kernelcast.ptx_frontend.ptx.calls.call_stack import CallStack
from kernelcast.ptx_frontend.ptx.calls.calls import move
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.instruction_parts import InstructionParts
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand, Register
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["STACK", "lower_stack"]

STACK = ("alloca", "stacksave", "stackrestore")
"""Roots of the instructions that this file lowers."""
_TYPES = {"u32": ScalarType.U32, "u64": ScalarType.U64}
_ALIGNMENT = 8


def lower_stack(site: Site, builder: BasicBlockBuilder, stack: CallStack) -> None:
    """Lowers `alloca`, `stacksave` and `stackrestore`."""
    root, *modifiers = site.mnemonic.split(".")
    type_ = _TYPES.get(".".join(modifiers))
    if type_ is None or site.guard is not None:
        raise site.refused()
    code = AddedCode(builder, site.span, site.origin)
    top = stack.top()
    if root == "alloca":
        size = _allocate(site, code, type_, top)
        _check(InstructionParts(site, builder, None), stack, size)
        return
    site.expect_operands(1)
    if root == "stacksave":
        destination = site.destination(site.operands[0], 0, type_)
        builder.append(move(site, 0, type_, destination, top))
        return
    saved = site.source(site.operands[0], 0, type_)
    builder.append(move(site, 0, type_, top, saved))


def _allocate(site: Site, code: AddedCode, type_: ScalarType, top: Register) -> Operand:
    """Lowers `alloca d, size{, alignment}`; returns the size.

    The result is what is on top of the stack, rounded up to the alignment.
    """
    site.expect_operands(2, 3)
    size = site.source(site.operands[1], 1, type_)
    alignment = _ALIGNMENT
    if len(site.operands) > 2:
        given = site.source(site.operands[2], 2, type_)
        if not isinstance(given, Immediate) or given.bits.bit_count() != 1:
            raise site.error("an alignment is a power of two", 2)
        alignment = max(given.bits, _ALIGNMENT)
    name = f"u{top.bits}"
    code.assign(f"add.{name}", top, top, Immediate(alignment - 1))
    code.assign(f"and.b{top.bits}", top, top, Immediate(-alignment & (1 << top.bits) - 1))
    destination = site.destination(site.operands[0], 0, type_)
    code.builder.append(move(site, 0, type_, destination, top))
    if type_.bits != top.bits:
        wide = code.builder.temporary(top.bits)
        code.assign(f"cvt.{name}.{type_.ptx_name}", wide, size)
        size = wide
    code.assign(f"add.{name}", top, top, size)
    return size


def _check(code: InstructionParts, stack: CallStack, size: Operand) -> None:
    """Ends the kernel where so many bytes more are too many."""
    end, most = stack.room()
    fits = code.compute("setp.le.u64", 1, size, Immediate(most))
    is_inside = code.compute("setp.le.u64", 1, stack.top(), code.compute("mov.u64", 64, end))
    both = code.compute("and.pred", 1, fits, is_inside)
    reason = f"alloca takes more than the {most >> 10} KB that a thread has for it"
    code.skip_unless(both, code.builder.trap(code.site.span, reason, is_part=True))
