"""The state of every resident warp in every cycle, as profilers sample it.

A warp issues, it waits for operands, a barrier, ..., then for its pipe, or it could issue and
another warp was selected.

An SM of which only the time is asked keeps no such account (`SmState.counts_warps`).

Cycles are counted when a warp issues, from when it issued last. Of a pipe that schedulers share,
what the others did to it since this scheduler looked last counts as one closed stretch.
"""

from __future__ import annotations

from kernelcast.simcore.host.compiled import inlined, unlikely
from kernelcast.simcore.timing.kernel.stall_reasons import NOT_SELECTED, SELECTED, StallReason
from kernelcast.simcore.timing.walk.kernel_arrays import word
from kernelcast.simcore.timing.walk.sm_machine import Machine
from kernelcast.simcore.timing.walk.sm_reads import (
    pipe_opens,
    warp_acknowledged,
    warp_closed_before,
    warp_counted,
    warp_kind,
    warp_pipe,
    warp_place,
    warp_ready,
    warp_reason,
    warp_row,
)
from kernelcast.simcore.timing.walk.sm_state import (
    CLOSED,
    CLOSED_BEFORE,
    COUNTED,
    FIRST,
    OPENS,
    RESIDENCE,
    STATES,
    SmState,
    account_word,
    pipe_word,
    warp_word,
)
from kernelcast.simcore.timing.walk.stall_account import account_row, aligned, pipe_reason

__all__ = ["begin_wait_for_pipe", "close_pipe", "count_issue", "count_wait", "end_residence"]

_DRAIN = StallReason.DRAIN.code


@inlined
def _count(state: SmState, account: int, what: int, cycles: int) -> None:
    state.account[account_word(account, STATES + what)] += cycles


@inlined
def _closed_until(state: SmState, pipe: int, cycle: int) -> int:
    """Cycles in which the pipe was closed, up to one that no later issue has followed."""
    still: int = max(0, pipe_opens(state, pipe) - cycle)
    closed: int = state.pipe[pipe_word(pipe, CLOSED)] - still
    return closed


@inlined
def close_pipe(state: SmState, pipe: int, next_issue: int, opens: int) -> None:
    """Keeps a pipe closed up to cycle `opens`; the next issue would have been at `next_issue`."""
    before = max(pipe_opens(state, pipe), next_issue)
    state.pipe[pipe_word(pipe, CLOSED)] += max(0, opens - before)
    state.pipe[pipe_word(pipe, OPENS)] = opens


@inlined
def begin_wait_for_pipe(state: SmState, warp: int, begins: int) -> None:
    """Notes how long the pipe has been closed when the warp has its operands."""
    if unlikely(not state.counts_warps):
        return
    pipe = warp_pipe(state, warp)
    state.warp[warp_word(warp, CLOSED_BEFORE)] = _closed_until(state, pipe, begins)


@inlined
def count_wait(machine: Machine, state: SmState, warp: int, until: int) -> None:
    """Counts what the warp has done from its last issue up to a cycle."""
    if unlikely(not state.counts_warps):
        return
    due = warp_counted(state, warp)
    if due < until:
        state.warp[warp_word(warp, COUNTED)] = until
        account = account_row(state, warp_row(state, warp))
        pipe = pipe_reason(machine, state, warp_kind(state, warp))
        closed = _closed_until(state, warp_pipe(state, warp), until)
        ready = min(aligned(machine, warp_ready(state, warp)), until)
        _count_states(state, warp, account, pipe, closed, due, ready, until)


@inlined
def _count_states(
    state: SmState,
    warp: int,
    account: int,
    pipe: int,
    closed: int,
    due: int,
    ready: int,
    until: int,
) -> None:
    """Counts what the warp has done from cycle `due` to `until`.

    It has its operands at cycle `ready`; then `pipe` is the reason while its pipe is shut, which
    has been `closed` for so many cycles of all.
    """
    if ready > due:
        _count(state, account, warp_reason(state, warp), ready - due)
        due = ready
    if due == until:
        return
    closed = min(max(0, closed - warp_closed_before(state, warp)), until - due)
    if closed > 0:
        _count(state, account, pipe, closed)
    _count(state, account, NOT_SELECTED, until - due - closed)


@inlined
def count_issue(
    machine: Machine, state: SmState, warp: int, account: int, pipe: int, now: int
) -> None:
    """Counts a warp's wait for the issue of cycle `now`, and that issue, in one row.

    `pipe` is the reason of waits for its pipe.
    """
    if unlikely(not state.counts_warps):
        return
    due = warp_counted(state, warp)
    if due < now:
        closed = state.pipe[pipe_word(warp_pipe(state, warp), CLOSED)]
        ready = aligned(machine, warp_ready(state, warp))
        _count_states(state, warp, account, pipe, closed, due, ready, now)
    if unlikely(
        machine.issues > 1 or machine.shares_slots
    ):  # else it is known from the slots that were used
        _count(state, account, SELECTED, machine.issue_cycles)
    state.warp[warp_word(warp, COUNTED)] = now + machine.issue_cycles


@inlined
def end_residence(machine: Machine, state: SmState, warp: int) -> None:
    """Counts the wait of an ended warp: it stays until its stores are acknowledged."""
    if unlikely(not state.counts_warps):
        return
    ends = warp_counted(state, warp)
    drained = warp_acknowledged(state, warp)
    if drained > ends:
        account = account_row(state, warp_row(state, warp))
        _count(state, account, _DRAIN, drained - ends)
        ends = drained
    place = warp_place(state, warp)
    state.counts[RESIDENCE] += ends - state.place[word(place, FIRST)]
