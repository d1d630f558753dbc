"""Which launches have two warps executed as one of twice the lanes.

Nothing but speed changes: lanes of both go through the same instructions as they would apart, in
one of the orders in which warps may run, and each warp is counted for itself. It pays where what is
the same in all lanes of a warp, or follows a pattern, does so in both together.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from kernelcast.simcore.engine.jit.analysis.warp_analysis import Analysis, analyse
from kernelcast.simcore.engine.jit.codegen.launch_facts import LaunchFacts, SpecialValues
from kernelcast.simcore.isa.analysis.issued_by_group import issued_by_group
from kernelcast.simcore.isa.analysis.spin_loops import reads_clock, spin_loops
from kernelcast.simcore.isa.analysis.warp_dependence import depends_on_warp_width
from kernelcast.simcore.isa.ir.kernel import (
    BarrierArrive,
    BarrierResult,
    BarrierSync,
    BarrierVote,
    BulkCopy,
    ClusterArrive,
    HostCall,
    Kernel,
    TensorMemoryOperation,
    WarpOperation,
)

__all__ = ["in_pairs"]

_WARP = 32
_MOST_INSTRUCTIONS = 400
"""Code for pairs takes longer to compile."""
_REGISTER_BYTES = 2048
"""The most that a loop may keep by lane: more than vector registers hold would go to memory."""
_OF_ONE_WARP = (
    BarrierArrive,
    BarrierResult,
    BarrierVote,
    BulkCopy,
    ClusterArrive,
    HostCall,
    TensorMemoryOperation,
    WarpOperation,
)


@lru_cache(maxsize=256)
def in_pairs(kernel: Kernel, facts: LaunchFacts) -> LaunchFacts:
    """The facts for code that executes two warps as one, where that is possible and pays."""
    if facts.width != _WARP or facts.cluster is not None or facts.threads % (2 * _WARP):
        return facts
    if not _may_be_joined(kernel):
        return facts
    pairs = replace(facts, width=2 * _WARP, together=2)
    apart, joint = (analyse(kernel, SpecialValues(f).facts()) for f in (facts, pairs))
    if not _is_as_regular(kernel, apart, joint) or _loop_bytes(kernel, joint) > _REGISTER_BYTES:
        return facts
    return pairs


def _may_be_joined(kernel: Kernel) -> bool:
    """Whether nothing in the kernel tells to which warp a lane belongs."""
    if len(kernel.instructions) > _MOST_INSTRUCTIONS or depends_on_warp_width(kernel):
        return False
    if reads_clock(kernel) or spin_loops(kernel) or issued_by_group(kernel):
        return False
    return not any(isinstance(i, _OF_ONE_WARP) for i in kernel.instructions)


def _is_as_regular(kernel: Kernel, apart: Analysis, joint: Analysis) -> bool:
    """Whether lanes of two warps are known to vary and to part no more than those of one."""
    barriers = [b.index for b in kernel.blocks if isinstance(b.terminator, BarrierSync)]
    if joint.places.has_counted_barriers or any(joint.pending_with[b] for b in barriers):
        return False
    if joint.pending_with != apart.pending_with or joint.is_dynamic != apart.is_dynamic:
        return False
    return all(
        not joint.variance(register).is_varying or apart.variance(register).is_varying
        for register in kernel.registers
        if register.bits > 1  # no branch parts more lanes, and vectors of bits cost nothing
    )


def _loop_bytes(kernel: Kernel, analysis: Analysis) -> int:
    """The most that registers by lane take at the head of a loop."""
    by_index = {register.index: register for register in kernel.registers}
    heads = {t for block in kernel.blocks for t in block.successors if t <= block.index}
    return max(
        (
            sum(
                by_index[i].bits * 2 * _WARP // 8
                for i in analysis.live_in[head]
                if analysis.variance(by_index[i]).is_varying
            )
            for head in heads
        ),
        default=0,
    )
