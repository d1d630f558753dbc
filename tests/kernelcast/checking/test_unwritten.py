"""Reads of what nobody has written: registers on the path taken, and buffers on request."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernelcast as kc

_HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b)
{
 .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<8>;
 .shared .align 4 .b8 tile[256];
 ld.param.u64 %rd0, [a]; ld.param.u64 %rd3, [b];
 mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, tile; add.u32 %r3, %r2, %r1;
 mul.wide.u32 %rd1, %r0, 4; add.s64 %rd2, %rd0, %rd1; add.s64 %rd4, %rd3, %rd1;
 st.shared.u32 [%r3], %r0;
 setp.lt.u32 %p1, %r0, 5;
"""
_PUT = "st.global.u32 [%rd2], "


def found(code: str, **options: Any) -> list[tuple[str, int]]:
    """The messages of the errors of two warps, and how often each occurred."""
    kernel = kc.load_ptx(_HEAD + code + "\n ret;\n}\n").only_kernel()
    args = [np.zeros(64, np.uint32) for _ in "ab"]
    report = kc.check(kernel, args=args, grid=1, block=64, **options)
    assert {item.kind.value for item in report.errors} <= {"uninitialised"}
    return [(item.message, item.count) for item in report.errors]


@pytest.mark.parametrize(
    ("code", "count"),
    [
        (f"{_PUT}%r20;", 64),
        (f"add.u32 %r20, %r20, 1; {_PUT}%r20;", 64),
        (f"@%p1 mov.u32 %r20, 1; {_PUT}%r20;", 59),
        (f"@%p1 mov.u32 %r20, 1; @!%p1 {_PUT}%r20;", 59),
        (f"@%p1 mov.u32 %r20, 1; selp.b32 %r21, 0, %r20, %p1; {_PUT}%r21;", 59),
        (f"@%p1 bra L; mov.u32 %r20, 5; L: {_PUT}%r20;", 5),
        ("and.b32 %r21, %r20, 0; add.u32 %r21, %r20, %r3; st.shared.u32 [%r21], 1;", 64),
        ("atom.global.max.u32 %r21, [%rd2], %r20;", 64),
        ("setp.lt.u32 %p2, %r20, 5; @%p2 bra L; mov.u32 %r6, 5; L:", 64),
        ("@%p2 st.shared.u32 [%r3], 1;", 64),
        (
            "setp.lt.u32 %p2, %r0, 32; @%p2 mov.u32 %r20, 1;"
            f"shfl.sync.bfly.b32 %r21, %r20, 1, 31, -1; {_PUT}%r21;",
            32,
        ),
    ],
)
def test_a_register_that_a_thread_has_not_written_is_found_where_it_is_used(
    code: str, count: int
) -> None:
    ((message, times),) = found(code)
    assert "uses a register that nobody has written" in message
    assert times == count


@pytest.mark.parametrize(
    "code",
    [
        "add.u32 %r20, %r20, 1;",
        f"@%p1 mov.u32 %r20, 1; @!%p1 mov.u32 %r20, 2; {_PUT}%r20;",
        f"@%p1 mov.u32 %r20, 1; @%p1 {_PUT}%r20;",
        f"@%p1 mov.u32 %r20, 1; add.u32 %r21, %r20, 5; selp.b32 %r21, %r21, 0, %p1; {_PUT}%r21;",
        f"@%p1 bra L; mov.u32 %r20, 5; L: @%p1 mov.u32 %r20, 1; {_PUT}%r20;",
        f"xor.b32 %r20, %r20, %r20; {_PUT}%r20;",
        f"mov.b64 %rd5, {{%r0, %r20}}; mov.b64 {{%r21, %r22}}, %rd5; {_PUT}%r21;",
        "bar.warp.sync -1; xor.b32 %r4, %r3, 8; and.b32 %r4, %r4, -8;"
        "setp.eq.u32 %p2, %r0, 0; @%p2 st.shared.v2.u32 [tile], {%r0, %r20};",
        "mov.u32 %r8, 0; L: setp.gt.u32 %p3, %r8, 0; @%p3 add.u32 %r20, %r20, 1;"
        "@!%p3 mov.u32 %r20, 0; add.u32 %r8, %r8, 1; setp.lt.u32 %p4, %r8, 3; @%p4 bra L;"
        f"{_PUT}%r20;",
        "shfl.sync.bfly.b32 %r21, %r20, 1, 31, -1;",
    ],
)
def test_registers_that_are_written_or_not_used_are_no_finding(code: str) -> None:
    assert found(code) == []


_COPY = "ld.global.u32 %r20, [%rd4]; st.global.u32 [%rd2], %r20;"


def test_a_buffer_that_holds_nothing_yet_is_written_before_it_is_read() -> None:
    assert found(_COPY) == []
    assert found(_COPY, unwritten=["a"]) == []
    ((message, count),) = found(_COPY, unwritten=["b"])
    assert (message, count) == ("read of global memory that nobody has written", 64)
    assert found(f"st.global.u32 [%rd4], 1; {_COPY}", unwritten=["*"]) == []
    first = f"@%p1 st.global.u32 [%rd4], 1; {_COPY}"
    assert [count for _, count in found(first, unwritten=["b"])] == [59]


def test_a_buffer_that_only_atomics_touch_is_read_by_the_first_of_them() -> None:
    add = "setp.eq.u32 %p2, %r0, 0; @%p2 red.global.add.u32 [%rd4], 1;"
    ((message, count),) = found(add, unwritten=["b"])
    assert (message, count) == ("atomic of global memory that nobody has written", 1)
    assert found(add.replace("red", "st.global.u32 [%rd4], 0; @%p2 red"), unwritten=["b"]) == []
