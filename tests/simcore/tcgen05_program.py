"""A kernel around instructions of tensor memory, with 128 threads.

Shared memory comes from a buffer, all of tensor memory goes to another one in the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import execute
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Launch

Array = npt.NDArray[Any]
THREADS, SHARED_BYTES = 128, 65536
COLUMNS = 512
_AT_ONCE = 8


def program(body: str, registers: str = "", columns: int = COLUMNS) -> str:
    """A program that runs `body` in all threads.

    %t is the address of `columns` columns, %tile that of shared memory, %r0 the thread, %first true
    in thread 0, %rd2 a buffer of words, %rd3 one of numbers.
    """
    names = ", ".join(f"%u{i}" for i in range(_AT_ONCE))
    first, second = "{%u0, %u1, %u2, %u3}", "{%u4, %u5, %u6, %u7}"
    return f""".version 8.7
.target sm_100a
.address_size 64
.shared .align 1024 .b8 tile[{SHARED_BYTES}];
.shared .align 8 .b64 bar;
.shared .align 4 .b32 place;
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)
{{
.reg .pred %p<4>; .reg .pred %first; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .b64 %o;
.reg .b32 %t, %q, %c, %w, %u<{_AT_ONCE}>, %tile, %place, %bar, %one; {registers}
ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1]; ld.param.u64 %rd2, [p2];
ld.param.u64 %rd3, [p3];
mov.u32 %r0, %tid.x; setp.eq.u32 %first, %r0, 0; mov.u32 %tile, tile; mov.u32 %place, place;
mov.u32 %bar, bar;
mad.wide.u32 %o, %r0, {4 * columns}, %rd0; mov.u32 %r2, 0;
mad.lo.u32 %r1, %r0, 4, %tile; mad.wide.u32 %rd1, %r0, 4, %rd1;
FILL: ld.global.u32 %r3, [%rd1]; st.shared.u32 [%r1], %r3; add.u32 %r1, %r1, 512;
add.u64 %rd1, %rd1, 512; add.u32 %r2, %r2, 512; setp.lt.u32 %p1, %r2, {SHARED_BYTES}; @%p1 bra FILL;
@%first mbarrier.init.shared.b64 [%bar], 1;
setp.ge.u32 %p0, %r0, 32; @%p0 bra READY;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%place], {columns};
tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
READY: bar.sync 0;
ld.shared.b32 %t, [%place];
shl.b32 %q, %r0, 16; and.b32 %q, %q, 0x600000; add.u32 %q, %q, %t;
{body}
bar.sync 0;
WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%bar], 0; @!%p2 bra WAIT;
tcgen05.fence::after_thread_sync;
bar.sync 0;
mov.u32 %c, 0;
OUT: tcgen05.ld.sync.aligned.32x32b.x{_AT_ONCE}.b32 {{{names}}}, [%q];
st.global.v4.b32 [%o], {first}; st.global.v4.b32 [%o+16], {second};
add.u32 %q, %q, {_AT_ONCE}; add.u64 %o, %o, {4 * _AT_ONCE}; add.u32 %c, %c, {_AT_ONCE};
setp.lt.u32 %p2, %c, {columns}; @%p2 bra OUT;
tcgen05.wait::ld.sync.aligned;
bar.sync 0;
@%p0 bra DONE;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t, {columns};
DONE: ret;
}}
"""


COMMIT = "@%first tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%bar];"


def run(
    source: str,
    tile: Array,
    words: Array,
    numbers: Array,
    columns: int = COLUMNS,
    engine: str = "reference",
) -> Array:
    """All words of tensor memory, shape (128, columns)."""
    kernel, launch = launched(source, tile, words, numbers, columns)
    execute(kernel, launch, engine=engine)
    return np.asarray(launch.arguments[0])


def launched(
    source: str, tile: Array, words: Array, numbers: Array, columns: int = COLUMNS
) -> tuple[Kernel, Launch]:
    """Runs a program; its first argument is a buffer for all words of tensor memory."""
    module = read_ptx(source, "k.ptx")
    for reasons in module.rejected.values():
        raise reasons[0]
    found = np.zeros((THREADS, columns), np.uint32)
    launch = Launch((1, 1, 1), (THREADS, 1, 1), (found, tile.view(np.uint32), words, numbers))
    return module.kernels["k"], launch


FILLED = 64
"""Columns that `described` fills, from its column 256 on."""


def described(product: str, registers: str = "") -> str:
    """A program around one product whose descriptors are data.

    `product` finds those of A and B in %rd5 and %rd6, that of the instruction in %r6, that of zero
    columns in %rd7, a false predicate in %p3; tensor memory from column 256 on is filled from the
    buffer of words, (column, lane).
    """
    words = ", ".join(f"%u{i}" for i in range(_AT_ONCE))
    loads = "\n".join(f"ld.global.b32 %u{i}, [%rd2+{512 * i}];" for i in range(_AT_ONCE))
    body = f"""ld.global.u64 %rd5, [%rd3]; ld.global.u64 %rd6, [%rd3+8]; shr.u32 %r5, %tile, 4;
cvt.u64.u32 %rd7, %r5; add.u64 %rd5, %rd5, %rd7; add.u64 %rd6, %rd6, %rd7;
ld.global.u32 %r6, [%rd3+16]; ld.global.u64 %rd7, [%rd3+24]; setp.ne.u32 %p3, %r0, %r0;
mad.wide.u32 %rd2, %r0, 4, %rd2; mov.u32 %c, 0; mov.u32 %r7, %q;
FILLS: {loads}
tcgen05.st.sync.aligned.32x32b.x{_AT_ONCE}.b32 [%r7+256], {{{words}}};
add.u32 %r7, %r7, {_AT_ONCE}; add.u64 %rd2, %rd2, {512 * _AT_ONCE}; add.u32 %c, %c, {_AT_ONCE};
setp.lt.u32 %p2, %c, {FILLED}; @%p2 bra FILLS;
tcgen05.wait::st.sync.aligned;
bar.sync 0;
{product}
{COMMIT}"""
    return program(body, registers)
