"""Recursive functions, calls through pointers and `alloca`, on both engines."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from kernelcast.errors import (
    AssertionTriggered,
    MemoryAccessError,
    UnsupportedInstruction,
)
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.traces.trace import Trace

Run = Callable[..., Trace]


@pytest.fixture(autouse=True, params=sorted(ENGINES))
def every_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test runs once with each engine as the one that `execute` takes by default."""
    defaults = {**(execute.__kwdefaults__ or {}), "engine": request.param}
    monkeypatch.setattr(execute, "__kwdefaults__", defaults)


THREAD = """
    mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd1, %rd1, %rd2;"""
CALL = """.param .b32 p; .param .b32 q; st.param.b32 [p], %r2; call (q), f, (p);
    ld.param.b32 %r3, [q]; st.global.u32 [%rd1], %r3; ret;"""

FIBONACCI = """
.func (.param .b32 r) f(.param .b32 n)
{ .reg .b32 %r<9>; .reg .pred %p;
  ld.param.b32 %r1, [n]; mov.u32 %r4, %r1; setp.lt.u32 %p, %r1, 2; @%p bra DONE;
  sub.u32 %r2, %r1, 1;
  { .param .b32 p; .param .b32 q; st.param.b32 [p], %r2; call (q), f, (p); ld.param.b32 %r3, [q]; }
  sub.u32 %r2, %r1, 2;
  { .param .b32 p; .param .b32 q; st.param.b32 [p], %r2; call (q), f, (p); ld.param.b32 %r4, [q]; }
  add.u32 %r4, %r4, %r3;
DONE: st.param.b32 [r], %r4; ret; }"""


@cache
def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@cache
def instructions_of_fibonacci(n: int) -> int:
    """Four before the branch and two after it, or 13 and both calls."""
    if n < 2:
        return 6
    return 15 + sum(instructions_of_fibonacci(m) for m in (n - 1, n - 2))


def test_a_function_that_calls_itself_twice(run_ptx: Run) -> None:
    """Lanes are at different depths; what they need after the first call survives it."""
    out = np.zeros(40, np.uint32)
    body = f"{THREAD} rem.u32 %r2, %r1, 9; {CALL}"
    trace = run_ptx(body, "u64 out", [out], module=FIBONACCI, block=40)
    depths = [i % 9 for i in range(40)]
    assert out.tolist() == [fibonacci(n) for n in depths]
    _, threads = trace.source_instructions()
    assert threads == sum(5 + 5 + instructions_of_fibonacci(n) for n in depths)


def test_pushed_registers_are_no_instructions_of_the_source(run_ptx: Run) -> None:
    body = f"{THREAD} rem.u32 %r2, %r1, 9; {CALL}"
    trace = run_ptx(body, "u64 out", [np.zeros(32, np.uint32)], module=FIBONACCI)
    added = [row for row in trace.instructions if not row.is_source]
    assert {row.mnemonic for row in added} >= {"st.local.b32", "ld.local.b32"}
    assert all(row.is_native or row.mnemonic.startswith("mov") for row in added)
    _, lanes = trace.classes.totals()
    assert lanes.sum() > trace.source_instructions()[1]


def test_local_variables_of_each_call_are_its_own(run_ptx: Run) -> None:
    """Each call fills its array, calls itself, and adds the array up afterwards."""
    module = """
.func (.param .b32 r) f(.param .b32 n)
{ .local .align 8 .b8 depot[32]; .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .pred %p<3>;
  mov.u64 %rd1, depot; cvta.local.u64 %rd2, %rd1; ld.param.b32 %r1, [n];
  st.u32 [%rd2+4], %r1; mul.lo.u32 %r2, %r1, %r1; st.local.u32 [depot+8], %r2;
  mov.u32 %r5, 0; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE;
  sub.u32 %r3, %r1, 1; setp.gt.u32 %p2, %r1, 3;
  { .param .b32 p; .param .b32 q; st.param.b32 [p], %r3; call (q), f, (p); ld.param.b32 %r4, [q]; }
  ld.local.u32 %r5, [%rd1+4]; ld.u32 %r6, [%rd2+8]; add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r4;
  @%p2 add.u32 %r5, %r5, 1000;
DONE: st.param.b32 [r], %r5; ret; }"""
    out = np.zeros(32, np.uint32)
    run_ptx(f"{THREAD} rem.u32 %r2, %r1, 11; {CALL}", "u64 out", [out], module=module)
    expected = [
        sum(n + n * n + 1000 * (n > 3) for n in range(1, depth % 11 + 1)) for depth in range(32)
    ]
    assert out.tolist() == expected


def test_two_functions_that_call_each_other(run_ptx: Run) -> None:
    """n + 2 (n - 1) + (n - 2) + ...; arguments are passed as registers and in another order."""
    module = """
.func (.reg .b32 r) g(.reg .b32 sum, .reg .b32 n);
.func (.param .b32 r) f(.param .b32 n)
{ .reg .b32 %r<5>; .reg .pred %p;
  ld.param.b32 %r1, [n]; mov.u32 %r2, 0; setp.eq.u32 %p, %r1, 0; @%p bra DONE;
  call (%r2), g, (%r1, %r1);
DONE: st.param.b32 [r], %r2; ret; }
.func (.reg .b32 r) g(.reg .b32 sum, .reg .b32 n)
{ .reg .b32 %r<5>; .param .b32 p; .param .b32 q;
  sub.u32 %r1, n, 1; st.param.b32 [p], %r1; call (q), f, (p); ld.param.b32 %r2, [q];
  mad.lo.u32 r, %r1, 2, sum; add.u32 r, r, %r2; ret; }"""
    out = np.zeros(32, np.uint32)
    run_ptx(f"{THREAD} mov.u32 %r2, %r1; {CALL}", "u64 out", [out], module=module)
    assert out.tolist() == [sum(k + 2 * (k - 1) for k in range(1, n + 1)) for n in range(32)]


def test_endless_recursion_fills_the_stack(run_ptx: Run) -> None:
    module = FIBONACCI.replace("setp.lt.u32 %p, %r1, 2", "setp.eq.u32 %p, %r1, 4000000000")
    with pytest.raises(MemoryAccessError, match="call stack is full"):
        run_ptx(
            f"{THREAD} mov.u32 %r2, %r1; {CALL}",
            "u64 out",
            [np.zeros(32, np.uint32)],
            module=module,
        )


POINTERS = """
.func (.param .b32 r) sum(.param .b32 a, .param .b32 b)
{ .reg .b32 %r<4>; ld.param.b32 %r1, [a]; ld.param.b32 %r2, [b]; add.u32 %r3, %r1, %r2;
  st.param.b32 [r], %r3; ret; }
.func (.param .b32 r) product(.param .b32 a, .param .b32 b)
{ .reg .b32 %r<4>; ld.param.b32 %r1, [a]; ld.param.b32 %r2, [b]; mul.lo.u32 %r3, %r1, %r2;
  st.param.b32 [r], %r3; ret; }
.func (.param .b64 r) wide(.param .b64 a, .param .b32 b) { ret; }
.global .align 8 .u64 table[4] = {product, sum, wide, 0};"""
CALL_POINTER = """
    .param .b32 p; .param .b32 s; .param .b32 q; st.param.b32 [p], %r1; st.param.b32 [s], 7;
    proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
    call (q), %rd3, (p, s), proto; ld.param.b32 %r3, [q]; st.global.u32 [%rd1], %r3; ret;"""


def test_a_table_of_functions(run_ptx: Run) -> None:
    out = np.zeros(32, np.uint32)
    body = f"""{THREAD} and.b32 %r2, %r1, 1; mul.wide.u32 %rd3, %r2, 8; mov.u64 %rd4, table;
    add.s64 %rd3, %rd3, %rd4; ld.global.u64 %rd3, [%rd3]; {CALL_POINTER}"""
    trace = run_ptx(body, "u64 out", [out], module=POINTERS)
    assert out.tolist() == [i + 7 if i % 2 else i * 7 for i in range(32)]
    _, threads = trace.source_instructions()
    assert threads == 32 * (4 + 5 + 6 + 5)


def test_the_address_of_a_function_in_a_register(run_ptx: Run) -> None:
    out = np.zeros(32, np.uint32)
    body = f"""{THREAD} setp.lt.u32 %p1, %r1, 9; mov.u64 %rd3, sum; mov.u64 %rd4, product;
    selp.b64 %rd3, %rd3, %rd4, %p1; {CALL_POINTER}"""
    run_ptx(body, "u64 out", [out], module=POINTERS)
    assert out.tolist() == [i + 7 if i < 9 else i * 7 for i in range(32)]


@pytest.mark.parametrize("entry", [2, 3])
def test_a_pointer_to_no_function_that_fits(run_ptx: Run, entry: int) -> None:
    body = f"{THREAD} ld.global.u64 %rd3, [table+{8 * entry}]; {CALL_POINTER}"
    with pytest.raises(AssertionTriggered, match="no function with these parameters") as caught:
        run_ptx(body, "u64 out", [np.zeros(32, np.uint32)], module=POINTERS)
    assert caught.value.span is not None
    assert "call (q)" in caught.value.span.text


def test_a_call_through_a_pointer_without_candidates(run_ptx: Run) -> None:
    with pytest.raises(UnsupportedInstruction, match="no function of this file"):
        run_ptx(f"{THREAD} {CALL_POINTER}", "u64 out", [np.zeros(32, np.uint32)])


def test_another_name_of_a_function(run_ptx: Run) -> None:
    out = np.zeros(32, np.uint32)
    module = FIBONACCI.replace("f(", "f0(").replace(" f,", " f0,") + ".alias f, f0;"
    run_ptx(f"{THREAD} rem.u32 %r2, %r1, 5; {CALL}", "u64 out", [out], module=module)
    assert out.tolist() == [fibonacci(i % 5) for i in range(32)]


REVERSED = """alloca.u64 %rd3, {size}, 16; mov.u32 %r3, 0; mov.u64 %rd4, %rd3;
{loop}A: st.local.u32 [%rd4], %r3; add.s64 %rd4, %rd4, 4; add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, %r2; @%p1 bra {loop}A;
{loop}B: sub.s64 %rd4, %rd4, 4; ld.local.u32 %r5, [%rd4]; mad.lo.u32 %r4, %r4, 3, %r5;
    sub.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra {loop}B;"""


def reversed_sum(count: int, start: int = 0) -> int:
    for value in reversed(range(count)):
        start = start * 3 + value
    return start % 2**32


def test_memory_of_a_size_that_lanes_compute(run_ptx: Run) -> None:
    """Each lane takes 4 to 32 bytes, twice: the second piece does not touch the first."""
    out = np.zeros(40, np.uint32)
    body = f"""{THREAD} and.b32 %r2, %r1, 7; add.u32 %r2, %r2, 1; mul.wide.u32 %rd5, %r2, 4;
    mov.u32 %r4, 0; alloca.u64 %rd6, %rd5; st.local.u32 [%rd6], 77;
    {REVERSED.format(size="%rd5", loop="L")}
    ld.local.u32 %r5, [%rd6]; add.u32 %r4, %r4, %r5; st.global.u32 [%rd1], %r4; ret;"""
    run_ptx(body, "u64 out", [out], block=40)
    assert out.tolist() == [reversed_sum(i % 8 + 1) + 77 for i in range(40)]


@pytest.mark.parametrize("recursive", [False, True])
def test_a_function_gives_back_what_it_took(run_ptx: Run, recursive: bool) -> None:
    """A thousand calls that take 64 bytes each would not fit."""
    again = "call (q), f, (p);" if recursive else ""
    module = f"""
.func (.param .b32 r) f(.param .b32 n)
{{ .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>; .param .b32 p; .param .b32 q;
  alloca.u64 %rd1, 64; ld.param.b32 %r1, [n]; st.local.u32 [%rd1+60], %r1;
  sub.u32 %r2, %r1, 1; st.param.b32 [p], 0; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE; {again}
DONE: ld.local.u32 %r3, [%rd1+60]; add.u32 %r3, %r3, 1; st.param.b32 [r], %r3; ret; }}"""
    out = np.zeros(32, np.uint32)
    body = f"""{THREAD} mov.u32 %r2, 0;
AGAIN: {{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r2; call (q), f, (p);
    ld.param.b32 %r2, [q]; }} setp.lt.u32 %p1, %r2, 1000; @%p1 bra AGAIN;
    st.global.u32 [%rd1], %r2; ret;"""
    run_ptx(body, "u64 out", [out], module=module)
    assert out.tolist() == [1000] * 32


def test_the_stack_is_saved_and_restored(run_ptx: Run) -> None:
    out = np.zeros(32, np.uint32)
    body = f"""{THREAD} mov.u32 %r2, 0;
AGAIN: stacksave.u64 %rd5; alloca.u64 %rd3, 64; st.local.u32 [%rd3], %r2; ld.local.u32 %r2, [%rd3];
    stackrestore.u64 %rd5; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 1000; @%p1 bra AGAIN;
    st.global.u32 [%rd1], %r2; ret;"""
    run_ptx(body, "u64 out", [out])
    assert out.tolist() == [1000] * 32


@pytest.mark.parametrize("sizes", [(100000,), (16 << 10, 8), (-8,)])
def test_taking_too_much_is_an_error(run_ptx: Run, sizes: tuple[int, ...]) -> None:
    taken = " ".join(f"alloca.u64 %rd3, {size};" for size in sizes)
    with pytest.raises(AssertionTriggered, match="alloca takes more than the 16 KB") as caught:
        run_ptx(f"{THREAD} {taken} ret;", "u64 out", [np.zeros(32, np.uint32)])
    assert caught.value.span is not None


def test_all_of_the_memory_can_be_taken_and_counts_as_one_instruction(run_ptx: Run) -> None:
    body = f"{THREAD} alloca.u64 %rd3, 16384, 16; st.local.u32 [%rd3+16380], %r1; ret;"
    trace = run_ptx(body, "u64 out", [np.zeros(32, np.uint32)])
    _, threads = trace.source_instructions()
    assert threads == 32 * (4 + 3)


def test_a_full_stack_does_not_run_into_what_was_taken(run_ptx: Run) -> None:
    """Each call keeps 16 bytes; 1,100 of them are more than 16 KB."""
    module = """
.func (.param .b32 r) f(.param .b32 n)
{ .reg .b32 %r<9>; .reg .pred %p<3>; .param .b32 p; .param .b32 q;
  ld.param.b32 %r1, [n]; mov.u32 %r4, %r1; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE;
  sub.u32 %r2, %r1, 1; st.param.b32 [p], %r2; call (q), f, (p); ld.param.b32 %r3, [q];
  add.u32 %r4, %r1, %r3;
DONE: st.param.b32 [r], %r4; ret; }"""
    body = f"""{THREAD} alloca.u64 %rd3, 64; st.local.u32 [%rd3], 7; mov.u32 %r2, {{depth}};
    {{{{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r2; call (q), f, (p);
    ld.param.b32 %r3, [q]; }}}} ld.local.u32 %r4, [%rd3]; add.u32 %r3, %r3, %r4;
    st.global.u32 [%rd1], %r3; ret;"""
    out = np.zeros(32, np.uint32)
    run_ptx(body.format(depth=500), "u64 out", [out], module=module)
    assert out.tolist() == [500 * 501 // 2 + 7] * 32
    with pytest.raises(MemoryAccessError, match="the call stack is full"):
        run_ptx(body.format(depth=1100), "u64 out", [out], module=module)


GRID_BARRIER = """
    mov.u32 %r2, %envreg2; cvt.u64.u32 %rd3, %r2; mov.u32 %r2, %envreg1; cvt.u64.u32 %rd4, %r2;
    bfi.b64 %rd3, %rd4, %rd3, 32, 32; bar.sync 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra PASSED;
    mov.u32 %r3, %nctaid.x; atom.add.release.gpu.global.u32 %r4, [%rd3+4], 1;
WAIT: ld.acquire.gpu.global.u32 %r4, [%rd3+4]; setp.lt.u32 %p2, %r4, %r3; @%p2 bra WAIT;
PASSED: bar.sync 0;"""


def test_all_thread_blocks_wait_for_each_other(run_ptx: Run) -> None:
    """Thread block i reads what its mirror image wrote before the barrier."""
    blocks = 300
    out, exchanged = np.zeros(blocks, np.uint32), np.zeros(blocks, np.uint32)
    body = f"""mov.u32 %r1, %tid.x; mov.u32 %r5, %ctaid.x; ld.param.u64 %rd1, [exchanged];
    mul.wide.u32 %rd5, %r5, 4; add.s64 %rd6, %rd1, %rd5; mul.lo.u32 %r6, %r5, 3;
    st.global.u32 [%rd6], %r6; {GRID_BARRIER} mov.u32 %r3, %nctaid.x; sub.u32 %r3, %r3, %r5;
    sub.u32 %r3, %r3, 1; mul.wide.u32 %rd7, %r3, 4; add.s64 %rd7, %rd1, %rd7;
    ld.global.u32 %r6, [%rd7]; ld.param.u64 %rd2, [out]; add.s64 %rd2, %rd2, %rd5;
    st.global.u32 [%rd2], %r6; ret;"""
    arguments: list[Any] = [out, exchanged]
    run_ptx(body, "u64 out, u64 exchanged", arguments, grid=blocks, block=256)
    assert out.tolist() == [3 * (blocks - 1 - i) for i in range(blocks)]
