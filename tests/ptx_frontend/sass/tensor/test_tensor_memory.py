"""Tensor memory in machine code against the `tcgen05` that it was assembled from."""

from __future__ import annotations

import re

import numpy as np
import pytest

from kernelcast.errors import MemoryAccessError
from kernelcast.simcore.launch.launch import Launch
from tests.ptx_frontend.sass.native_programs import ENGINES, machine_kernel, outputs
from tests.simcore import tcgen05_program as programs

_COLUMNS = 128
_WORDS = 32
"""Registers that are filled from the buffer of words."""
_RNG = np.random.default_rng(31)
_TILE = _RNG.integers(0, 256, programs.SHARED_BYTES).astype(np.uint8)
_HELD = _RNG.integers(0, 1 << 32, (_WORDS, 128)).astype(np.uint32)
_SHAPES = {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4, "16x32bx2": 1}
_ALLOCATE = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"
_ADDRESSES = "mad.wide.u32 %rd2, %r0, 4, %rd2; mad.wide.u32 %rd3, %r0, 4, %rd3;\n"


def _registers(count: int, first: int = 0) -> str:
    return "{" + ", ".join(f"%v{first + i}" for i in range(count)) + "}"


def _check(body: str, found: int = 1) -> None:
    """All of tensor memory, and `found` words of each thread."""
    source = programs.program(f"{_ADDRESSES}{body}\n{programs.COMMIT}", ".reg .b32 %v<80>;", 128)
    read = np.zeros((found, 128), np.uint32)
    ptx, launch = programs.launched(source, _TILE, _HELD, read, _COLUMNS)
    wanted = outputs(ptx, launch, "jit")
    assert wanted[0].any()
    assert found == 1 or wanted[3].any(axis=1).all()
    kernel = machine_kernel(source, "sm_100a")
    for engine in ENGINES:
        for mine, theirs in zip(outputs(kernel, launch, engine), wanted, strict=True):
            np.testing.assert_array_equal(mine, theirs)


_FILLS = "\n".join(f"ld.global.b32 %v{i}, [%rd2+{512 * i}];" for i in range(_WORDS))


@pytest.mark.parametrize("packing", ["", "16b"])
def test_registers_in_and_out(packing: str) -> None:
    """Every shape, from lane 0 or 16 of a warp on, stored and loaded."""
    pack, unpack = (f".{way}::16b" if packing else "" for way in ("pack", "unpack"))
    lines, read = [_FILLS], 0
    lines += [
        f"tcgen05.st.sync.aligned.32x32b.x32.b32 [%q+{c}], {_registers(32)};" for c in (0, 32)
    ]
    for index, (shape, each) in enumerate(_SHAPES.items()):
        split = ", 16" if shape == "16x32bx2" else ""
        lane = 0 if shape == "32x32b" else 16 << 16
        count = 8 // each
        name = f"sync.aligned.{shape}.x{count}"
        place = f"[%q+{lane + 24 * index}]"
        lines.append(f"tcgen05.st.{name}{unpack}.b32 {place}{split}, {_registers(8, 3 * index)};")
    lines.append("tcgen05.wait::st.sync.aligned;")
    for index, (shape, each) in enumerate(_SHAPES.items()):
        split = ", 5" if shape == "16x32bx2" else ""
        place = f"[%q+{(0 if shape == '32x32b' else 16 << 16) + 9 * index}]"
        name = f"sync.aligned.{shape}.x{8 // each}{pack}.b32"
        lines.append(f"tcgen05.ld.{name} {_registers(8, 32 + 8 * index)}, {place}{split};")
    lines.append("tcgen05.wait::ld.sync.aligned;")
    for register in range(32, 32 + 8 * len(_SHAPES)):
        lines.append(f"st.global.b32 [%rd3+{512 * read}], %v{register};")
        read += 1
    _check("\n".join(lines), read)


def test_a_word_and_many() -> None:
    """One register, and 64 of a thread."""
    lines = [_FILLS, "tcgen05.st.sync.aligned.32x32b.x1.b32 [%q+64], {%v1};"]
    lines.append(f"tcgen05.st.sync.aligned.32x32b.x32.b32 [%q], {_registers(32)};")
    lines.append(f"tcgen05.st.sync.aligned.32x32b.x32.b32 [%q+32], {_registers(32)};")
    lines.append("tcgen05.wait::st.sync.aligned;")
    lines.append(f"tcgen05.ld.sync.aligned.32x32b.x64.b32 {_registers(64)}, [%q];")
    lines.append("tcgen05.ld.sync.aligned.16x64b.x1.b32 {%v64}, [%q+20];")
    lines += [f"st.global.b32 [%rd3+{512 * i}], %v{i};" for i in range(65)]
    _check("\n".join(lines), 65)


_COPIES = (
    *("128x256b", "4x256b", "128x128b", "64x128b.warpx2::02_13", "64x128b.warpx2::01_23"),
    *("32x128b.warpx4", "128x128b.b8x16.b6x16_p32", "64x128b.warpx2::01_23.b8x16.b4x16_p64"),
)


def test_copies_from_shared_memory_and_a_shift() -> None:
    fixed = 256 >> 4 | (2048 >> 4) << 16 | (128 >> 4) << 32 | 1 << 46
    lines = [f"shr.u32 %r5, %tile, 4; cvt.u64.u32 %rd5, %r5; add.u64 %rd5, %rd5, {fixed};"]
    for index, copy in enumerate(_COPIES):
        lines.append(f"@%first tcgen05.cp.cta_group::1.{copy} [%t+{8 * index}], %rd5;")
    lines.append(f"@%first tcgen05.shift.cta_group::1.down [%t+{32 << 16}];")
    _check("\n".join(lines))


def test_columns_come_and_go() -> None:
    """A second allocation gets the next columns, a third what was given back."""
    lines = [
        "@%p0 bra OTHERS;",
        f"{_ALLOCATE} [%tile], 32; ld.shared.u32 %v0, [%tile];",
        f"mov.u32 %r2, 128; {_ALLOCATE} [%tile], %r2;",
        "ld.shared.u32 %v1, [%tile]; st.global.b32 [%rd3], %v0; st.global.b32 [%rd3+512], %v1;",
        "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %v0, 32;",
        f"{_ALLOCATE} [%tile], 64; ld.shared.u32 %v2, [%tile];",
        "st.global.b32 [%rd3+1024], %v2;",
        "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %v2, 64;",
        "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %v1, %r2;",
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;",
        "OTHERS: bar.sync 0; tcgen05.st.sync.aligned.32x32b.x1.b32 [%q+9], {%r0};",
    ]
    body = "\n".join(lines)
    source = programs.program(f"{_ADDRESSES}{body}\n{programs.COMMIT}", ".reg .b32 %v<80>;", 128)
    source = source.replace(
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\nREADY", "READY"
    )
    read = np.zeros((3, 128), np.uint32)
    ptx, launch = programs.launched(source, _TILE, _HELD, read, _COLUMNS)
    wanted = outputs(ptx, launch, "reference")
    assert wanted[3][:, 0].tolist() == [128, 256, 128]
    kernel = machine_kernel(source, "sm_100a")
    for engine in ENGINES:
        for mine, theirs in zip(outputs(kernel, launch, engine), wanted, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_more_columns_than_there_are() -> None:
    source = programs.program(
        f"@!%p0 {_ALLOCATE} [%place], 512;{programs.COMMIT}",
        "",
        32,
    )
    source = re.sub(r"tcgen05.relinq.*\nREADY", "READY", source)
    _, launch = programs.launched(source, _TILE, _HELD, _HELD, 32)
    with pytest.raises(MemoryAccessError, match="no 512 columns left"):
        outputs(machine_kernel(source, "sm_100a"), launch, "jit")


_PAIR = """barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %w, %cluster_ctarank;
setp.eq.u32 %p3, %w, 0; and.pred %p3, %p3, %first;
shr.u32 %r5, %tile, 4; cvt.u64.u32 %rd5, %r5; add.u64 %rd5, %rd5, FIXED;
@%p3 tcgen05.cp.cta_group::2.128x256b [%t], %rd5;
@%p3 tcgen05.cp.cta_group::2.64x128b.warpx2::02_13 [%t+8], %rd5;
@%p3 tcgen05.cp.cta_group::2.128x256b [%t+64], %rd5;
@%p3 tcgen05.shift.cta_group::2.down [%t+SHIFTED];
@%p3 tcgen05.mma.cta_group::2.kind::f16 [%t+64], %rd5, %rd5, WORD,
    {1, %r0, 0, 0, 2, 0, 0, 9}, %p3, 1;
@%p3 tcgen05.mma.cta_group::2.kind::i8 [%t+96], %rd5, %rd5, INTEGERS, %p0;
cvt.u16.u32 %h, 3;
@%p3 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64
    [%bar], %h;
barrier.cluster.arrive; barrier.cluster.wait;"""


def test_pairs_of_thread_blocks() -> None:
    """Each has its own shared memory and half of the rows; the even one asks for both."""
    fixed = 256 >> 4 | (2048 >> 4) << 16 | (128 >> 4) << 32 | 1 << 46
    sizes = 32 // 8 << 17 | 256 // 16 << 24
    words = {
        "FIXED": fixed,
        "SHIFTED": 32 << 16,
        "WORD": 1 << 4 | sizes,
        "INTEGERS": 2 << 4 | 1 << 7 | sizes,
    }
    body = _PAIR
    for name, value in words.items():
        body = body.replace(name, str(value))
    source = programs.program(body, ".reg .b16 %h;", _COLUMNS).replace("group::1", "group::2")
    own = f"""mov.u32 %w, %ctaid.x; mad.lo.u32 %w, %w, 128, %r0;
mad.wide.u32 %o, %w, {4 * _COLUMNS}, %rd0; xor.b32 %w, %w, 128; mul.wide.u32 %rd7, %w, 4;"""
    source = source.replace(f"mad.wide.u32 %o, %r0, {4 * _COLUMNS}, %rd0;", own)
    source = source.replace("mad.wide.u32 %rd1, %r0, 4, %rd1;", "add.u64 %rd1, %rd1, %rd7;")
    ptx, one = programs.launched(source, _TILE, _HELD, _HELD, _COLUMNS)
    found = np.zeros((256, _COLUMNS), np.uint32)
    tiles = np.concatenate([_TILE, _TILE[::-1]]).view(np.uint32)
    arguments = (found, tiles, *one.arguments[2:])
    launch = Launch((2, 1, 1), (128, 1, 1), arguments, cluster=(2, 1, 1))
    wanted = outputs(ptx, launch, "reference")[0]
    assert (wanted[:128] != wanted[128:]).any(axis=0)[[0, 8, 64, 96]].all()
    kernel = machine_kernel(source, "sm_100a")
    for engine in ENGINES:
        np.testing.assert_array_equal(outputs(kernel, launch, engine)[0], wanted)
