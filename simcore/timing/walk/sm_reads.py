"""What the state of an SM says of a warp, a scheduler or a pipe: one function each.

The records are those of `SmState`; whoever changes one writes its column there.
"""

from __future__ import annotations

from kernelcast.simcore.host.compiled import inlined
from kernelcast.simcore.timing.walk.sm_state import (
    ACKNOWLEDGED,
    BIT,
    BY_KIND,
    CANDIDATE,
    CLOSED_BEFORE,
    COUNT,
    COUNTED,
    DUE,
    END,
    FIRST_READY,
    LAST,
    LINE,
    NEXT_KIND,
    NEXT_ROW,
    NUMBER,
    OPENS,
    ORDER,
    PIPE,
    PIPES,
    PLACE_AND_SCHEDULER,
    POSITION,
    PRESENT,
    READY,
    SCHEDULER_BITS,
    SCHEDULER_MASK,
    SINCE,
    TIED,
    WAITS,
    WAKE,
    WHY,
    SmState,
    pipe_word,
    scheduler_word,
    warp_word,
)

__all__ = [
    "pipe_of_kind",
    "pipe_opens",
    "scheduler_candidate",
    "scheduler_count",
    "scheduler_due",
    "scheduler_first_ready",
    "scheduler_kinds",
    "scheduler_last",
    "scheduler_since",
    "scheduler_tied",
    "scheduler_wake",
    "slots_of_kind",
    "warp_acknowledged",
    "warp_bit",
    "warp_closed_before",
    "warp_counted",
    "warp_end",
    "warp_in_order",
    "warp_kind",
    "warp_line",
    "warp_number",
    "warp_pipe",
    "warp_place",
    "warp_position",
    "warp_ready",
    "warp_reason",
    "warp_row",
    "warp_scheduler",
    "warp_waits",
]


@inlined
def warp_position(state: SmState, warp: int) -> int:
    """The next event of the warp's path."""
    return state.warp[warp_word(warp, POSITION)]  # type: ignore[no-any-return]


@inlined
def warp_end(state: SmState, warp: int) -> int:
    """The place where the warp's path ends."""
    return state.warp[warp_word(warp, END)]  # type: ignore[no-any-return]


@inlined
def warp_row(state: SmState, warp: int) -> int:
    """The row of the warp's next instruction."""
    return state.warp[warp_word(warp, NEXT_ROW)]  # type: ignore[no-any-return]


@inlined
def warp_kind(state: SmState, warp: int) -> int:
    """The kind of the warp's next instruction."""
    return state.warp[warp_word(warp, NEXT_KIND)]  # type: ignore[no-any-return]


@inlined
def warp_ready(state: SmState, warp: int) -> int:
    """The cycle in which the operands of the warp's next instruction are there."""
    return state.warp[warp_word(warp, READY)]  # type: ignore[no-any-return]


@inlined
def warp_reason(state: SmState, warp: int) -> int:
    """The reason why the operands of the warp's next instruction are not there before."""
    return state.warp[warp_word(warp, WHY)]  # type: ignore[no-any-return]


@inlined
def warp_pipe(state: SmState, warp: int) -> int:
    """The pipe that the warp's next instruction needs."""
    return state.warp[warp_word(warp, PIPE)]  # type: ignore[no-any-return]


@inlined
def warp_bit(state: SmState, warp: int) -> int:
    """The place of the warp in the order of its scheduler, as a bit."""
    return state.warp[warp_word(warp, BIT)]  # type: ignore[no-any-return]


@inlined
def warp_waits(state: SmState, warp: int) -> int:
    """What the warp waits for besides operands: 1 at a barrier."""
    return state.warp[warp_word(warp, WAITS)]  # type: ignore[no-any-return]


@inlined
def warp_line(state: SmState, warp: int) -> int:
    """The line of code that the warp fetched last."""
    return state.warp[warp_word(warp, LINE)]  # type: ignore[no-any-return]


@inlined
def warp_counted(state: SmState, warp: int) -> int:
    """The cycle up to which the warp's cycles are in the account."""
    return state.warp[warp_word(warp, COUNTED)]  # type: ignore[no-any-return]


@inlined
def warp_closed_before(state: SmState, warp: int) -> int:
    """The cycles for which the pipe had been closed when the warp began to wait for it."""
    return state.warp[warp_word(warp, CLOSED_BEFORE)]  # type: ignore[no-any-return]


@inlined
def warp_acknowledged(state: SmState, warp: int) -> int:
    """The cycle in which the warp's stores are acknowledged."""
    return state.warp[warp_word(warp, ACKNOWLEDGED)]  # type: ignore[no-any-return]


@inlined
def warp_number(state: SmState, warp: int) -> int:
    """The number of the warp among those of all thread blocks."""
    return state.warp[warp_word(warp, NUMBER)]  # type: ignore[no-any-return]


@inlined
def warp_place(state: SmState, warp: int) -> int:
    """The place of the warp's thread block on the SM."""
    return state.warp[warp_word(warp, PLACE_AND_SCHEDULER)] >> SCHEDULER_BITS  # type: ignore[no-any-return]


@inlined
def warp_scheduler(state: SmState, warp: int) -> int:
    """The scheduler that issues the warp."""
    return state.warp[warp_word(warp, PLACE_AND_SCHEDULER)] & SCHEDULER_MASK  # type: ignore[no-any-return]


@inlined
def scheduler_count(state: SmState, scheduler: int) -> int:
    """The number of warps that the scheduler has."""
    return state.scheduler[scheduler_word(scheduler, COUNT)]  # type: ignore[no-any-return]


@inlined
def scheduler_last(state: SmState, scheduler: int) -> int:
    """The bit of the warp that the scheduler issued last."""
    return state.scheduler[scheduler_word(scheduler, LAST)]  # type: ignore[no-any-return]


@inlined
def scheduler_candidate(state: SmState, scheduler: int) -> int:
    """The warp that the scheduler issues next, negative for none."""
    return state.scheduler[scheduler_word(scheduler, CANDIDATE)]  # type: ignore[no-any-return]


@inlined
def scheduler_wake(state: SmState, scheduler: int) -> int:
    """The cycle in which the scheduler issues next."""
    return state.scheduler[scheduler_word(scheduler, WAKE)]  # type: ignore[no-any-return]


@inlined
def scheduler_due(state: SmState, scheduler: int) -> int:
    """The cycle up to which the scheduler's slots are in the account."""
    return state.scheduler[scheduler_word(scheduler, DUE)]  # type: ignore[no-any-return]


@inlined
def scheduler_since(state: SmState, scheduler: int) -> int:
    """The cycle since which a warp of the scheduler could have issued."""
    return state.scheduler[scheduler_word(scheduler, SINCE)]  # type: ignore[no-any-return]


@inlined
def scheduler_tied(state: SmState, scheduler: int) -> int:
    """The slots of the scheduler that can issue first, as bits."""
    return state.scheduler[scheduler_word(scheduler, TIED)]  # type: ignore[no-any-return]


@inlined
def scheduler_first_ready(state: SmState, scheduler: int) -> int:
    """The cycle in which the first tied warp had its operands; 0 where nobody has looked."""
    return state.scheduler[scheduler_word(scheduler, FIRST_READY)]  # type: ignore[no-any-return]


@inlined
def scheduler_kinds(state: SmState, scheduler: int) -> int:
    """The kinds that warps with operands are at, as bits."""
    return state.scheduler[scheduler_word(scheduler, PRESENT)]  # type: ignore[no-any-return]


@inlined
def slots_of_kind(state: SmState, scheduler: int, kind: int) -> int:
    """The slots whose warps are at an instruction of the kind with its operands."""
    return state.scheduler[scheduler_word(scheduler, BY_KIND + kind)]  # type: ignore[no-any-return]


@inlined
def pipe_of_kind(state: SmState, scheduler: int, kind: int) -> int:
    """The pipe that instructions of a kind take."""
    return state.scheduler[scheduler_word(scheduler, PIPES + kind)]  # type: ignore[no-any-return]


@inlined
def warp_in_order(state: SmState, scheduler: int, slot: int) -> int:
    """The warp in a slot, the oldest in the first."""
    return state.scheduler[scheduler_word(scheduler, ORDER + slot)]  # type: ignore[no-any-return]


@inlined
def pipe_opens(state: SmState, pipe: int) -> int:
    """The cycle in which the pipe can take the next instruction."""
    return state.pipe[pipe_word(pipe, OPENS)]  # type: ignore[no-any-return]
