"""Device functions and the runtime library, on both engines."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kernelcast.errors import AssertionTriggered, ExecutionError, UnsupportedInstruction
from kernelcast.simcore.engine import ENGINES, Listener, execute
from kernelcast.simcore.host import limits
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.traces.trace import Trace

Run = Callable[..., Trace]
Compile = Callable[..., Kernel]


@pytest.fixture(autouse=True, params=sorted(ENGINES))
def every_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test runs once with each engine as the one that `execute` takes by default."""
    defaults = {**(execute.__kwdefaults__ or {}), "engine": request.param}
    monkeypatch.setattr(execute, "__kwdefaults__", defaults)


THREAD = """
    mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd1, %rd1, %rd2;"""

STRUCT_SUM = """
.func (.param .b32 result) total(.param .align 8 .b8 pair[16], .param .b32 scale)
{
    .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;
    ld.param.b64 %rd1, [pair]; ld.param.b32 %r1, [pair+8]; ld.param.b32 %r4, [pair+12];
    ld.param.u32 %r2, [scale];
    cvt.u32.u64 %r3, %rd1; add.u32 %r3, %r3, %r1; setp.gt.u32 %p1, %r3, 20; @%p1 bra MANY;
    mul.lo.u32 %r3, %r3, %r2; st.param.b32 [result], %r3; ret;
MANY: add.u32 %r3, %r3, %r4; st.param.b32 [result+0], %r3; ret;
}"""


def call_total(first: str, second: str, result: str) -> str:
    return f"""{{ .param .align 8 .b8 param0[16]; .param .b32 param1; .param .b32 retval0;
    cvt.u64.u32 %rd3, {first}; st.param.b64 [param0+0], %rd3;
    st.param.v2.b32 [param0+8], {{{second}, {second}}};
    st.param.b32 [param1], 3; call.uni (retval0), total, (param0, param1);
    ld.param.b32 {result}, [retval0]; }}"""


def test_functions_with_struct_parameters(run_ptx: Run) -> None:
    """Two calls, the second with the first's result, and lanes that part inside."""
    out = np.zeros(32, np.uint32)
    body = (
        THREAD
        + call_total("%r1", "5", "%r2")
        + call_total("%r2", "%r1", "%r3")
        + "st.global.u32 [%rd1], %r3; ret;"
    )
    run_ptx(body, "u64 out", [out], module=STRUCT_SUM)

    def total(first: int, second: int) -> int:
        both = first + second
        return both + second if both > 20 else 3 * both

    assert out.tolist() == [total(total(i, 5), i) for i in range(32)]


def test_functions_call_functions(run_ptx: Run) -> None:
    module = """
.func (.param .b32 r) twice(.param .b32 x)
{ .reg .b32 %r<3>; ld.param.b32 %r1, [x]; shl.b32 %r2, %r1, 1; st.param.b32 [r], %r2; ret; }
.func (.param .b32 r) often(.param .b32 x)
{ .reg .b32 %r<4>; .reg .pred %p; ld.param.b32 %r1, [x]; mov.u32 %r3, 3;
LOOP: { .param .b32 p; .param .b32 q; st.param.b32 [p], %r1; call (q), twice, (p);
  ld.param.b32 %r1, [q]; }
  sub.u32 %r3, %r3, 1; setp.ne.u32 %p, %r3, 0; @%p bra LOOP;
  st.param.b32 [r], %r1; ret; }"""
    out = np.zeros(32, np.uint32)
    body = f"""{THREAD} .param .b32 p; .param .b32 q; st.param.b32 [p], %r1;
    setp.gt.u32 %p1, %r1, 3; mov.u32 %r5, 7;
    @%p1 call (q), often, (p); @%p1 ld.param.b32 %r5, [q]; st.global.u32 [%rd1], %r5; ret;"""
    trace = run_ptx(body, "u64 out", [out], module=module)
    assert out.tolist() == [8 * i if i > 3 else 7 for i in range(32)]
    assert [row.mnemonic for row in trace.instructions].count("call") == 2


@pytest.mark.parametrize(
    ("module", "call", "reason"),
    [
        (".extern .func f();", "call f;", "defined in another file"),
        ("", "call other;", "a call of the entry|not declared"),
        (
            "\n".join(
                [".func f0() { ret; }"]
                + [f".func f{i}() {{ {f'call f{i - 1}; ' * 9} ret; }}" for i in range(1, 9)]
            ),
            "call f8;",
            "more than 500 instructions",
        ),
    ],
)
def test_calls_that_are_refused(
    compile_ptx: Compile, monkeypatch: pytest.MonkeyPatch, module: str, call: str, reason: str
) -> None:
    monkeypatch.setattr(limits, "MOST_KERNEL_INSTRUCTIONS", 500)
    with pytest.raises(UnsupportedInstruction, match=reason):
        compile_ptx(f"{call} ret;", "u64 out", module)


def test_small_values_and_pieces(run_ptx: Run) -> None:
    """Bytes are cut when they are stored and extended when they are loaded; two halves make one."""
    module = """
.func (.param .b32 r) f(.param .b8 a, .param .align 4 .b8 s[4])
{ .reg .b32 %r<4>; ld.param.s8 %r1, [a]; ld.param.b32 %r2, [s]; add.u32 %r3, %r1, %r2;
  st.param.b32 [r], %r3; ret; }"""
    out = np.zeros(32, np.uint32)
    body = f"""{THREAD} .param .b8 p; .param .align 4 .b8 s[4]; .param .b32 q;
    or.b32 %r2, %r1, 0xff80; st.param.b8 [p], %r2;
    cvt.u16.u32 %rs1, %r1; st.param.b16 [s], %rs1; mov.u16 %rs2, 2; st.param.b16 [s+2], %rs2;
    call (q), f, (p, s); ld.param.b32 %r3, [q]; st.global.u32 [%rd1], %r3; ret;"""
    run_ptx(body, "u64 out", [out], module=module)
    assert out.tolist() == [(i - 128) + 0x20000 + i for i in range(32)]


def test_exit_inside_of_a_function_ends_the_thread(run_ptx: Run) -> None:
    module = """.func stop(.param .b32 x) { .reg .b32 %r1; .reg .pred %p; ld.param.b32 %r1, [x];
    setp.lt.u32 %p, %r1, 9; @%p exit; ret; }"""
    out = np.zeros(32, np.uint32)
    body = f"""{THREAD} .param .b32 p; st.param.b32 [p], %r1; call stop, (p);
    st.global.u32 [%rd1], 1; ret;"""
    run_ptx(body, "u64 out", [out], module=module)
    assert out.tolist() == [0] * 9 + [1] * 23


FORMAT = b"%d %u %5.2f|%c|%s|%lld %llu %x %p %% %g\n\0"


def texts(**strings: bytes) -> str:
    """Module variables that hold the strings."""
    return "\n".join(
        f".global .align 1 .b8 {name}[{len(text)}] = {{{', '.join(map(str, text))}}};"
        for name, text in strings.items()
    )


PRINT = ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);"


def print_call(name: str, arguments: str = "%rd5") -> str:
    return f"""mov.u64 %rd6, {name}; cvta.global.u64 %rd6, %rd6;
    {{ .param .b64 f; .param .b64 a; .param .b32 q; st.param.b64 [f], %rd6;
    st.param.b64 [a], {arguments}; call.uni (q), vprintf, (f, a); ld.param.b32 %r9, [q]; }}"""


def test_printf(run_ptx: Run, capsys: pytest.CaptureFixture[str]) -> None:
    out = np.zeros(64, np.uint32)
    module = texts(form=FORMAT, word=b"word\0") + PRINT
    body = f""".local .align 8 .b8 depot[72];
    {THREAD} setp.ne.u32 %p1, %r1, 33; @%p1 bra END;
    mov.u64 %rd4, depot; cvta.local.u64 %rd5, %rd4;
    sub.u32 %r2, 0, %r1; st.local.u32 [%rd4], %r2; st.local.u32 [%rd4+4], %r2;
    mov.f64 %fd1, 0d400921FB54442D18; st.local.f64 [%rd4+8], %fd1; st.local.u32 [%rd4+16], 65;
    mov.u64 %rd7, word; cvta.global.u64 %rd7, %rd7; st.local.u64 [%rd4+24], %rd7;
    st.local.s64 [%rd4+32], -5; st.local.u64 [%rd4+40], -5; st.local.u32 [%rd4+48], 255;
    st.local.u64 [%rd4+56], 4096; st.local.f64 [%rd4+64], %fd1;
    {print_call("form")} st.global.u32 [%rd1], %r9;
END: ret;"""
    run_ptx(body, "u64 out", [out], module=module, block=64)
    assert capsys.readouterr().out == (
        f"-33 {2**32 - 33}  3.14|A|word|-5 {2**64 - 5} ff 0x1000 % 3.14159\n"
    )
    assert out[33] == 10


def test_what_is_printed_is_in_order(compile_ptx: Compile, run_ptx: Run) -> None:
    """The order is by thread block, then by barrier, then by warp."""
    from kernelcast.simcore.launch.launch import Launch

    module = texts(form=b"%d.%d.%d \0") + PRINT
    body = f""".local .align 8 .b8 depot[16];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u64 %rd4, depot; cvta.local.u64 %rd5, %rd4;
    mov.u32 %r3, 0; and.b32 %r4, %r1, 31; setp.eq.u32 %p1, %r4, 5;
LOOP: @!%p1 bra NEXT; st.local.u32 [%rd4], %r2; st.local.u32 [%rd4+4], %r3;
    st.local.u32 [%rd4+8], %r1; {print_call("form")}
NEXT: bar.sync 0; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 2; @%p2 bra LOOP; ret;"""
    kernel = compile_ptx(body, "u64 out", module)
    pieces: list[str] = []
    launch = Launch((3, 1, 1), (64, 1, 1), (np.zeros(1),), 0)
    execute(kernel, launch, listener=Listener(write=pieces.append))
    wanted = [f"{b}.{s}.{t} " for b in range(3) for s in range(2) for t in (5, 37)]
    assert "".join(pieces) == "".join(wanted)


def test_assertions_say_what_failed(run_ptx: Run) -> None:
    module = (
        texts(text=b"n > 0\0", file=b"a.cu\0", function=b"f\0")
        + ".extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, "
        ".param .b64 n, .param .b64 s);"
    )
    body = """mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 7; @%p1 bra END;
    mov.u64 %rd1, text; cvta.global.u64 %rd1, %rd1; mov.u64 %rd2, file;
    cvta.global.u64 %rd2, %rd2; mov.u64 %rd3, function; cvta.global.u64 %rd3, %rd3;
    { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s;
    st.param.b64 [m], %rd1; st.param.b64 [f], %rd2; st.param.b32 [l], 42;
    st.param.b64 [n], %rd3; st.param.b64 [s], 1; call.uni __assertfail, (m, f, l, n, s); }
END: ret;"""
    message = r"assertion `n > 0` failed in f at a.cu:42, thread \(7, 0, 0\)"
    with pytest.raises(AssertionTriggered, match=message):
        run_ptx(body, "u64 out", [np.zeros(1)], module=module)


HEAP = """.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);"""


def heap_calls(size: str, *, frees: str) -> str:
    return f"""{{ .param .b64 n; .param .b64 q; st.param.b64 [n], {size};
    call.uni (q), malloc, (n); ld.param.b64 %rd3, [q]; }}
    setp.eq.u64 %p1, %rd3, 0; mov.u32 %r5, 99; @%p1 bra NONE;
    st.u32 [%rd3], %r1; bar.warp.sync -1; ld.u32 %r5, [%rd3];
    {{ .param .b64 p; st.param.b64 [p], {frees}; call.uni free, (p); }}
NONE: st.global.u32 [%rd1], %r5; ret;"""


def test_a_heap(run_ptx: Run) -> None:
    out = np.zeros(64, np.uint32)
    run_ptx(THREAD + heap_calls("40", frees="%rd3"), "u64 out", [out], module=HEAP, block=64)
    assert out.tolist() == list(range(64))


def test_a_heap_that_is_too_small_gives_null(run_ptx: Run) -> None:
    out = np.zeros(32, np.uint32)
    run_ptx(THREAD + heap_calls("9000000", frees="%rd3"), "u64 out", [out], module=HEAP)
    assert out.tolist() == [99] * 32


def test_freeing_what_is_not_taken_is_an_error(run_ptx: Run) -> None:
    body = THREAD + heap_calls("40", frees="%rd1")
    with pytest.raises(ExecutionError, match=r"free of 0x.*which malloc did not give"):
        run_ptx(body, "u64 out", [np.zeros(32, np.uint32)], module=HEAP)
