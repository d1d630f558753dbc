"""What warps know of their cluster, as LLVM IR: special registers, and coming to its barrier."""

from __future__ import annotations

from kernelcast.simcore.engine.jit.analysis.lane_variance import (
    LaneVariance,
    constant_variance,
    uniform,
)
from kernelcast.simcore.engine.jit.codegen.warp_code import WarpCode
from kernelcast.simcore.engine.jit.codegen.workspace import field_offset
from kernelcast.simcore.isa.analysis.cluster_addresses import CLUSTER_SPECIALS
from kernelcast.simcore.isa.ir.kernel import Special
from kernelcast.simcore.isa.numerics.lane_code import LaneCode

__all__ = ["cluster_value", "cluster_variances", "write_arrival"]

Sizes = tuple[int, int, int]


def cluster_variances(width: int, grid: Sizes, cluster: Sizes) -> dict[Special, LaneVariance]:
    """The variances of special registers; all are the same in a thread block."""
    size = cluster[0] * cluster[1] * cluster[2]
    found: dict[Special, LaneVariance] = {}
    for special in CLUSTER_SPECIALS:
        axis = "xyz".find(special.value[-1])
        count = grid[axis] // cluster[axis]
        match special.value.split(".")[0]:
            case "%clusterid":
                found[special] = _below(width, count)
            case "%nclusterid":
                found[special] = constant_variance(width, count)
            case "%cluster_ctaid":
                found[special] = _below(width, cluster[axis])
            case "%cluster_nctaid":
                found[special] = constant_variance(width, cluster[axis])
            case "%cluster_ctarank":
                found[special] = _below(width, size)
            case _:
                found[special] = constant_variance(width, size)
    return found


def _below(width: int, count: int) -> LaneVariance:
    return uniform(width, (0, count - 1)) if count > 1 else constant_variance(width, 0)


def cluster_value(entry: LaneCode, which: Special, cluster: Sizes) -> str:
    """The value of one that differs between thread blocks, from %cx, %cy and %cz."""
    within = [entry.op(f"urem i32 %c{axis}, {n}") for axis, n in zip("xyz", cluster, strict=True)]
    if which is Special.CLUSTER_CTARANK:
        rank = entry.op(f"mul i32 {within[2]}, {cluster[1]}")
        rank = entry.op(f"add i32 {rank}, {within[1]}")
        rank = entry.op(f"mul i32 {rank}, {cluster[0]}")
        return entry.op(f"add i32 {rank}, {within[0]}")
    axis = "xyz".index(which.value[-1])
    if which.value.startswith("%cluster_ctaid."):
        return within[axis]
    return entry.op(f"udiv i32 %c{'xyz'[axis]}, {cluster[axis]}")


def write_arrival(warp: WarpCode, mask: str) -> None:
    """One more arrival at the cluster's barrier for each lane of the mask."""
    code, vector = warp.scalar, warp.vector
    field = code.op(f"getelementptr i8, ptr %w, i64 {field_offset('cluster_arrivals')}")
    table = code.op(f"load ptr, ptr {field}")
    first = code.op(f"mul i32 %warp, {warp.width}")
    place = code.op(f"getelementptr i32, ptr {table}, i32 {first}")
    kind = vector.type("i32")
    known = code.op(f"load {kind}, ptr {place}, align 4")
    come = vector.cast("zext", "i1", warp.mask_vector(mask), "i32")
    code.do(f"store {kind} {vector.binary('add', 'i32', known, come)}, ptr {place}, align 4")
