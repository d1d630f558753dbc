"""How long a launch takes: one SM simulated, the other SMs seen as sharers of L2 and DRAM."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kernelcast.errors import ModelNotApplicable
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.host.shared_tables import SharedTables
from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.simcore.timing.kernel.relieved_kernel import relieved_kernel
from kernelcast.simcore.timing.kernel.stall_reasons import ISSUED, REASON_COUNT, StallReason
from kernelcast.simcore.timing.kernel.timed_kernel import TimedKernel
from kernelcast.simcore.timing.launch.longest_block import end_of_longest
from kernelcast.simcore.timing.launch.sm_simulator import SmSimulator, Snapshot
from kernelcast.simcore.timing.launch.steady_stretch import (
    FEW_INSTRUCTIONS,
    MOST_INSTRUCTIONS,
    SteadyStretch,
    steady_stretch,
)
from kernelcast.simcore.timing.launch.unequal_shares import UnequalShares, unequal_shares
from kernelcast.simcore.timing.launch.whole_waves import whole_waves
from kernelcast.simcore.timing.walk.event_rows import turn_of_paths
from kernelcast.simcore.timing.walk.issue_width import issues_of_a_warp
from kernelcast.simcore.timing.walk.kernel_arrays import KernelArrays, kernel_arrays
from kernelcast.simcore.timing.walk.sm_machine import Machine, sm_machine

__all__ = ["LaunchTiming", "launch_timing"]

_NOTHING: frozenset[Component] = frozenset()

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class LaunchTiming:
    """`cycles` of the SM that ends last, without `overhead_s` of the launch.

    `slots` of one SM, issued or lost, until the first SMs run dry at `full_cycles`: shape (2,
    instructions + 1, reasons), the columns are ISSUED and `StallReason.code`; row 0 while the SM is
    as full as at first, row 1 afterwards; the last instruction is none at all. They add up to
    `full_cycles` x `slots_per_cycle`. `warp_cycles` says what each warp did in each cycle, shape
    (instructions + 1, states), the columns are SELECTED, `StallReason.code` and NOT_SELECTED: they
    add up to `resident_warp_cycles`. `scale` makes paths that are parts of warps whole, and
    whole waves all thread blocks where the tail is left out: it is in `seconds`, not in cycles.
    `waits`: all that a warp or a slot of any SM that was walked has waited for; `has_queued`: a
    request had to wait until others had come.
    """

    cycles: int
    full_cycles: int
    slots: Ints
    warp_cycles: Ints
    resident_warp_cycles: int
    slots_per_cycle: float
    instructions: int
    simulated_instructions: int
    thread_blocks: int
    is_steady: bool
    scale: float
    overhead_s: float
    device: Device
    waits: frozenset[StallReason]
    has_queued: bool

    @property
    def seconds(self) -> float:
        """The duration of the launch with its overhead, in seconds."""
        return self.overhead_s + self.device.seconds(self.cycles * self.scale)

    @property
    def imbalance_cycles(self) -> int:
        """Cycles in which only some SMs had work left."""
        return self.cycles - self.full_cycles

    @property
    def issued(self) -> int:
        """Issue slots in which a scheduler issued."""
        return int(self.slots[:, :, ISSUED].sum())

    def lost(self, reason: StallReason) -> int:
        """Slots that were lost for that reason."""
        return int(self.slots[:, :, reason.code].sum())

    @property
    def stalls(self) -> dict[StallReason, int]:
        """Issue slots lost, by reason."""
        return {reason: self.lost(reason) for reason in StallReason}

    @property
    def warp_stalls(self) -> dict[StallReason, int]:
        """Cycles in which warps were stalled, as profilers sample them."""
        cycles = self.warp_cycles.sum(axis=0)
        return {reason: int(cycles[reason.code]) for reason in StallReason}

    @property
    def lost_by_pc(self) -> Ints:
        """Slots that each instruction waited, shape (instructions,)."""
        by_pc: Ints = self.slots[:, :-1].sum(axis=(0, 2)) - self.slots[:, :-1, ISSUED].sum(axis=0)
        return by_pc


def launch_timing(
    kernel: TimedKernel,
    device: Device,
    without: frozenset[Component] = _NOTHING,
    is_exact: bool = False,
    tables: SharedTables | None = None,
    only_time: bool = False,
) -> LaunchTiming:
    """Times a launch; `is_exact` walks every thread block of the SM instead of a steady stretch.

    Thread blocks are dealt to the SMs in turn: some SMs may get one more, and have L2 and DRAM for
    themselves when the others are done. What is in `tables` is not made again, and stays there.
    With `only_time`, of which nothing but the time is wanted, FEW_INSTRUCTIONS are walked to find a
    stretch, and cycles of warps are not counted. ModelNotApplicable without timing facts or without
    paths.
    """
    timing = device.timing
    if timing is None:
        raise ModelNotApplicable(f"{device.name} has no timing facts ([timing] in its file)")
    if not len(kernel.paths.thread_blocks) or not kernel.thread_blocks:
        raise ModelNotApplicable("no path of a thread block was recorded")
    thread_blocks = kernel.thread_blocks
    if Component.TAIL in without:
        kernel = replace(kernel, thread_blocks=whole_waves(kernel, device))
    kernel = relieved_kernel(kernel, device, without)
    arrays = kernel_arrays(kernel, device, without, tables)
    most = 0 if is_exact else FEW_INSTRUCTIONS if only_time else MOST_INSTRUCTIONS
    launch = _Launch(kernel, arrays, device, without, most, counts_warps=not only_time)
    full, last = launch.run()
    scale = thread_blocks / kernel.thread_blocks / kernel.path_share
    longest = end_of_longest(kernel, device, without, last.cycles * scale)
    removed = Component.LAUNCH_OVERHEAD in without
    return LaunchTiming(
        cycles=max(last.cycles, round(longest / scale)),
        full_cycles=full.cycles,
        slots=full.account,
        warp_cycles=full.warp_account,
        resident_warp_cycles=full.resident_warp_cycles,
        slots_per_cycle=device.sm.warp_schedulers
        * issues_of_a_warp(kernel, timing)
        / timing.issue_cycles,
        instructions=full.instructions,
        simulated_instructions=launch.simulated_instructions,
        thread_blocks=full.thread_blocks,
        is_steady=launch.is_steady,
        scale=scale,
        overhead_s=0.0 if removed else timing.launch_overhead_s,
        device=device,
        waits=_waits(full, last),
        has_queued=full.has_queued or last.has_queued,
    )


def _waits(*ends: Snapshot) -> frozenset[StallReason]:
    counts = np.sum([end.slots + _stalls(end) for end in ends], axis=0)
    return frozenset(reason for reason in StallReason if counts[reason.code])


def _stalls(end: Snapshot) -> Ints:
    """Cycles of warps by reason, shape (reasons,), in the columns of slots."""
    stalls: Ints = end.warp_account.sum(axis=0)[:REASON_COUNT]
    return stalls


class _Launch:
    """The runs of one SM that make up a launch."""

    def __init__(
        self,
        kernel: TimedKernel,
        arrays: KernelArrays,
        device: Device,
        without: frozenset[Component],
        most_instructions: int,
        *,
        counts_warps: bool,
    ) -> None:
        self._kernel = kernel
        self._arrays = arrays
        self._device = device
        self._without = without
        self._most_instructions = most_instructions
        self._counts_warps = counts_warps
        self.is_steady = True
        self.simulated_instructions = 0

    def run(self) -> tuple[Snapshot, Snapshot]:
        """Runs an SM that is done first and one that is done last; the state of each at its end."""
        sms = self._device.architecture.sm_count
        at_once = self._kernel.thread_blocks_per_sm
        shares = unequal_shares(self._kernel.paths, self._kernel.thread_blocks, sms, at_once)
        if shares is not None:
            return self._run_unequal(shares)
        each, more = divmod(self._kernel.thread_blocks, sms)
        if each == 0:
            snapshot = self._finish(self._start(1, busy_sms=more))
            return snapshot, snapshot
        if more == 0 or Component.IMBALANCE in self._without:
            full = self._finish(self._start(each, busy_sms=sms))
            return full, full
        first, late = self._start_both(each, busy_sms=sms)
        full = self._finish(first)
        last = self._finish_late(late, full.cycles, more)
        return full, last if last.cycles > full.cycles else full

    def _run_unequal(self, shares: UnequalShares) -> tuple[Snapshot, Snapshot]:
        """Runs the SM with average work and the one with the most."""
        full = self._finish(self._start_share(shares.mean, shares.busy))
        if shares.later == 0 or Component.IMBALANCE in self._without:
            return full, full
        late = self._start_share(shares.most, shares.busy)
        last = self._finish_late(late, full.cycles, shares.later)
        return full, last if last.cycles > full.cycles else full

    def _start_share(self, order: Ints, busy_sms: int) -> SmSimulator:
        per_sm = min(self._kernel.thread_blocks_per_sm, len(order))
        arrays = self._arrays._replace(order=order)
        machine = self._machine(busy_sms)
        return SmSimulator(arrays, machine, len(order), per_sm, self._counts_warps)

    def _finish_late(self, simulator: SmSimulator, cycles: int, busy_sms: int) -> Snapshot:
        """Ends an SM that shares L2 and DRAM with fewer others after so many cycles."""
        simulator.run(before_cycle=cycles)
        simulator.machine = self._machine(busy_sms)
        return self._finish(simulator)

    def _machine(self, busy_sms: int) -> Machine:
        return sm_machine(self._kernel, self._device, busy_sms, self._without)

    def _start(self, thread_blocks: int, busy_sms: int) -> SmSimulator:
        """An SM that has skipped what it can."""
        simulator = self._new(thread_blocks, busy_sms)
        self._repeat(simulator, self._stretch(simulator, thread_blocks), thread_blocks)
        return simulator

    def _start_both(self, each: int, busy_sms: int) -> tuple[SmSimulator, SmSimulator]:
        """An SM that gets `each` thread blocks and one that gets one more.

        They are the same SM until the last one comes, and walked as one as far as that.
        """
        if each < self._kernel.thread_blocks_per_sm:
            return self._start(each, busy_sms), self._start(each + 1, busy_sms)
        more = self._new(each + 1, busy_sms)
        stretch = self._stretch(more, each + 1)
        fewer = more.with_one_fewer()
        self._repeat(more, stretch, each + 1)
        if fewer is None:
            return self._start(each, busy_sms), more
        self._repeat(fewer, stretch, each)
        if fewer.dispatched == more.dispatched:
            # Before the last one comes: each scheduler may end one more in the cycle of the last.
            more.go_to(each - self._kernel.thread_blocks_per_sm - more.machine.schedulers)
            fewer = more.with_one_fewer() or fewer
        return fewer, more

    def _new(self, thread_blocks: int, busy_sms: int) -> SmSimulator:
        per_sm = min(self._kernel.thread_blocks_per_sm, thread_blocks)
        machine = self._machine(busy_sms)
        return SmSimulator(self._arrays, machine, thread_blocks, per_sm, self._counts_warps)

    def _finish(self, simulator: SmSimulator) -> Snapshot:
        snapshot = simulator.finish()
        self.simulated_instructions += simulator.simulated_instructions
        return snapshot

    def _stretch(self, simulator: SmSimulator, thread_blocks: int) -> SteadyStretch | None:
        """Walks a stretch that may be repeated without being walked, if there is one.

        A period is as many thread blocks as the SM holds, or a multiple of those recorded ones
        after which paths come again.
        """
        if not self._most_instructions:
            return None
        per_sm = min(self._kernel.thread_blocks_per_sm, thread_blocks)
        turn = turn_of_paths(self._arrays.begin, self._arrays.warps)
        period, ends = turn * -(-per_sm // turn), thread_blocks - per_sm
        return steady_stretch(simulator, per_sm, period, ends, self._most_instructions)

    def _repeat(
        self, simulator: SmSimulator, found: SteadyStretch | None, thread_blocks: int
    ) -> None:
        if found is not None:
            self.is_steady &= found.is_steady
            found.repeat(simulator, thread_blocks)
