"""Barriers with numbers and thread counts as LLVM IR: who waits where, who came by, what opens.

By lane, a warp's context holds the number of the barrier at which it waits and the count that it
asks for. A barrier counts a warp as all its threads, as the PTX manual says.
"""

from __future__ import annotations

from collections.abc import Callable

from kernelcast.simcore.engine.jit.codegen.registers import Registers
from kernelcast.simcore.engine.jit.codegen.warp_code import WarpCode
from kernelcast.simcore.engine.jit.codegen.warp_context import NOWHERE, WarpContext
from kernelcast.simcore.engine.jit.codegen.workspace import field_offset
from kernelcast.simcore.isa.ir.kernel import BarrierArrive, BarrierSync, Operand
from kernelcast.simcore.isa.opcodes.warp import GROUP
from kernelcast.simcore.isa.types import ScalarType

__all__ = [
    "BARRIERS",
    "CLUSTER_BARRIER",
    "FAULT_BARRIER",
    "CountedBarrierCode",
    "counted_barrier_functions",
]

BARRIERS = 16
CLUSTER_BARRIER = BARRIERS
"""The number of that of the cluster, which opens from outside."""
FAULT_BARRIER = 7
_COUNT = ScalarType.U32
Fault = Callable[[int, int, str], None]


class CountedBarrierCode:
    """Writes what a warp does at such barriers."""

    def __init__(self, warp: WarpCode, registers: Registers, context: WarpContext) -> None:
        self._warp = warp
        self._registers = registers
        self._context = context

    def wait(self, barrier: BarrierSync, mask: str, fault: Fault) -> None:
        """Notes number and count for the lanes of the mask."""
        warp, vector, context = self._warp, self._warp.vector, self._context
        fixed = CLUSTER_BARRIER if barrier.is_cluster else barrier.barrier
        numbers = vector.splat("i32", fixed)
        if barrier.number is not None:
            numbers = self._checked(barrier.number, barrier.pc, mask, fault)
        counts = vector.splat("i32", 0)
        if barrier.count is not None:
            counts = self._registers.vector(barrier.count, _COUNT)
        small = vector.cast("trunc", "i32", numbers, "i8")
        chosen = warp.mask_vector(mask)
        for lane, value, offset in (
            ("i8", small, context.numbers_offset),
            ("i32", counts, context.thread_counts_offset),
        ):
            kind, where = vector.type(lane), context.place(offset)
            known = warp.scalar.op(f"load {kind}, ptr {where}, align 8")
            both = vector.select(lane, chosen, value, known)
            warp.scalar.do(f"store {kind} {both}, ptr {where}, align 8")

    def arrive(self, instruction: BarrierArrive, mask: str, fault: Fault) -> None:
        """Counts the warp at a barrier where it does not wait."""
        warp, code = self._warp, self._warp.scalar
        numbers = self._checked(instruction.number, instruction.pc, mask, fault)
        where = code.op(f"getelementptr i8, ptr %w, i64 {field_offset('arrived')}")
        arrived = code.op(f"load ptr, ptr {where}")
        kind = warp.vector.type("i32")
        code.do(f"call void @arrive(ptr {arrived}, {kind} {numbers}, {warp.mask_type} {mask})")

    def opened_lanes(self) -> str:
        """The lanes whose barriers have opened, as a mask."""
        return self._warp.load_mask(self._context.place(self._context.opened_offset))

    def _checked(self, operand: Operand, pc: int, mask: str, fault: Fault) -> str:
        """Numbers of barriers by lane; a fault where one is too large."""
        warp, code, vector = self._warp, self._warp.scalar, self._warp.vector
        numbers = self._registers.vector(operand, _COUNT)
        zero = vector.splat("i32", 0)
        active = vector.select("i32", warp.mask_vector(mask), numbers, zero)
        pairs = [(vector.type("i32"), active)]
        most = code.intrinsic("vector.reduce.umax", "i32", pairs, vector.mangle("i32"))
        fine = code.op(f"icmp ult i32 {most}, {BARRIERS}")
        good, bad = warp.labels("numbered", "misnumbered")
        code.do(f"br i1 {fine}, label %{good}, label %{bad}, !prof !1")
        warp.label(bad)
        where = code.op(f"getelementptr i8, ptr %w, i64 {field_offset('fault_address')}")
        code.do(f"store i64 {code.op(f'zext i32 {most} to i64')}, ptr {where}")
        fault(FAULT_BARRIER, pc, mask)
        warp.label(good)
        return numbers


def counted_barrier_functions(context: WarpContext, width: int, warps: int) -> str:
    """IR of `@arrive` and of `i1 @open_barriers(arrived, contexts, all wait)`.

    The latter opens every barrier that enough threads came to: it notes the lanes that go on in
    the contexts and tells whether there are any. While not all wait, only those open that ask for
    a count.
    """
    return _threads(width) + _arrive(width) + _open_barriers(context, width, warps)


def _threads(width: int) -> str:
    """How many threads the lanes of a mask count as, whole groups; how many lanes there are."""
    group = min(GROUP, width)
    lines, total = "", "0"
    for first in range(0, width, group):
        part = ((1 << group) - 1) << first
        part -= (part >> (width - 1)) << width  # LLVM writes integers with a sign
        lines += f"""
  %part.{first} = and i{width} %mask, {part}
  %some.{first} = icmp ne i{width} %part.{first}, 0
  %more.{first} = select i1 %some.{first}, i64 {group}, i64 0
  %sum.{first} = add i64 {total}, %more.{first}"""
        total = f"%sum.{first}"
    return f"""
define internal i64 @threads(i{width} %mask) alwaysinline {{{lines}
  ret i64 {total}
}}
define internal i64 @lanes(i{width} %mask) alwaysinline {{
  %count = call i{width} @llvm.ctpop.i{width}(i{width} %mask)
  %wide = {"or i64 %count, 0" if width == 64 else f"zext i{width} %count to i64"}
  ret i64 %wide
}}
"""


def _arrive(width: int) -> str:
    vector = f"<{width} x i32>"
    return f"""
define internal void @arrive(ptr %arrived, {vector} %numbers, i{width} %mask) noinline {{
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %single = insertelement {vector} poison, i32 %k, i32 0
  %all = shufflevector {vector} %single, {vector} poison, {vector} zeroinitializer
  %same = icmp eq {vector} %numbers, %all
  %lanes = bitcast <{width} x i1> %same to i{width}
  %here = and i{width} %lanes, %mask
  %come = call i64 @threads(i{width} %here)
  %place = getelementptr i64, ptr %arrived, i32 %k
  %known = load i64, ptr %place
  %sum = add i64 %known, %come
  store i64 %sum, ptr %place
  %k1 = add i32 %k, 1
  %over = icmp eq i32 %k1, {BARRIERS}
  br i1 %over, label %done, label %loop
done:
  ret void
}}
"""


def _open_barriers(context: WarpContext, width: int, warps: int) -> str:
    """Three loops over the warps: who waits at all, who waits at a barrier, who goes on."""
    numbers, lanes = f"<{width} x i8>", f"<{width} x i1>"
    wide = "" if width == 64 else f"%wide = zext i{width} %here to i64"
    opened = "%here" if width == 64 else "%wide"
    waiting = f"""
  %waits = icmp ne {numbers} %held, splat (i8 {NOWHERE})
  %mask = bitcast {lanes} %waits to i{width}
  %lanes = call i64 @lanes(i{width} %mask)
  %known = load i64, ptr %all
  %sum = add i64 %known, %lanes
  store i64 %sum, ptr %all"""
    here = f"""
  %number = load i8, ptr %k
  %single = insertelement {numbers} poison, i8 %number, i32 0
  %spread = shufflevector {numbers} %single, {numbers} poison, <{width} x i32> zeroinitializer
  %same = icmp eq {numbers} %held, %spread
  %here = bitcast {lanes} %same to i{width}"""
    coming = f"""{here}
  %lanes = call i64 @lanes(i{width} %here)
  %known = load i64, ptr %waiting
  %sum = add i64 %known, %lanes
  store i64 %sum, ptr %waiting
  %threads = call i64 @threads(i{width} %here)
  %came0 = load i64, ptr %came
  %came1 = add i64 %came0, %threads
  store i64 %came1, ptr %came
  %counts.at = getelementptr i8, ptr %context, i64 {context.thread_counts_offset}
  %counts = load <{width} x i32>, ptr %counts.at, align 8
  %asked = select {lanes} %same, <{width} x i32> %counts, <{width} x i32> zeroinitializer
  %most = call i32 @llvm.vector.reduce.umax.v{width}i32(<{width} x i32> %asked)
  %wanted0 = load i32, ptr %wanted
  %wanted1 = call i32 @llvm.umax.i32(i32 %wanted0, i32 %most)
  store i32 %wanted1, ptr %wanted"""
    going = f"""{here}
  {wide}
  %opened.at = getelementptr i8, ptr %context, i64 {context.opened_offset}
  %opened0 = load i64, ptr %opened.at
  %opened1 = or i64 %opened0, {opened}
  store i64 %opened1, ptr %opened.at
  %left = select {lanes} %same, {numbers} splat (i8 {NOWHERE}), {numbers} %held
  store {numbers} %left, ptr %numbers, align 8"""
    parameters = "ptr %contexts, ptr %k, ptr %all, ptr %waiting, ptr %came, ptr %wanted"
    loops = "".join(
        f"""
define internal void @{name}({parameters}) {{
entry:
  br label %loop
loop:
  %n = phi i64 [ 0, %entry ], [ %n1, %loop ]
  %at = mul i64 %n, {max(64, context.bytes)}
  %context = getelementptr i8, ptr %contexts, i64 %at
  %numbers = getelementptr i8, ptr %context, i64 {context.numbers_offset}
  %held = load {numbers}, ptr %numbers, align 8{body}
  %n1 = add i64 %n, 1
  %over = icmp eq i64 %n1, {warps}
  br i1 %over, label %done, label %loop
done:
  ret void
}}
"""
        for name, body in (("all_waiting", waiting), ("coming", coming), ("going", going))
    )
    return loops + _open_all(width)


def _open_all(width: int) -> str:
    """Barriers in the order of their numbers."""
    arguments = "(ptr %contexts, ptr %k, ptr %all, ptr %waiting, ptr %came, ptr %wanted)"
    return f"""
define internal i1 @open_barriers(ptr %arrived, ptr %contexts, i1 %all.wait) noinline {{
entry:
  %k = alloca i8
  %all = alloca i64
  %waiting = alloca i64
  %came = alloca i64
  %wanted = alloca i32
  store i64 0, ptr %all
  call void @all_waiting{arguments}
  %everybody = load i64, ptr %all
  br label %barrier
barrier:
  %number = phi i8 [ 0, %entry ], [ %number1, %next ]
  %any = phi i1 [ false, %entry ], [ %any1, %next ]
  store i8 %number, ptr %k
  store i64 0, ptr %waiting
  %place = getelementptr i64, ptr %arrived, i8 %number
  %before = load i64, ptr %place
  store i64 %before, ptr %came
  store i32 0, ptr %wanted
  call void @coming{arguments}
  %here = load i64, ptr %waiting
  %some = icmp ne i64 %here, 0
  %threads = load i64, ptr %came
  %count = load i32, ptr %wanted
  %count.wide = zext i32 %count to i64
  %is.counted = icmp ne i32 %count, 0
  %enough = icmp uge i64 %threads, %count.wide
  %is.all = icmp eq i64 %here, %everybody
  %together = and i1 %is.all, %all.wait
  %ready = select i1 %is.counted, i1 %enough, i1 %together
  %opens = and i1 %some, %ready
  br i1 %opens, label %open, label %next
open:
  store i64 0, ptr %place
  call void @going{arguments}
  br label %next
next:
  %any1 = or i1 %any, %opens
  %number1 = add i8 %number, 1
  %over = icmp eq i8 %number1, {BARRIERS}
  br i1 %over, label %done, label %barrier
done:
  ret i1 %any1
}}
"""
