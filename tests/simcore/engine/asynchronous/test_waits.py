"""Reading what an asynchronous copy brings before anybody waited for it is an error."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import MemoryAccessError
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch

Compile = Callable[..., Kernel]
Words = npt.NDArray[np.uint32]
SHARED = ".shared .align 16 .b8 tile[4096]; .shared .align 8 .b64 bar[2];"
START = """ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to]; mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile; mov.u32 %r4, bar; mad.lo.u32 %r3, %r1, 16, %r2;
    mul.wide.u32 %rd3, %r1, 16; add.u64 %rd4, %rd1, %rd3; mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd2, %rd2, %rd3; setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [%r4], 64; @%p1 mbarrier.init.shared.b64 [%r4+8], 64;
    bar.sync 0;"""
COPY = "cp.async.cg.shared.global [%r3], [%rd4], 16;"
OTHER = "cp.async.cg.shared.global [%r3+1024], [%rd4], 16;"
COMMIT, ALL = "cp.async.commit_group;", "cp.async.wait_all;"
ARRIVE = "cp.async.mbarrier.arrive.noinc.shared.b64 [%r4];"
LOOK = "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0; @!%p2 bra W;"
BULK = """@%p1 mbarrier.expect_tx.relaxed.cta.shared.b64 [%r4], 1024;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
    [%r2], [%rd1], 1024, [%r4]; mbarrier.arrive.shared.b64 _, [%r4];"""
SECOND_ARRIVE, SECOND_LOOK = (text.replace("[%r4]", "[%r4+8]") for text in (ARRIVE, LOOK))
AHEAD = f"{COPY} {ARRIVE} {OTHER} {SECOND_ARRIVE}"
"""A pipeline: the second stage is under way before anyone waits for the first."""
READ = "ld.shared.u32 %r5, [%r3]; st.global.u32 [%rd2], %r5; ret;"
READ_OTHER = "ld.shared.u32 %r5, [%r3+1024]; st.global.u32 [%rd2], %r5; ret;"
MESSAGE = "an asynchronous copy brings that has not been waited for"

WAITED = {
    "group": f"{COPY} {COMMIT} cp.async.wait_group 0; bar.sync 0; {READ}",
    "all": f"{COPY} {ALL} bar.sync 0; {READ}",
    "first of two": f"{COPY} {COMMIT} {OTHER} {COMMIT} cp.async.wait_group 1; {READ}",
    "another place": f"{COPY} {COMMIT} bar.sync 0; {READ_OTHER}",
    "mbarrier": f"{COPY} {ARRIVE} {LOOK} {READ}",
    "first of two mbarriers": f"{AHEAD} {LOOK} {READ}",
    "second of two mbarriers": f"{AHEAD} {SECOND_LOOK} {READ_OTHER}",
    "second of two mbarriers, told of both": f"{AHEAD} {SECOND_LOOK} {READ}",
    "bulk": f"{BULK} {LOOK} {READ}",
    "bulk, and one looks for all": f"{BULK} @!%p1 bra.uni L; {LOOK} L: bar.sync 0; {READ}",
    "overwritten since": f"{COPY} {COMMIT} {OTHER} {COMMIT} {ALL} {READ_OTHER}",
}
NOT_WAITED = {
    "nothing": f"{COPY} {COMMIT} bar.sync 0; {READ}",
    "second of two": f"{COPY} {COMMIT} {OTHER} {COMMIT} cp.async.wait_group 1; {READ_OTHER}",
    "no group": f"{COPY} cp.async.wait_group 0; {READ}",
    "another's wait": f"{COPY} {COMMIT} @%p1 {ALL} bar.sync 0; {READ}",
    "mbarrier": f"{COPY} {ARRIVE} bar.sync 0; {READ}",
    "first of two mbarriers": f"{AHEAD} {LOOK} {READ_OTHER}",
    "begun again": f"{COPY} {ARRIVE} {LOOK} {COPY} {SECOND_ARRIVE} {READ}",
    "bulk": f"{BULK} bar.sync 0; {READ}",
}


def run(compile_ptx: Compile, body: str) -> tuple[Words, Words]:
    given, found = np.arange(256, dtype=np.uint32) + 1, np.zeros(64, np.uint32)
    kernel = compile_ptx(START + body, "u64 from, u64 to", SHARED)
    execute(kernel, Launch((1, 1, 1), (64, 1, 1), (given, found)), engine="reference")
    return given, found


@pytest.mark.parametrize("name", sorted(WAITED))
def test_who_waited_may_read(compile_ptx: Compile, name: str) -> None:
    given, found = run(compile_ptx, WAITED[name])
    if name != "another place":
        assert (found == given[::4]).all()


@pytest.mark.parametrize("name", sorted(NOT_WAITED))
def test_who_did_not_may_not(compile_ptx: Compile, name: str) -> None:
    thread = r"thread \(1, 0, 0\)" if name == "another's wait" else r"thread \(0, 0, 0\)"
    with pytest.raises(MemoryAccessError, match=f"(?s){MESSAGE}.*{thread}"):
        run(compile_ptx, NOT_WAITED[name])


def test_phases_one_after_the_other(compile_ptx: Compile) -> None:
    """Two copies through one mbarrier: the second one is not there when the first one is."""
    twice = f"""{BULK} {LOOK} bar.sync 0; {BULK.replace("[%r2]", "[%r2+1024]")}"""
    second = LOOK.replace("W:", "X:").replace("bra W", "bra X").replace("], 0;", "], 1;")
    _, found = run(compile_ptx, f"{twice} {second} {READ_OTHER}")
    assert found.any()
    with pytest.raises(MemoryAccessError, match=MESSAGE):
        run(compile_ptx, f"{twice} {READ_OTHER}")
    run(compile_ptx, f"{twice} {READ}")
