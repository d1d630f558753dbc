"""Asynchronous copies, mbarriers and clusters by the first parts of their names."""

from __future__ import annotations

from kernelcast.ptx_frontend.ptx.lowering.basic_blocks import BasicBlockBuilder
from kernelcast.ptx_frontend.ptx.lowering.operands import Site

__all__ = ["is_asynchronous", "lower_asynchronous"]

_ROOTS = frozenset(
    (
        *("cp", "mbarrier", "mapa", "getctarank", "tensormap", "setmaxnreg", "createpolicy"),
        *("multimem", "clusterlaunchcontrol"),
    )
)
_WITH_OTHERS = ("st.async", "st.bulk", "red.async", "barrier.cluster", "isspacep.shared::cta")


def is_asynchronous(mnemonic: str, root: str) -> bool:
    """Whether `lower_asynchronous` is for it; some names begin like those of other families."""
    return root in _ROOTS or (
        root in ("st", "red", "barrier", "isspacep") and mnemonic.startswith(_WITH_OTHERS)
    )


def lower_asynchronous(site: Site, builder: BasicBlockBuilder) -> None:
    """Few files have any: what writes them is imported when it is needed."""
    root, *parts = site.mnemonic.split(".")
    if root == "cp" and "bulk" in parts:
        from kernelcast.ptx_frontend.ptx.asynchronous.bulk_copies import lower_bulk_copy

        lower_bulk_copy(site, builder)
    elif root == "cp" and parts[:1] == ["async"]:
        from kernelcast.ptx_frontend.ptx.asynchronous.copies import lower_cp_async

        lower_cp_async(site, builder)
    elif root == "mbarrier":
        from kernelcast.ptx_frontend.ptx.asynchronous.mbarriers import lower_mbarrier

        lower_mbarrier(site, builder)
    elif root == "clusterlaunchcontrol":
        from kernelcast.ptx_frontend.ptx.asynchronous.launch_control import lower_launch_control

        lower_launch_control(site, builder)
    elif root == "st" and parts[:1] == ["bulk"]:
        from kernelcast.ptx_frontend.ptx.asynchronous.launch_control import lower_bulk_store

        lower_bulk_store(site, builder)
    elif root == "tensormap":
        from kernelcast.ptx_frontend.ptx.asynchronous.tensor_maps import lower_tensormap

        lower_tensormap(site, builder)
    else:
        from kernelcast.ptx_frontend.ptx.asynchronous.clusters import lower_cluster

        lower_cluster(site, builder)
