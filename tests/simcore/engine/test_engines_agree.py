"""Kernels that fail do so in the same way on every engine: same error, thread, line and text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import (
    AssertionTriggered,
    BarrierError,
    ExecutionError,
    LimitExceeded,
    MemoryAccessError,
)
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch, Limits

Compile = Callable[..., Kernel]
Bytes = npt.NDArray[np.uint8]

every_engine = pytest.mark.parametrize("engine", sorted(ENGINES))
START = """
    .shared .align 16 .b8 tile[128]; .local .align 16 .b8 depot[16];
    mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [index];
    mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
    mov.u32 %r2, tile; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3; mov.u64 %rd6, depot;
    setp.eq.u32 %p1, %r1, 13; setp.lt.u32 %p2, %r1, 30; ld.param.u64 %rd7, [fixed];
"""
"""%rd4: this thread's word of `out`; %r4: the same of 128 bytes of shared memory."""


@dataclass(frozen=True)
class Failure:
    """A kernel body that fails at its last line but one, in `thread` of thread block 0."""

    name: str
    body: str
    text: str
    thread: int | None = 0
    out_bytes: int = 128
    threads: int = 32
    width: int = 32
    error: type[ExecutionError] = MemoryAccessError


PAST = "past the end of out"
FAILURES = (
    Failure("store past the end", "st.global.u32 [%rd4], %r1;", f"0 bytes {PAST}", 30, 120),
    Failure("load past the end", "ld.global.u32 %r5, [%rd4];", f"0 bytes {PAST}", 30, 120),
    Failure("loop", "L: ld.global.u32 %r5, [%rd4]; add.s64 %rd4, %rd4, 128; bra L;", PAST),
    Failure("other warp", "ld.global.u32 %r5, [%rd4];", PAST, 50, 200, 64),
    Failure("narrow warp", "ld.global.f32 %f5, [%rd4];", PAST, 50, 200, 64, 8),
    Failure("wide warp", "ld.global.f32 %f5, [%rd4];", PAST, 50, 200, 70, 64),
    Failure("atomic past the end", "atom.global.add.u32 %r5, [%rd4], 1;", PAST, 31, 124),
    Failure("reduction past the end", "red.global.max.s32 [%rd4+4], 1;", PAST, 31),
    Failure("before", "ld.global.u32 %r5, [%rd4+-4];", "4 bytes before out"),
    Failure("store before", "st.global.u32 [%rd4+-4096], %r5;", "4096 bytes before out"),
    Failure("across", "ld.global.u32 %r5, [%rd4];", "across the end of out (30 bytes)", 7, 30),
    Failure("byte", "add.s64 %rd8, %rd1, 128; st.global.u8 [%rd8], %r1;", f"0 bytes {PAST}"),
    Failure(
        "vector across",
        "mad.wide.u32 %rd8, %r1, 16, %rd1; ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd8];",
        "load of 16 bytes",
        7,
        120,
    ),
    Failure(
        "vector of stores",
        "mad.wide.u32 %rd8, %r1, 8, %rd1; st.global.v2.u32 [%rd8], {%r1, %r1};",
        "store of 8 bytes",
        16,
    ),
    Failure("null", "mov.u64 %rd8, 0; ld.global.u32 %r5, [%rd8];", "address 0x0"),
    Failure(
        "one lane", "selp.b64 %rd8, 64, %rd4, %p1; ld.global.u32 %r5, [%rd8];", "address 0x40", 13
    ),
    Failure(
        "one guarded lane",
        "selp.b64 %rd8, 64, %rd4, %p1;\n@%p1 st.global.u32 [%rd8], %r5;",
        "address 0x40",
        13,
    ),
    Failure(
        "gather",
        "ld.global.u32 %r5, [%rd5]; mad.wide.u32 %rd8, %r5, 4, %rd1; ld.global.u32 %r6, [%rd8];",
        "388 bytes past the end of out (128 bytes)",
        13,
    ),
    Failure(
        "scatter",
        "ld.global.u32 %r5, [%rd5]; mad.wide.u32 %rd8, %r5, 4, %rd1; st.global.u32 [%rd8], %r5;",
        "388 bytes past the end of out (128 bytes)",
        13,
    ),
    Failure(
        "wrapped index",
        "sub.u32 %r5, %r1, 1; mad.wide.u32 %rd8, %r5, 4, %rd1; ld.global.u32 %r6, [%rd8];",
        "address 0x7f03fffffffc",
    ),
    Failure(
        "overflow",
        "mov.u64 %rd8, -4; ld.global.v2.u32 {%r5, %r6}, [%rd8+4];",
        "address 0x0",
    ),
    Failure("misaligned", "ld.global.u32 %r5, [%rd1+2];", "misaligned for 4 bytes"),
    Failure("lanes misaligned", "ld.global.u64 %rd9, [%rd4];", "misaligned for 8 bytes", 1, 400),
    Failure(
        "one lane misaligned",
        "selp.b64 %rd8, 2, 0, %p1; add.s64 %rd8, %rd8, %rd4; st.global.u32 [%rd8], %r5;",
        "misaligned for 4 bytes",
        13,
    ),
    Failure(
        "misaligned atomic", "atom.global.add.u64 %rd9, [%rd4], 1;", "misaligned for 8 bytes", 1
    ),
    Failure(
        "misaligned vector",
        "add.s64 %rd8, %rd1, 8; ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd8];",
        "misaligned for 16 bytes",
    ),
    Failure("shared", "st.shared.u32 [%r4+4], %r1;", "outside shared memory of 128 bytes", 31),
    Failure("shared load", "ld.shared.u32 %r5, [%r4+-4];", "address 0xfffffffc: outside shared"),
    Failure("shared atomic", "atom.shared.add.u32 %r5, [%r4+8], 1;", "outside shared", 30),
    Failure("shared misaligned", "ld.shared.u32 %r5, [%r4+1];", "misaligned for 4 bytes"),
    Failure("shared uniform", "ld.shared.u64 %rd9, [tile+128];", "outside shared memory"),
    Failure("local", "st.local.u32 [%rd6+16], %r1;", "outside local memory of 16 bytes"),
    Failure("local before", "ld.local.u32 %r5, [%rd6+-4];", "outside local memory of 16 bytes"),
    Failure(
        "local lane",
        "selp.b64 %rd8, 16, 0, %p1; add.s64 %rd8, %rd8, %rd6; ld.local.u32 %r5, [%rd8];",
        "outside local memory of 16 bytes",
        13,
    ),
    Failure("local misaligned", "ld.local.u64 %rd9, [%rd6+4];", "misaligned for 8 bytes"),
    Failure(
        "generic shared",
        "cvt.u64.u32 %rd8, %r4; cvta.shared.u64 %rd8, %rd8; ld.u32 %r5, [%rd8+64];",
        "outside shared memory of 128 bytes",
        16,
    ),
    Failure("generic global", "ld.u32 %r5, [%rd4+4];", f"0 bytes {PAST}", 31),
    Failure("constant", "mov.u64 %rd8, table; ld.const.u32 %r5, [%rd8+16];", "constant memory"),
    Failure("read-only", "st.global.u32 [%rd7], %r1;", "store to a read-only array", None),
    Failure("trap", "@%p1 bra BAD; ret; BAD: trap;", "executed trap", 13, error=AssertionTriggered),
    Failure(
        "trap of a warp",
        "setp.gt.u32 %p3, %r1, 40; @!%p3 bra GOOD; trap; GOOD: add.u32 %r5, %r1, 1;",
        "executed trap",
        41,
        threads=64,
        error=AssertionTriggered,
    ),
)


def _arguments(out_bytes: int) -> tuple[Bytes, npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    index = np.arange(100, dtype=np.uint32) % 32
    index[13] = 129
    fixed = np.zeros(4, np.uint32)
    fixed.flags.writeable = False
    return np.zeros(out_bytes, np.uint8), index, fixed


def _build(compile_ptx: Compile, body: str) -> Kernel:
    constants = ".const .align 4 .u32 table[4] = {1, 2, 3, 4};"
    return compile_ptx(f"{START}\n{body}\nret;", "u64 out, u64 index, u64 fixed", constants)


def _error(kernel: Kernel, engine: str, launch: Launch, **options: Any) -> ExecutionError:
    with pytest.raises(ExecutionError) as caught:
        execute(kernel, launch, engine=engine, **options)
    return caught.value


@every_engine
@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.name)
def test_failures(compile_ptx: Compile, failure: Failure, engine: str) -> None:
    """Three thread blocks fail each; the first is named."""
    kernel = _build(compile_ptx, failure.body)
    size = (3, 1, 1), (failure.threads, 1, 1)
    launch = Launch(*size, _arguments(failure.out_bytes))
    found = _error(kernel, engine, launch, warp_width=failure.width)
    assert type(found) is failure.error
    assert failure.text in str(found)
    if failure.thread is not None:
        assert f"thread ({failure.thread}, 0, 0) of thread block (0, 0, 0)" in str(found)
    launch = Launch(*size, _arguments(failure.out_bytes))
    expected = _error(kernel, "reference", launch, warp_width=failure.width)
    assert (str(found), found.span) == (str(expected), expected.span)


@every_engine
@pytest.mark.parametrize(
    "access",
    [
        "ld.global.u32 %r5, [%rd4]",
        "ld.global.u32 %r5, [%rd8]",
        "st.global.u32 [%rd4], %r1",
        "st.global.u32 [%rd8], %r1",
        "red.global.add.u32 [%rd8], %r1",
        "ld.shared.u32 %r5, [%r6]",
        "st.shared.u32 [%r6], %r1",
        "ld.local.u32 %r5, [%rd9]",
        "ld.u32 %r5, [%rd8]",
    ],
)
@pytest.mark.parametrize("way", ["@%p2 {};", "@!%p2 bra BEHIND; {}; BEHIND:"])
def test_lanes_that_take_no_part_point_anywhere(
    compile_ptx: Compile, engine: str, access: str, way: str
) -> None:
    """Lanes from 30 on hold addresses outside; in %rd8 also misaligned ones, near zero."""
    body = """selp.b64 %rd8, %rd4, 3, %p2; selp.b32 %r6, %r4, 127, %p2;
    selp.b64 %rd9, 4, -2, %p2;""" + way.format(access)
    launch = Launch((2, 1, 1), (32, 1, 1), _arguments(120))
    execute(_build(compile_ptx, body), launch, engine=engine)


@every_engine
def test_an_access_by_no_lane_checks_nothing(compile_ptx: Compile, engine: str) -> None:
    """A guard that holds nowhere, and code behind a branch that nobody takes."""
    body = """setp.gt.u32 %p3, %r1, 100; mov.u64 %rd8, 1; @%p3 ld.global.u32 %r5, [%rd8];
    @!%p3 bra BEHIND; st.global.u64 [%rd8], %rd8; atom.global.add.u32 %r5, [%rd8], 1; trap;
BEHIND:"""
    launch = Launch((1, 1, 1), (32, 1, 1), _arguments(4))
    execute(_build(compile_ptx, body), launch, engine=engine)


@every_engine
@pytest.mark.parametrize("failing", [0, 3, 6])
def test_the_thread_block_that_fails_is_named(
    compile_ptx: Compile, engine: str, failing: int
) -> None:
    body = f"""mov.u32 %r5, %ctaid.y; setp.eq.u32 %p3, %r5, {failing}; @!%p3 bra BEHIND;
    st.global.u32 [%rd4+-8], %r1;
BEHIND:"""
    launch = Launch((1, 7, 1), (8, 4, 1), _arguments(128))
    found = _error(_build(compile_ptx, body), engine, launch)
    assert f"thread (0, 0, 0) of thread block (0, {failing}, 0)" in str(found)


@every_engine
def test_what_ran_before_a_failure_is_kept(compile_ptx: Compile, engine: str) -> None:
    out, index, fixed = _arguments(128)
    body = "st.global.u32 [%rd4], 7; bar.sync 0; st.global.u32 [%rd4+4], 9;"
    launch = Launch((1, 1, 1), (32, 1, 1), (out, index, fixed))
    _error(_build(compile_ptx, body), engine, launch)
    assert out.view(np.uint32)[0] == 7


BARRIERS = {
    "round it": "@%p2 bra BEHIND; bar.sync 0; BEHIND: add.u32 %r5, %r1, 1;",
    "another number": """setp.ge.u32 %p3, %r1, 32; @%p3 bra OTHER; bar.sync 0; bra.uni END;
OTHER: bar.sync 1;
END: add.u32 %r5, %r1, 1;""",
    "within a warp": "@%p2 bra LATER;\nbar.sync 0;\nLATER: add.u32 %r5, %r1, 1;\nbar.sync 0;",
    "passed by": """setp.ge.u32 %p3, %r1, 32; @%p3 bra LATER; bar.sync 0;
LATER: add.u32 %r5, %r1, 1;
bar.sync 0;""",
}


@every_engine
@pytest.mark.parametrize("name", BARRIERS)
@pytest.mark.parametrize("width", [8, 32])
def test_barriers_that_never_open(compile_ptx: Compile, engine: str, name: str, width: int) -> None:
    kernel = _build(compile_ptx, BARRIERS[name])
    launch = Launch((2, 1, 1), (64, 1, 1), _arguments(256))
    found = _error(kernel, engine, launch, warp_width=width)
    expected = _error(kernel, "reference", launch, warp_width=width)
    assert type(found) is BarrierError
    assert "not all threads of the" in str(found)
    assert (str(found), found.span) == (str(expected), expected.span)


@every_engine
@pytest.mark.parametrize(
    ("limits", "text"),
    [
        (Limits(None, 1000), "a warp issued more than 1,000 instructions"),
        (Limits(0.1, None), "still running after 0.1 s"),
    ],
)
@pytest.mark.parametrize(
    "loop",
    [
        "L: add.u32 %r1, %r1, 1; bra.uni L;",
        "L: add.u32 %r1, %r1, 1; st.global.u32 [%rd1], %r1; bra.uni L;",
        "@%p1 bra L; ret; L: add.u32 %r1, %r1, 1; bra.uni L;",
    ],
)
def test_endless_loops(
    compile_ptx: Compile, engine: str, limits: Limits, text: str, loop: str
) -> None:
    kernel = _build(compile_ptx, "\n" + loop)
    launch = Launch((2, 1, 1), (32, 1, 1), _arguments(128))
    found = _error(kernel, engine, launch, limits=limits)
    assert type(found) is LimitExceeded
    assert text in str(found)
    assert found.span is not None
    line = found.span.text
    assert line == loop
