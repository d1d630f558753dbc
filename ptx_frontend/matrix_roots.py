"""Matrix instructions by the first parts of their names."""

from __future__ import annotations

from kernelcast.ptx_frontend.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.operands import Site

__all__ = ["MATRIX_ROOTS", "lower_matrix"]

MATRIX_ROOTS = frozenset(("mma", "wmma", "wgmma", "tcgen05", "ldmatrix", "stmatrix", "movmatrix"))


def lower_matrix(site: Site, builder: BasicBlockBuilder, target: str) -> None:
    """Few files have any: what writes them is imported when it is needed."""
    from kernelcast.ptx_frontend.matrix_instructions import lower_mma, lower_wmma
    from kernelcast.ptx_frontend.matrix_movement import lower_movement

    root, *parts = site.mnemonic.split(".")
    if root == "wmma" and "mma" not in parts:
        from kernelcast.ptx_frontend.wmma_memory import lower_wmma_access

        lower_wmma_access(site, builder)
    elif root == "wgmma":
        from kernelcast.ptx_frontend.wgmma_instructions import lower_wgmma

        lower_wgmma(site, builder, target)
    elif root == "tcgen05":
        from kernelcast.ptx_frontend.tcgen05_instructions import lower_tcgen05

        lower_tcgen05(site, builder, target)
    elif root == "wmma":
        lower_wmma(site, builder, target)
    elif root == "mma":
        lower_mma(site, builder, target)
    else:
        lower_movement(site, builder)
