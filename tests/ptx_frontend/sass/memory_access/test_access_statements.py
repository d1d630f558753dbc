"""Loads, stores, copies and atomics as machine code do what those of the PTX do."""

from __future__ import annotations

import numpy as np
import pytest

from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.program_checks import assert_as_ptx

PRELUDE = """
.version {version}
.target {target}
.address_size 64
.global .u32 variable[64];
.const .u32 constants[16] = {{1, 2, 3, 4}};
.visible .entry k(.param .u64 p, .param .u32 n) {{
.reg .u64 %rd<40>; .reg .u32 %r<60>; .reg .pred %p<9>; .reg .f32 %f<19>; .reg .f64 %fd<9>;
.reg .b16 %h<9>; .reg .b32 %b<9>;
.local .align 16 .b8 stack[64];
.shared .align 16 .b8 sh[4096];
.shared .align 16 .b8 other[256];
ld.param.u64 %rd1, [p]; ld.param.u32 %r9, [n];
mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 512; add.u64 %rd3, %rd1, %rd2;
ld.global.u32 %r2, [%rd3]; ld.global.u32 %r3, [%rd3+4]; ld.global.u64 %rd4, [%rd3+8];
ld.global.f32 %f1, [%rd3+16]; ld.global.f64 %fd1, [%rd3+24]; ld.global.u64 %rd5, [%rd3+32];
ld.global.b32 %b1, [%rd3+40]; ld.global.b16 %h1, [%rd3+44];
"""
ACCESSES = """
ld.u32 %r10, [%rd3+4]; ld.volatile.global.u32 %r11, [%rd3+8];
ld.acquire.gpu.global.u32 %r12, [%rd3];
ld.relaxed.cta.global.u32 %r13, [%rd3+12]; ld.global.cv.u32 %r14, [%rd3];
ld.global.cs.u32 %r15, [%rd3];
ld.global.nc.u32 %r16, [%rd3+16]; ld.global.s8 %h2, [%rd3]; cvt.s32.s16 %r17, %h2;
ld.global.u16 %h3, [%rd3+2]; cvt.u32.u16 %r18, %h3;
ld.global.v4.u32 {%r19, %r20, %r21, %r22}, [%rd3];
shl.b32 %r23, %r1, 3; mov.u32 %r24, sh; add.u32 %r25, %r23, %r24;
st.shared.v2.u32 [%r25], {%r2, %r3}; bar.sync 0;
ld.shared.u8 %h4, [%r25+5]; cvt.u32.u16 %r26, %h4; ld.volatile.shared.u32 %r27, [%r25+4];
sub.u32 %r28, %r23, 8; add.u32 %r28, %r28, %r24; add.u32 %r28, %r28, 8; ld.shared.u32 %r29, [%r28];
mov.u64 %rd6, stack; cvta.local.u64 %rd7, %rd6; and.b32 %r30, %r2, 12; cvt.u64.u32 %rd8, %r30;
add.u64 %rd9, %rd7, %rd8; add.u64 %rd10, %rd6, %rd8;
st.local.v4.u32 [stack], {%r2, %r3, %r10, %r11}; ld.local.u32 %r31, [%rd10];
cvt.u64.u32 %rd11, %r25; cvta.shared.u64 %rd12, %rd11; and.b32 %r32, %r2, 1;
setp.eq.u32 %p1, %r32, 1; selp.b64 %rd13, %rd9, %rd12, %p1; selp.b64 %rd13, %rd13, %rd3, %p1;
ld.u32 %r33, [%rd13]; st.u32 [%rd13], %r11; ld.u32 %r34, [%rd9]; ld.shared.u32 %r35, [%r25];
isspacep.shared %p2, %rd12; isspacep.local %p3, %rd13; isspacep.global %p4, %rd13;
selp.u32 %r36, 1, 0, %p2; selp.u32 %r37, 1, 0, %p3; selp.u32 %r38, 1, 0, %p4;
ld.const.u32 %r39, [constants+4]; mov.u64 %rd14, constants; and.b32 %r40, %r2, 3;
mul.wide.u32 %rd15, %r40, 4; add.u64 %rd14, %rd14, %rd15; ld.const.u32 %r41, [%rd14];
mov.u64 %rd16, variable; cvta.global.u64 %rd17, %rd16; add.u64 %rd17, %rd17, %rd15;
st.u32 [%rd17], %r41; ld.global.u32 %r42, [%rd17];
st.shared.u32 [other+16], %r9; bar.sync 0; ld.shared.v4.u32 {%r43, %r44, %r45, %r46}, [other+16];
add.u64 %rd3, %rd3, 128;
"""
RESULTS = (*range(10, 22), 26, 27, 29, 31, *range(33, 40), 41, 42, 43)
COPIES = """
shl.b32 %r10, %r1, 4; mov.u32 %r11, sh; add.u32 %r12, %r10, %r11; and.b32 %r13, %r1, 15;
setp.eq.u32 %p1, %r13, 3; setp.lt.u32 %p2, %r1, 20; shl.b32 %r14, %r13, 0;
cp.async.ca.shared.global [%r12], [%rd3], 4; cp.async.ca.shared.global [%r12+8], [%rd3+8], 8;
cp.async.cg.shared.global.L2::128B [%r12+512], [%rd3+16], 16; cp.async.commit_group;
cp.async.cg.shared.global [%r12+1024], [%rd3+32], 16, %r13;
cp.async.ca.shared.global [%r12+1536], [%rd3+48], 4, 3;
@%p2 cp.async.ca.shared.global [%r12+2048], [%rd3+64], 8, %p1;
cp.async.cg.shared.global [%r12+2560], [%rd3+80], 16, %p1;
cp.async.commit_group; cp.async.wait_group 1; bar.sync 0; cp.async.wait_all; bar.sync 0;
"""
MBARRIERS = """
setp.ne.u32 %p1, %r1, 0; mov.u32 %r10, %ntid.x; shl.b32 %r11, %r1, 4; mov.u32 %r12, sh;
add.u32 %r12, %r12, %r11; xor.b32 %r13, %r11, 16; mov.u32 %r14, sh; add.u32 %r13, %r13, %r14;
@%p1 bra READY;
mbarrier.init.shared.b64 [other], %r10; mbarrier.init.shared.b64 [other+8], %r10;
READY: bar.sync 0;
cp.async.ca.shared.global [%r12], [%rd3], 16; cp.async.mbarrier.arrive.noinc.shared.b64 [other+8];
mbarrier.arrive.shared.b64 %rd6, [other];
FIRST: mbarrier.test_wait.shared.b64 %p2, [other], %rd6; @!%p2 bra FIRST;
mbarrier.arrive.shared.b64 %rd7, [other];
SECOND: mbarrier.test_wait.shared.b64 %p2, [other], %rd7; @!%p2 bra SECOND;
COPIED: mbarrier.test_wait.parity.shared.b64 %p2, [other+8], 0; @!%p2 bra COPIED;
ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r13];
st.global.v4.u32 [%rd3+256], {%r20, %r21, %r22, %r23}; ret; }
"""
ATOMICS = (
    *(("add", "u32", "%r2"), ("min", "s32", "%r2"), ("max", "u32", "%r2"), ("min", "u32", "%r2")),
    *(("and", "b32", "%r2"), ("or", "b32", "%r2"), ("xor", "b32", "%r2"), ("inc", "u32", "%r2")),
    *(("dec", "u32", "%r2"), ("exch", "b32", "%r2"), ("cas", "b32", "%r2, %r3")),
    *(("add", "u64", "%rd4"), ("min", "s64", "%rd4"), ("max", "u64", "%rd4")),
    *(("and", "b64", "%rd4"), ("or", "b64", "%rd4"), ("xor", "b64", "%rd4")),
    *(("exch", "b64", "%rd4"), ("cas", "b64", "%rd4, %rd5")),
    *(("add", "f32", "%f1"), ("add", "f64", "%fd1"), ("add.noftz", "f16x2", "%b1")),
)
_RESULT = {"f32": "%f2", "f64": "%fd2", "f16x2": "%b2"}
_SIZE = {"f16x2": "b32"}


def _text(body: str, target: str, version: str = "8.0") -> str:
    return PRELUDE.format(target=target, version=version) + body


def _launch(threads: int = 32) -> Launch:
    values = np.random.default_rng(6).uniform(0.5, 2, threads * 256).astype(np.float16)
    return Launch((1, 1, 1), (threads, 1, 1), (values.view(np.uint32), np.uint32(7)))


@pytest.mark.drawn(3)
@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_89", "sm_90", "sm_120"])
def test_accesses(architecture: str) -> None:
    stores = "".join(
        f"st.global.u32 [%rd3+{4 * place}], %r{number};" for place, number in enumerate(RESULTS)
    )
    narrow = "st.global.u8 [%rd3+160], %r2; st.release.gpu.global.u32 [%rd3+164], %r3;"
    program = _text(f"{ACCESSES}{stores}{narrow} ret; }}", "sm_75")
    assert_as_ptx(program, _launch(), (architecture,))


@pytest.mark.drawn(1)
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_120"])
def test_copies_to_shared_memory(architecture: str) -> None:
    back = "".join(
        f"ld.shared.v4.u32 {{%r20, %r21, %r22, %r23}}, [%r12+{512 * step}];"
        f"st.global.v4.u32 [%rd3+{256 + 16 * step}], {{%r20, %r21, %r22, %r23}};"
        for step in range(6)
    )
    clear = "".join(f"st.shared.u64 [%r31+{512 * step}], 0;" for step in range(8))
    cleared = f"shl.b32 %r30, %r1, 4; mov.u32 %r31, sh; add.u32 %r31, %r31, %r30; {clear}"
    upper = clear.replace("st.shared.u64 [%r31+", "st.shared.u64 [%r31+8+")
    program = _text(f"{cleared}{upper} bar.sync 0; {COPIES}{back} ret; }}", "sm_80")
    assert_as_ptx(program, _launch(), (architecture,))


def test_mbarriers_of_ampere() -> None:
    assert_as_ptx(_text(MBARRIERS, "sm_80"), _launch(64), ("sm_80", "sm_86"))


def _atomics(space: str, place: str, kind: str) -> str:
    lines = []
    for number, (operation, type_, sources) in enumerate(ATOMICS):
        name = f"{space}.{operation}.{type_}"
        address = place.format(offset=64 + 8 * (number % 2))
        if kind == "red":
            if operation not in ("exch", "cas"):
                lines.append(f"red{name} {address}, {sources};")
            continue
        result = _RESULT.get(type_, "%rd8" if type_.endswith("64") else "%r8")
        size = _SIZE.get(type_, type_)
        lines.append(
            f"atom{name} {result}, {address}, {sources};"
            f"st.global.{size} [%rd3+{256 + 8 * number}], {result};"
        )
    return "\n".join(lines)


@pytest.mark.drawn(2)
@pytest.mark.parametrize(
    ("architecture", "kind"),
    [("sm_75", "red"), ("sm_80", "atom"), ("sm_90", "red"), ("sm_120", "atom")],
)
def test_atomics(architecture: str, kind: str) -> None:
    """Each thread changes its own place, so that no order of threads changes results."""
    setup = """shl.b32 %r10, %r1, 6; mov.u32 %r11, sh; add.u32 %r11, %r11, %r10;
    st.shared.u64 [%r11], %rd4; st.shared.u64 [%r11+8], %rd5; cvt.u64.u32 %rd20, %r11;
    cvta.shared.u64 %rd20, %rd20; setp.lt.u32 %p1, %r1, 7; add.u64 %rd21, %rd3, 96;
    selp.b64 %rd21, %rd20, %rd21, %p1;"""
    back = "ld.shared.u64 %rd22, [%r11]; st.global.u64 [%rd3+128], %rd22;"
    for space, place in (
        (".global", "[%rd3+{offset}]"),
        (".shared", "[%r11+{offset}-64]"),
        ("", "[%rd21+{offset}-64]"),
    ):
        address = place.replace("{offset}-64", "{offset}")
        body = _atomics(space, address, kind)
        if space != ".global":
            body = body.replace("+64]", "]").replace("+72]", "+8]")
        program = _text(f"{setup}{body}{back} ret; }}", "sm_75")
        assert_as_ptx(program, _launch(), (architecture,))


WIDE = """
.reg .b128 %q<4>;
ld.global.v2.u64 {%rd10, %rd11}, [%rd3]; ld.global.v2.u64 {%rd12, %rd13}, [%rd3+16];
ld.global.v4.f32 {%f3, %f4, %f5, %f6}, [%rd3+32]; ld.global.v2.b32 {%b3, %b4}, [%rd3+40];
add.u64 %rd9, %rd3, 128; mov.b128 %q1, {%rd10, %rd11}; mov.b128 %q2, {%rd12, %rd13};
red.global.add.v4.f32 [%rd9], {%f3, %f4, %f5, %f6}; red.global.add.v2.f32 [%rd9], {%f3, %f4};
atom.global.add.v2.f32 {%f7, %f8}, [%rd9+16], {%f3, %f4}; st.global.v2.f32 [%rd9+64], {%f7, %f8};
red.global.max.noftz.v2.bf16x2 [%rd9+24], {%b3, %b4};
atom.global.min.noftz.v2.f16x2 {%b5, %b6}, [%rd9+24], {%b3, %b4};
st.global.v2.b32 [%rd9+72], {%b5, %b6};
atom.global.exch.b128 %q3, [%rd9+32], %q1; mov.b128 {%rd14, %rd15}, %q3;
st.global.v2.u64 [%rd9+80], {%rd14, %rd15};
atom.global.cas.b128 %q3, [%rd9+32], %q1, %q2; mov.b128 {%rd14, %rd15}, %q3;
st.global.v2.u64 [%rd9+96], {%rd14, %rd15};
atom.global.cas.b128 %q3, [%rd9+32], %q1, %q2; mov.b128 {%rd14, %rd15}, %q3;
st.global.v2.u64 [%rd9+112], {%rd14, %rd15}; ret; }
"""
LONG = """
ld.global.v4.u64 {%rd6, %rd7, %rd8, %rd9}, [%rd3];
ld.global.nc.v8.u32 {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%rd3+32];
add.u64 %rd6, %rd6, %rd9; st.global.v4.u64 [%rd3+128], {%rd6, %rd7, %rd8, %rd9};
st.global.v8.u32 [%rd3+160], {%r17, %r16, %r10, %r11, 0, 0, 0, 0};
ld.global.v8.u32 {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%rd3+64];
st.global.v2.u32 [%rd3+192], {%r12, %r15}; ret; }
"""


def test_atomics_on_vectors_and_on_128_bits() -> None:
    assert_as_ptx(_text(WIDE, "sm_90", "8.6"), _launch(), ("sm_90", "sm_120"))


def test_accesses_of_256_bits() -> None:
    assert_as_ptx(_text(LONG, "sm_100", "8.8"), _launch(), ("sm_100", "sm_120"))
