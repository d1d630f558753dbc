"""Tensor maps that a kernel makes from nothing: zeros, of which `tensormap.replace` sets fields."""

from __future__ import annotations

import numpy as np
import pytest

from kernelcast.errors import MemoryAccessError
from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import ENGINES, execute
from kernelcast.simcore.launch.launch import Launch

FIELDS = {
    "global_address": "b64 [%map], %from",
    "rank": "b32 [%map], 1",
    "box_dim 0": "b32 [%map], 0, 8",
    "box_dim 1": "b32 [%map], 1, 4",
    "global_dim 0": "b32 [%map], 0, 16",
    "global_dim 1": "b32 [%map], 1, 6",
    "global_stride": "b64 [%map], 0, 64",
    "element_stride 0": "b32 [%map], 0, 1",
    "element_stride 1": "b32 [%map], 1, 1",
    "elemtype": "b32 [%map], 2",
}
PROGRAM = """.version 8.6
.target sm_90a
.address_size 64
.shared .align 128 .b8 tile[128]; .shared .align 128 .b8 made[128]; .shared .align 8 .b64 bar;
.visible .entry k(.param .u64 from, .param .u64 to, .param .u64 scratch)
{{
.reg .pred %first, %p; .reg .b32 %lane, %r<6>; .reg .b64 %from, %to, %scratch, %map, %rd<3>;
ld.param.u64 %from, [from]; ld.param.u64 %to, [to]; ld.param.u64 %scratch, [scratch];
mov.u32 %lane, %tid.x; setp.eq.u32 %first, %lane, 0;
mov.u32 %r0, made; mad.lo.u32 %r1, %lane, 4, %r0; st.shared.u32 [%r1], 0;
mov.u32 %r2, bar; mov.u32 %r3, tile; cvt.u64.u32 %map, %r0;
@%first mbarrier.init.shared::cta.b64 [%r2], 1;
bar.sync 0;
@!%first bra MADE;
{replacements}
MADE: bar.warp.sync -1;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned
    [%scratch], [%map], 128;
fence.proxy.tensormap::generic.acquire.gpu [%scratch], 128;
@!%first bra WAIT;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 128;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
    [%r3], [%scratch, {{12, 3}}], [%r2];
WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p, [%r2], 0; @!%p bra WAIT;
mad.lo.u32 %r4, %lane, 4, %r3; ld.shared.u32 %r5, [%r4];
mad.wide.u32 %rd0, %lane, 4, %to; st.global.u32 [%rd0], %r5;
ret;
}}
"""


def run(fields: dict[str, str], engine: str) -> tuple[np.ndarray, np.ndarray]:
    lines = []
    for name, operands in fields.items():
        bits, rest = operands.split(" ", 1)
        kind = name.split()[0]
        lines.append(f"tensormap.replace.tile.{kind}.shared::cta.b1024.{bits} {rest};")
    module = read_ptx(PROGRAM.format(replacements="\n".join(lines)), "k.ptx")
    for reasons in module.rejected.values():
        raise reasons[0]
    given = np.arange(6 * 16, dtype=np.uint32).reshape(6, 16) + 1
    found, scratch = np.full(32, 99, np.uint32), np.zeros(128, np.uint8)
    launch = Launch((1, 1, 1), (32, 1, 1), (given, found, scratch))
    execute(module.kernels["k"], launch, engine=engine)
    return given, found.reshape(4, 8)


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_a_map_made_of_zeros(engine: str) -> None:
    given, found = run(FIELDS, engine)
    wanted = np.zeros((4, 8), np.uint32)  # three rows and four columns are inside
    wanted[:3, :4] = given[3:, 12:]
    np.testing.assert_array_equal(found, wanted)


def test_an_address_that_was_forgotten() -> None:
    """Sizes of 1 are zeros in a map, so that only this shows."""
    fields = {name: text for name, text in FIELDS.items() if name != "global_address"}
    with pytest.raises(MemoryAccessError, match="this memory holds no tensor map"):
        run(fields, "reference")
