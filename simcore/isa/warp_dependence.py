"""Which kernels can tell how wide warps are."""

from __future__ import annotations

from kernelcast.simcore.isa.kernel import Kernel, Special, SpecialRegister

__all__ = ["depends_on_warp_width"]

_PLACE_IN_WARP = frozenset(
    {
        Special.LANEID,
        Special.WARPID,
        Special.NWARPID,
        Special.LANEMASK_EQ,
        Special.LANEMASK_LT,
        Special.LANEMASK_LE,
        Special.LANEMASK_GT,
        Special.LANEMASK_GE,
    }
)


def depends_on_warp_width(kernel: Kernel) -> bool:
    """Whether some instruction reads a special register that other warps would make another."""
    return any(
        isinstance(source, SpecialRegister) and source.which in _PLACE_IN_WARP
        for instruction in kernel.instructions
        for source in getattr(instruction, "sources", ())
    )
