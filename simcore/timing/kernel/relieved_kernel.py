"""A kernel without what makes it slow in itself, to say what that costs.

Other than a part of the machine, which `sm_machine` leaves out, each of these is a way in which a
kernel uses it: who mends the kernel can have the time that is simulated without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.device import CacheFacts, Device
from kernelcast.simcore.device.timing_facts import DRAM_PIECE_BYTES
from kernelcast.simcore.isa.types import AddressSpace
from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.simcore.timing.kernel.equal_warps import (
    OF_WHOLE_WARPS,
    equal_warps,
    longest_share,
)
from kernelcast.simcore.timing.kernel.texture_passes import is_texel
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel
from kernelcast.traces.warp_paths import GOLDEN

__all__ = ["active_lanes", "is_burdened_by", "most_resident", "relieved_kernel"]

_NOTABLE = 0.98
_PASSING: Mapping[Component, Pipeline] = MappingProxyType(
    {
        Component.BANK_CONFLICTS: Pipeline.SHARED,
        Component.CONSTANT_SERIALISATION: Pipeline.CONSTANT,
        Component.ATOMICS: Pipeline.SHARED,
        Component.TEXTURE: Pipeline.GLOBAL,
    }
)
_MEMORY = (Pipeline.SHARED, Pipeline.CONSTANT, Pipeline.GLOBAL)

Bools: TypeAlias = npt.NDArray[np.bool_]


def relieved_kernel(
    kernel: TimedKernel, device: Device, without: frozenset[Component]
) -> TimedKernel:
    """The kernel as it would be without what `without` names of it."""
    for component in _PASSING:
        if component in without:
            chosen = _passing(component, kernel)
            passes = np.where(chosen, kernel.ideal_wavefronts, kernel.wavefronts)
            kernel = replace(kernel, wavefronts=passes)
    if Component.UNCOALESCED in without:
        kernel = _coalesced(kernel, device.l2)
    if Component.LOCAL_MEMORY in without:
        kernel = _moved(kernel, _is_local(kernel), Pipeline.NONE)
    if Component.FP64 in without:
        kernel = _moved(kernel, _of(kernel, Pipeline.FP64), Pipeline.FP32)
    if Component.OCCUPANCY in without:
        kernel = replace(kernel, thread_blocks_per_sm=most_resident(kernel, device))
    if Component.DIVERGENCE in without:
        kernel = _filled(kernel)
    if Component.UNEQUAL_WARPS in without:
        kernel = equal_warps(kernel)
    return kernel


def is_burdened_by(component: Component, kernel: TimedKernel, device: Device) -> bool:
    """Whether the launch without it differs; true of all parts of the machine."""
    levels, per_sm = kernel.levels, kernel.thread_blocks_per_sm
    match component:
        case Component.BANK_CONFLICTS | Component.CONSTANT_SERIALISATION | Component.TEXTURE:
            return _takes_longer(component, kernel)
        case Component.ATOMICS:
            has_contention = kernel.atomic_cycles is not None and bool(kernel.atomic_cycles.any())
            return has_contention or _takes_longer(component, kernel)
        case Component.UNCOALESCED:
            return bool((levels.ideal_sectors < _NOTABLE * levels.sectors).any())
        case Component.LOCAL_MEMORY:
            return bool(_is_local(kernel).any())
        case Component.OCCUPANCY:
            fuller = most_resident(kernel, device) > per_sm
            return fuller and kernel.thread_blocks > per_sm * device.architecture.sm_count
        case Component.DIVERGENCE:
            return active_lanes(kernel) < _NOTABLE * kernel.warp_width
        case Component.UNEQUAL_WARPS:
            return longest_share(kernel) < _NOTABLE
    return True


def active_lanes(kernel: TimedKernel) -> float:
    """Mean active lanes of warp instructions that need not wait for others of the thread block.

    All lanes where warps wait for phases, whose events stay what they are.
    """
    lanes = kernel.paths.lanes[_may_go(kernel)[kernel.paths.pc]]
    return float(lanes.mean()) if len(lanes) and not len(kernel.paths.phases) else kernel.warp_width


def most_resident(kernel: TimedKernel, device: Device) -> int:
    """Thread blocks of an SM if only its places for warps were scarce."""
    fitting = device.sm.max_warps // kernel.paths.warps_per_thread_block
    return max(kernel.thread_blocks_per_sm, fitting)


def _of(kernel: TimedKernel, *pipelines: Pipeline) -> Bools:
    return np.array([item in pipelines for item in kernel.pipeline], np.bool_)


def _passing(component: Component, kernel: TimedKernel) -> Bools:
    """The events whose passes the component is about: atomics of shared memory are apart."""
    if component is Component.TEXTURE:
        texels: Bools = np.array([is_texel(row) for row in kernel.instructions], np.bool_)
        return texels[kernel.paths.pc] if len(texels) else np.zeros(len(kernel.paths.pc), np.bool_)
    atomic = [row.kind == "atomic" for row in kernel.instructions]
    is_atomic = np.array(atomic or [False] * len(kernel.pipeline), np.bool_)
    chosen = is_atomic if component is Component.ATOMICS else ~is_atomic
    found: Bools = (_of(kernel, _PASSING[component]) & chosen)[kernel.paths.pc]
    return found


def _takes_longer(component: Component, kernel: TimedKernel) -> bool:
    chosen = _passing(component, kernel)
    return bool((kernel.ideal_wavefronts < kernel.wavefronts)[chosen].any())


def _moved(kernel: TimedKernel, chosen: Bools, to: Pipeline) -> TimedKernel:
    pipelines = zip(chosen, kernel.pipeline, strict=True)
    return replace(kernel, pipeline=tuple(to if moved else own for moved, own in pipelines))


def _is_local(kernel: TimedKernel) -> Bools:
    local = AddressSpace.LOCAL.value
    spaces = [row.space == local for row in kernel.instructions]
    return np.array(spaces or [False] * len(kernel.pipeline), np.bool_) & _of(kernel, *_MEMORY)


def _coalesced(kernel: TimedKernel, l2: CacheFacts) -> TimedKernel:
    """The kernel with each request in the fewest sectors that hold its bytes.

    What passed a level because of others no longer does; what the caches have saved already is not
    saved again.
    """
    levels = kernel.levels
    sectors = np.minimum(levels.sectors, levels.ideal_sectors)
    past_l1 = np.minimum(levels.sectors * (1.0 - levels.l1_hits), sectors)
    past_l2 = levels.sectors * (1.0 - levels.l1_hits) * (1.0 - levels.l2_hits)
    l1_misses = np.divide(past_l1, sectors, out=np.zeros_like(sectors), where=sectors > 0)
    l2_misses = np.divide(past_l2, past_l1, out=np.zeros_like(sectors), where=past_l1 > 0)
    is_global = _of(kernel, Pipeline.GLOBAL)[kernel.paths.pc]
    fewer = replace(
        levels,
        sectors=sectors,
        lines=np.minimum(levels.lines, np.ceil(sectors * l2.sector_bytes / l2.line_bytes)),
        pieces=np.minimum(levels.pieces, np.ceil(sectors * l2.sector_bytes / DRAM_PIECE_BYTES)),
        l1_hits=1.0 - l1_misses,
        l2_hits=1.0 - np.minimum(l2_misses, 1.0),
        l1_pending=np.minimum(levels.l1_pending, 1.0 - l1_misses),
        l2_waits=np.maximum(levels.l2_waits, np.minimum(l2_misses, 1.0)),
        partial_writes=np.zeros_like(sectors),
    )
    passes = np.where(is_global, np.minimum(kernel.wavefronts, 1.0), kernel.wavefronts)
    return replace(kernel, levels=fewer, wavefronts=passes)


def _may_go(kernel: TimedKernel) -> Bools:
    return ~_of(kernel, *OF_WHOLE_WARPS)


def _filled(kernel: TimedKernel) -> TimedKernel:
    """The kernel with as few warp instructions as full warps need for the same lanes.

    Of each instruction a thread block keeps one for every `warp_width` lanes. Which ones begins
    elsewhere in each basic block, so that the work of one branch is not all left to one warp. What
    is kept moves the bytes and takes the passes of those that are not.
    """
    paths, width = kernel.paths, kernel.warp_width
    if len(paths.phases):
        return kernel
    events, may_go = np.arange(len(paths.pc)), _may_go(kernel)
    group = paths.thread_block_of(events) * len(kernel.pipeline) + paths.pc
    order = np.argsort(group, kind="stable")
    lanes = paths.lanes[order].astype(np.int64)
    upto = np.cumsum(lanes)
    is_first = np.diff(group[order], prepend=-1) != 0
    before = np.maximum.accumulate(np.where(is_first, upto - lanes, 0))
    upto += _first_lanes(kernel)[paths.pc[order]] - before
    kept = np.empty(len(events), np.bool_)
    kept[order] = -(-upto // width) > -(-(upto - lanes) // width)
    kept |= ~may_go[paths.pc]
    counts, left = (
        np.bincount(pc, minlength=len(kernel.pipeline)).astype(np.float64)
        for pc in (paths.pc, paths.pc[kept])
    )
    more = np.divide(counts, left, out=np.ones_like(counts), where=left > 0)
    more[~_of(kernel, *_MEMORY)] = 1.0
    each = more[paths.pc[kept]]
    ends = np.concatenate(([0], np.cumsum(kept)))[paths.start]
    shorter = replace(
        paths,
        start=ends,
        pc=paths.pc[kept],
        lanes=paths.lanes[kept],
        pattern=paths.pattern[kept],
        address=paths.address[kept],
    )
    return replace(
        kernel,
        paths=shorter,
        wavefronts=kernel.wavefronts[kept] * each,
        ideal_wavefronts=kernel.ideal_wavefronts[kept] * each,
        levels=replace(
            kernel.levels,
            sectors=kernel.levels.sectors * more,
            lines=kernel.levels.lines * more,
            pieces=kernel.levels.pieces * more,
        ),
    )


def _first_lanes(kernel: TimedKernel) -> npt.NDArray[np.int64]:
    """The first lane to keep by pc: spread evenly over a warp, equal within a basic block."""
    after_branch = np.cumsum(_of(kernel, Pipeline.BRANCH))
    turns = (np.concatenate(([0], after_branch[:-1])) * GOLDEN) % 1.0
    return np.asarray((turns * kernel.warp_width).astype(np.int64))
