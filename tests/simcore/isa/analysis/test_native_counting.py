"""The native counting rules of docs/counting.md, each on a kernel made for it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.traces.trace import InstructionRow

Compile = Callable[..., Kernel]

SHARED = ".shared .align 4 .b8 tile[4096]; mov.u32 %r1, %tid.x; mov.u32 %r2, tile;"


def native(kernel: Kernel, prefix: str) -> list[InstructionRow]:
    return [
        row
        for row in instruction_rows(kernel)
        if row.mnemonic.startswith(prefix) and row.is_counted_natively
    ]


def loads(kernel: Kernel) -> int:
    return len(native(kernel, "ld.shared"))


def test_parameters_conversions_of_space_and_moves_count_nothing(compile_ptx: Compile) -> None:
    kernel = compile_ptx(
        """ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, 5;
        mov.u32 %r2, %tid.x; mov.u32 %r3, %r2; mov.b64 %rd3, {%r1, %r3}; mov.b64 {%r4, %r5}, %rd3;
        add.u32 %r6, %r4, %r5; st.global.u32 [%rd2], %r6; ret;"""
    )
    counted = [row.mnemonic for row in instruction_rows(kernel) if row.is_counted_natively]
    assert counted == ["mov.u32", "add.u32", "st.global.u32", "ret"]  # the move reads %tid.x


def test_code_for_debugging_keeps_its_moves_and_single_accesses(compile_ptx: Compile) -> None:
    """What ptxas -g makes of such a kernel has an instruction for each of them."""
    body = """ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, 5;
        mov.u32 %r3, %r1; ld.shared.u32 %r4, [tile]; ld.shared.u32 %r5, [tile+4]; ret;"""
    module = ".shared .align 16 .b8 tile[64];"
    counted = [
        [
            row.mnemonic
            for row in instruction_rows(kernel)
            if row.is_native and row.is_counted_natively
        ]
        for kernel in (
            compile_ptx(body, module=module),
            compile_ptx(body, module=module, target="sm_75, debug"),
        )
    ]
    assert counted[0] == ["ld.shared.u32", "ret"]
    assert counted[1] == ["mov.u32", "mov.u32", "ld.shared.u32", "ld.shared.u32", "ret"]


def test_four_neighbours_at_an_aligned_place_are_one_access(compile_ptx: Compile) -> None:
    body = (
        SHARED
        + """
    shl.b32 %r3, %r1, 4; add.u32 %r4, %r2, %r3;
    ld.shared.f32 %f1, [%r4]; ld.shared.f32 %f2, [%r4+4]; add.f32 %f5, %f1, %f2;
    ld.shared.f32 %f3, [%r4+12]; ld.shared.f32 %f4, [%r4+8]; ret;"""
    )
    kernel = compile_ptx(body)
    assert loads(kernel) == 1
    first = native(kernel, "ld.shared")[0]
    rows = [r for r in instruction_rows(kernel) if r.mnemonic == "ld.shared.f32"]
    assert {row.merged_into for row in rows} == {first.pc}
    assert sum(row.mnemonic == "ld.shared.f32" for row in instruction_rows(kernel)) == 4


@pytest.mark.parametrize("space", ["shared", "shared::cta"])
def test_a_way_through_generic_addresses_keeps_the_alignment(
    compile_ptx: Compile, space: str
) -> None:
    body = f""".shared .align 16 .b8 tile[64]; mov.u64 %rd1, tile;
    cvta.{space}.u64 %rd2, %rd1; cvta.to.{space}.u64 %rd3, %rd2;
    ld.shared.f32 %f1, [%rd3]; ld.shared.f32 %f2, [%rd3+4]; ret;"""
    assert loads(compile_ptx(body)) == 1


@pytest.mark.parametrize(
    ("shift", "expected"),
    [(4, 1), (3, 2), (2, 4)],
    ids=["16-byte steps", "8-byte steps", "4-byte steps"],
)
def test_alignment_must_be_provable(compile_ptx: Compile, shift: int, expected: int) -> None:
    body = (
        SHARED
        + f"shl.b32 %r3, %r1, {shift}; add.u32 %r4, %r2, %r3;"
        + "".join(f"ld.shared.f32 %f{i}, [%r4+{4 * i}];" for i in range(4))
    )
    assert loads(compile_ptx(body + "ret;")) == expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("mul.lo.u32 %r3, %r1, 48; add.u32 %r4, %r2, %r3;", 1),
        ("mad.lo.u32 %r4, %r1, 24, %r2;", 2),
        ("mad.lo.u32 %r4, %r1, 20, %r2;", 4),
        ("and.b32 %r3, %r1, 240; add.u32 %r4, %r2, %r3;", 1),
        ("add.u32 %r3, %r1, %r1; add.u32 %r4, %r2, %r3;", 4),
        ("shl.b32 %r3, %r1, %r1; add.u32 %r4, %r2, %r3;", 4),
    ],
)
def test_the_proof_follows_integer_arithmetic(
    compile_ptx: Compile, address: str, expected: int
) -> None:
    body = SHARED + address + "".join(f"ld.shared.f32 %f{i}, [%r4+{4 * i}];" for i in range(4))
    assert loads(compile_ptx(body + "ret;")) == expected


def test_a_proof_holds_in_a_loop_only_if_every_step_keeps_it(compile_ptx: Compile) -> None:
    def body(step: int) -> str:
        return (
            SHARED
            + f"""
        mov.u32 %r4, %r2; mov.u32 %r5, 0;
L:      ld.shared.f32 %f1, [%r4]; ld.shared.f32 %f2, [%r4+4]; ld.shared.f32 %f3, [%r4+8];
        ld.shared.f32 %f4, [%r4+12]; add.u32 %r4, %r4, {step}; add.u32 %r5, %r5, 1;
        setp.lt.u32 %p1, %r5, 8; @%p1 bra L; ret;"""
        )

    assert loads(compile_ptx(body(32))) == 1
    assert loads(compile_ptx(body(8))) == 2
    assert loads(compile_ptx(body(4))) == 4


@pytest.mark.parametrize(
    "between",
    [
        "st.shared.f32 [%r2], %f9;",
        "membar.cta;",
        "bar.sync 0;",
        "atom.shared.add.u32 %r9, [%r2], 1;",
    ],
)
def test_stores_fences_barriers_and_atomics_stand_between(
    compile_ptx: Compile, between: str
) -> None:
    body = SHARED + f"ld.shared.f32 %f1, [%r2]; {between} ld.shared.f32 %f2, [%r2+4]; ret;"
    assert loads(compile_ptx(body)) == 2
    assert loads(compile_ptx(body.replace(between, "add.f32 %f9, %f1, %f1;"))) == 1


def test_the_base_must_have_the_same_value(compile_ptx: Compile) -> None:
    body = SHARED + "ld.shared.f32 %f1, [%r2]; {} ld.shared.f32 %f2, [%r2+4]; ret;"
    assert loads(compile_ptx(body.format("add.u32 %r2, %r2, 16;"))) == 2
    assert loads(compile_ptx(body.format("add.u32 %r3, %r2, 16;"))) == 1


def test_holes_volatile_and_guarded_accesses_stay_apart(compile_ptx: Compile) -> None:
    pair = SHARED + "setp.eq.u32 %p1, %r1, 0; {} ret;"
    for text, expected in (
        ("ld.shared.f32 %f1, [%r2]; ld.shared.f32 %f2, [%r2+8];", 2),
        ("ld.shared.f32 %f1, [%r2+4]; ld.shared.f32 %f2, [%r2+8];", 2),
        ("ld.volatile.shared.f32 %f1, [%r2]; ld.volatile.shared.f32 %f2, [%r2+4];", 2),
        ("@%p1 ld.shared.f32 %f1, [%r2]; @%p1 ld.shared.f32 %f2, [%r2+4];", 2),
        ("ld.shared.f32 %f1, [%r2]; ld.shared.f64 %fd2, [%r2+8];", 2),
        ("ld.shared.f32 %f1, [tile]; ld.shared.f32 %f2, [tile+4];", 1),
        ("ld.shared.v2.f32 {%f1, %f2}, [%r2]; ld.shared.v2.f32 {%f3, %f4}, [%r2+8];", 1),
    ):
        found = native(compile_ptx(pair.format(text)), "ld.")
        assert len(found) == expected, text


def test_nothing_is_assumed_of_pointers(compile_ptx: Compile) -> None:
    body = """ld.param.u64 %rd1, [out];
    ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+4]; ret;"""
    assert len(native(compile_ptx(body), "ld.global")) == 2
    masked = body.replace("[%rd1", "[%rd2").replace("[out];", "[out]; and.b64 %rd2, %rd1, -16;")
    assert len(native(compile_ptx(masked), "ld.global")) == 1


def test_stores_merge_unless_memory_is_touched_between(compile_ptx: Compile) -> None:
    body = SHARED + "st.shared.f32 [%r2], %f1; {} st.shared.f32 [%r2+4], %f2; ret;"
    for between, expected in (("add.f32 %f3, %f1, %f2;", 1), ("ld.shared.f32 %f4, [%r2+64];", 2)):
        assert len(native(compile_ptx(body.format(between)), "st.shared")) == expected


def integer_work(kernel: Kernel) -> list[str]:
    """Mnemonics that count and are not those of accesses and control."""
    return [
        row.mnemonic
        for row in instruction_rows(kernel)
        if row.is_counted_natively and row.kind == "compute"
    ]


WIDENED = """ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n]; mul.wide.s32 %rd2, %r1, 1;
    cvt.u64.u32 %rd3, %r1; mad.lo.s64 %rd4, %rd2, 8, %rd3;"""


def test_an_extension_counts_only_where_its_upper_half_is_read(compile_ptx: Compile) -> None:
    """Addresses of shared memory have 32 bits, those of global memory 64."""
    declared = ".shared .align 4 .b8 tile[4096];"
    narrow = f"{declared} {WIDENED} st.shared.u32 [%rd4], %r1; ret;"
    found = integer_work(compile_ptx(narrow, "u64 out, u32 n"))
    assert found == ["mad.lo.s64"]
    wide = f"{WIDENED} add.s64 %rd5, %rd4, %rd1; st.global.u32 [%rd5], %r1; ret;"
    found = integer_work(compile_ptx(wide, "u64 out, u32 n"))
    assert found == ["mul.wide.s32", "cvt.u64.u32", "mad.lo.s64", "add.s64"]


@pytest.mark.parametrize(
    "reader",
    [
        "shr.u64 %rd5, %rd4, 3; cvt.u32.u64 %r2, %rd5;",  # brings upper bits down
        "setp.lt.s64 %p1, %rd4, 5; selp.u32 %r2, 1, 2, %p1;",
        "div.s64 %rd5, %rd4, 3; cvt.u32.u64 %r2, %rd5;",
        "cvt.rn.f32.s64 %f1, %rd4; mov.b32 %r2, %f1;",
    ],
)
def test_upper_halves_are_read_by_what_depends_on_them(compile_ptx: Compile, reader: str) -> None:
    body = f"{WIDENED} {reader} st.global.u32 [%rd1], %r2; ret;"
    found = integer_work(compile_ptx(body, "u64 out, u32 n"))
    assert found[:2] == ["mul.wide.s32", "cvt.u64.u32"]


def test_a_truncation_takes_a_register_as_it_is(compile_ptx: Compile) -> None:
    body = f"{WIDENED} cvt.u32.u64 %r2, %rd4; st.global.u32 [%rd1], %r2; ret;"
    assert integer_work(compile_ptx(body, "u64 out, u32 n")) == ["mad.lo.s64"]
    limited = f"{WIDENED} cvt.sat.u32.s64 %r2, %rd4; st.global.u32 [%rd1], %r2; ret;"
    assert "cvt.sat.u32.s64" in integer_work(compile_ptx(limited, "u64 out, u32 n"))


def test_a_loop_may_need_the_upper_half_of_what_it_passes_on(compile_ptx: Compile) -> None:
    """The register is read in full only by the access behind the loop."""
    body = """ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n]; cvt.u64.u32 %rd2, %r1;
    mov.u32 %r2, 0; L: add.s64 %rd2, %rd2, 4; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 3;
    @%p1 bra L; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r2; ret;"""
    assert "cvt.u64.u32" in integer_work(compile_ptx(body, "u64 out, u32 n"))


def test_merged_counts_reach_the_trace(
    compile_ptx: Compile, run_kernel: Callable[..., object]
) -> None:
    body = SHARED + """ld.shared.f32 %f1, [%r2]; ld.shared.f32 %f2, [%r2+4]; ret;"""
    trace = run_kernel(compile_ptx(body), [np.zeros(1)], block=64, grid=3)
    _, lanes = trace.classes.totals()  # type: ignore[attr-defined]
    rows = trace.instructions  # type: ignore[attr-defined]
    merged = sum(int(lanes[r.pc]) for r in rows if r.space == "shared" and r.is_counted_natively)
    assert merged == 192
    assert sum(int(lanes[r.pc]) for r in rows if r.space == "shared") == 384
