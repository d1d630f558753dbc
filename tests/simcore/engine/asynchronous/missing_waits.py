"""Kernels that wait for asynchronous copies before they read, and some that do not."""

from __future__ import annotations

__all__ = [
    "BULK",
    "COPY",
    "LOOK",
    "MESSAGE",
    "NOT_WAITED",
    "READ",
    "READ_OTHER",
    "SHARED",
    "START",
    "WAITED",
]

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
