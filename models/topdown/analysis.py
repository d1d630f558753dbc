"""Where the issue slots of an SM go, from measured counters or from stalls that were simulated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from kernelcast.errors import MetricsError
from kernelcast.models.topdown.counters import Counters, IssueRates, read_counters
from kernelcast.models.topdown.division import PlacedStall, divide
from kernelcast.models.topdown.ipc_max import ipc_max_of_device
from kernelcast.models.topdown.metric_sets import MetricSet, stall_metrics
from kernelcast.models.topdown.parts import TopDown
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason

__all__ = ["IssueSlots", "topdown_from_counters", "topdown_from_stalls"]

_SLOT_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class IssueSlots:
    """What the schedulers of one SM did in `cycles`; counts of warp instructions and of slots.

    `executed` instructions, of whose threads `active_share` (0 to 1) were active, were `issued`
    with replays; `stalls` in any unit, as slots or cycles of warps: only their shares count.
    """

    cycles: float
    executed: float
    issued: float
    active_share: float
    stalls: Mapping[StallReason, float]


def topdown_from_counters(
    kernel: str,
    device: str,
    ipc_max: float,
    metrics: Mapping[str, float],
    *,
    unavailable: frozenset[str] = frozenset(),
    is_strict: bool = False,
) -> TopDown:
    """Three levels from the metrics of a launch, or from their means; see `read_counters`.

    Strict: the sums of the thesis's tables as printed; what they leave of IPC_STALL becomes a part
    of its own. Otherwise every reason has its place. MetricsError for metrics that are missing, or
    contradict each other or `ipc_max`.
    """
    try:
        counters = read_counters(metrics, unavailable=unavailable, is_strict=is_strict)
        _check_ipc(counters, ipc_max, device)
    except MetricsError as error:
        raise MetricsError(f"kernel {kernel}: {error.message}") from None
    stalls = [
        PlacedStall(*reason.place(is_strict=is_strict), percent)
        for reason, percent in counters.stalls.items()
    ]
    parts = divide(counters.rates, ipc_max, stalls)
    return TopDown(kernel, device, ipc_max, parts, counters.assumptions)


def _check_ipc(counters: Counters, ipc_max: float, device: str) -> None:
    issued = counters.rates.ipc_issued
    if issued > ipc_max:
        raise MetricsError(
            f"its issued IPC {issued:g} exceeds IPC_MAX {ipc_max:g} of {device}: another GPU's?"
        )


def topdown_from_stalls(kernel: str, device: Device, slots: IssueSlots) -> TopDown:
    """A TopDown analysis of three levels from issue slots.

    IPC_STALL is divided as the stalls, as equations 4.8 to 4.14 do with a profiler's percentages.
    ValueError for more issues than `cycles` have slots.
    """
    ipc_max = ipc_max_of_device(device)
    issued = slots.issued / slots.cycles
    if issued > ipc_max * (1 + _SLOT_ROUNDING):
        raise ValueError(f"{issued:g} issues a cycle, but only {ipc_max:g} slots")
    rates = IssueRates(slots.executed / slots.cycles, issued, slots.active_share)
    total = math.fsum(slots.stalls.values())
    counts = {reason.name.lower(): count for reason, count in slots.stalls.items()}
    stalls = [
        PlacedStall(*_places()[name], 100 * counts[name] / total if total else 0.0)
        for name in sorted(counts, key=list(_places()).index)
    ]
    return TopDown(kernel, device.name, ipc_max, divide(rates, ipc_max, stalls))


@cache
def _places() -> Mapping[str, tuple[str, str]]:
    """Part and node of the simulator's reasons by name, in the order in which they are shown."""
    simulated = stall_metrics(MetricSet.SIMULATOR)
    return {metric.reason: metric.place(is_strict=False) for metric in simulated}
