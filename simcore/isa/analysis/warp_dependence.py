"""Which kernels can tell how wide warps are."""

from __future__ import annotations

from collections.abc import Iterator

from kernelcast.simcore.isa.ir.kernel import Kernel, Special, SpecialRegister, WarpOperation
from kernelcast.simcore.isa.opcodes.warp import GROUP

__all__ = ["depends_on_warp_width", "numbered_lanes"]

_PLACE_IN_WARP = frozenset(
    {
        Special.LANEID,
        Special.WARPID,
        Special.NWARPID,
        Special.WARP_WIDTH,
        Special.LANEMASK_EQ,
        Special.LANEMASK_LT,
        Special.LANEMASK_LE,
        Special.LANEMASK_GT,
        Special.LANEMASK_GE,
    }
)


def numbered_lanes(kernel: Kernel, width: int) -> int:
    """How far `%laneid` counts: to the width of warps, or of the groups that exchange values."""
    in_groups = any(not operation.opcode.is_whole for operation in _exchanges(kernel))
    return min(width, GROUP) if in_groups else width


def _exchanges(kernel: Kernel) -> Iterator[WarpOperation]:
    for block in kernel.blocks:
        for instruction in block.body:
            if isinstance(instruction, WarpOperation):
                yield instruction


def depends_on_warp_width(kernel: Kernel) -> bool:
    """Whether results depend on the warp width.

    They do where lanes exchange values, or an instruction reads a special register that other warps
    would make another.
    """
    return any(True for _ in _exchanges(kernel)) or any(
        isinstance(source, SpecialRegister) and source.which in _PLACE_IN_WARP
        for instruction in kernel.instructions
        for source in getattr(instruction, "sources", ())
    )
