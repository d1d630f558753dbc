"""Accesses of a basic block that share one bounds check: what they do, and how they fail."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import ExecutionError
from kernelcast.simcore.engine import execute
from kernelcast.simcore.engine.jit.analysis import check_groups
from kernelcast.simcore.engine.jit.analysis.check_groups import Stretch, access_bytes, stretches
from kernelcast.simcore.engine.jit.codegen.launch_facts import launch_facts
from kernelcast.simcore.engine.jit.runtime.generated_code import generate
from kernelcast.simcore.isa.analysis.control_flow import writes
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.launch.launch_memory import LaunchMemory
from kernelcast.simcore.launch.local_arrays import shared_bytes
from kernelcast.traces.trace import Trace

Compile = Callable[..., Kernel]
Words = npt.NDArray[np.uint32]

START = """
    .shared .align 16 .b8 tile[640];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
    ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [index]; ld.param.u64 %rd3, [fixed];
    mad.lo.u32 %r4, %r2, %r3, %r1; mul.wide.u32 %rd4, %r4, 4; add.s64 %rd5, %rd1, %rd4;
    add.s64 %rd6, %rd2, %rd4; mov.u32 %r5, tile; shl.b32 %r6, %r1, 2; add.u32 %r7, %r5, %r6;
    and.b32 %r8, %r1, 3; mul.wide.u32 %rd7, %r8, 8; add.s64 %rd8, %rd1, %rd7;
    mov.u64 %rd9, table; setp.lt.u32 %p1, %r1, 9;
"""
"""%rd5, %rd6: this thread's words of `out` and `index`; %r7: of shared memory; %rd8 repeats."""
TABLE = ".const .align 4 .u32 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};"
PARAMETERS = "u64 out, u64 index, u64 fixed"


def _kernel(compile_ptx: Compile, body: str) -> Kernel:
    return compile_ptx(f"{START}\nbra.uni NEXT;\nNEXT: {body}\nret;", PARAMETERS, TABLE)


def _arguments(words: int) -> tuple[Words, Words, Words]:
    index = np.arange(words, dtype=np.uint32)[::-1].copy() % 24
    fixed = np.arange(100, 108, dtype=np.uint32)
    fixed.flags.writeable = False
    return np.arange(words, dtype=np.uint32), index, fixed


# Bodies whose accesses are all good with 160 words of each array.
GOOD = {
    "loads around": """ld.global.u32 %r10, [%rd5+64]; ld.global.u32 %r11, [%rd5];
        ld.global.u32 %r12, [%rd5+128]; add.u32 %r10, %r10, %r11; add.u32 %r10, %r10, %r12;
        st.global.u32 [%rd5], %r10;""",
    "load after store": """st.global.u32 [%rd5], 7; ld.global.u32 %r10, [%rd5];
        add.u32 %r10, %r10, %r1; st.global.u32 [%rd5+4], %r10; ld.global.u32 %r11, [%rd5+4];
        st.global.u32 [%rd5+8], %r11;""",
    "shared": """st.shared.u32 [%r7], %r1; st.shared.u32 [%r7+128], %r2; bar.sync 0;
        ld.shared.u32 %r10, [%r7]; ld.shared.u32 %r11, [%r7+4]; ld.shared.u32 %r12, [tile+128];
        ld.shared.u32 %r13, [tile+140]; add.u32 %r10, %r10, %r11; add.u32 %r12, %r12, %r13;
        mad.lo.u32 %r10, %r10, %r12, %r13; st.global.u32 [%rd5], %r10;""",
    "base changes": """ld.global.u32 %r10, [%rd5]; add.s64 %rd5, %rd5, 4;
        ld.global.u32 %r11, [%rd5]; add.s64 %rd5, %rd5, 4; ld.global.u32 %r12, [%rd5+4];
        sub.u32 %r10, %r11, %r10; add.u32 %r10, %r10, %r12; st.global.u32 [%rd5], %r10;""",
    "base is loaded": """ld.global.u32 %r10, [%rd6]; ld.global.u32 %r11, [%rd6+4];
        mad.wide.u32 %rd10, %r10, 4, %rd1; ld.global.u32 %r12, [%rd10];
        ld.global.u32 %r13, [%rd10+8]; add.u32 %r12, %r12, %r13; add.u32 %r12, %r12, %r11;
        st.shared.u32 [%r7], %r12; ld.shared.u32 %r14, [%r7]; st.global.u32 [%rd6], %r14;""",
    "address read before it is written": """ld.global.u32 %r10, [%rd5]; add.u32 %r11, %r6, %r10;
        add.u32 %r6, %r5, 64; st.shared.u32 [%r6], %r11; ld.shared.u32 %r12, [%r6];
        st.global.u32 [%rd5], %r12;""",
    "guards": """ld.global.u32 %r10, [%rd5]; mov.u32 %r11, 3; @%p1 ld.global.u32 %r11, [%rd5+4];
        ld.global.u32 %r12, [%rd5+8]; @%p1 add.u32 %r12, %r12, %r11;
        @!%p1 st.global.u32 [%rd6], %r12; st.global.u32 [%rd5], %r12;""",
    "predicate passed on": """ld.global.u32 %r10, [%rd5]; ld.global.u32 %r11, [%rd5+4];
        setp.lt.u32 %p2, %r10, 20; ld.global.u32 %r12, [%rd5+8]; @%p2 bra SKIP;
        st.global.u32 [%rd6], %r11; SKIP: st.global.u32 [%rd6+8], %r12;""",
    "vectors": """mul.wide.u32 %rd10, %r1, 8; add.s64 %rd10, %rd10, %rd1;
        ld.global.v2.u32 {%r10, %r11}, [%rd10]; ld.global.v2.u32 {%r12, %r13}, [%rd10+16];
        ld.global.u32 %r14, [%rd10+4]; add.u32 %r10, %r10, %r13; add.u32 %r11, %r12, %r14;
        st.global.v2.u32 [%rd10], {%r10, %r11};""",
    "shared places": """ld.global.u32 %r10, [%rd8]; ld.global.u32 %r11, [%rd8+4];
        ld.global.u8 %r12, [%rd8+5]; add.u32 %r10, %r10, %r11; add.u32 %r10, %r10, %r12;
        st.global.u32 [%rd6], %r10;""",
    "constants": """ld.const.u32 %r10, [%rd9]; ld.const.u32 %r11, [%rd9+28];
        ld.const.u32 %r12, [table+8]; add.u32 %r10, %r10, %r11; add.u32 %r10, %r10, %r12;
        st.global.u32 [%rd5], %r10;""",
    "read only": """ld.global.u32 %r10, [%rd3]; ld.global.u32 %r11, [%rd3+28];
        add.u32 %r10, %r10, %r11; st.global.u32 [%rd5], %r10;""",
    "some lanes": """@!%p1 bra SKIP; ld.global.u32 %r10, [%rd5]; ld.shared.u32 %r11, [%r7];
        ld.shared.u32 %r12, [%r7+4]; add.u32 %r10, %r10, %r12; st.global.u32 [%rd5+4], %r10;
        SKIP: st.global.u32 [%rd6], %r1;""",
    "atomic between": """ld.global.u32 %r10, [%rd5]; atom.global.add.u32 %r11, [%rd5+4], 3;
        ld.global.u32 %r12, [%rd5+4]; add.u32 %r12, %r12, %r11; st.global.u32 [%rd6], %r12;""",
    "loop": """mov.u32 %r9, 0; mov.u32 %r14, 0;
        L: ld.global.u32 %r10, [%rd5]; ld.global.u32 %r11, [%rd5+4]; add.u32 %r14, %r14, %r10;
        mad.lo.u32 %r14, %r11, 3, %r14; add.s64 %rd5, %rd5, 16; add.u32 %r9, %r9, 1;
        setp.lt.u32 %p2, %r9, 5; @%p2 bra L; st.global.u32 [%rd6], %r14;""",
    "index that may wrap": """add.u32 %r9, %r4, %r10; mul.wide.u32 %rd10, %r9, 4;
        add.s64 %rd10, %rd10, %rd1; ld.global.u32 %r10, [%rd10]; ld.global.u32 %r11, [%rd10+4];
        st.global.u32 [%rd10+8], %r11; st.global.u32 [%rd6], %r10;""",
}


def _accesses(trace: Trace) -> Counter[tuple[Any, ...]]:
    table, patterns = trace.accesses, trace.patterns
    columns = (table.warp, table.time, table.pc, table.stage, table.address, table.pattern)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return Counter((*r[:5], int(patterns.mask[r[5]]), *patterns.offsets[r[5]]) for r in rows)


def _counts(trace: Trace) -> Counter[tuple[Any, ...]]:
    """How often full warps touched shared and constant memory, by place."""
    table, patterns, found = trace.pattern_counts, trace.patterns, Counter[tuple[Any, ...]]()
    columns = (table.pc, table.stage, table.start, table.pattern, table.count)
    for pc, stage, start, pattern, count in zip(*(c.tolist() for c in columns), strict=True):
        found[pc, stage, start, *patterns.offsets[pattern]] += count
    return found


def _assert_same(one: Trace, other: Trace) -> None:
    assert _accesses(one) == _accesses(other)
    assert _counts(one) == _counts(other)
    np.testing.assert_array_equal(one.stage_warp_issues, other.stage_warp_issues)
    np.testing.assert_array_equal(one.warp_time, other.warp_time)


@pytest.mark.drawn(8)
@pytest.mark.parametrize(("threads", "width"), [(32, 32), (40, 32), (7, 8), (64, 64)])
@pytest.mark.parametrize("name", GOOD)
def test_grouped_accesses_do_what_single_ones_do(
    compile_ptx: Compile, monkeypatch: pytest.MonkeyPatch, name: str, threads: int, width: int
) -> None:
    """Memory, traces and counters equal those with one check each, and the reference engine's."""
    results = {}
    for way in ("grouped", "single", "reference"):
        arguments = _arguments(160)
        launch = Launch((1, 1, 1), (threads, 1, 1), arguments)
        if way == "single":
            monkeypatch.setattr(check_groups, "_FEWEST_ACCESSES", 1 << 30)
        engine = "reference" if way == "reference" else "jit"
        kernel = _kernel(compile_ptx, GOOD[name])
        results[way] = execute(kernel, launch, engine=engine, warp_width=width), arguments
        execute(kernel, launch, engine=engine, warp_width=width, record_memory=False)
    trace, arguments = results["grouped"]
    for other, others_arguments in (results["single"], results["reference"]):
        _assert_same(trace, other)
        if other.engine == "reference" and threads > width:
            continue  # it runs all warps of a thread block at once: their order is another one
        for mine, others in zip(arguments, others_arguments, strict=True):
            np.testing.assert_array_equal(mine, others)


@dataclass(frozen=True)
class Failure:
    """The last but one access of a group fails in `thread`; stores before it have happened."""

    body: str
    text: str
    thread: int


LOADS = "ld.global.u32 %r10, [%rd5]; {}; ld.global.u32 %r11, [%rd5+{}]; st.global.u32 [%rd6], 9;"
FAILURES = {
    "last lane": Failure(LOADS.format("st.global.u32 [%rd6], 5", 512), "past the end of out", 32),
    "all lanes": Failure(LOADS.format("st.global.u32 [%rd6], 5", 640), "past the end of out", 0),
    "before": Failure(LOADS.format("st.global.u32 [%rd5], 5", -4), "4 bytes before out", 0),
    "far before": Failure(LOADS.format("st.global.u32 [%rd6], 5", -4096), "before out", 0),
    "misaligned": Failure(LOADS.format("st.global.u32 [%rd5], 5", 6), "misaligned for 4 bytes", 0),
    "store": Failure(
        "st.global.u32 [%rd5], 5; ld.global.u32 %r10, [%rd5+4]; st.global.u32 [%rd5+640], 6;",
        "past the end of out",
        0,
    ),
    "read only": Failure(
        "ld.global.u32 %r10, [%rd3]; st.global.u32 [%rd5], 5; st.global.u32 [%rd3+4], 6;",
        "store to a read-only array",
        -1,
    ),
    "shared": Failure(
        "st.shared.u32 [%r7], 3; ld.shared.u32 %r10, [%r7]; st.global.u32 [%rd5], %r10; "
        "ld.shared.u32 %r11, [%r7+516];",
        "outside shared memory of 640 bytes",
        31,
    ),
    "shared before": Failure(
        "st.shared.u32 [%r7], 3; st.global.u32 [%rd5], 5; ld.shared.u32 %r10, [%r7+-8];",
        "outside shared memory of 640 bytes",
        0,
    ),
    "constant": Failure(
        "ld.const.u32 %r10, [%rd9]; st.global.u32 [%rd5], %r10; ld.const.u32 %r11, [%rd9+32];",
        "outside constant memory of 32 bytes",
        0,
    ),
    "computed in between": Failure(
        "ld.global.u32 %r10, [%rd5]; st.global.u32 [%rd5], 5; add.s64 %rd10, %rd5, 640; "
        "ld.global.u32 %r11, [%rd10]; st.global.u32 [%rd5], 6;",
        "past the end of out",
        0,
    ),
    "gather": Failure(
        "ld.global.u32 %r10, [%rd6]; mad.wide.u32 %rd10, %r10, 4, %rd1; "
        "ld.global.u32 %r11, [%rd10]; st.global.u32 [%rd10+4], 5; ld.global.u32 %r12, [%rd10+552];",
        "past the end of out",
        16,
    ),
    "pattern": Failure(
        "ld.global.u32 %r10, [%rd8]; st.global.u32 [%rd5], 5; ld.global.u32 %r11, [%rd8+624];",
        "past the end of out",
        2,
    ),
}


@pytest.mark.drawn(13)
@pytest.mark.parametrize("record", [False, True])
@pytest.mark.parametrize("name", FAILURES)
def test_an_access_outside_fails_where_it_is(compile_ptx: Compile, name: str, record: bool) -> None:
    """Same error, same thread, and the same memory as in the reference engine."""
    failure, found = FAILURES[name], []
    kernel = _kernel(compile_ptx, failure.body)
    threads = 33 if failure.thread == 32 else 32
    for engine in ("jit", "reference"):
        arguments = _arguments(160)
        launch = Launch((1, 1, 1), (threads, 1, 1), arguments)
        with pytest.raises(ExecutionError, match=failure.text) as caught:
            execute(kernel, launch, engine=engine, record_memory=record)
        if failure.thread >= 0:
            assert f"thread ({failure.thread}, 0, 0)" in str(caught.value)
        found.append((str(caught.value), caught.value.span, arguments))
    (text, span, memory), (expected, expected_span, expected_memory) = found
    assert (text, span) == (expected, expected_span)
    if threads == 32:  # the reference engine runs both warps of a thread block at once
        for mine, others in zip(memory, expected_memory, strict=True):
            np.testing.assert_array_equal(mine, others)


def _plan(compile_ptx: Compile, body: str) -> tuple[Stretch, ...]:
    kernel = _kernel(compile_ptx, body)
    block = next(b for b in kernel.blocks if b.index == 1)
    return stretches(block, lambda access: True)


def test_what_is_checked_together(compile_ptx: Compile) -> None:
    """Groups go by base, size and distance; from the lowest to the highest."""
    (stretch,) = _plan(
        compile_ptx,
        "ld.global.u32 %r10, [%rd5+8]; ld.global.u32 %r11, [%rd6]; ld.global.u32 %r12, [%rd5+-4];"
        "ld.global.u16 %rs1, [%rd5]; st.global.u32 [%rd5+16], %r10; ld.global.u32 %r13, [%rd5+2];"
        "ld.shared.u32 %r14, [tile];",
    )
    found = [
        (len(g.accesses), g.lowest.address.offset, access_bytes(g.lowest), g.reach, g.writes)
        for g in stretch.groups
    ]
    assert found == [
        (3, -4, 4, 20, True),
        (1, 0, 4, 0, False),
        (1, 0, 2, 0, False),
        (1, 2, 4, 0, False),
        (1, 0, 4, 0, False),
    ]


@pytest.mark.parametrize(
    ("body", "groups"),
    [
        ("ld.global.u32 %r10, [%rd5];", []),
        ("ld.global.u32 %r10, [%rd5]; @%p1 ld.global.u32 %r11, [%rd5+4];", []),
        ("ld.global.u32 %r10, [%rd5]; ld.global.u32 %r11, [%rd5+4];", [2]),
        ("ld.global.u32 %r10, [%rd5]; add.s64 %rd5, %rd5, 4; ld.global.u32 %r11, [%rd5];", []),
        (
            "ld.global.u32 %r10, [%rd5]; add.s64 %rd10, %rd5, 4; ld.global.u32 %r11, [%rd10];",
            [1, 1],
        ),
        ("ld.global.u64 %rd10, [%rd5]; ld.global.u32 %r11, [%rd10];", []),
        (
            "ld.global.u64 %rd10, [%rd5]; ld.global.u32 %r11, [%rd10]; "
            "ld.global.u32 %r11, [%rd10+4];",
            [2],
        ),
    ],
)
def test_bases_must_be_known(compile_ptx: Compile, body: str, groups: list[int]) -> None:
    plan = _plan(compile_ptx, body)
    assert [len(g.accesses) for stretch in plan for g in stretch.groups] == groups


@pytest.mark.parametrize("name", GOOD)
def test_every_step_is_done_once_and_finds_its_operands(compile_ptx: Compile, name: str) -> None:
    """Accesses stay in order; each register read was written by the same step as in the body."""
    kernel = _kernel(compile_ptx, GOOD[name])
    for block in kernel.blocks:
        plan = stretches(block, lambda access: True)
        steps = [step for stretch in plan for step in stretch.steps]
        assert sorted(position for position, _ in steps) == list(range(len(block.body)))
        assert all(block.body[position] is instruction for position, instruction in steps)
        assert _sources(steps) == _sources(list(enumerate(block.body)))


def _sources(steps: list[tuple[int, Any]]) -> dict[int, tuple[Any, ...]]:
    """Where each register that an instruction names was written last, by position."""
    last: dict[int, int] = {}
    found: dict[int, tuple[Any, ...]] = {}
    accesses = -1
    for position, instruction in steps:
        names = [o for o in getattr(instruction, "sources", ()) if hasattr(o, "index")]
        if hasattr(instruction, "address"):
            names += [instruction.address.base] * hasattr(instruction.address.base, "index")
        before = accesses if hasattr(instruction, "address") else None
        found[position] = (before, *(last.get(r.index) for r in names))
        accesses = position if hasattr(instruction, "address") else accesses
        last.update({r.index: position for r in writes(instruction)})
    found[-1] = tuple(sorted(last.items()))
    return found


@pytest.mark.parametrize("records", [False, True])
def test_a_group_is_straight_line_code(compile_ptx: Compile, records: bool) -> None:
    """Where the check of 12 loads and a store holds, nothing branches up to the last of them."""
    loads = "".join(f"ld.shared.u32 %r{10 + i}, [%r7+{4 * i}]; " for i in range(6))
    loads += "".join(f"ld.global.u32 %r{20 + i}, [%rd5+{4 * i}]; " for i in range(6))
    kernel = _kernel(compile_ptx, f"{loads} st.global.u32 [%rd5], %r20;")
    launch = Launch((1, 1, 1), (32, 1, 1), _arguments(160))
    memory = LaunchMemory(kernel, launch)
    facts = launch_facts(kernel, launch, memory, 32, shared_bytes(kernel, launch))
    ir = generate(kernel, facts, dict(memory.symbols), records).ir
    parts = re.split(r"\n\w+:\n", ir.split("\nB1:\n")[1])
    checks, hot = next((n, part) for n, part in enumerate(parts) if "load <32 x i32>" in part)
    assert len(re.findall(r"load <32 x i32>", hot)) == 12
    assert len(re.findall(r"store <32 x i32> %\w+, ptr %t", hot)) == 1
    assert len(re.findall("icmp ult i64", "".join(parts[:checks]))) == 2
