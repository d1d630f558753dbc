"""Copies in bulk as machine code: UBLKCP, UBLKRED, UTMALDG, UTMASTG, UTMAREDG, STAS, REDAS."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import execute
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.launch.tensor_maps import TensorMap
from tests.ptx_frontend.sass.native_programs import ENGINES, machine_kernel, outputs
from tests.simcore.launch.test_tensor_maps_made_by_kernels import FIELDS, PROGRAM

_DECLARED = """.reg .b64 %in, %out, %at; .reg .b32 %t, %bar, %tile, %x, %size; .reg .pred %p<3>;
.reg .b16 %h; .shared .align 8 .b64 bar; .shared .align 128 .b8 tile[8192];
ld.param.u64 %in, [p0]; ld.param.u64 %out, [p1]; mov.u32 %t, %tid.x; mov.u32 %bar, bar;
mov.u32 %tile, tile; setp.eq.u32 %p0, %t, 0;"""
_WAIT = "{0}: mbarrier.try_wait.parity.shared.b64 %p1, [%bar], 0; @!%p1 bra {0};"
_ARRIVED = "mbarrier::complete_tx::bytes"


def _kernel_text(body: str, parameters: str = ".param .u64 p0, .param .u64 p1") -> str:
    return f""".version 8.8
.target sm_90a
.address_size 64
.visible .entry k({parameters}) {{
{_DECLARED}
{body}
ret;
}}
"""


def _same_on_all(text: str, launch: Launch) -> tuple[npt.NDArray[Any], ...]:
    """What PTX gives, which the machine code gives on both engines."""
    wanted = outputs(read_ptx(text, "k.ptx").kernels["k"], launch, "reference")
    kernel = machine_kernel(text, "sm_90a")
    for engine in ENGINES:
        for found, same in zip(outputs(kernel, launch, engine), wanted, strict=True):
            np.testing.assert_array_equal(found, same)
    return wanted


def test_each_lane_copies_for_itself() -> None:
    """Lanes take turns, in and out, with sizes of their own; the first copies are by one lane."""
    body = f"""@%p0 mbarrier.init.shared.b64 [%bar], 1; bar.sync 0;
mov.u32 %size, 16; setp.lt.u32 %p2, %t, 16; @%p2 mov.u32 %size, 32;
@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 768; bar.sync 0;
mad.lo.u32 %tile, %t, 32, %tile; mul.wide.u32 %at, %t, 32; add.u64 %in, %in, %at;
add.u64 %out, %out, %at;
cp.async.bulk.shared::cluster.global.{_ARRIVED} [%tile], [%in], %size, [%bar];
{_WAIT.format("W")}
cp.async.bulk.global.shared::cta.bulk_group [%out], [%tile], %size;
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out+1024], [%tile], 16;
cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s64 [%out+2048], [%tile], 16;
cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;"""
    given = np.random.default_rng(2).integers(1, 1 << 32, 256, dtype=np.uint32)
    launch = Launch((1, 1, 1), (32, 1, 1), (given, np.full(768, 3, np.uint32)))
    _, found = _same_on_all(_kernel_text(body), launch)
    np.testing.assert_array_equal(found[:128], given[:128])
    assert (found[132:136] == 3).all()
    assert (found[256 + 8 * 31 : 256 + 8 * 31 + 4] == given[8 * 31 : 8 * 31 + 4] + 3).all()


@pytest.mark.drawn(2)
@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_boxes_of_tensors_go_in_and_out(rank: int) -> None:
    """A box is loaded, stored elsewhere and added once more, all by the first lane."""
    at = "{" + ", ".join(f"%c{i}" for i in range(rank)) + "}"
    to = "{" + ", ".join(f"%e{i}" for i in range(rank)) + "}"
    places = "".join(
        f"add.u32 %c{i}, %x, {i + 1}; add.u32 %e{i}, %x, {2 - i % 2};" for i in range(rank)
    )
    body = f""".reg .b32 %c<5>, %e<5>; ld.param.u32 %x, [p2];
@%p0 mbarrier.init.shared.b64 [%bar], 1; bar.sync 0; @!%p0 bra WAIT;
{places}
mbarrier.arrive.expect_tx.shared.b64 _, [%bar], {64 * 2 ** (rank - 1)};
cp.async.bulk.tensor.{rank}d.shared::cluster.global.{_ARRIVED} [%tile], [%in, {at}], [%bar];
{_WAIT.format("WAIT")}
@!%p0 bra DONE; fence.proxy.async;
cp.async.bulk.tensor.{rank}d.global.shared::cta.bulk_group [%out, {to}], [%tile];
cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.add.bulk_group [%out, {at}], [%tile];
cp.async.bulk.prefetch.tensor.{rank}d.L2.global [%in, {at}];
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
DONE:"""
    text = _kernel_text(body, ".param .u64 p0, .param .u64 p1, .param .u32 p2")
    shape = (4,) * (rank - 1) + (32,)
    given = np.random.default_rng(rank).integers(0, 99, shape).astype(np.float32)
    box = (16, *(2,) * (rank - 1))
    results = []
    kernels = [read_ptx(text, "k.ptx").kernels["k"], *(machine_kernel(text, "sm_90a"),) * 2]
    for kernel, engine in zip(kernels, ("reference", *ENGINES), strict=True):
        target = np.ones(shape, np.float32)
        arguments = (TensorMap(given, box), TensorMap(target, box), np.uint32(0))
        execute(kernel, Launch((1, 1, 1), (32, 1, 1), arguments), engine=engine)
        results.append(target)
    assert (results[0] != 1).sum() > 16
    for found in results[1:]:
        np.testing.assert_array_equal(found, results[0])


def test_copies_to_all_thread_blocks_of_a_cluster() -> None:
    """One of them loads for all; then each stores to the next one and tells its mbarrier."""
    body = f""".reg .b32 %rank, %next, %there, %far; mov.u32 %rank, %cluster_ctarank;
@%p0 mbarrier.init.shared.b64 [%bar], 1;
@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 180;
barrier.cluster.arrive; barrier.cluster.wait;
mov.u16 %h, 5; setp.eq.u32 %p1, %rank, 0; and.pred %p1, %p1, %p0; @!%p1 bra LOADED;
cp.async.bulk.shared::cluster.global.{_ARRIVED}.multicast::cluster [%tile], [%in], 128, [%bar], %h;
cp.async.bulk.shared::cluster.global.{_ARRIVED}.multicast::cluster [%tile+256], [%in+256], 128,
  [%bar], 10;
LOADED:
add.u32 %next, %rank, 1; and.b32 %next, %next, 3;
mapa.shared::cluster.u32 %there, %tile, %next; mapa.shared::cluster.u32 %far, %bar, %next;
@!%p0 bra STORED;
st.async.shared::cluster.{_ARRIVED}.v4.b32 [%there+512], {{%rank, 7, 8, 9}}, [%far];
st.async.shared::cluster.{_ARRIVED}.b32 [%there+528], %next, [%far];
red.async.relaxed.cluster.shared::cluster.{_ARRIVED}.add.u32 [%there+528], 100, [%far];
st.async.shared::cluster.{_ARRIVED}.b64 [%there+532], %in, [%far];
st.async.shared::cluster.{_ARRIVED}.v4.b32 [%there+544], {{1, 2, 3, 4}}, [%far];
st.async.shared::cluster.{_ARRIVED}.b32 [%there+560], 5, [%far];
STORED: {_WAIT.format("W")}
mad.lo.u32 %tile, %t, 4, %tile; mad.lo.u32 %x, %rank, 192, %t; mul.wide.u32 %at, %x, 4;
add.u64 %out, %out, %at; ld.shared.b32 %x, [%tile]; st.global.b32 [%out], %x;
ld.shared.b32 %x, [%tile+256]; st.global.b32 [%out+128], %x;
setp.gt.u32 %p2, %t, 4; @%p2 bra END; ld.shared.b32 %x, [%tile+512]; st.global.b32 [%out+256], %x;
END: barrier.cluster.arrive; barrier.cluster.wait;"""
    text = _kernel_text(body.replace(".b64 [%there+532], %in", ".b64 [%there+536], %at0"))
    text = text.replace(".reg .b32 %rank", ".reg .b64 %at0; mov.b64 %at0, 99; .reg .b32 %rank")
    given = np.arange(128, dtype=np.uint32) + 1000
    launch = Launch((4, 1, 1), (32, 1, 1), (given, np.zeros(768, np.uint32)), cluster=(4, 1, 1))
    _, found = _same_on_all(text, launch)
    found = found.reshape(4, 192)
    assert (found[::2, :32] == given[:32]).all()
    assert (found[1::2, 32:64] == given[64:96]).all()
    assert found[:, 64].tolist() == [3, 0, 1, 2]
    assert found[:, 68].tolist() == [100, 101, 102, 103]


def test_maps_that_machine_code_makes() -> None:
    """The assembler writes `tensormap.replace` as ordinary stores."""
    lines = []
    for name, operands in FIELDS.items():
        bits, rest = operands.split(" ", 1)
        lines.append(f"tensormap.replace.tile.{name.split()[0]}.shared::cta.b1024.{bits} {rest};")
    text = PROGRAM.format(replacements="\n".join(lines))
    given = np.arange(6 * 16, dtype=np.uint32).reshape(6, 16) + 1
    arguments = (given, np.full(32, 99, np.uint32), np.zeros(128, np.uint8))
    launch = Launch((1, 1, 1), (32, 1, 1), arguments)
    wanted = np.zeros((4, 8), np.uint32)
    wanted[:3, :4] = given[3:, 12:]
    kernel = machine_kernel(text, "sm_90a")
    for engine in ENGINES:
        found = outputs(kernel, launch, engine)[1]
        np.testing.assert_array_equal(found.reshape(4, 8), wanted)
