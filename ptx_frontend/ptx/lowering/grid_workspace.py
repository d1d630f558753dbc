"""The memory by which the thread blocks of a cooperative launch wait for each other.

`%envreg1` and `%envreg2` hold the halves of its address, as the CUDA runtime sets them.
"""

from __future__ import annotations

from kernelcast.ptx_frontend.ptx.calls.added_instructions import AddedCode
from kernelcast.ptx_frontend.ptx.calls.calls import move
from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.operands import Site
from kernelcast.ptx_frontend.ptx.text.syntax import NameOperand, VariableDeclaration
from kernelcast.simcore.isa.ir.kernel import GRID, Immediate, SymbolAddress
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["is_grid_workspace", "lower_grid_workspace"]

_HIGH, _LOW = "%envreg1", "%envreg2"
_DECLARATION = VariableDeclaration(0, "global", "b8", GRID, 256, 256)
_HALF_BITS = 32


def is_grid_workspace(site: Site) -> bool:
    """Whether a `mov` reads half of the address."""
    sources = site.operands[1:]
    return any(isinstance(x, NameOperand) and x.name in (_HIGH, _LOW) for x in sources)


def lower_grid_workspace(site: Site, builder: BasicBlockBuilder) -> None:
    """Lowers the read of a half of the address of the grid's workspace."""
    site.expect_operands(2)
    if site.mnemonic not in ("mov.u32", "mov.b32"):
        raise site.unsupported(f"{site.mnemonic!r} of a half of an address")
    site.names.used.setdefault(GRID, _DECLARATION)
    code = AddedCode(builder, site.span, site.origin)
    address = builder.temporary(2 * _HALF_BITS)
    code.assign("mov.u64", address, SymbolAddress(GRID))
    operand = site.operands[1]
    if isinstance(operand, NameOperand) and operand.name == _HIGH:
        code.assign("shr.u64", address, address, Immediate(_HALF_BITS))
    destination = site.destination(site.operands[0], 0, ScalarType.B32)
    builder.append(move(site, site.pc, ScalarType.B32, destination, address))
