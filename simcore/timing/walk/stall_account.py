"""Every issue slot is attributed once: used, or lost to what the next warp to issue waited for.

That wait has up to two parts: first for operands (or a barrier, a branch, ...), then, from when any
warp that could issue in its place has them, for a pipe that is taken.
"""

from __future__ import annotations

from kernelcast.simcore.host.compiled import inlined, unlikely
from kernelcast.simcore.timing.kernel.stall_reasons import StallReason
from kernelcast.simcore.timing.walk.kernel_arrays import (
    PIPE_REASON,
    KernelArrays,
    kind_word,
    word,
)
from kernelcast.simcore.timing.walk.sm_machine import Machine
from kernelcast.simcore.timing.walk.sm_reads import pipe_opens, warp_place, warp_ready, warp_reason
from kernelcast.simcore.timing.walk.sm_state import (
    ADDRESS_FREE,
    ADDRESS_SINCE,
    BEGINS,
    DRAM_FREE,
    DRAM_SINCE,
    FIRST_ROW,
    L1_FREE,
    L2_FREE,
    L2_SINCE,
    VACATED,
    SmState,
    account_word,
    common_pipe,
)

__all__ = ["account_row", "aligned", "credit", "lose_idle_slots", "lose_slots", "pipe_reason"]

_L1_LATENCY = StallReason.L1_LATENCY.code
_L2_LATENCY = StallReason.L2_LATENCY.code
_DRAM_LATENCY = StallReason.DRAM_LATENCY.code
_ATOMICS = StallReason.ATOMICS.code
_L2_BANDWIDTH = StallReason.L2_BANDWIDTH.code
_DRAM_BANDWIDTH = StallReason.DRAM_BANDWIDTH.code
_L1_PIPE = StallReason.L1_PIPE.code
_REQUESTS_LATENCY = StallReason.REQUESTS_LATENCY.code
_REQUESTS_L2 = StallReason.REQUESTS_L2.code
_REQUESTS_DRAM = StallReason.REQUESTS_DRAM.code
_LAUNCH = StallReason.THREAD_BLOCK_LAUNCH.code
_IDLE = StallReason.IDLE.code
_DRAIN = StallReason.DRAIN.code
_MEMORY = 1 << _L2_LATENCY | 1 << _DRAM_LATENCY | 1 << _REQUESTS_LATENCY | 1 << _LAUNCH
"""Waits behind which L2 or DRAM may be busy: no other end of them would bring its data sooner."""


@inlined
def aligned(machine: Machine, cycle: int) -> int:
    """The first cycle from then on at which schedulers issue."""
    turn = machine.issue_cycles
    if unlikely(turn != 1):
        return (cycle + turn - 1) // turn * turn
    return cycle


@inlined
def account_row(state: SmState, row: int) -> int:
    """The row of the account, for the present residence, of an instruction."""
    first: int = state.counts[FIRST_ROW]
    return first + row


@inlined
def credit(state: SmState, account: int, reason: int, slots: int) -> None:
    """Adds slots to a row of the account."""
    state.account[account_word(account, reason)] += slots


@inlined
def _credit_cycles(
    machine: Machine, state: SmState, account: int, reason: int, begin: int, end: int
) -> None:
    """The slots of one scheduler from cycle `begin` to `end`, both aligned."""
    cycles = end - begin
    if unlikely(machine.issue_cycles > 1):
        cycles //= machine.issue_cycles
    credit(state, account, reason, cycles * machine.issues)


@inlined
def pipe_reason(machine: Machine, state: SmState, kind: int) -> int:
    """Which pipe, or which queue in front of it, keeps instructions of that kind back."""
    reason: int = machine.kinds[kind_word(kind, PIPE_REASON)]
    if unlikely(reason == _L1_PIPE):
        is_queue = pipe_opens(state, common_pipe(machine, kind)) > state.clocks[L1_FREE]
        return _REQUESTS_LATENCY if is_queue else _L1_PIPE
    return reason


@inlined
def _lose_to_memory(
    machine: Machine, state: SmState, account: int, reason: int, begin: int, end: int
) -> None:
    """Splits a wait for L2 or DRAM: the cycles in which the level was busy are its bandwidth's.

    So are those of the launch of a thread block: it is hidden behind what others asked for. Those
    in which the busiest address of atomics was occupied are theirs.
    """
    since, until = state.clocks[ADDRESS_SINCE], state.clocks[ADDRESS_FREE]
    busy = _overlap(machine, begin, end, since, until)
    if unlikely(busy > 0):
        _credit_cycles(machine, state, account, _ATOMICS, begin, begin + busy)
        begin += busy
    dram, l2 = _DRAM_BANDWIDTH, _L2_BANDWIDTH
    if reason == _REQUESTS_LATENCY:
        dram, l2 = _REQUESTS_DRAM, _REQUESTS_L2
    clocks, busy, found = state.clocks, 0, dram
    if reason != _L2_LATENCY:
        busy = _overlap(machine, begin, end, clocks[DRAM_SINCE], clocks[DRAM_FREE])
    if busy == 0:
        found = l2
        busy = _overlap(machine, begin, end, clocks[L2_SINCE], clocks[L2_FREE])
    _credit_cycles(machine, state, account, found, begin, begin + busy)
    _credit_cycles(machine, state, account, reason, begin + busy, end)


@inlined
def _overlap(machine: Machine, begin: int, end: int, since: float, until: float) -> int:
    """Cycles of whole slots from `begin` to `end` that lie between `since` and `until`."""
    both = int(min(float(end), until) - max(float(begin), since))
    if unlikely(machine.issue_cycles > 1):
        both = both // machine.issue_cycles * machine.issue_cycles
    return max(both, 0)


@inlined
def _lose(
    machine: Machine, state: SmState, account: int, reason: int, begin: int, end: int
) -> None:
    if unlikely(1 << reason & _MEMORY != 0):
        _lose_to_memory(machine, state, account, reason, begin, end)
    else:
        _credit_cycles(machine, state, account, reason, begin, end)


@inlined
def lose_slots(
    machine: Machine,
    state: SmState,
    warp: int,
    account: int,
    pipe: int,
    since: int,
    due: int,
    until: int,
) -> None:
    """Attributes the slots of a scheduler that no warp has used from `due` to `until`.

    `warp` is next. From cycle `since` on a warp has had operands, and no pipe, for which `pipe` is
    the reason.
    """
    begins = due
    if since > due:
        begins = _lose_before_operands(machine, state, warp, account, since, due, until)
    if until > begins:
        _lose(machine, state, account, pipe, begins, until)


@inlined
def lose_idle_slots(
    kernel: KernelArrays, machine: Machine, state: SmState, due: int, until: int
) -> None:
    """Attributes the slots of a scheduler without warps."""
    _credit_cycles(machine, state, account_row(state, kernel.rows), _IDLE, due, until)


@inlined
def _lose_before_operands(
    machine: Machine, state: SmState, warp: int, account: int, since: int, due: int, until: int
) -> int:
    """Attributes the slots before a warp had its operands; returns the end of these slots.

    They end earlier if another warp had its operands at cycle `since`.
    """
    why = warp_reason(state, warp)
    ready = min(warp_ready(state, warp), since)
    ready = min(max(aligned(machine, ready), due), until)
    if unlikely(why == _LAUNCH):
        due = _lose_before_launch(machine, state, warp, account, due, ready)
    if ready > due:
        _lose(machine, state, account, why, due, ready)
    return ready


@inlined
def _lose_before_launch(
    machine: Machine, state: SmState, warp: int, account: int, due: int, ready: int
) -> int:
    """Attributes the slots before the place of a thread block was free; returns their end.

    The place was kept by stores that were not acknowledged, or by other warps.
    """
    place = warp_place(state, warp)
    left = aligned(machine, state.place[word(place, VACATED)])
    left = min(max(left, due), ready)
    _credit_cycles(machine, state, account, _IDLE, due, left)
    begins = aligned(machine, state.place[word(place, BEGINS)])
    begins = min(max(begins, left), ready)
    _credit_cycles(machine, state, account, _DRAIN, left, begins)
    return begins
