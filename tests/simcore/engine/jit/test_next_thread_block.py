"""How far on the next thread block loads: by the addresses that each thread block computes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernelcast.simcore.engine.jit.analysis.lane_variance import constant_variance
from kernelcast.simcore.engine.jit.analysis.next_thread_block import bytes_ahead
from kernelcast.simcore.isa.ir.kernel import Kernel, Load

Compile = Callable[..., Kernel]
START = """ld.param.u64 %rd1, [data]; ld.param.u32 %r9, [n]; mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;"""
WAIT = "bar.sync 0; st.global.u32 [%rd1], %r8; ret;"


def distances(kernel: Kernel, ntid: int = 128) -> list[int]:
    """Distances of all loads that have one, in the order of the program; `%r3` is known."""
    known = {register.index: register for register in kernel.registers}
    size = next(i for i, r in known.items() if r.name == "%r3")
    found = bytes_ahead(kernel, {size: constant_variance(32, ntid)})
    return [found[i.pc] for i in kernel.instructions if isinstance(i, Load) and i.pc in found]


def index(text: str) -> str:
    """A load of 4 bytes at the index in %r4, which `text` computes."""
    return f"{START}{text} mul.wide.s32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;"


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("mad.lo.s32 %r4, %r2, %r3, %r1;", 128 * 4),
        ("shl.b32 %r5, %r2, 9; add.s32 %r4, %r5, %r1;", 512 * 4),
        ("shl.b32 %r5, %r2, 9; or.b32 %r4, %r5, %r1;", 512 * 4),
        ("mul.lo.s32 %r5, %r2, 3; sub.s32 %r4, %r1, %r5;", -3 * 4),
        ("mov.u32 %r5, %ctaid.y; mad.lo.s32 %r4, %r5, %r3, %r2;", 4),
    ],
)
def test_indices_that_grow_with_the_thread_block(
    compile_ptx: Compile, text: str, step: int
) -> None:
    kernel = compile_ptx(f"{index(text)} ld.global.u32 %r8, [%rd3+8]; {WAIT}", "u64 data, u32 n")
    assert distances(kernel) == [step]


@pytest.mark.parametrize(
    "text",
    [
        "add.s32 %r4, %r1, 5;",
        "mul.lo.s32 %r4, %r2, %r9;",
        "mul.lo.s32 %r4, %r2, %r2;",
        "rem.u32 %r4, %r2, 7;",
        "ld.global.u32 %r4, [%rd1]; add.s32 %r4, %r4, %r2;",
    ],
)
def test_others_have_no_distance(compile_ptx: Compile, text: str) -> None:
    kernel = compile_ptx(f"{index(text)} ld.global.u32 %r8, [%rd3]; {WAIT}", "u64 data, u32 n")
    assert distances(kernel) == []


def test_a_loop_keeps_its_distance(compile_ptx: Compile) -> None:
    body = f"""{index("shl.b32 %r5, %r2, 9; add.s32 %r4, %r5, %r1;")} mov.u32 %r6, 0;
        L: ld.global.u32 %r8, [%rd3]; add.s64 %rd3, %rd3, 1024; add.u32 %r6, %r6, 1;
        setp.lt.u32 %p1, %r6, 4; @%p1 bra L;"""
    kernel = compile_ptx(f"{body} {WAIT}", "u64 data, u32 n")
    assert distances(kernel) == [2048]


def test_loops_with_barriers_and_kernels_without_ask_for_nothing(compile_ptx: Compile) -> None:
    head = index("shl.b32 %r5, %r2, 9; add.s32 %r4, %r5, %r1;")
    loop = """mov.u32 %r6, 0; L: ld.global.u32 %r8, [%rd3]; bar.sync 0; add.u32 %r6, %r6, 1;
        setp.lt.u32 %p1, %r6, 4; @%p1 bra L;"""
    assert distances(compile_ptx(f"{head}{loop}{WAIT}", "u64 data, u32 n")) == []
    plain = f"{head} ld.global.u32 %r8, [%rd3]; st.global.u32 [%rd1], %r8; ret;"
    assert distances(compile_ptx(plain, "u64 data, u32 n")) == []
