"""The compiled loop over thread blocks: warps in turn, from barrier to barrier.

`i64 @run(ptr w, i64 first, i64 end, ptr counts, ptr times, ptr totals)` returns the number of the
thread block at which it stopped, `end` when all are done; field `status` says why. `counts` has a
row of counters per thread block from `first` on, `times` the instructions of each of their warps,
`totals` sums the counters over thread blocks by stage. Rows that are as the one before are noted
where the field `repeats` says.
"""

from __future__ import annotations

from kernelcast.simcore.engine.jit.analysis.waiting_places import ThreadBlockLayout
from kernelcast.simcore.engine.jit.codegen.counted_barriers import BARRIERS
from kernelcast.simcore.engine.jit.codegen.counters import COUNTERS_AT_ONCE
from kernelcast.simcore.engine.jit.codegen.held_counters import PAIR
from kernelcast.simcore.engine.jit.codegen.rounds import (
    at_barrier,
    at_barrier_in_turns,
    one_turn,
    one_warp,
    phase_end,
    phase_end_in_turns,
)
from kernelcast.simcore.engine.jit.codegen.warp_context import NOWHERE
from kernelcast.simcore.engine.jit.codegen.workspace import WORKSPACE_BYTES, field_offset

__all__ = ["run_function"]


def _field(name: str, into: str) -> str:
    return f"  %{into} = getelementptr i8, ptr %w, i64 {field_offset(name)}"


def run_function(layout: ThreadBlockLayout) -> str:
    """IR of the loop, with the warp function left to be defined."""
    if layout.takes_turns:
        parts = one_turn, at_barrier_in_turns, phase_end_in_turns
    else:
        parts = one_warp, at_barrier, phase_end
    rounds = "\n".join(part(layout) for part in parts)
    return f"""
define i64 @run(ptr dereferenceable({WORKSPACE_BYTES}) %w, i64 %first, i64 %end, ptr %counts,
    ptr %times, ptr %totals) {{
{_start(layout)}
fresh:
{_clear(layout)}
  br label %phase
{rounds}
done:
{_compare_pairs(layout)}
  br label %compared
compared:
{_add_up(layout)}
{_look_for_repeat(layout)}
  %c1 = add i64 %c0, 1
  store i64 %c1, ptr %c
  br label %next
finished:
  ret i64 %end
}}
"""


def _start(layout: ThreadBlockLayout) -> str:
    """What the workspace holds, and the next thread block: fresh, or resumed at its barrier."""
    read, (grid_x, grid_y) = _grid_sizes(layout)
    return f"""entry:
  %c = alloca i64
  store i64 %first, ptr %c
{_field("resume", "rp")}
{_field("status", "stp")}
{_field("stage", "sgp")}
{_field("stage_counts", "scp")}
{_field("stage_capacity", "capp")}
{_field("warp_times", "wtp")}
{_field("thread_block", "tbp")}
{_field("contexts", "cxp")}
{_field("vote_held", "vhp")}
  %contexts = load ptr, ptr %cxp
  %capacity = load i64, ptr %capp
  %row = alloca ptr
  %n = alloca i64
  %common = alloca i32
  %differs = alloca i1
  %live = alloca i64
  %held = alloca [{max(1, layout.held.count)} x i64]
{read}{_turn_slots(layout)}  store i64 0, ptr %stp
  br label %next
next:
  %c0 = load i64, ptr %c
  %more = icmp ult i64 %c0, %end
  br i1 %more, label %start, label %finished
start:
  %behind = sub i64 %c0, %first
  %cx0 = urem i64 %c0, {grid_x}
  %rest = udiv i64 %c0, {grid_x}
  %cy0 = urem i64 %rest, {grid_y}
  %cz0 = udiv i64 %rest, {grid_y}
  %cx = trunc i64 %cx0 to i32
  %cy = trunc i64 %cy0 to i32
  %cz = trunc i64 %cz0 to i32
  store i64 %c0, ptr %tbp
  %time.at = mul i64 %behind, {layout.clocks}
  %time.row = getelementptr i64, ptr %times, i64 %time.at
  store ptr %time.row, ptr %wtp
  %row.at = mul i64 %behind, {layout.counters}
  %row0 = getelementptr i64, ptr %counts, i64 %row.at
  store ptr %row0, ptr %row
  %resumed = load i64, ptr %rp
  %is.resumed = icmp ne i64 %resumed, 0
  store i64 0, ptr %rp
  br i1 %is.resumed, label %{"goes.on" if layout.takes_turns else "release"}, label %fresh"""


def _grid_sizes(layout: ThreadBlockLayout) -> tuple[str, list[str]]:
    """Code that reads sizes of the grid, and the sizes along x and y."""
    lines, sizes = "", []
    for axis, size in zip("xy", layout.grid, strict=False):
        if size is None:
            lines += (
                f"{_field(f'grid_{axis}', f'g{axis}p')}\n  %g{axis} = load i64, ptr %g{axis}p\n"
            )
        sizes.append(f"%g{axis}" if size is None else str(size))
    return lines, sizes


def _turn_slots(layout: ThreadBlockLayout) -> str:
    """What a round keeps where warps take turns."""
    if not layout.takes_turns:
        return ""
    return f"""  %open = alloca i1
  %yielding = alloca i1
  %quiet = alloca i64
  %rounds = alloca i64
{_field("progress", "pgp")}
{_field("moved", "mvp")}
{_field("arrived", "arp")}
  %arrived = load ptr, ptr %arp
"""


def _memset(place: str, size: int) -> str:
    return f"  call void @llvm.memset.p0.i64(ptr {place}, i8 0, i64 {size}, i1 false)\n"


def _clear(layout: ThreadBlockLayout) -> str:
    """A thread block starts with its memory, counters and clocks at zero and all warps at 0."""
    lines = ""
    if layout.shared_bytes and not layout.is_in_cluster:
        lines += _field("shared", "shp") + "\n  %sh = load ptr, ptr %shp\n"
        lines += _memset("%sh", layout.shared_bytes)
    if layout.local_bytes:
        lines += _field("local", "lop") + "\n  %lo = load ptr, ptr %lop\n"
        lines += _memset("%lo", layout.local_bytes)
    lines += "  store i64 0, ptr %sgp\n"
    lines += "  store <4 x i64> zeroinitializer, ptr %vhp, align 8\n"
    lines += _memset("%time.row", 8 * layout.clocks)
    if not (layout.held.is_all and layout.is_one_phase):
        lines += _memset("%row0", 8 * layout.counters)
    if not layout.has_barriers:
        lines += "  store ptr %row0, ptr %scp\n"
    if layout.takes_turns:
        lines += "  store i1 false, ptr %open\n  store i64 0, ptr %quiet\n"
        lines += "  store i64 0, ptr %rounds\n" + _memset("%arrived", 8 * BARRIERS)
    for warp in range(layout.warps):
        at = warp * layout.context_bytes
        lines += f"  %cx.{warp} = getelementptr i8, ptr %contexts, i64 {at}\n"
        lines += f"  store i32 0, ptr %cx.{warp}\n"
        if layout.numbers_offset is not None:
            place = f"%nb.{warp} = getelementptr i8, ptr %cx.{warp}, i64 {layout.numbers_offset}"
            value = f"i8 {NOWHERE}, i64 {layout.width}, i1 false"
            lines += f"  {place}\n  call void @llvm.memset.p0.i64(ptr %nb.{warp}, {value})\n"
        if layout.digest_offset is not None:
            lines += (
                f"  %dg.{warp} = getelementptr i8, ptr %cx.{warp}, i64 {layout.digest_offset}\n"
            )
            lines += f"  store i64 0, ptr %dg.{warp}\n"
    return lines


def _compare_pairs(layout: ThreadBlockLayout) -> str:
    """Sets `pairs_differ` when two neighbouring warps did not take the same ways."""
    if layout.digest_offset is None:
        return ""
    lines, differs = "", "false"
    for pair in range(layout.warps // 2):
        for warp in (2 * pair, 2 * pair + 1):
            at = warp * layout.context_bytes + layout.digest_offset
            lines += f"  %dp.{warp} = getelementptr i8, ptr %contexts, i64 {at}\n"
            lines += f"  %di.{warp} = load i64, ptr %dp.{warp}\n"
        lines += f"  %ne.{pair} = icmp ne i64 %di.{2 * pair}, %di.{2 * pair + 1}\n"
        lines += f"  %odd.{pair} = or i1 {differs}, %ne.{pair}\n"
        differs = f"%odd.{pair}"
    return f"""{lines}  br i1 {differs}, label %mark, label %compared
mark:
{_field("pairs_differ", "pdp")}
  store i64 1, ptr %pdp"""


def _add_up(layout: ThreadBlockLayout) -> str:
    """The stages of the thread block into its row and into the totals."""
    if not _adds_up(layout):
        return ""
    vector = f"<{COUNTERS_AT_ONCE} x i64>"
    return f"""
  %last.stage = load i64, ptr %sgp
  %stages = add i64 %last.stage, 1
  %words = mul i64 %stages, {layout.counters}
  %stage.rows = load ptr, ptr %scp
  br label %add
add:
  %k = phi i64 [ 0, %compared ], [ %k1, %add ]
  %column = phi i64 [ 0, %compared ], [ %column1, %add ]
  %from = getelementptr i64, ptr %stage.rows, i64 %k
  %value = load {vector}, ptr %from, align 8
  store {vector} zeroinitializer, ptr %from, align 8
  %into = getelementptr i64, ptr %row0, i64 %column
  %sum = load {vector}, ptr %into, align 8
  %sum1 = add {vector} %sum, %value
  store {vector} %sum1, ptr %into, align 8
  %total = getelementptr i64, ptr %totals, i64 %k
  %total0 = load {vector}, ptr %total, align 8
  %total1 = add {vector} %total0, %value
  store {vector} %total1, ptr %total, align 8
  %k1 = add i64 %k, {COUNTERS_AT_ONCE}
  %next.column = add i64 %column, {COUNTERS_AT_ONCE}
  %row.ends = icmp eq i64 %next.column, {layout.counters}
  %column1 = select i1 %row.ends, i64 0, i64 %next.column
  %added = icmp eq i64 %k1, %words
  br i1 %added, label %added.up, label %add
added.up:"""


def _look_for_repeat(layout: ThreadBlockLayout) -> str:
    """Whether the row of the thread block is that of the one before, of the same call.

    Counters are read as they were written, two at a time.
    """
    vector, name = PAIR, "@llvm.vector.reduce.or.v2i64"
    return f"""{_field("repeats", "rep.p")}
  %repeats = load ptr, ptr %rep.p
  %repeat = getelementptr i8, ptr %repeats, i64 %behind
  %no.other = icmp eq i64 %behind, 0
  br i1 %no.other, label %looked, label %look.back
look.back:
  %q = phi i64 [ 0, %{_before_look(layout)} ], [ %q1, %look.back ]
  %unlike = phi {vector} [ zeroinitializer, %{_before_look(layout)} ], [ %unlike1, %look.back ]
  %mine.at = getelementptr i64, ptr %row0, i64 %q
  %mine = load {vector}, ptr %mine.at, align 8
  %their.at = getelementptr i64, ptr %mine.at, i64 -{layout.counters}
  %theirs = load {vector}, ptr %their.at, align 8
  %unlike0 = xor {vector} %mine, %theirs
  %unlike1 = or {vector} %unlike, %unlike0
  %q1 = add i64 %q, 2
  %seen.all = icmp eq i64 %q1, {layout.counters}
  br i1 %seen.all, label %found, label %look.back
found:
  %any.unlike = call i64 {name}({vector} %unlike1)
  %is.alike = icmp eq i64 %any.unlike, 0
  br label %looked
looked:
  %is.repeat = phi i1 [ false, %{_before_look(layout)} ], [ %is.alike, %found ]
  %repeat.byte = zext i1 %is.repeat to i8
  store i8 %repeat.byte, ptr %repeat"""


def _before_look(layout: ThreadBlockLayout) -> str:
    return "added.up" if _adds_up(layout) else "compared"


def _adds_up(layout: ThreadBlockLayout) -> bool:
    """Whether stages have rows of their own."""
    return layout.has_barriers and not layout.held.is_all
