"""One SM as an object: thread blocks run, slots are counted, a steady stretch is repeated."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import ModelNotApplicable
from kernelcast.simcore.host.compiled import bound_together
from kernelcast.simcore.timing.kernel.stall_reasons import (
    ISSUED,
    REASON_COUNT,
    SELECTED,
    STATE_COUNT,
    StallReason,
)
from kernelcast.simcore.timing.walk import sm_cycles
from kernelcast.simcore.timing.walk.kernel_arrays import WORDS, KernelArrays
from kernelcast.simcore.timing.walk.phase_issue import let_one_go
from kernelcast.simcore.timing.walk.sm_machine import Machine
from kernelcast.simcore.timing.walk.sm_state import (
    ADDRESS_FREE,
    COMPLETED,
    COUNT,
    DISPATCHED,
    DRAM_FREE,
    FIRST,
    L2_FREE,
    LOAD_QUEUE,
    NEVER,
    ORDER,
    PLACE_AND_SCHEDULER,
    RESIDENCE,
    SCHEDULER_BITS,
    SCHEDULERS,
    SLOTS,
    STATES,
    STORE_DONE,
    STORE_QUEUE,
    TOTAL,
    account_records,
    copied,
    new_state,
    scheduler_records,
    warp_records,
)

__all__ = ["SmSimulator", "Snapshot"]

_LEVELS = (L2_FREE, DRAM_FREE, ADDRESS_FREE)

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Snapshot:
    """The state of an SM at the end of an issue, with the account of all slots until then.

    `backlog`: cycles that L2 or DRAM will go on with what they have been asked for. `counts` by
    row, shape (2, rows, words), and `first_row` of each pc are summed up by pc when that is looked
    at; `selected_cycles` of a warp for each of its issues, 0 where they are counted themselves.
    `resident_warp_cycles`: how many cycles of warps there are. `has_queued`: a request had to wait
    until others had come. See SmState.
    """

    cycles: int
    backlog: float
    thread_blocks: int
    instructions: int
    counts: Ints
    first_row: Ints
    selected_cycles: int
    resident_warp_cycles: int
    has_queued: bool

    @cached_property
    def account(self) -> Ints:
        """Slots by pc and reason, shape (2, instructions + 1, reasons)."""
        return np.add.reduceat(self.counts[:, :, :REASON_COUNT], self.first_row, axis=1)

    @cached_property
    def warp_account(self) -> Ints:
        """All cycles of warps by pc and state, shape (instructions + 1, states)."""
        of_warps = self.counts[:, :, STATES : STATES + STATE_COUNT].sum(axis=0)
        states: Ints = np.add.reduceat(of_warps, self.first_row, axis=0)
        if self.selected_cycles:
            states[:, SELECTED] = self.account[:, :, ISSUED].sum(axis=0) * self.selected_cycles
        return states

    @property
    def slots(self) -> Ints:
        """Slots by reason, shape (reasons,)."""
        found: Ints = self.counts[:, :, :REASON_COUNT].sum(axis=(0, 1))
        return found


class SmSimulator:
    """Works through `thread_blocks` thread blocks, `thread_blocks_per_sm` at a time.

    They follow the paths of recorded ones, in the kernel's `order`. Without `counts_warps` what
    snapshots say of warps is 0. ModelNotApplicable for more resident warps than SLOTS of a
    scheduler.
    """

    def __init__(
        self,
        arrays: KernelArrays,
        machine: Machine,
        thread_blocks: int,
        thread_blocks_per_sm: int,
        counts_warps: bool = True,
    ) -> None:
        _check_slots(thread_blocks_per_sm * arrays.warps, machine.schedulers)
        self._arrays = arrays
        self._machine = machine
        self._total = thread_blocks
        self._state = new_state(arrays, machine, thread_blocks, thread_blocks_per_sm, counts_warps)
        self._bind()
        self._skipped_cycles = 0
        self._skipped_thread_blocks = 0
        self._skipped_instructions = 0
        self._skipped_counts: Ints | int = 0
        self._first_row = np.append(arrays.first_row, arrays.rows)
        self._skipped_residence = 0
        self._walked_by_another = 0

    def _bind(self) -> None:
        """Binds what reads and writes the state, once for each state and machine."""
        self._account = account_records(self._state.account)
        of_state: tuple[Callable[..., Any], ...] = (sm_cycles.walk, sm_cycles.settle, let_one_go)
        at = self._arrays, self._machine, self._state
        self._go_on, self._settle, self._let_one_go = bound_together(of_state, *at)

    @property
    def machine(self) -> Machine:
        """What the SM is, and what it has of L2 and DRAM."""
        return self._machine

    @machine.setter
    def machine(self, machine: Machine) -> None:
        self._machine = machine
        self._bind()

    @property
    def dispatched(self) -> int:
        """Thread blocks that the SM has been given, with those of skipped stretches."""
        return int(self._state.counts[DISPATCHED]) + self._skipped_thread_blocks

    @property
    def simulated_instructions(self) -> int:
        """Warp instructions that this SM has walked one by one."""
        return self._issued - self._walked_by_another

    @property
    def _issued(self) -> int:
        return int(self._account[:, :, ISSUED].sum())

    def with_one_fewer(self) -> SmSimulator | None:
        """A copy of the SM, as it is, that will get one thread block fewer.

        None where the SM has its last one already: the other would not be as it is.
        """
        if self.dispatched == self._total:
            return None
        other = copy.copy(self)
        other._total -= 1
        other._state = copied(self._state)
        other._state.counts[TOTAL] -= 1
        other._bind()
        other._walked_by_another = self._issued
        return other

    def go_to(self, completed: int) -> None:
        """Runs until so many thread blocks have ended; the account is not settled."""
        self._walk(completed - self._skipped_thread_blocks, NEVER)

    def run(self, completed: int | None = None, before_cycle: float | None = None) -> Snapshot:
        """Runs until so many thread blocks have ended, or up to a cycle; to the end by default."""
        wanted = self._total if completed is None else completed
        before = NEVER
        if before_cycle is not None:
            before = min(NEVER, int(before_cycle) - self._skipped_cycles)
        target = wanted - self._skipped_thread_blocks
        self._walk(target, before)
        return self._snapshot(int(self._settle()))

    def _walk(self, target: int, before: int) -> None:
        self._go_on(target, before)
        while self._state.counts[COMPLETED] < target and self._let_one_go():
            self._go_on(target, before)

    def finish(self) -> Snapshot:
        """Runs what is left, waits for stores."""
        ended = self.run()
        return self._snapshot(ended.cycles - self._skipped_cycles + self._drain(ended.cycles))

    def _drain(self, ended: int) -> int:
        """Cycles, of whole slots, until the last store is done, or the last atomic."""
        machine, state = self._machine, self._state
        left = state.clocks[STORE_DONE] + self._skipped_cycles - ended
        turns: int = max(0, math.ceil(left / machine.issue_cycles))
        row, reason = (
            (0, StallReason.ATOMICS) if self._ends_with_atomics else (1, StallReason.DRAIN)
        )
        self._account[row, -1, reason.code] += turns * machine.schedulers * machine.issues
        return turns * machine.issue_cycles

    @property
    def _ends_with_atomics(self) -> bool:
        clocks = self._state.clocks
        return bool(clocks[ADDRESS_FREE] > max(clocks[L2_FREE], clocks[DRAM_FREE]))

    def _snapshot(self, cycles: int) -> Snapshot:
        counts = self._state.counts
        return Snapshot(
            cycles=cycles + self._skipped_cycles,
            backlog=max(0.0, *(self._state.clocks[level] - cycles for level in _LEVELS)),
            thread_blocks=int(counts[COMPLETED]) + self._skipped_thread_blocks,
            instructions=self._issued + self._skipped_instructions,
            counts=self._account + self._skipped_counts,
            first_row=self._first_row,
            selected_cycles=self._selected_cycles,
            resident_warp_cycles=self._residence(cycles) + self._skipped_residence,
            has_queued=bool(counts[LOAD_QUEUE] or counts[STORE_QUEUE]),
        )

    @property
    def _selected_cycles(self) -> int:
        """Cycles of a warp for each of its issues, where nothing else tells them."""
        is_known = self.machine.issues == 1 and not self.machine.shares_slots
        return self.machine.issue_cycles if is_known and self._state.counts_warps else 0

    def _residence(self, cycles: int) -> int:
        """Resident cycles of all warps so far, from the first cycle of their thread block on."""
        state = self._state
        if not state.counts_warps:
            return 0
        schedulers = scheduler_records(state.scheduler)
        live = np.concatenate([record[ORDER : ORDER + record[COUNT]] for record in schedulers])
        places = warp_records(state.warp)[live, PLACE_AND_SCHEDULER] >> SCHEDULER_BITS
        since = cycles - state.place[FIRST::WORDS][places]
        return int(state.counts[RESIDENCE] + np.maximum(since, 0).sum())

    def repeat(self, before: Snapshot, after: Snapshot, times: int) -> None:
        """Counts what happened between two snapshots `times` more, without walking it."""
        thread_blocks = times * (after.thread_blocks - before.thread_blocks)
        self._skipped_thread_blocks += thread_blocks
        self._state.counts[TOTAL] -= thread_blocks
        self._skipped_cycles += times * (after.cycles - before.cycles)
        self._skipped_instructions += times * (after.instructions - before.instructions)
        self._skipped_counts += times * (after.counts - before.counts)
        self._skipped_residence += times * (
            after.resident_warp_cycles - before.resident_warp_cycles
        )


def _check_slots(warps: int, schedulers: int) -> None:
    if schedulers > SCHEDULERS or warps > SLOTS * schedulers:
        raise ModelNotApplicable(
            f"{warps} resident warps on {schedulers} schedulers: the timing model follows at most "
            f"{SLOTS} warps of a scheduler"
        )
