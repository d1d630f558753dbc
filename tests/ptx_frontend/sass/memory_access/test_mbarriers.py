"""SYNCS and ARRIVES against the statements on mbarriers that they were assembled from."""

from __future__ import annotations

import numpy as np
import pytest

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.isa.ir import mbarrier_words
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.native_programs import ENGINES, machine_kernel, outputs

_ONE = """
mbarrier.init.shared.b64 [%bar], %n; NOTE
mbarrier.arrive.shared.b64 %x0, [%bar]; STATE
mbarrier.arrive.shared.b64 %x0, [%bar], 2; STATE
mbarrier.arrive.expect_tx.shared.b64 %x0, [%bar], %tx; STATE
mbarrier.expect_tx.relaxed.cta.shared.b64 [%bar], 32; NOTE
mbarrier.complete_tx.relaxed.cta.shared.b64 [%bar], 16; NOTE
mbarrier.arrive_drop.shared.b64 %x0, [%bar]; STATE
mbarrier.test_wait.shared.b64 %p1, [%bar], %x0; FLAG
mbarrier.complete_tx.relaxed.cta.shared.b64 [%bar], %tx; NOTE
mbarrier.test_wait.parity.shared.b64 %p1, [%bar], 0; FLAG
mbarrier.complete_tx.relaxed.cta.shared.b64 [%bar], 16; NOTE
mbarrier.test_wait.shared.b64 %p1, [%bar], %x0; FLAG
mbarrier.try_wait.parity.shared.b64 %p1, [%bar], 0; FLAG
mbarrier.try_wait.parity.shared.b64 %p1, [%bar], 1, 100; FLAG
mbarrier.arrive_drop.expect_tx.shared.b64 %x0, [%bar], 48; STATE
mbarrier.arrive_drop.shared.b64 _, [%bar], 2; NOTE
mbarrier.complete_tx.relaxed.cta.shared.b64 [%bar], 48; NOTE
cp.async.mbarrier.arrive.shared.b64 [%bar]; NOTE
cp.async.mbarrier.arrive.noinc.shared.b64 [%bar]; NOTE
mbarrier.inval.shared.b64 [%bar];
"""
"""Every form by one thread: the word behind it, the state that it gives, what it finds."""


def _program(architecture: str) -> tuple[str, int]:
    """Each mark becomes a store of 64 bits."""
    text, stores = "", 0
    note = "ld.shared.b64 %x1, [%bar]; "
    state = "mbarrier.pending_count.b64 %r1, %x0; cvt.u64.u32 %x2, %r1; add.u64 %x1, %x0, %x2; "
    flag = "selp.b64 %x1, 1, 2, %p1; "
    marks = {"NOTE": note, "STATE": state, "FLAG": flag}
    for line in _ONE.splitlines():
        statement, _, mark = line.rpartition(";")
        code = marks.get(mark.strip(), "")
        if code:
            code += f"st.global.b64 [%out+{8 * stores}], %x1;"
            stores += 1
        text += f"{statement};" * bool(statement) + code + "\n"
    return (
        f""".version 8.8
.target {architecture}
.address_size 64
.visible .entry k(.param .u64 p0, .param .u32 n, .param .u32 tx) {{
.reg .b64 %out, %x<3>; .reg .b32 %t, %n, %tx, %bar, %r<2>; .reg .pred %p<2>;
.shared .align 8 .b64 bars[4];
ld.param.u64 %out, [p0]; ld.param.u32 %n, [n]; ld.param.u32 %tx, [tx]; mov.u32 %t, %tid.x;
mov.u32 %bar, bars; add.u32 %bar, %bar, 8; setp.ne.u32 %p1, %t, 0; @%p1 ret;
{text}
ret;
}}
""",
        stores,
    )


@pytest.mark.parametrize("architecture", ["sm_90a", "sm_100a"])
def test_words_and_states_are_those_of_ptx(architecture: str) -> None:
    text, count = _program(architecture)
    arguments = (np.zeros(count, np.uint64), np.uint32(5), np.uint32(96))
    launch = Launch((1, 1, 1), (32, 1, 1), arguments)
    wanted = outputs(read_ptx(text, "k.ptx").kernels["k"], launch, "reference")[0]
    assert wanted[0] == mbarrier_words.initial_word(5)
    assert len(set(wanted.tolist())) > 12
    kernel = machine_kernel(text, architecture)
    for engine in ENGINES:
        np.testing.assert_array_equal(outputs(kernel, launch, engine)[0], wanted)


def test_every_lane_s_arrival_counts() -> None:
    """Warps wait for one another, phase after phase; a sum that a missing wait would change."""
    text = """.version 8.8
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p0) {
.reg .b64 %out, %at, %s; .reg .b32 %t, %bar, %place, %sum, %x, %i;
.reg .b32 %parity, %other; .reg .pred %p<4>;
.shared .align 8 .b64 bar; .shared .align 4 .b32 words[128];
ld.param.u64 %out, [p0]; mov.u32 %t, %tid.x; mov.u32 %bar, bar; mov.u32 %sum, 0;
setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 [%bar], 128; bar.sync 0;
mov.u32 %i, 0; mov.u32 %parity, 0;
LOOP:
mov.u32 %place, words; mad.lo.u32 %place, %t, 4, %place; mad.lo.u32 %x, %i, 1000, %t;
st.shared.b32 [%place], %x;
mbarrier.arrive.shared.b64 _, [%bar];
WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [%bar], %parity; @!%p1 bra WAIT;
xor.b32 %other, %t, 96; mov.u32 %place, words; mad.lo.u32 %place, %other, 4, %place;
ld.shared.b32 %x, [%place]; add.u32 %sum, %sum, %x; xor.b32 %parity, %parity, 1;
mbarrier.arrive.shared.b64 %s, [%bar];
AGAIN: mbarrier.test_wait.shared.b64 %p1, [%bar], %s; @!%p1 bra AGAIN;
xor.b32 %parity, %parity, 1; add.u32 %i, %i, 1; setp.lt.u32 %p2, %i, 3; @%p2 bra LOOP;
mul.wide.u32 %at, %t, 4; add.u64 %out, %out, %at; st.global.b32 [%out], %sum;
ret;
}
"""
    kernel = machine_kernel(text, "sm_90a")
    launch = Launch((2, 1, 1), (128, 1, 1), (np.zeros(128, np.uint32),))
    for engine in ENGINES:
        found = outputs(kernel, launch, engine)[0]
        np.testing.assert_array_equal(found, 3 * (np.arange(128) ^ 96) + 3000)


@pytest.mark.parametrize("architecture", ["sm_90a", "sm_100a", "sm_120a"])
def test_arrivals_that_complete_no_phase(architecture: str) -> None:
    """Lanes that arrive at once: each has the pending count that it found itself."""
    text = f""".version 8.8
.target {architecture}
.address_size 64
.visible .entry k(.param .u64 p0, .param .u32 n) {{
.reg .b64 %out, %x<2>; .reg .b32 %t, %n, %bar, %r; .reg .pred %p<3>;
.shared .align 8 .b64 bar;
ld.param.u64 %out, [p0]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x; mov.u32 %bar, bar;
mul.wide.u32 %x0, %t, 16; add.u64 %out, %out, %x0; setp.eq.u32 %p0, %t, 0;
@%p0 mbarrier.init.shared.b64 [%bar], 200; bar.sync 0;
mbarrier.arrive.noComplete.shared.b64 %x1, [%bar], %n;
mbarrier.pending_count.b64 %r, %x1; st.global.b32 [%out], %r; setp.gt.u32 %p1, %t, 20;
@%p1 mbarrier.arrive_drop.noComplete.shared.b64 %x1, [%bar], 2;
mbarrier.pending_count.b64 %r, %x1; st.global.b32 [%out+4], %r;
mbarrier.test_wait.shared.b64 %p2, [%bar], %x1; selp.b32 %r, 1, 2, %p2;
st.global.b32 [%out+8], %r; ret;
}}
"""
    launch = Launch((1, 1, 1), (32, 1, 1), (np.zeros((32, 4), np.uint32), np.uint32(3)))
    wanted = outputs(read_ptx(text, "k.ptx").kernels["k"], launch, "reference")[0]
    assert wanted[:, 0].tolist() == [200 - 3 * lane for lane in range(32)]
    kernel = machine_kernel(text, architecture)
    for engine in ENGINES:
        np.testing.assert_array_equal(outputs(kernel, launch, engine)[0], wanted)
