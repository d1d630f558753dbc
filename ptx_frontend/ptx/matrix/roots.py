"""Matrix instructions by the first parts of their names."""

from __future__ import annotations

from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.operands import Site

__all__ = ["MATRIX_ROOTS", "lower_matrix"]

MATRIX_ROOTS = frozenset(("mma", "wmma", "wgmma", "tcgen05", "ldmatrix", "stmatrix", "movmatrix"))


def lower_matrix(site: Site, builder: BasicBlockBuilder, target: str) -> None:
    """Few files have any: what writes them is imported when it is needed."""
    from kernelcast.ptx_frontend.ptx.matrix.movement import lower_movement
    from kernelcast.ptx_frontend.ptx.matrix.products import lower_mma, lower_wmma

    root, *parts = site.mnemonic.split(".")
    if root == "wmma" and "mma" not in parts:
        from kernelcast.ptx_frontend.ptx.matrix.wmma_memory import lower_wmma_access

        lower_wmma_access(site, builder)
    elif root == "wgmma":
        from kernelcast.ptx_frontend.ptx.matrix.wgmma import lower_wgmma

        lower_wgmma(site, builder, target)
    elif root == "tcgen05":
        from kernelcast.ptx_frontend.ptx.matrix.tcgen05 import lower_tcgen05

        lower_tcgen05(site, builder, target)
    elif root == "wmma":
        lower_wmma(site, builder, target)
    elif root == "mma":
        lower_mma(site, builder, target)
    else:
        lower_movement(site, builder)
