"""A kernel of one wgmma, and where the manual's canonical layouts put elements.

Shared memory comes from a buffer, D's registers go to another.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.ptx_frontend import read_ptx
from kernelcast.simcore.engine import execute
from kernelcast.simcore.launch.launch import Launch

Array = npt.NDArray[Any]
THREADS = 128
SHARED_BYTES = 65536
SPAN = {0: 0, 32: 1, 64: 2, 128: 3}
MODE = {0: 0, 128: 1, 64: 2, 32: 3}


def program(instruction: str, d_words: int, d_type: str, a_words: int, more: str = "") -> str:
    """`instruction` uses {D}, {A}, %da, %db, %meta and %scale; `more` runs before it."""
    d = ", ".join(f"%d{i}" for i in range(d_words))
    a = ", ".join(f"%a{i}" for i in range(a_words))
    loads = [f"ld.global.{d_type} %d{i}, [%rd0+{512 * i}];" for i in range(d_words)]
    loads += [f"ld.global.b32 %a{i}, [%rd2+{512 * i}];" for i in range(a_words)]
    stores = [f"st.global.{d_type} [%rd0+{512 * i}], %d{i};" for i in range(d_words)]
    text = instruction.replace("{D}", "{" + d + "}").replace("{A}", "{" + a + "}")
    kind = "f32" if d_type == "f32" else "b32"
    newline = "\n"
    return f""".version 8.6
.target sm_90a
.address_size 64
.shared .align 1024 .b8 tile[{SHARED_BYTES}];
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3,
                  .param .u64 da, .param .u64 db, .param .u32 scale)
{{
.reg .pred %p<4>; .reg .pred %scale; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .b64 %da, %db;
.reg .b32 %a<{a_words + 1}>; .reg .b32 %meta; .reg .{kind} %d<{d_words}>;
ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1]; ld.param.u64 %rd2, [p2];
ld.param.u64 %rd3, [p3]; ld.param.u64 %da, [da]; ld.param.u64 %db, [db];
ld.param.u32 %r4, [scale]; setp.ne.u32 %scale, %r4, 0;
mov.u32 %r0, %tid.x;
mad.wide.u32 %rd0, %r0, 4, %rd0; mad.wide.u32 %rd2, %r0, 4, %rd2; mad.wide.u32 %rd3, %r0, 4, %rd3;
mov.u32 %r1, tile; mad.lo.u32 %r1, %r0, 4, %r1; mad.wide.u32 %rd1, %r0, 4, %rd1; mov.u32 %r2, 0;
mov.u32 %r5, tile; shr.u32 %r5, %r5, 4; cvt.u64.u32 %rd5, %r5; add.u64 %da, %da, %rd5;
add.u64 %db, %db, %rd5;
FILL: ld.global.u32 %r3, [%rd1]; st.shared.u32 [%r1], %r3; add.u32 %r1, %r1, 512;
add.u64 %rd1, %rd1, 512; add.u32 %r2, %r2, 512; setp.lt.u32 %p1, %r2, {SHARED_BYTES}; @%p1 bra FILL;
ld.global.u32 %meta, [%rd3];
{newline.join(loads)}
bar.sync 0;
{more}
wgmma.fence.sync.aligned;
{text}
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
{newline.join(stores)}
ret;
}}
"""


def run(
    source: str,
    d: Array,
    tile: Array,
    registers: Array,
    meta: Array,
    descriptors: tuple[int, int],
    scale: int,
    engine: str,
    threads: int = THREADS,
) -> Any:
    module = read_ptx(source, "k.ptx")
    for reasons in module.rejected.values():
        raise reasons[0]
    values = [np.uint64(value) for value in descriptors]
    arguments: Any = (d, tile, registers, meta, *values, np.uint32(scale))
    launch = Launch((1, 1, 1), (threads, 1, 1), arguments)
    return execute(module.kernels["k"], launch, engine=engine)


def descriptor(start: int, leading: int, stride: int, swizzle: int, base: int = 0) -> int:
    fields = (start >> 4) | (leading >> 4) << 16 | (stride >> 4) << 32 | base << 49
    return fields | MODE[swizzle] << 62


def canonical(
    line: Array, depth: Array, size: int, swizzle: int, turned: bool, leading: int, stride: int
) -> Array:
    """Byte offsets of elements (line along M or N, depth along K) of `size` bytes.

    The canonical layouts are as CuTe writes them in units of T = 16 bytes, then the swizzle.
    """
    t = 16 // size
    width = {0: 1, 32: 2, 64: 4, 128: 8}[swizzle]
    if not turned:  # ((8,m),(T,2)) : ((width T, SBO), (1, T or LBO))
        place = (line % 8) * width * 16 + (line // 8) * stride
        place = place + depth % t * size + (depth // t) * (leading if swizzle == 0 else 16)
    elif swizzle == 0:  # ((T,1,m),(8,k)) : ((1,T,SBO),(T,LBO))
        place = line % t * size + (line // t) * stride + depth % 8 * 16 + (depth // 8) * leading
    else:  # ((T,width,m),(8,k)) : ((1,T,LBO),(width T,SBO))
        place = line % t * size + (line // t % width) * 16 + (line // t // width) * leading
        place = place + (depth % 8) * width * 16 + (depth // 8) * stride
    bits = SPAN[swizzle]
    return np.asarray(place ^ ((place >> 7 & ((1 << bits) - 1)) << 4))


def accumulator_places(columns: int) -> tuple[Array, Array]:
    """(row, column) of each register element and thread, as the manual's figure has them."""
    thread = np.arange(THREADS)[None, :]
    index = np.arange(columns // 2)[:, None]
    row = thread // 32 * 16 + thread % 32 // 4 + 8 * (index // 2 % 2)
    return row, index // 4 * 8 + thread % 4 * 2 + index % 2


def register_places(depth: int, per_word: int) -> tuple[Array, Array]:
    """(row, depth) of A's elements in registers, four registers of `per_word` each."""
    thread = np.arange(THREADS)[None, :]
    index = np.arange(4 * per_word)[:, None]
    word, inside = index // per_word, index % per_word
    row = thread // 32 * 16 + thread % 32 // 4 + 8 * (word % 2)
    return row, (word // 2) * (depth // 2) + thread % 4 * per_word + inside
