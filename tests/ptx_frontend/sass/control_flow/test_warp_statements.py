"""Shuffles, votes, matches, reductions and barriers as machine code give what the PTX gives."""

from __future__ import annotations

import numpy as np
import pytest

from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.program_checks import assert_as_ptx

PRELUDE = """
.version {version}
.target {target}
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n) {{
.reg .u64 %rd<9>; .reg .u32 %r<40>; .reg .pred %p<9>; .reg .f32 %f<9>;
.shared .align 16 .b8 sh[256];
ld.param.u64 %rd1, [p]; ld.param.u32 %r9, [n];
mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 256; add.u64 %rd3, %rd1, %rd2;
ld.global.u32 %r2, [%rd3]; ld.global.u32 %r3, [%rd3+4]; ld.global.u64 %rd4, [%rd3+8];
ld.global.f32 %f1, [%rd3+16];
and.b32 %r4, %r2, 3; setp.eq.u32 %p1, %r4, 1;
and.b32 %r5, %r1, 31; setp.lt.u32 %p2, %r5, 12; selp.u32 %r6, 0xfff, 0xfffff000, %p2;
selp.u32 %r12, 3, 17, %p2;
cvt.u64.u32 %rd5, %r4;
"""
EXCHANGES = (
    "shfl.sync.idx.b32 %r10|%p3, %r2, %r3, 31, -1;",
    "shfl.sync.idx.b32 %r10|%p3, %r2, 3, 0x181f, -1;",
    "shfl.sync.up.b32 %r10|%p3, %r2, %r4, 0, -1;",
    "shfl.sync.up.b32 %r10|%p3, %r2, 2, 0x1000, -1;",
    "shfl.sync.down.b32 %r10|%p3, %r2, 1, 31, -1;",
    "shfl.sync.down.b32 %r10|%p3, %r2, %r3, %r3, -1;",
    "shfl.sync.bfly.b32 %r10|%p3, %r2, 16, 31, -1;",
    "shfl.sync.idx.b32 %r10|%p3, %r2, %r12, 31, %r6;",
    "vote.sync.ballot.b32 %r10, %p1, -1;",
    "vote.sync.ballot.b32 %r10, !%p1, %r6;",
    "vote.sync.all.pred %p3, %p2, %r6;",
    "vote.sync.any.pred %p3, %p1, -1;",
    "vote.sync.all.pred %p3, !%p1, -1;",
    "vote.sync.uni.pred %p3, %p1, -1;",
    "@%p2 vote.sync.ballot.b32 %r10, %p1, 0xfff;",
    "activemask.b32 %r10;",
    "match.any.sync.b32 %r10, %r4, -1;",
    "match.any.sync.b64 %r10, %rd5, %r6;",
    "match.all.sync.b32 %r10|%p3, %r9, -1;",
    "match.all.sync.b64 %r10|%p3, %rd5, %r6;",
)
REDUCTIONS = (
    *(
        f"redux.sync.{name}.{kind} %r10, %r2, -1;"
        for name in ("add", "min", "max")
        for kind in ("u32", "s32")
    ),
    *(f"redux.sync.{name}.b32 %r10, %r2, -1;" for name in ("and", "or", "xor")),
    "redux.sync.add.u32 %r10, %r4, %r6;",
)
ELECTIONS = (
    "elect.sync %r10|%p3, -1;",
    "elect.sync %r10|%p3, %r6;",
)
EXTREMA = tuple(
    f"redux.sync.{name}{modifiers}.f32 %f2, %f1, -1; mov.b32 %r10, %f2;"
    for name in ("min", "max")
    for modifiers in ("", ".abs", ".NaN", ".abs.NaN")
)
BARRIERS = """
bar.red.popc.u32 %r10, 0, %p1; st.global.u32 [%rd3+64], %r10;
bar.red.and.pred %p3, 1, %p1; selp.u32 %r10, 7, 8, %p3; st.global.u32 [%rd3+68], %r10;
bar.red.or.pred %p3, 0, !%p1; selp.u32 %r10, 7, 8, %p3; st.global.u32 [%rd3+72], %r10;
bar.red.and.pred %p3, 1, %p2; selp.u32 %r10, 7, 8, %p3; st.global.u32 [%rd3+76], %r10;
setp.lt.u32 %p4, %r1, 32; st.shared.u32 [sh+4], 0; bar.sync 0;
@%p4 st.shared.u32 [sh+4], %r2;
@%p4 bar.arrive 3, 64;
@!%p4 bar.sync 3, 64;
@!%p4 ld.shared.u32 %r11, [sh+4];
@!%p4 st.global.u32 [%rd3+80], %r11;
mov.u32 %r7, 64; add.u32 %r8, %r9, 3; bar.sync %r8, %r7; bar.sync %r8; bar.sync 2, %r7;
barrier.sync 4; barrier.sync 5, 64; fence.acq_rel.gpu; membar.sys; membar.cta; fence.sc.cta;
nanosleep.u32 20; ret; }
"""


def _program(statements: tuple[str, ...], target: str, version: str = "8.0") -> str:
    lines = [PRELUDE.format(target=target, version=version)]
    for number, statement in enumerate(statements):
        lines.append("mov.u32 %r10, 5; setp.ne.u32 %p3, %r1, %r1;")
        lines.append(f"{statement} selp.u32 %r11, 1, 0, %p3;")
        lines.append(f"st.global.v2.u32 [%rd3+{64 + 8 * number}], {{%r10, %r11}};")
    return "\n".join([*lines, "ret; }"])


def _launch() -> Launch:
    values = np.random.default_rng(4).integers(0, 2**32, 64 * 64, dtype=np.uint32)
    floats = np.random.default_rng(5).normal(size=64).astype(np.float32)
    floats[[3, 17, 40]] = np.nan, -np.inf, -0.0
    values[4::64] = floats.view(np.uint32)
    return Launch((1, 1, 1), (64, 1, 1), (values, np.uint32(5)))


@pytest.mark.drawn(2)
@pytest.mark.parametrize("architecture", ["sm_70", "sm_75", "sm_80", "sm_90", "sm_120"])
def test_exchanges(architecture: str) -> None:
    assert_as_ptx(_program(EXCHANGES, "sm_70"), _launch(), (architecture,))


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_100"])
def test_reductions(architecture: str) -> None:
    assert_as_ptx(_program(REDUCTIONS, "sm_80"), _launch(), (architecture,))


def test_elections() -> None:
    assert_as_ptx(_program(ELECTIONS, "sm_90"), _launch(), ("sm_90", "sm_120"))


def test_reductions_of_floats() -> None:
    assert_as_ptx(_program(EXTREMA, "sm_100a", "8.6"), _launch(), ("sm_100a",))


@pytest.mark.drawn(3)
@pytest.mark.parametrize("architecture", ["sm_70", "sm_75", "sm_80", "sm_90", "sm_120"])
def test_barriers(architecture: str) -> None:
    program = PRELUDE.format(target="sm_70", version="8.0") + BARRIERS
    assert_as_ptx(program, _launch(), (architecture,))
