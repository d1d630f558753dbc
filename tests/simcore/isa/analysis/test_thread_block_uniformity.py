"""Values that all threads of a thread block share, and liveness under predicates."""

from __future__ import annotations

import pytest

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine.jit.runtime.run import can_run
from kernelcast.simcore.isa.analysis.control_flow import live_in
from kernelcast.simcore.isa.analysis.thread_block_uniformity import thread_block_values
from kernelcast.simcore.isa.ir.kernel import Kernel

_HEAD = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) {
.reg .pred %p, %q; .reg .b32 %n, %i, %t, %x, %y; .reg .b64 %out; .shared .b32 tile[64];
ld.param.u64 %out, [out]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x; mov.u32 %i, 0;
"""


def _kernel(body: str) -> Kernel:
    return read_ptx(f"{_HEAD}{body}\nret; }}\n", "k.ptx").kernels["k"]


def _common(kernel: Kernel) -> set[str]:
    known = thread_block_values(kernel)
    return {register.name for register in kernel.registers if register.index in known}


_LOOP = "L: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, {bound}; @%p bra L; mul.lo.u32 %x, %i, 2;"


@pytest.mark.parametrize(("bound", "is_common"), [("%n", True), ("%t", False)])
def test_a_counter_is_common_where_all_go_round_equally_often(bound: str, is_common: bool) -> None:
    common = _common(_kernel(_LOOP.format(bound=bound)))
    assert ({"%i", "%p", "%x"} <= common) is is_common
    assert "%n" in common
    assert "%t" not in common


def test_what_is_written_where_threads_have_parted_is_not_common() -> None:
    common = _common(
        _kernel(
            "mov.u32 %x, 1; mov.u32 %y, 1; setp.lt.u32 %p, %t, 5; @%p bra L; mov.u32 %x, 2;"
            "L: mov.u32 %y, %n; @%p mov.u32 %i, 3;"
        )
    )
    assert "%y" in common
    assert not {"%x", "%i", "%p"} & common


_REMAINDER = """mov.u32 %x, 4; setp.lt.u32 %p, %n, 4; @%p bra R;
L: st.shared.u32 [tile], %t; bar.sync 0; add.u32 %i, %i, 4; sub.u32 %y, %n, %i;
setp.ge.u32 %p, %y, 4; @%p bra L;
R: setp.ge.u32 %q, {condition}, %n; @%q bra END;
st.shared.u32 [tile], %t; bar.sync 0;
END: ld.shared.u32 %x, [tile]; st.global.u32 [%out], %x;"""


@pytest.mark.parametrize(("condition", "is_compiled"), [("%i", True), ("%t", False)])
def test_a_common_branch_round_a_barrier_is_no_bypass(condition: str, is_compiled: bool) -> None:
    assert can_run(_kernel(_REMAINDER.format(condition=condition))) is is_compiled


_GUARDED = "bra B; B: {before} @%p add.u32 %x, %t, 1; {between} {read} add.u32 %y, %x, 1;"


@pytest.mark.parametrize(
    ("before", "between", "read", "is_live"),
    [
        ("", "", "@%p", False),
        ("", "", "@!%p", True),
        ("", "", "", True),
        ("@!%p mov.u32 %x, 5;", "", "", False),
        ("", "setp.lt.u32 %p, %t, 3;", "@%p", True),
    ],
)
def test_a_read_needs_no_more_than_its_predicate_gave(
    before: str, between: str, read: str, is_live: bool
) -> None:
    kernel = _kernel(_GUARDED.format(before=before, between=between, read=read))
    (x,) = (register.index for register in kernel.registers if register.name == "%x")
    assert any(x in live for live in live_in(kernel)) is is_live
