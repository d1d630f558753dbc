"""Which share of a launch's time belongs to which resource, from the slots of one SM."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.simcore.timing.kernel.stall_reasons import ISSUED, StallReason

if TYPE_CHECKING:
    from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming

__all__ = ["SHARES", "Group", "Share", "time_shares"]


class Group(Enum):
    """The parts of a launch's time."""

    ISSUE = "issue"
    UNITS = "functional units"
    MEMORY = "memory bandwidth"
    LATENCY = "exposed latency"
    SYNCHRONISATION = "barriers and fences"
    RESIDENCE = "thread blocks that come and go"


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the time.

    Its name in a report, the stall reasons that make it, what it means and the components without
    which the launch would tell what it costs.
    """

    name: str
    group: Group
    reasons: tuple[StallReason, ...]
    meaning: str
    components: tuple[Component, ...] = ()


_WARPS = (Component.OCCUPANCY, Component.UNEQUAL_WARPS)
_ACCESSES = (Component.UNCOALESCED, Component.LOCAL_MEMORY)


def _unit(component: Component) -> Share:
    name = component.name.lower().replace("_", " ")
    reason = StallReason[f"{component.name}_PIPE"]
    causes = (component, Component.DIVERGENCE)
    return Share(f"{name} units", Group.UNITS, (reason,), "the unit is busy", causes)


_UNITS = tuple(
    _unit(component)
    for component in (
        Component.FP32,
        Component.FP64,
        Component.HALF,
        Component.INTEGER,
        Component.INTEGER_MULTIPLY,
        Component.CONVERSION,
        Component.SPECIAL_FUNCTION,
        Component.SHUFFLE,
        Component.VECTOR,
        Component.SCALAR,
        Component.TENSOR,
    )
)

SHARES: tuple[Share, ...] = (
    Share("issue", Group.ISSUE, (), "issue slots that were used", (Component.DIVERGENCE,)),
    *_UNITS,
    Share(
        "shared memory",
        Group.UNITS,
        (StallReason.SHARED_PIPE,),
        "passes of shared memory",
        (Component.SHARED_PIPE, Component.BANK_CONFLICTS, Component.ATOMICS),
    ),
    Share(
        "constant cache",
        Group.UNITS,
        (StallReason.CONSTANT_PIPE,),
        "passes of the constant cache",
        (Component.CONSTANT_SERIALISATION,),
    ),
    Share(
        "L1",
        Group.MEMORY,
        (StallReason.L1_PIPE,),
        "passes of L1",
        (Component.TEXTURE, Component.L1_BANDWIDTH, *_ACCESSES),
    ),
    Share(
        "L2 bandwidth",
        Group.MEMORY,
        (StallReason.L2_BANDWIDTH, StallReason.REQUESTS_L2),
        "requests queue up for L2",
        (Component.L2_BANDWIDTH, *_ACCESSES),
    ),
    Share(
        "DRAM bandwidth",
        Group.MEMORY,
        (StallReason.DRAM_BANDWIDTH, StallReason.REQUESTS_DRAM, StallReason.DRAIN),
        "requests queue up for DRAM, stores drain",
        (Component.DRAM_BANDWIDTH, *_ACCESSES),
    ),
    Share(
        "contended atomics",
        Group.MEMORY,
        (StallReason.ATOMICS,),
        "atomics on one address follow one another",
        (Component.ATOMICS,),
    ),
    Share(
        "arithmetic latency",
        Group.LATENCY,
        (StallReason.EXECUTION_DEPENDENCY,),
        "results of arithmetic are waited for",
        (Component.ARITHMETIC_LATENCY, *_WARPS),
    ),
    Share(
        "shared-memory latency",
        Group.LATENCY,
        (StallReason.SHARED_DEPENDENCY,),
        "shared memory is waited for",
        (Component.SHARED_LATENCY, Component.BANK_CONFLICTS, *_WARPS),
    ),
    Share(
        "constant latency",
        Group.LATENCY,
        (StallReason.CONSTANT_DEPENDENCY,),
        "constants are waited for",
        (Component.CONSTANT_LATENCY, Component.CONSTANT_SERIALISATION, *_WARPS),
    ),
    Share(
        "L1 latency",
        Group.LATENCY,
        (StallReason.L1_LATENCY,),
        "data of L1 are waited for",
        (Component.MEMORY_LATENCY, *_WARPS, *_ACCESSES),
    ),
    Share(
        "L2 latency",
        Group.LATENCY,
        (StallReason.L2_LATENCY,),
        "data of L2 are waited for",
        (Component.MEMORY_LATENCY, *_WARPS, *_ACCESSES),
    ),
    Share(
        "DRAM latency",
        Group.LATENCY,
        (StallReason.DRAM_LATENCY,),
        "data of DRAM are waited for",
        (Component.MEMORY_LATENCY, *_WARPS, *_ACCESSES),
    ),
    Share(
        "outstanding requests",
        Group.LATENCY,
        (StallReason.REQUESTS_LATENCY,),
        "no more requests fit on their way",
        (Component.OUTSTANDING_REQUESTS, *_ACCESSES),
    ),
    Share(
        "branches",
        Group.LATENCY,
        (StallReason.BRANCH,),
        "the next instruction after a branch",
        (Component.BRANCH,),
    ),
    Share(
        "instruction fetch",
        Group.LATENCY,
        (StallReason.INSTRUCTION_FETCH,),
        "code that the instruction cache lost",
        (Component.INSTRUCTION_FETCH,),
    ),
    Share(
        "barriers",
        Group.SYNCHRONISATION,
        (StallReason.BARRIER,),
        "other warps of the thread block are waited for",
        (Component.BARRIER, Component.UNEQUAL_WARPS),
    ),
    Share(
        "fences",
        Group.SYNCHRONISATION,
        (StallReason.FENCE,),
        "memory is waited for at fences",
        (Component.FENCE,),
    ),
    Share(
        "thread-block launch",
        Group.RESIDENCE,
        (StallReason.THREAD_BLOCK_LAUNCH,),
        "the next thread block is set up",
        (Component.THREAD_BLOCK_LAUNCH, *_WARPS),
    ),
    Share(
        "idle schedulers",
        Group.RESIDENCE,
        (StallReason.IDLE,),
        "schedulers without a warp beside busy ones",
    ),
)
"""Every stall reason is in one of them."""
_DRAIN = StallReason.DRAIN.code


def time_shares(timing: LaunchTiming) -> tuple[dict[Share, float], float]:
    """Seconds of each share while the SM is as full as at first, and of the tail.

    The former include all issues; the latter are slots lost with fewer thread blocks. All of them
    make up the cycles until the first SMs run dry; schedulers without a warp count like those that
    have one.
    """
    full, tail = timing.slots.sum(axis=1)
    idle = StallReason.IDLE.code
    full[idle] = tail[idle] = 0
    full[_DRAIN], tail[_DRAIN] = full[_DRAIN] + tail[_DRAIN], 0
    slots = max(1, int(full.sum() + tail.sum()))
    second = timing.device.seconds(timing.scale * timing.full_cycles) / slots
    shares = {
        share: second * float(sum(full[reason.code] for reason in share.reasons))
        for share in SHARES
    }
    shares[SHARES[0]] = second * float(full[ISSUED] + tail[ISSUED])
    return shares, second * float(tail.sum() - tail[ISSUED])
