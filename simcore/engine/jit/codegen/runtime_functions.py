"""What compiled code calls: access records, and memory access lane by lane with every check.

A record is 8-byte words: pc | is_listed << 31 | number << 32; time | warp << 32; thread block |
stage << 32; mask; then the base address of the listed offsets, or the addresses of all lanes.
"""

from __future__ import annotations

from collections.abc import Mapping

from kernelcast.simcore.engine.jit.codegen.workspace import field_offset
from kernelcast.simcore.isa.analysis.cluster_addresses import OFFSET_BITS, OFFSET_MASK, RANK_MASK
from kernelcast.simcore.isa.types import WINDOW_BYTES, WINDOWS, AddressSpace
from kernelcast.simcore.launch.allocations import ROW_WORDS

__all__ = [
    "FAULT_ACCESS",
    "FAULT_READ_ONLY",
    "RECORD_WORDS",
    "SPACES",
    "lane_loop",
    "runtime_functions",
]

RECORD_WORDS = 5
FAULT_ACCESS, FAULT_READ_ONLY = 3, 4
SPACES: Mapping[AddressSpace, int] = {
    AddressSpace.GLOBAL: 0,
    AddressSpace.SHARED: 1,
    AddressSpace.LOCAL: 2,
    AddressSpace.CONST: 3,
    AddressSpace.PARAM: 4,
    AddressSpace.GENERIC: 5,
}
_ORDERED_WINDOWS = tuple(WINDOWS)
_FLAT_SPACES: Mapping[AddressSpace, tuple[str, str]] = {
    AddressSpace.SHARED: ("shared", "shared_bytes"),
    AddressSpace.LOCAL: ("local", "local_bytes"),
    AddressSpace.CONST: ("constants", "constant_bytes"),
    AddressSpace.PARAM: ("params", "param_bytes"),
}
"""Fields that tell where a space is and how large."""


def runtime_functions(width: int, cluster_size: int = 0) -> str:
    """IR of everything but the atomics, for warps of `width` lanes.

    `cluster_size`: thread blocks whose shared memory has addresses, 0 where addresses name none.
    """
    locate = _locate(width, cluster_size)
    accesses = (_search_row(), locate, _serve("load"), _serve("store"))
    return "\n".join((_may_go_on(), _make_room(), _records(width), *accesses))


def _field(name: str, into: str) -> str:
    return f"  %{into} = getelementptr i8, ptr %w, i64 {field_offset(name)}"


def _may_go_on() -> str:
    """Asks whoever watches the launch about a warp that is over the limit; nobody: it ends."""
    return f"""
define internal i1 @may_go_on(ptr %w, i64 %time) noinline cold {{
entry:
{_field("limit_call", "where")}
  %call = load ptr, ptr %where
  %nobody = icmp eq ptr %call, null
  br i1 %nobody, label %no, label %ask
ask:
  %answer = call i64 %call(i64 %time)
  %goes.on = icmp ne i64 %answer, 0
  ret i1 %goes.on
no:
  ret i1 false
}}
"""


def _make_room() -> str:
    return f"""
define internal void @make_room(ptr %w, i64 %bytes) alwaysinline {{
{_field("ring_next", "np")}
  %next = load i64, ptr %np
{_field("ring_end", "ep")}
  %end = load i64, ptr %ep
  %last = add i64 %next, %bytes
  %full = icmp ugt i64 %last, %end
  br i1 %full, label %flush, label %done, !prof !0
flush:
{_field("ring_flush", "fp")}
  %f = load ptr, ptr %fp
  call void %f(ptr %w)
  br label %done
done:
  ret void
}}
"""


def _records(width: int) -> str:
    head = f"""
{_field("ring_next", "np")}
  %next = load ptr, ptr %np
  store i64 %info, ptr %next
  %warp64 = zext i32 %warp to i64
  %high = shl i64 %warp64, 32
  %when = or i64 %high, %time
  %p1 = getelementptr i64, ptr %next, i64 1
  store i64 %when, ptr %p1
{_field("thread_block", "bp")}
  %block = load i64, ptr %bp
{_field("stage", "sp")}
  %stage = load i64, ptr %sp
  %stage.high = shl i64 %stage, 32
  %where = or i64 %block, %stage.high
  %p2 = getelementptr i64, ptr %next, i64 2
  store i64 %where, ptr %p2
  %p3 = getelementptr i64, ptr %next, i64 3
  store i64 %mask, ptr %p3
  %p4 = getelementptr i64, ptr %next, i64 4
"""
    lanes = f"<{width} x i64>"
    return f"""
define internal void @record_listed(ptr %w, i64 %info, i32 %warp, i64 %time, i64 %mask,
    i64 %base) alwaysinline {{
{head}
  store i64 %base, ptr %p4
  %after = getelementptr i64, ptr %next, i64 5
  store ptr %after, ptr %np
  ret void
}}
define internal void @record_lanes(ptr %w, i64 %info, i32 %warp, i64 %time, i64 %mask,
    {lanes} %base) alwaysinline {{
{head}
  store {lanes} %base, ptr %p4, align 8
  %after = getelementptr i64, ptr %next, i64 {4 + width}
  store ptr %after, ptr %np
  ret void
}}
"""


def _locate(width: int, cluster_size: int) -> str:
    """The host address of `bytes` at an address of a space, null when they are not all there."""
    flat = "\n".join(_in_flat_space(space, width, cluster_size) for space in _FLAT_SPACES)
    return f"""
define internal ptr @locate(ptr %w, i32 %space, i64 %a, i64 %bytes, i64 %lane, i32 %warp,
    i1 %store) noinline {{
entry:
  %low = sub i64 %bytes, 1
  %odd = and i64 %low, %a
  %aligned = icmp eq i64 %odd, 0
  %kind = select i1 %aligned, i32 %space, i32 99
  switch i32 %kind, label %bad [ i32 0, label %global i32 1, label %shared i32 2, label %local
    i32 3, label %const i32 4, label %param i32 5, label %generic ]
generic:{_windows()}
  br label %global
{_in_allocations()}
{flat}
readonly:
{_field("fault_kind", "fk4")}
  store i64 {FAULT_READ_ONLY}, ptr %fk4
  br label %report
bad:
{_field("fault_kind", "fk3")}
  store i64 {FAULT_ACCESS}, ptr %fk3
  br label %report
report:
{_field("fault_lane", "flp")}
  store i64 %lane, ptr %flp
{_field("fault_address", "fap")}
  store i64 %a, ptr %fap
  ret ptr null
}}
"""


def _windows() -> str:
    """Generic addresses in a window are in the space behind it."""
    found = ""
    for space in _ORDERED_WINDOWS:
        name = space.value
        found += f"""
  %{name}.far = sub i64 %a, {WINDOWS[space]}
  %{name}.in = icmp ult i64 %{name}.far, {WINDOW_BYTES}
  br i1 %{name}.in, label %in.{name}, label %not.{name}
in.{name}:
  br label %{name}
not.{name}:"""
    return found


def _in_allocations() -> str:
    """The place in the last allocation that begins at the address or before, if it is in there."""
    return """global:
  %row = call ptr @search_row(ptr %w, i64 %a)
  %first = load i64, ptr %row
  %szp = getelementptr i8, ptr %row, i64 8
  %size = load i64, ptr %szp
  %far = sub i64 %a, %first
  %room = sub i64 %size, %bytes
  %fits = icmp sge i64 %room, 0
  %near = icmp ule i64 %far, %room
  %in = and i1 %fits, %near
  br i1 %in, label %hit, label %bad
hit:
  %wrp = getelementptr i8, ptr %row, i64 16
  %writable = load i64, ptr %wrp
  %fixed = icmp eq i64 %writable, 0
  %no = and i1 %fixed, %store
  br i1 %no, label %readonly, label %go
go:
  %hp = getelementptr i8, ptr %row, i64 24
  %h = load ptr, ptr %hp
  %r = getelementptr i8, ptr %h, i64 %far
  ret ptr %r"""


def _search_row() -> str:
    """Functions that find the row of an allocation; one that does not hold the address if none.

    `@row_of` remembers in a slot what it found: accesses of one place go to one allocation mostly.
    """
    return f"""
define internal ptr @search_row(ptr %w, i64 %a) noinline {{
entry:
{_field("allocation_count", "cp")}
  %count = load i64, ptr %cp
{_field("allocations", "tp")}
  %table = load ptr, ptr %tp
  br label %search
search:
  %low = phi i64 [ 0, %entry ], [ %low.next, %halve ]
  %open = phi i64 [ %count, %entry ], [ %open.next, %halve ]
  %decided = icmp eq i64 %open, 0
  br i1 %decided, label %chosen, label %halve
halve:
  %half = lshr i64 %open, 1
  %mid = add i64 %low, %half
  %mid.at = mul i64 %mid, {8 * ROW_WORDS}
  %mid.row = getelementptr i8, ptr %table, i64 %mid.at
  %mid.first = load i64, ptr %mid.row
  %begins = icmp ule i64 %mid.first, %a
  %behind = add i64 %mid, 1
  %upper = sub i64 %open, %half
  %upper.less = sub i64 %upper, 1
  %low.next = select i1 %begins, i64 %behind, i64 %low
  %open.next = select i1 %begins, i64 %upper.less, i64 %half
  br label %search
chosen:
  %number = call i64 @llvm.usub.sat.i64(i64 %low, i64 1)
  %at = mul i64 %number, {8 * ROW_WORDS}
  %row = getelementptr i8, ptr %table, i64 %at
  ret ptr %row
}}
define internal ptr @row_of(ptr %w, i64 %a, i64 %slot) alwaysinline {{
entry:
{_field("recent_rows", "rp")}
  %recent = load ptr, ptr %rp
  %place = getelementptr ptr, ptr %recent, i64 %slot
  %known = load ptr, ptr %place
  %first = load i64, ptr %known
  %szp = getelementptr i8, ptr %known, i64 8
  %size = load i64, ptr %szp
  %far = sub i64 %a, %first
  %in = icmp ult i64 %far, %size
  br i1 %in, label %done, label %search, !prof !1
search:
  %found = call ptr @search_row(ptr %w, i64 %a)
  store ptr %found, ptr %place
  br label %done
done:
  %row = phi ptr [ %known, %entry ], [ %found, %search ]
  ret ptr %row
}}
"""


def _in_flat_space(space: AddressSpace, width: int, cluster_size: int) -> str:
    """One piece of memory; each thread has a part of local memory for itself."""
    name, (host, size) = space.value, _FLAT_SPACES[space]
    is_read_only = space in (AddressSpace.CONST, AddressSpace.PARAM)
    owner, place = "", f"%{name}.a"
    if space is AddressSpace.LOCAL:
        owner, place = _own_part(width), "%local.at"
    host_code = f"""{_field(host, name + ".hp")}
  %{name}.h = load ptr, ptr %{name}.hp"""
    named = f"  %{name}.a = or i64 %{name}.a0, 0"
    if space is AddressSpace.SHARED and cluster_size:
        named, host_code = _named_thread_block(cluster_size), _its_memory()
    return f"""{name}:
  %{name}.a0 = phi i64 [ %a, %entry ], [ %{name}.far, %in.{name} ]
{named}
{_field(size, name + ".sp")}
  %{name}.size = load i64, ptr %{name}.sp
  %{name}.room = sub i64 %{name}.size, %bytes
  %{name}.fits = icmp sge i64 %{name}.room, 0
  %{name}.ok1 = icmp ule i64 %{name}.a, %{name}.room
  %{name}.ok = and i1 %{name}.fits, %{name}.ok1
  br i1 %{name}.ok, label %{name}.found, label %bad
{name}.found:
  br i1 {"%store" if is_read_only else "false"}, label %readonly, label %{name}.go
{name}.go:{owner}
{host_code}
  %{name}.r = getelementptr i8, ptr %{name}.h, i64 {place}
  ret ptr %{name}.r"""


def _named_thread_block(cluster_size: int) -> str:
    """The place within shared memory, and whose it is; what names nobody stays outside."""
    return f"""  %rank.above = lshr i64 %shared.a0, {OFFSET_BITS}
  %rank.bits = and i64 %rank.above, {RANK_MASK}
  %rank = sub i64 %rank.bits, 1
  %is.named = icmp ult i64 %rank, {cluster_size}
  %shared.within = and i64 %shared.a0, {OFFSET_MASK}
  %shared.a = select i1 %is.named, i64 %shared.within, i64 %shared.a0"""


def _its_memory() -> str:
    return f"""{_field("shared", "own.hp")}
{_field("cluster_shared", "mates.tp")}
  %mates = load ptr, ptr %mates.tp
  %mate.hp = getelementptr ptr, ptr %mates, i64 %rank
  %shared.hp = select i1 %is.named, ptr %mate.hp, ptr %own.hp
  %shared.h = load ptr, ptr %shared.hp"""


def _own_part(width: int) -> str:
    return f"""
{_field("local_stride", "stp")}
  %stride = load i64, ptr %stp
  %warp64 = zext i32 %warp to i64
  %first.lane = mul i64 %warp64, {width}
  %my.lane = add i64 %first.lane, %lane
  %my.first = mul i64 %my.lane, %stride
  %local.at = add i64 %my.first, %local.a"""


_PARAMETERS = (
    "ptr %w, ptr %places, i64 %mask, ptr %data, ptr %data2, i64 %bytes, i32 %space, i64 %pc, "
    "i32 %warp"
)


def lane_loop(name: str, is_store: bool, body: str) -> str:
    """A function that does `body` with %host and %mine, the lane's data, for each active lane."""
    return f"""
define internal i1 {name}({_PARAMETERS}) noinline {{
entry:
{_field("fault_pc", "pcp")}
  store i64 %pc, ptr %pcp
  br label %loop
loop:
  %m = phi i64 [ %mask, %entry ], [ %rest, %after ]
  %empty = icmp eq i64 %m, 0
  br i1 %empty, label %done, label %lane
lane:
  %l = call i64 @llvm.cttz.i64(i64 %m, i1 true)
  %m1 = sub i64 %m, 1
  %rest = and i64 %m, %m1
  %ap = getelementptr i64, ptr %places, i64 %l
  %a = load i64, ptr %ap
  %host = call ptr @locate(ptr %w, i32 %space, i64 %a, i64 %bytes, i64 %l,
    i32 %warp, i1 {str(is_store).lower()})
  %missing = icmp eq ptr %host, null
  br i1 %missing, label %fail, label %serve
serve:
  %at = mul i64 %l, %bytes
  %mine = getelementptr i8, ptr %data, i64 %at
  %mine2 = getelementptr i8, ptr %data2, i64 %at
{body}
  br label %after
after:
  br label %loop
done:
  ret i1 true
fail:
  ret i1 false
}}
"""


def _serve(what: str) -> str:
    source, target = ("%host", "%mine") if what == "load" else ("%mine", "%host")
    body = f"  call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 %bytes, i1 false)"
    return lane_loop(f"@serve_{what}", what == "store", body)
