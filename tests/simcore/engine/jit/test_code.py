"""What compiled code counts, notes and leaves out, run without the workers of the JIT engine."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.simcore.engine import execute
from kernelcast.simcore.engine.jit.codegen.launch_facts import launch_facts
from kernelcast.simcore.engine.jit.codegen.runtime_functions import RECORD_WORDS
from kernelcast.simcore.engine.jit.codegen.warp_pairs import in_pairs
from kernelcast.simcore.engine.jit.codegen.workspace import FIELDS
from kernelcast.simcore.engine.jit.runtime.generated_code import GeneratedCode, generate
from kernelcast.simcore.engine.jit.runtime.stack_threads import first_rows
from kernelcast.simcore.host.llvm import compile_module
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.launch.launch_memory import LaunchMemory
from kernelcast.simcore.launch.local_arrays import shared_bytes

Compile = Callable[..., Kernel]
Ints = npt.NDArray[np.int64]
_STAGES = 32
_RUN = ctypes.CFUNCTYPE(
    ctypes.c_int64,
    ctypes.c_void_p,
    *(ctypes.c_int64,) * 2,
    *(ctypes.c_void_p,) * 3,
)


@dataclass(frozen=True)
class NativeRun:
    """All thread blocks of a launch run by one call; `status` 0 when none failed."""

    source: GeneratedCode
    status: int
    counts: Ints
    times: Ints
    access_counts: Ints
    pairs_differ: bool
    repeats: npt.NDArray[np.uint8]
    records: tuple[tuple[int, ...], ...]


def _run(
    kernel: Kernel,
    launch: Launch,
    *,
    width: int = 32,
    only: frozenset[int] | None = None,
    counts_accesses: bool = True,
    in_pairs_of_warps: bool = False,
) -> NativeRun:
    memory = LaunchMemory(kernel, launch)
    facts = launch_facts(kernel, launch, memory, width, shared_bytes(kernel, launch))
    if in_pairs_of_warps:
        facts = in_pairs(kernel, facts)
    source = generate(kernel, facts, dict(memory.symbols), not in_pairs_of_warps, only)
    shape, blocks = source.layout, launch.thread_blocks
    ring, flat = np.zeros(1 << 17, np.int64), np.zeros(1 << 16, np.int64)
    contexts = np.zeros(shape.context_bytes * shape.warps + 64, np.uint8)
    counts = np.zeros((blocks, shape.counters), np.int64)
    stages, totals = (np.zeros((_STAGES, shape.counters), np.int64) for _ in range(2))
    times = np.zeros((blocks, shape.clocks), np.int64)
    repeats = np.zeros(blocks, np.uint8)
    accesses = np.zeros((_STAGES, max(1, shape.access_slots)), np.int64)
    rows, table = memory.pointer_rows, memory.globals.rows()
    recent = first_rows(table, source.layout.row_slots)
    fields = {
        "limit": 1 << 40,
        "repeats": repeats.ctypes.data,
        "ring_next": ring.ctypes.data,
        "ring_end": ring.ctypes.data + ring.nbytes,
        "shared": flat.ctypes.data,
        "shared_bytes": shape.shared_bytes,
        "params": memory.parameters.bytes.ctypes.data,
        "param_bytes": memory.parameters.size,
        "constants": memory.constants.bytes.ctypes.data,
        "constant_bytes": memory.constants.size,
        "pointers": rows.ctypes.data,
        "allocations": table.ctypes.data,
        "allocation_count": len(table),
        "recent_rows": recent.ctypes.data,
        "contexts": contexts.ctypes.data + -contexts.ctypes.data % 64,
        "stage_counts": stages.ctypes.data,
        "stage_capacity": _STAGES,
        "access_counts": accesses.ctypes.data if counts_accesses else 0,
    }
    words = np.array([fields.get(name, 0) for name in FIELDS], np.int64)
    module = compile_module(source.ir, 1)
    arrays = (array.ctypes.data for array in (counts, times, totals))
    _RUN(module.address("run"))(words.ctypes.data, 0, blocks, *arrays)
    after = dict(zip(FIELDS, words.tolist(), strict=True))
    used = ring[: (after["ring_next"] - ring.ctypes.data) // 8].tolist()
    differ = bool(after["pairs_differ"])
    return NativeRun(
        source, after["status"], counts, times, accesses, differ, repeats, _records(used, width)
    )


def _records(words: list[int], width: int) -> tuple[tuple[int, ...], ...]:
    """(pc, time and warp, thread block and stage, mask, address or shape and address)."""
    found, at = [], 0
    while at < len(words):
        info = words[at]
        size = RECORD_WORDS if info >> 31 & 1 else 4 + width
        found.append((info & 0xFFFFFF, *words[at + 1 : at + size]))
        at += size
    return tuple(found)


HEAD = """
    .shared .align 16 .b8 tile[1024];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1; ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r4, 4;
    add.s64 %rd3, %rd1, %rd2; mov.u32 %r5, tile; shl.b32 %r6, %r1, 2; add.u32 %r7, %r5, %r6;
"""
"""%rd3: this thread's word of `out`; %r7: the same of the thread block's shared memory."""


def _launch(blocks: int, threads: int, words: int = 4096) -> tuple[Launch, npt.NDArray[np.uint32]]:
    out = np.arange(words, dtype=np.uint32)
    return Launch((blocks, 1, 1), (threads, 1, 1), (out,)), out


# Which branches neighbouring warps take alike: body -> whether pairs differ, by threads.
PAIRS: dict[str, tuple[str, int, bool]] = {
    "no branch": ("add.u32 %r9, %r1, 1;", 128, False),
    "by thread block": ("setp.eq.u32 %p1, %r2, 1; @%p1 bra E; add.u32 %r9, %r1, 1; E:", 128, False),
    "lower half": ("setp.lt.u32 %p1, %r1, 64; @%p1 bra E; add.u32 %r9, %r1, 1; E:", 128, False),
    "first warp": ("setp.lt.u32 %p1, %r1, 32; @%p1 bra E; add.u32 %r9, %r1, 1; E:", 128, True),
    "second warp": ("setp.ge.u32 %p1, %r1, 32; @%p1 bra E; add.u32 %r9, %r1, 1; E:", 64, True),
    "no partner": ("setp.ge.u32 %p1, %r1, 64; @%p1 bra E; add.u32 %r9, %r1, 1; E:", 96, False),
    "single warp": ("setp.lt.u32 %p1, %r1, 7; @%p1 bra E; add.u32 %r9, %r1, 1; E:", 32, False),
    "some lanes": ("setp.lt.u32 %p1, %r1, 7; @%p1 bra E; add.u32 %r9, %r1, 1; E:", 64, True),
    "partial warp": ("setp.lt.u32 %p1, %r1, 32; @!%p1 bra E; add.u32 %r9, %r1, 1; E:", 40, True),
    "odd lanes": (
        "and.b32 %r9, %r1, 1; setp.eq.u32 %p1, %r9, 0; @%p1 bra E; add.u32 %r9, %r1, 1; E:",
        128,
        False,
    ),
    "guards": ("setp.lt.u32 %p1, %r1, 32; @%p1 add.u32 %r9, %r1, 1;", 128, False),
    "rounds": (
        "shr.u32 %r9, %r1, 5; add.u32 %r9, %r9, 2; mov.u32 %r8, 0; L: add.u32 %r8, %r8, 1; "
        "setp.lt.u32 %p1, %r8, %r9; @%p1 bra L;",
        64,
        True,
    ),
    "equal rounds": (
        "mov.u32 %r8, 0; L: add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 5; @%p1 bra L;",
        64,
        False,
    ),
    "after a barrier": (
        "setp.lt.u32 %p1, %r1, 32; bar.sync 0; @%p1 bra E; add.u32 %r9, %r1, 1; E: bar.sync 0;",
        64,
        True,
    ),
    "contents": (
        "ld.global.u32 %r9, [%rd3]; setp.lt.u32 %p1, %r9, 32; @%p1 bra E; add.u32 %r9, %r1, 1; E:",
        64,
        True,
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_of_warps(compile_ptx: Compile, name: str) -> None:
    body, threads, differ = PAIRS[name]
    kernel = compile_ptx(f"{HEAD}{body}\nret;", "u64 out")
    launch, _ = _launch(3, threads)
    assert _run(kernel, launch).pairs_differ is differ
    if name in ("no branch", "by thread block", "equal rounds", "guards", "single warp"):
        assert _run(kernel, launch).source.layout.digest_offset is None


COUNTED = """st.shared.u32 [%r7], %r1; ld.shared.u32 %r9, [%r7+4]; bar.sync 0;
    setp.lt.u32 %p1, %r1, 40; @%p1 ld.shared.u32 %r10, [%r7];
    ld.shared.u32 %r11, [tile+8]; st.global.u32 [%rd3], %r11; bar.sync 0;
    mov.u64 %rd4, table; mul.wide.u32 %rd5, %r1, 4; add.s64 %rd6, %rd4, %rd5;
    ld.const.u16 %rs1, [%rd6+2]; ld.shared.v2.u32 {%r12, %r13}, [tile+24];"""
TABLE = ".const .align 4 .b8 table[1024];"


@pytest.mark.parametrize(("width", "threads"), [(32, 64), (32, 72), (8, 64), (64, 128), (16, 24)])
def test_counts_instead_of_records(compile_ptx: Compile, width: int, threads: int) -> None:
    """Full warps are counted by stage and start, the others recorded, each access once."""
    kernel = compile_ptx(f"{HEAD}{COUNTED}\nret;", "u64 out", TABLE)
    launch, _ = _launch(3, threads)
    run = _run(kernel, launch, width=width)
    plain = _run(kernel, launch, width=width, counts_accesses=False)
    names = {i.pc: i.mnemonic for i in kernel.instructions}
    full = (1 << width) - 1
    expected: Counter[tuple[int, ...]] = Counter()
    left = []
    for record in plain.records:
        pc, _, where, mask, base = record
        if names[pc].startswith("ld.global") or names[pc].startswith("st.global"):
            left.append(record)
        elif mask & full == full:
            expected[pc, where >> 32, base & 15] += 1
        else:
            left.append(record)
    found: Counter[tuple[int, ...]] = Counter()
    for access in run.source.counted:
        assert access.offsets[0] == 0
        for slot, start in enumerate(access.starts, access.first_slot):
            for stage in range(3):
                found[access.pc, stage, start] += int(run.access_counts[stage, slot])
    assert +found == expected
    assert Counter(run.records) == Counter(left)
    assert sum(expected.values()) > 9
    slots = [
        s for a in run.source.counted for s in range(a.first_slot, a.first_slot + len(a.starts))
    ]
    assert slots == list(range(run.source.layout.access_slots))
    np.testing.assert_array_equal(run.counts, plain.counts)


SLICED = """ld.param.u32 %r20, [n]; setp.ge.u32 %p1, %r1, %r20; @%p1 bra E;
    mov.f32 %f1, 0f3F800000; mov.u32 %r8, 0;
L:  ld.global.f32 %f2, [%rd3]; fma.rn.f32 %f1, %f2, %f1, %f1; st.shared.f32 [%r7], %f1;
    setp.gt.f32 %p2, %f1, %f2; @%p2 add.f32 %f1, %f1, %f1;
    atom.global.add.u32 %r21, [%rd1], 1; add.u32 %r8, %r8, 1; add.s64 %rd3, %rd3, 128;
    setp.lt.u32 %p3, %r8, 4; @%p3 bra L; bar.sync 0; st.global.f32 [%rd3], %f1;
E:"""


def test_a_slice_counts_the_same_and_does_nothing(compile_ptx: Compile) -> None:
    """Floating-point work and memory are left out; a guard's counts need its predicate."""
    kernel = compile_ptx(f"{HEAD}{SLICED}\nret;", "u64 out, u32 n")
    launch, out = _launch(2, 100, 4096)
    launch = Launch(launch.grid, launch.thread_block, (out, np.uint32(70)))
    work = ("fma.rn.f32", "add.f32", "ld.global.f32", "st.shared.f32", "st.global.f32")
    left_out = {i.pc for i in kernel.instructions if i.mnemonic in (*work, "atom.global.add.u32")}
    left_out -= {i.pc for i in kernel.instructions if i.mnemonic in ("fma.rn.f32", "ld.global.f32")}
    only = frozenset(i.pc for i in kernel.instructions) - left_out
    sliced = _run(kernel, launch, only=only)
    np.testing.assert_array_equal(out, np.arange(4096, dtype=np.uint32))
    whole = _run(kernel, launch)
    assert (out != np.arange(4096)).any()
    np.testing.assert_array_equal(sliced.times, whole.times)
    np.testing.assert_array_equal(sliced.access_counts, whole.access_counts)
    assert sliced.records == whole.records
    guarded = len(whole.source.columns.guarded)
    columns = slice(0, sliced.counts.shape[1] - guarded)
    np.testing.assert_array_equal(sliced.counts[:, columns], whole.counts[:, columns])


def test_a_slice_checks_no_bounds(compile_ptx: Compile) -> None:
    kernel = compile_ptx(
        f"{HEAD}ld.global.u32 %r9, [%rd3+4]; st.global.u32 [%rd3+8], %r9;\nret;", "u64 out"
    )
    launch, _ = _launch(1, 32, 16)
    accesses = {i.pc for i in kernel.instructions if ".global" in i.mnemonic}
    only = frozenset(i.pc for i in kernel.instructions) - accesses
    run = _run(kernel, launch, only=only)
    assert run.status == 0
    assert [record[0] for record in run.records] == sorted(accesses)
    assert _run(kernel, launch).status != 0


OPERATIONS = (
    *("add.u32", "min.u32", "max.u32", "min.s32", "max.s32", "add.u64", "min.s64", "max.u64"),
    *("and.b32", "or.b32", "xor.b32", "xor.b64", "exch.b32", "inc.u32", "dec.u32", "cas.b32"),
    *("add.f32", "add.f64"),
)
PLACES = {
    "one place": "mov.u32 %r9, 3;",
    "few places": "and.b32 %r9, %r1, 3;",
    "own place": "xor.b32 %r9, %r1, 5;",
    "in a row": "mov.u32 %r9, %r1;",
}


def _atomic_body(operation: str, place: str, space: str, guard: str) -> str:
    """All threads of a warp at one of its places; old values and memory go to `out`."""
    wide, real = operation.endswith("64"), ".f" in operation
    register = ("%fd" if wide else "%f") if real else ("%rd" if wide else "%r")
    size = 8 if wide else 4
    cast = (
        f"cvt.rn.f{8 * size}.u32 {register}12, %r10;"
        if real
        else (f"cvt.u64.u32 {register}12, %r10;" if wide else f"mov.u32 {register}12, %r10;")
    )
    second = f", {register}12" if operation.startswith("cas") else ""
    bits = operation.split(".")[1]
    base = "%r11" if space == "shared" else "%rd6"
    return f"""st.shared.u32 [%r7], 5; bar.sync 0; {PLACES[place]}
    mad.lo.u32 %r10, %r1, 40503, 12345;
    and.b32 %r10, %r10, 0xFFFF;
    mul.lo.u32 %r11, %r9, {size}; add.u32 %r11, %r11, %r5; {cast}
    mul.wide.u32 %rd6, %r9, {size}; add.s64 %rd6, %rd6, %rd1;
    setp.ne.u32 %p1, %r1, 4; mov.b{8 * size} {register}13, {register}12;
    {guard} atom.{space}.{operation} {register}13, [{base}], {register}12{second};
    bar.sync 0; mad.wide.u32 %rd7, %r1, 8, %rd1;
    st.global.{"b" + bits[1:]} [%rd7+2048], {register}13;
    ld.shared.u32 %r14, [%r7]; add.s64 %rd8, %rd3, 8192; st.global.u32 [%rd8], %r14;"""


@pytest.mark.drawn(2)
@pytest.mark.parametrize("space", ["shared", "global"])
@pytest.mark.parametrize("place", PLACES)
def test_atomics_take_lanes_in_order(compile_ptx: Compile, space: str, place: str) -> None:
    """Every operation, all lanes and all but one: old values and memory as in the reference."""
    first = list(PLACES).index(place)
    for number, operation in enumerate(OPERATIONS):
        if first and number % 3 != first - 1:
            continue
        guard = ("", "@%p1")[number % 2]
        kernel = compile_ptx(f"{HEAD}{_atomic_body(operation, place, space, guard)}\nret;")
        width = (8, 16, 32, 64)[number // 2 % 4]
        found: dict[str, Any] = {}
        for engine in ("reference", "jit"):
            out = np.zeros(4096, np.uint32)
            out[:256] = 5
            launch = Launch((1, 1, 1), (width, 1, 1), (out,))
            execute(kernel, launch, engine=engine, warp_width=width)
            found[engine] = out
        np.testing.assert_array_equal(found["jit"], found["reference"], operation)
        assert (found["jit"][256:] != 0).any()


def test_pairwise_sums_of_one_place(compile_ptx: Compile) -> None:
    """The old values of a counter that all lanes raise are the sums of the lanes below."""
    body = "add.u32 %r9, %r1, 1; atom.shared.add.u32 %r10, [tile], %r9; st.global.u32 [%rd3], %r10;"
    kernel = compile_ptx(f"{HEAD}{body}\nret;")
    launch, out = _launch(1, 32, 32)
    execute(kernel, launch, engine="jit")
    assert out[0] == 0
    assert [b - a for a, b in pairwise(out.tolist())] == list(range(1, 32))


@pytest.mark.parametrize(
    "index",
    [
        "mul.lo.u32 %r9, %r1, 0x08000000; cvt.u64.u32 %rd5, %r9; shr.u64 %rd5, %rd5, 25;",
        "sub.u32 %r9, %r1, 5; cvt.u64.u32 %rd5, %r9; and.b64 %rd5, %rd5, 127;",
        "sub.u32 %r9, %r1, 5; mul.wide.s32 %rd5, %r9, 4; add.s64 %rd5, %rd5, 20;",
        "add.u32 %r9, %r1, 0x7FFFFFF0; cvt.s64.s32 %rd5, %r9; and.b64 %rd5, %rd5, 124;",
        "neg.s32 %r9, %r1; mul.wide.s32 %rd5, %r9, -4;",
    ],
)
def test_indices_that_may_wrap(compile_ptx: Compile, index: str) -> None:
    """32-bit indices that pass 0, 2**31 or 2**32 within a warp, widened to addresses."""
    body = f"{index} add.s64 %rd6, %rd1, %rd5; and.b64 %rd6, %rd6, -4; ld.global.u32 %r10, [%rd6];"
    kernel = compile_ptx(f"{HEAD}{body} st.global.u32 [%rd3+1024], %r10;\nret;")
    found = []
    for engine in ("reference", "jit"):
        launch, out = _launch(1, 32, 512)
        execute(kernel, launch, engine=engine)
        found.append(out)
    np.testing.assert_array_equal(found[1], found[0])


@pytest.mark.parametrize("barrier", ["", "bar.sync 0;"])
def test_rows_that_are_as_the_one_before_are_noted(compile_ptx: Compile, barrier: str) -> None:
    """Thread blocks 3, 4 and 7 go round a loop; `barrier` makes them count in stages."""
    body = f"""{barrier} setp.lt.u32 %p1, %r2, 3; @%p1 bra E; setp.gt.u32 %p1, %r2, 4;
        setp.ne.u32 %p2, %r2, 7; and.pred %p1, %p1, %p2; @%p1 bra E; mov.u32 %r9, 0;
        L: add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 5; @%p1 bra L; E:"""
    kernel = compile_ptx(f"{HEAD}{body}\nret;", "u64 out")
    run = _run(kernel, _launch(10, 64)[0])
    same = [False, *((run.counts[1:] == run.counts[:-1]).all(axis=1))]
    assert run.repeats.astype(bool).tolist() == same
    assert same == [n in (1, 2, 4, 6, 9) for n in range(10)]
