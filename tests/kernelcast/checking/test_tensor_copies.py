"""Tiles that a tensor map describes: waited for before they are read, written before stored."""

from __future__ import annotations

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.simcore.launch.launch import Argument
from kernelcast.simcore.launch.tensor_maps import TensorMap

_HEAD = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 tensor, .param .u64 to)
{
 .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
 .shared .align 128 .b8 tile[512];
 .shared .align 8 .b64 bar;
 ld.param.u64 %rd1, [tensor]; ld.param.u64 %rd2, [to];
 mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, bar;
 mul.wide.u32 %rd3, %r0, 4; add.s64 %rd2, %rd2, %rd3;
 shl.b32 %r3, %r0, 2; add.u32 %r3, %r3, %r1;
 setp.eq.u32 %p1, %r0, 0;
 @%p1 mbarrier.init.shared.b64 [%r2], 1;
 bar.sync 0;
"""
_LOAD = """@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 512;
 @%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
 [%r1], [%rd1, {0, 4}], [%r2];
"""
_WAIT = "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra W;\n"
_READ = "ld.shared.u32 %r5, [%r3]; st.global.u32 [%rd2], %r5;\n"
_WRITE = "st.shared.u32 [%r3], %r0;\n"
_FENCE, _SYNC = "fence.proxy.async.shared::cta;\n", "bar.sync 0;\n"
_STORE = """@%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {0, 4}], [%r1];
 @%p1 cp.async.bulk.commit_group;
"""
_DONE = "@%p1 cp.async.bulk.wait_group.read 0;\n"


@pytest.mark.parametrize(
    ("code", "kinds"),
    [
        (_LOAD + _WAIT + _READ, set()),
        (_LOAD + _READ, {"async-copy"}),
        (_LOAD + _SYNC + _READ, {"async-copy"}),
        (_WRITE + _FENCE + _SYNC + _STORE + _DONE + _SYNC + _WRITE, set()),
        (_WRITE + _SYNC + _STORE + _DONE + _SYNC + _WRITE, {"async-copy"}),
        (_WRITE + _FENCE + _SYNC + _STORE + _SYNC + _WRITE, {"async-copy"}),
        (_WRITE + _FENCE + _STORE + _DONE + _SYNC, {"race", "uninitialised"}),
    ],
)
def test_tiles_are_waited_for_and_written_before(code: str, kinds: set[str]) -> None:
    kernel = kc.load_ptx(f"{_HEAD}{code} ret;\n}}\n").only_kernel()
    array = np.arange(32 * 32, dtype=np.uint32).reshape(32, 32)
    args: list[Argument] = [TensorMap(array, (16, 8)), np.zeros(128, np.uint32)]
    report = kc.check(kernel, args=args, grid=1, block=128)
    assert {item.kind.value for item in report.errors} == kinds
    assert (array.reshape(-1) == np.arange(32 * 32)).all()
