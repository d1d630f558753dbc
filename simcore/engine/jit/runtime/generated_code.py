"""A kernel compiled for a launch: from IR to compiled functions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from kernelcast.simcore.engine.jit.analysis.check_groups import access_bytes
from kernelcast.simcore.engine.jit.analysis.next_thread_block import bytes_ahead
from kernelcast.simcore.engine.jit.analysis.sliced_kernel import sliced
from kernelcast.simcore.engine.jit.analysis.uniform_branches import differing_branches
from kernelcast.simcore.engine.jit.analysis.waiting_places import ThreadBlockLayout
from kernelcast.simcore.engine.jit.analysis.warp_analysis import analyse
from kernelcast.simcore.engine.jit.codegen.control import same_barrier_function
from kernelcast.simcore.engine.jit.codegen.counted_barriers import counted_barrier_functions
from kernelcast.simcore.engine.jit.codegen.counters import CounterColumns
from kernelcast.simcore.engine.jit.codegen.launch_facts import (
    LaunchFacts,
    SpecialValues,
    pointer_roots,
)
from kernelcast.simcore.engine.jit.codegen.memory.accesses import MemoryCode
from kernelcast.simcore.engine.jit.codegen.memory.atomics import AtomicCode
from kernelcast.simcore.engine.jit.codegen.memory.effects import Effects
from kernelcast.simcore.engine.jit.codegen.memory.records import CountedAccess, RecordCode, Watch
from kernelcast.simcore.engine.jit.codegen.registers import Registers
from kernelcast.simcore.engine.jit.codegen.runtime_functions import runtime_functions
from kernelcast.simcore.engine.jit.codegen.thread_blocks import run_function
from kernelcast.simcore.engine.jit.codegen.warp_code import WarpCode
from kernelcast.simcore.engine.jit.codegen.warp_context import WarpContext
from kernelcast.simcore.engine.jit.codegen.warp_function import WarpFunction
from kernelcast.simcore.engine.jit.codegen.workspace import WORKSPACE_BYTES
from kernelcast.simcore.isa.analysis.control_flow import reads
from kernelcast.simcore.isa.ir.kernel import Kernel, Load, Store
from kernelcast.simcore.isa.numerics.lane_code import LaneCode

__all__ = ["GeneratedCode", "generate"]

_WARP_HEAD = f"""define internal i32 @warp(ptr noalias dereferenceable({WORKSPACE_BYTES}) %w,
    ptr noalias %context, ptr noalias %held, i32 %state, i32 %warp, i32 %cx, i32 %cy, i32 %cz) #0 {{
entry:"""
_MOST_MIXED = 63
_METADATA = """attributes #0 = { "prefer-vector-width"="512" "min-legal-vector-width"="512" }
attributes #1 = { cold nounwind memory(inaccessiblemem: readwrite) }
!0 = !{!"branch_weights", i32 1, i32 100000}
!1 = !{!"branch_weights", i32 100000, i32 1}"""
_LEAST_STAGING_BYTES = 16
"""The least bytes of a lane: operations across lanes keep so much there."""


@dataclass(frozen=True)
class GeneratedCode:
    """IR of the module and what is needed to run it.

    `columns`: what the words of counters are; `lane_offsets`: the lane offsets that records refer
    to; `barriers`: basic block by warp state - 1; `mixed_barriers`: basic block and where the
    context keeps its waiting lanes; `yields`: the same for heads of spin loops;
    `counted`: accesses that have counters instead of records where the whole warp does them.
    """

    ir: str
    layout: ThreadBlockLayout
    columns: CounterColumns
    lane_offsets: tuple[tuple[int, ...], ...]
    barriers: tuple[int, ...]
    mixed_barriers: tuple[tuple[int, int], ...]
    yields: tuple[tuple[int, int], ...]
    counted: tuple[CountedAccess, ...]


def generate(
    kernel: Kernel,
    launch: LaunchFacts,
    symbols: dict[str, int],
    records: bool,
    only: frozenset[int] | None = None,
    *,
    in_times: bool = False,
    watch: Watch | None = None,
) -> GeneratedCode:
    """`symbols`: addresses of variables in their spaces; `records`: whether accesses are traced.

    `in_times`: only at the times that a worker says. `watch`: what else is, for whom warps take
    turns in an order that the worker says. With `only`, a slice: instructions whose pc is
    not in it are counted, and their accesses recorded, but they do nothing. It must hold what
    branches, guards and addresses are made of.
    """
    if only is not None:
        kernel = sliced(kernel, only)
    numbers = count()
    declarations: dict[str, str] = {}

    def fresh() -> str:
        return f"%t{next(numbers)}"

    entry, scalar = (LaneCode(1, [], declarations, fresh) for _ in range(2))
    specials = SpecialValues(launch)
    facts = specials.facts()
    analysis = analyse(kernel, facts)
    values = specials.write(entry)
    warp = WarpCode(scalar, entry, launch.width, launch.together)
    registers = Registers(analysis, facts, scalar, warp.vector, values, symbols)
    roots = pointer_roots(kernel, launch.pointers, analysis.parameter_places)
    record = RecordCode(warp, analysis, records, in_times=in_times, watch=watch)
    atomics = AtomicCode(warp)
    used = frozenset(r.index for i in kernel.instructions for r in reads(i))
    ahead = bytes_ahead(kernel, analysis.variances) if launch.grid[0] > 1 else {}
    effects = Effects(only, used, ahead)
    memory = MemoryCode(warp, analysis, registers, symbols, roots, record, atomics, effects)
    _write_first_mask(entry, launch)
    _write_staging(entry, launch.width, _staging_bytes(kernel))
    watched: frozenset[int] = frozenset()
    if launch.warps * launch.together > 1:
        watched = differing_branches(kernel, analysis.variances, facts.special)
    function = WarpFunction(kernel, analysis, warp, values, memory, registers, record, watched)
    function.write()
    context = function.context
    layout = _layout(kernel, launch, function, record, memory, watched=bool(watched))
    _declare_intrinsics(declarations, launch.width)
    functions = (
        *dict.fromkeys(declarations.values()),
        runtime_functions(launch.width, launch.cluster_size),
        atomics.functions(),
        *_barriers(context, launch, layout),
    )
    warp_function = (_WARP_HEAD, *entry.lines, *scalar.lines, "}")
    ir = "\n".join((*functions, *warp_function, run_function(layout), _METADATA))
    return GeneratedCode(
        ir,
        layout,
        function.counters.columns,
        tuple(record.lane_offsets),
        tuple(context.barriers),
        tuple((b, context.wait_mask_offset(b)) for b in context.mixed),
        tuple((head, context.yield_mask_offset(head)) for head in context.yielding),
        tuple(record.counted),
    )


def _layout(
    kernel: Kernel,
    launch: LaunchFacts,
    function: WarpFunction,
    record: RecordCode,
    memory: MemoryCode,
    *,
    watched: bool,
) -> ThreadBlockLayout:
    context = function.context
    return ThreadBlockLayout(
        width=launch.width,
        warps=launch.warps,
        grid=tuple(
            None if axis in launch.read_axes else size for axis, size in enumerate(launch.grid)
        ),
        counters=function.counters.words,
        context_bytes=max(64, context.bytes),
        shared_bytes=launch.shared_bytes,
        local_bytes=_local_stride(kernel) * launch.warps * launch.width,
        mixed_state=context.mixed_state,
        mixed_offsets=_offsets_of_mixed(context),
        has_barriers=bool(context.barriers),
        access_slots=record.slots,
        record_bytes=record.most_bytes,
        digest_offset=context.digest_offset if watched and launch.together == 1 else None,
        yield_state=context.yield_state if context.yielding else None,
        opened_offset=context.opened_offset if context.is_counted else None,
        numbers_offset=context.numbers_offset if context.is_counted else None,
        is_in_cluster=launch.cluster is not None,
        row_slots=memory.regions.slots,
        together=launch.together,
        held=function.counters.held,
        is_ordered=record.is_watched,
    )


def _offsets_of_mixed(context: WarpContext) -> tuple[int, ...]:
    """None where there are too many for one word, as in no kernel so far."""
    offsets = tuple(context.wait_mask_offset(barrier) for barrier in context.mixed)
    return offsets if len(offsets) <= _MOST_MIXED else ()


def _barriers(
    context: WarpContext, launch: LaunchFacts, layout: ThreadBlockLayout
) -> Iterator[str]:
    if context.is_counted:
        yield counted_barrier_functions(context, launch.width, launch.warps)
    if layout.mixed_offsets:
        yield same_barrier_function(layout)


def _declare_intrinsics(declarations: dict[str, str], width: int) -> None:
    mask = f"i{width}"
    for name in (
        f"declare {mask} @llvm.ctpop.{mask}({mask})",
        f"declare {mask} @llvm.cttz.{mask}({mask}, i1)",
        "declare i64 @llvm.cttz.i64(i64, i1)",
        "declare i64 @llvm.usub.sat.i64(i64, i64)",
        "declare i32 @llvm.umax.i32(i32, i32)",
        f"declare i32 @llvm.vector.reduce.umax.v{width}i32(<{width} x i32>)",
        "declare i64 @llvm.vector.reduce.or.v2i64(<2 x i64>)",
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
        "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
    ):
        declarations[name.split("@")[1].split("(")[0].join(("@", ""))] = name


def _local_stride(kernel: Kernel) -> int:
    return -(-kernel.local_bytes // 16) * 16


def _write_first_mask(entry: LaneCode, launch: LaunchFacts) -> None:
    """The lanes of this warp that are threads."""
    kind = f"i{launch.width}"
    rest = launch.threads % launch.width
    if not rest:
        entry.do(f"%first.mask = add {kind} 0, -1")
        return
    last = entry.op(f"icmp eq i32 %warp, {launch.warps - 1}")
    entry.do(f"%first.mask = select i1 {last}, {kind} {(1 << rest) - 1}, {kind} -1")


def _staging_bytes(kernel: Kernel) -> int:
    """What a lane takes to memory or from it at once."""
    accesses = (i for i in kernel.instructions if isinstance(i, Load | Store))
    return max((access_bytes(access) for access in accesses), default=0)


def _write_staging(entry: LaneCode, width: int, lane_bytes: int) -> None:
    entry.do(f"%places = alloca [{width} x i64], align 64")
    for name in ("staging", "staging2"):
        size = width * max(_LEAST_STAGING_BYTES, lane_bytes)
        entry.do(f"%{name} = alloca [{size} x i8], align 64")
