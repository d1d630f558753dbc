"""NaN and infinity that are born, and indices that wrap around, which are found on request."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernelcast as kc

_HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n)
{
 .reg .pred %p<8>; .reg .b32 %r<32>; .reg .f32 %f<16>; .reg .f64 %fd<8>; .reg .b64 %rd<16>;
 ld.param.u64 %rd0, [a]; ld.param.u32 %r9, [n];
 mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.s64 %rd2, %rd0, %rd1;
 ld.global.f32 %f1, [%rd2];
"""
_VALUES = np.array([0, 1, -1, 3e38, np.inf, np.nan, 1e-45, 2], np.float32)


def found(code: str, number: int = 0, **options: Any) -> dict[str, int]:
    """How often each kind was found by eight threads."""
    kernel = kc.load_ptx(_HEAD + code + "\n ret;\n}\n").only_kernel()
    report = kc.check(kernel, args=[_VALUES.copy(), number], grid=1, block=8, **options)
    return {item.kind.value: item.count for item in report.errors}


@pytest.mark.parametrize(
    ("code", "compute"),
    [
        ("rcp.rn.f32 %f2, %f1;", lambda x: 1 / x),
        ("add.f32 %f2, %f1, %f1;", lambda x: x + x),
        ("sqrt.rn.f32 %f2, %f1;", np.sqrt),
        ("fma.rn.f32 %f2, %f1, 0f7f000000, 0f3f800000;", lambda x: x * np.float32(2.0**127) + 1),
        ("div.rn.f32 %f1, %f1, %f1;", lambda x: x / x),
        ("mul.f32 %f2, %f1, 0f3f800000;", lambda x: x),
    ],
)
def test_numbers_are_born_where_numpy_says(code: str, compute: Any) -> None:
    with np.errstate(all="ignore"):
        expected = np.isfinite(_VALUES) & ~np.isfinite(compute(_VALUES))
    count = int(expected.sum())
    assert found(code, not_finite=True) == ({"not-finite": count} if count else {})
    assert found(code) == {}


def test_guards_and_conversions_count() -> None:
    guarded = "setp.lt.u32 %p1, %r0, 1; @%p1 rcp.rn.f32 %f2, %f1;"
    assert found(guarded, not_finite=True) == {"not-finite": 1}
    wide = "cvt.f64.f32 %fd1, %f1; add.f64 %fd1, %fd1, %fd1; cvt.rn.f32.f64 %f2, %fd1;"
    assert found(wide, not_finite=True) == {"not-finite": 1}
    assert found("mov.f32 %f2, 0f7f800000; selp.f32 %f3, %f2, %f1, 1;", not_finite=True) == {}


_INDEX = "mul.wide.{0} %rd5, %r5, 4; add.s64 %rd6, %rd0, %rd5; "
_USE = "setp.eq.u32 %p7, %r0, 99; @%p7 st.global.u32 [%rd6], 1;"


@pytest.mark.parametrize(
    ("code", "sign", "number", "wraps"),
    [
        ("mul.lo.s32 %r5, %r9, %r9;", "s32", 46340, False),
        ("mul.lo.s32 %r5, %r9, %r9;", "s32", 46341, True),
        ("mul.lo.s32 %r5, %r9, %r9;", "u32", 65535, False),
        ("mul.lo.s32 %r5, %r9, %r9;", "u32", 65536, True),
        ("mad.lo.s32 %r5, %r9, 2, %r9;", "s32", 1 << 30, True),
        ("shl.b32 %r5, %r9, 3;", "s32", 1 << 27, False),
        ("shl.b32 %r5, %r9, 3;", "s32", 1 << 28, True),
        ("add.s32 %r5, %r9, -1;", "u32", 1, False),
        ("add.s32 %r5, %r9, -1;", "u32", 0, True),
        ("add.s32 %r5, %r9, -1;", "s32", 0, False),
        ("add.s32 %r4, %r9, %r9; sub.s32 %r5, %r4, %r9;", "s32", (1 << 31) - 1, False),
        ("add.s32 %r4, %r9, %r9; and.b32 %r5, %r4, 15;", "s32", (1 << 31) - 1, False),
        ("sub.s32 %r5, 5, %r9;", "u32", 6, True),
    ],
)
def test_an_index_wraps_where_its_exact_value_does_not_fit(
    code: str, sign: str, number: int, *, wraps: bool
) -> None:
    kinds = found(code + _INDEX.format(sign) + _USE, number, overflow=True)
    assert kinds == ({"address-overflow": 8} if wraps else {})


def test_a_counter_of_a_loop_that_wraps_is_found() -> None:
    loop = "mov.u32 %r5, 0; mov.u32 %r6, 0; L: add.s32 %r5, %r5, %r9; add.s32 %r6, %r6, 1;"
    loop += _INDEX.format("s32") + _USE + "setp.lt.u32 %p2, %r6, 5; @%p2 bra L;"
    assert found(loop, 1 << 29, overflow=True) == {"address-overflow": 8 * 2}
    assert found(loop, 1 << 28, overflow=True) == {}


def test_what_wraps_and_becomes_no_address_is_right() -> None:
    square = "mul.lo.s32 %r5, %r9, %r9;"
    assert found(f"{square} st.global.u32 [%rd2], %r5;", 1 << 20, overflow=True) == {}
    assert found(square + _INDEX.format("s32") + _USE, 1 << 20) == {}
