"""How a thread block's warps take their turns, as LLVM IR of the loop over thread blocks.

Mostly every warp runs to its barrier, and when all wait, all go on. Where warps may spin, those
that yielded go on in the next round, until all that are left wait at barriers. Where barriers have
counts, only the warps go on that have lanes at one that opened. A round in which nothing happened
is quiet: after some, or after many rounds of any kind, Python lets other thread blocks run.
"""

from __future__ import annotations

from kernelcast.simcore.engine.jit.analysis.waiting_places import ThreadBlockLayout
from kernelcast.simcore.engine.jit.codegen.held_counters import add_held, clear_held
from kernelcast.simcore.engine.jit.codegen.workspace import field_offset

__all__ = [
    "RESUME_ROUND",
    "RESUME_STAGE",
    "STATUS_CHECK",
    "STATUS_FAULT",
    "STATUS_STAGES",
    "STATUS_STUCK",
    "at_barrier",
    "at_barrier_in_turns",
    "one_turn",
    "one_warp",
    "phase_end",
    "phase_end_in_turns",
]

STATUS_FAULT, STATUS_CHECK, STATUS_STAGES, STATUS_STUCK = 1, 2, 3, 4
RESUME_STAGE, RESUME_ROUND = 1, 2
"""How to go on: barriers open and a stage begins, or warps that yielded have another round."""
_QUIET_ROUNDS, _MOST_ROUNDS = 2, 256

_CALL = """  %new = call i32 @warp(ptr %w, ptr %context, ptr %held, i32 %state, i32 %number,
    i32 %cx, i32 %cy, i32 %cz)"""
_NEXT_STAGE = f"""release:
  %stage = load i64, ptr %sgp
  %stage1 = add i64 %stage, 1
  %no.room = icmp uge i64 %stage1, %capacity
  br i1 %no.room, label %grow, label %advance
grow:
  store i64 {STATUS_STAGES}, ptr %stp
  ret i64 %c0
advance:
  store i64 %stage1, ptr %sgp
  %odd.stage = and i64 %stage1, 1
  %vote.word = mul i64 %odd.stage, 2
  %votes = getelementptr i64, ptr %vhp, i64 %vote.word
  store <2 x i64> zeroinitializer, ptr %votes, align 8"""
_SOME_OPEN = f"""check:
  %any.open = call i1 @open_barriers(ptr %arrived, ptr %contexts, i1 true)
  br i1 %any.open, label %release, label %ask
ask:
  store i64 {STATUS_CHECK}, ptr %stp
  ret i64 %c0"""
_YIELD_NEVER = -3
_FAULT = f"""fault:
  store i64 {STATUS_FAULT}, ptr %stp
  ret i64 %c0"""


def _all_wait(layout: ThreadBlockLayout) -> str:
    """All warps wait: where it is not clear that they may go on, the worker is asked."""
    is_one = "i1 false"
    look = ""
    if layout.mixed_offsets:
        is_one = "i1 %one.place"
        look = "  %one.place = call i1 @wait_at_one_barrier(ptr %contexts)\n"
    return f"""check:
  %odd2 = load i1, ptr %differs
  br i1 %odd2, label %look, label %release
look:
{look}  br {is_one}, label %release, label %ask
ask:
  store i64 {STATUS_CHECK}, ptr %stp
  ret i64 %c0"""


def one_warp(layout: ThreadBlockLayout) -> str:
    """Runs each warp that is not done to its next barrier."""
    return f"""phase:
{clear_held(layout)}
  store i64 0, ptr %n
  store i64 0, ptr %live
  store i32 0, ptr %common
  store i1 false, ptr %differs
  br label %warp
warp:
  %k0 = load i64, ptr %n
{_whose_turn(layout)}
  %context.at = mul i64 %n0, {layout.context_bytes}
  %context = getelementptr i8, ptr %contexts, i64 %context.at
  %state = load i32, ptr %context
  %gone = icmp eq i32 %state, -1
  br i1 %gone, label %after, label %go
go:
  %number = trunc i64 %n0 to i32
{_CALL}
  store i32 %new, ptr %context
  %bad = icmp eq i32 %new, -2
  br i1 %bad, label %fault, label %fine
fine:
  %ended = icmp eq i32 %new, -1
  br i1 %ended, label %after, label %waits"""


def _whose_turn(layout: ThreadBlockLayout) -> str:
    """The number of the warp whose turn is `%k0`."""
    if not layout.is_ordered:
        return "  %n0 = or i64 %k0, 0"
    return f"""  %order.p = getelementptr i8, ptr %w, i64 {field_offset("warp_order")}
  %order = load ptr, ptr %order.p
  %turn = getelementptr i64, ptr %order, i64 %k0
  %n0 = load i64, ptr %turn"""


def at_barrier(layout: ThreadBlockLayout) -> str:
    """Counts warps that wait, and notes when not all wait for the same."""
    return f"""waits:
{_one_waits(layout, "%new")}"""


def phase_end(layout: ThreadBlockLayout) -> str:
    """IR after the last warp: on to the next stage, back to the worker, or to the end."""
    return f"""{_last_warp(layout)}
  %live2 = load i64, ptr %live
  %over = icmp eq i64 %live2, 0
  br i1 %over, label %done, label %check
{_all_wait(layout)}
{_NEXT_STAGE}
  br label %phase
{_FAULT}"""


def one_turn(layout: ThreadBlockLayout) -> str:
    """Runs each warp that is new, has yielded or may leave its barrier."""
    may_go, after_run = "%may.go = load i1, ptr %open", ""
    if layout.opened_offset is not None:
        may_go = f"""%opened.at = getelementptr i8, ptr %context, i64 {layout.opened_offset}
  %opened = load i64, ptr %opened.at
  %may.go = icmp ne i64 %opened, 0"""
        after_run = "store i64 0, ptr %opened.at"
    yield_state = _YIELD_NEVER if layout.yield_state is None else layout.yield_state
    return f"""phase:
{clear_held(layout)}
  store i64 0, ptr %n
  store i64 0, ptr %live
  store i32 0, ptr %common
  store i1 false, ptr %differs
  store i1 false, ptr %yielding
  br label %warp
warp:
  %k0 = load i64, ptr %n
{_whose_turn(layout)}
  %context.at = mul i64 %n0, {layout.context_bytes}
  %context = getelementptr i8, ptr %contexts, i64 %context.at
  %state = load i32, ptr %context
  %gone = icmp eq i32 %state, -1
  br i1 %gone, label %after, label %there
there:
  %had.yielded = icmp eq i32 %state, {yield_state}
  %is.new = icmp eq i32 %state, 0
  {may_go}
  %starts = or i1 %is.new, %may.go
  %runs = or i1 %starts, %had.yielded
  br i1 %runs, label %go, label %waits
go:
  %is.start = xor i1 %had.yielded, true
  %start.wide = zext i1 %is.start to i64
  %progress0 = load i64, ptr %pgp
  %progress1 = or i64 %progress0, %start.wide
  store i64 %progress1, ptr %pgp
  %number = trunc i64 %n0 to i32
{_CALL}
  store i32 %new, ptr %context
  {after_run}
  %bad = icmp eq i32 %new, -2
  br i1 %bad, label %fault, label %fine
fine:
  %yields = icmp eq i32 %new, {yield_state}
  br i1 %yields, label %yielded, label %settled
yielded:
  store i1 true, ptr %yielding
  br label %after
settled:
  store i64 1, ptr %pgp
  %ended = icmp eq i32 %new, -1
  br i1 %ended, label %after, label %waits
"""


def at_barrier_in_turns(layout: ThreadBlockLayout) -> str:
    """Counts warps that wait, whether they ran in this round or not."""
    return f"""waits:
  %where = phi i32 [ %state, %there ], [ %new, %settled ]
{_one_waits(layout, "%where")}
"""


def phase_end_in_turns(layout: ThreadBlockLayout) -> str:
    """IR after the last warp: another round, the next stage, back to the worker, or the end."""
    all_wait = _all_wait(layout) if layout.opened_offset is None else _SOME_OPEN
    return f"""{_last_warp(layout)}
  %again = load i1, ptr %yielding
  br i1 %again, label %next.round, label %nobody.runs
next.round:
  store i1 false, ptr %open
  %happened = load i64, ptr %pgp
  store i64 0, ptr %pgp
  %moved0 = load i64, ptr %mvp
  %moved1 = or i64 %moved0, %happened
  store i64 %moved1, ptr %mvp
  %quiet0 = load i64, ptr %quiet
  %quiet1 = add i64 %quiet0, 1
  %was.quiet = icmp eq i64 %happened, 0
  %quiet2 = select i1 %was.quiet, i64 %quiet1, i64 0
  store i64 %quiet2, ptr %quiet
  %rounds0 = load i64, ptr %rounds
  %rounds1 = add i64 %rounds0, 1
  store i64 %rounds1, ptr %rounds
  %too.quiet = icmp uge i64 %quiet2, {_QUIET_ROUNDS}
  %too.long = icmp uge i64 %rounds1, {_MOST_ROUNDS}
  %stops = or i1 %too.quiet, %too.long
  br i1 %stops, label %tired, label %phase
tired:
{_open_for_some(layout)}stuck:
  store i64 {STATUS_STUCK}, ptr %stp
  ret i64 %c0
goes.on:
  store i1 false, ptr %open
  store i64 0, ptr %quiet
  store i64 0, ptr %rounds
  %new.round = icmp eq i64 %resumed, {RESUME_ROUND}
  br i1 %new.round, label %phase, label %release
nobody.runs:
  %live2 = load i64, ptr %live
  %over = icmp eq i64 %live2, 0
  br i1 %over, label %done, label %check
{all_wait}
{_NEXT_STAGE}
  store i1 true, ptr %open
  br label %phase
{_FAULT}"""


def _open_for_some(layout: ThreadBlockLayout) -> str:
    """IR that opens barriers to which enough threads came: those that spin may wait for others."""
    if layout.opened_offset is None:
        return "  br label %stuck\n"
    return """  %some.open = call i1 @open_barriers(ptr %arrived, ptr %contexts, i1 false)
  br i1 %some.open, label %release, label %stuck
"""


def _one_waits(layout: ThreadBlockLayout, state: str) -> str:
    """One more warp waits; `state` says where."""
    return f"""  %live0 = load i64, ptr %live
  %live1 = add i64 %live0, 1
  store i64 %live1, ptr %live
  %common0 = load i32, ptr %common
  %is.first = icmp eq i32 %common0, 0
  %is.same = icmp eq i32 %common0, {state}
  %agrees = or i1 %is.first, %is.same
  %is.mixed = icmp eq i32 {state}, {layout.mixed_state}
  %disagrees = xor i1 %agrees, true
  %odd = or i1 %disagrees, %is.mixed
  %odd0 = load i1, ptr %differs
  %odd1 = or i1 %odd0, %odd
  store i1 %odd1, ptr %differs
  store i32 {state}, ptr %common
  br label %after"""


def _last_warp(layout: ThreadBlockLayout) -> str:
    return f"""after:
  %n1 = add i64 %k0, 1
  store i64 %n1, ptr %n
  %all = icmp eq i64 %n1, {layout.warps}
  br i1 %all, label %phase.end, label %warp
phase.end:
{add_held(layout)}"""
