"""Copies in bulk, plain and of tensors, against NumPy."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import LaunchError, MemoryAccessError
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Argument, Launch
from kernelcast.simcore.launch.tensor_maps import Fill, Swizzle, TensorElement, TensorMap
from kernelcast.traces.trace import Trace

both: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[2] / "trace_comparison.py"))
)
Compile = Callable[..., Kernel]
SHARED = ".shared .align 1024 .b8 tile[16384]; .shared .align 8 .b64 bar;"
START = """ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to]; mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile; mov.u32 %r4, bar; setp.ne.u32 %p1, %r1, 0; @%p1 bra SET;
    mbarrier.init.shared.b64 [%r4], 1; SET: bar.sync 0; @%p1 bra WAIT;"""
WAIT = "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0; @!%p2 bra WAIT;"
COPY_OUT = """mul.wide.u32 %rd3, %r1, 4; add.u64 %rd2, %rd2, %rd3; mad.lo.u32 %r3, %r1, 4, %r2;
    NEXT: ld.shared.u32 %r5, [%r3]; st.global.u32 [%rd2], %r5; add.u32 %r3, %r3, 128;
    add.u64 %rd2, %rd2, 128; add.u32 %r6, %r6, 128; setp.lt.u32 %p3, %r6, %r7;
    @%p3 bra NEXT; ret;"""


def run(kernel: Kernel, *arguments: Argument) -> Trace:
    launch = Launch((1, 1, 1), (32, 1, 1), arguments)
    trace: Trace = both.run_on_both(kernel, launch)
    return trace


def loaded(
    compile_ptx: Compile,
    tensor: TensorMap,
    coordinates: tuple[int, ...],
    size: int,
    kind: str = "tile",
    offsets: str = "",
) -> npt.NDArray[np.uint8]:
    """The bytes that a copy of a tensor leaves in shared memory."""
    places = ", ".join(map(str, coordinates))
    dimensions = len(coordinates) if "gather4" not in kind else 2
    body = f"""{START} mbarrier.arrive.expect_tx.shared.b64 _, [%r4], {size};
        cp.async.bulk.tensor.{dimensions}d.shared::cluster.global.{kind}.mbarrier::complete_tx::bytes
        [%r2], [%rd1, {{{places}}}], [%r4]{offsets};
        {WAIT} mov.u32 %r6, 0; mov.u32 %r7, {size}; {COPY_OUT}"""
    found = np.zeros(-(-size // 128) * 128, np.uint8)
    run(compile_ptx(body, "u64 from, u64 to", SHARED), tensor, found)
    return found[:size]


def window(
    array: npt.NDArray[np.generic], first: tuple[int, ...], shape: tuple[int, ...]
) -> object:
    """A part of an array that may stick out; zeros there. Outermost dimension first."""
    padded = np.pad(array, 8)
    return padded[tuple(slice(8 + f, 8 + f + s) for f, s in zip(first, shape, strict=True))]


@pytest.mark.drawn(7)
@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
def test_boxes_of_every_rank(compile_ptx: Compile, rank: int, dtype: type[np.generic]) -> None:
    shape = (3, 4, 5, 6, 32)[-rank:]
    array = np.random.default_rng(rank).integers(1, 200, shape).astype(dtype)
    box, first = (2, 2, 3, 4, 16)[-rank:], (1, -1, 3, -2, 24)[-rank:]
    tensor = TensorMap(array, box[::-1])
    size = int(np.prod(box)) * array.itemsize
    found = loaded(compile_ptx, tensor, first[::-1], size).view(dtype).reshape(box)
    assert (found == window(array, first, box)).all()


@pytest.mark.parametrize("swizzle", list(Swizzle))
def test_swizzles_are_those_of_the_manual(compile_ptx: Compile, swizzle: Swizzle) -> None:
    """Pieces of 16 bytes by row of 128 bytes, as the manual draws them.

    Their number is combined with the number of the row (128), half of it (64), a quarter (32).
    """
    columns = (swizzle.span or 64) // 4
    array = np.arange(32 * columns, dtype=np.uint32).reshape(32, columns)
    size = array.nbytes
    found = loaded(compile_ptx, TensorMap(array, (columns, 32), swizzle=swizzle), (0, 0), size)
    pieces = array.reshape(-1, 4)
    expected = np.zeros_like(pieces)
    mask = {0: 0, 32: 1, 64: 3, 128: 7}[swizzle.span]
    for number, piece in enumerate(pieces):
        row, column = divmod(number, 8)
        expected[row * 8 + (column ^ (row & mask))] = piece
    assert (found.view(np.uint32).reshape(-1, 4) == expected).all()


def test_steps_take_every_nth_element(compile_ptx: Compile) -> None:
    array = np.arange(40 * 16, dtype=np.float32).reshape(40, 16)
    tensor = TensorMap(array, (16, 12), steps=(1, 3))
    found = loaded(compile_ptx, tensor, (0, 5), 4 * 16 * 4).view(np.float32).reshape(4, 16)
    assert (found == array[5:17:3]).all()


@pytest.mark.parametrize(
    ("dtype", "element"),
    [(np.float32, None), (np.float64, None), (np.float16, None), (np.uint16, TensorElement.BF16)],
)
def test_nan_may_stand_outside(
    compile_ptx: Compile, dtype: type[np.generic], element: TensorElement | None
) -> None:
    array = np.ones((4, 16), dtype)
    tensor = TensorMap(array, (16, 4), element, fill=Fill.NAN)
    found = loaded(compile_ptx, tensor, (0, 2), 64 * array.itemsize).view(dtype).reshape(4, 16)
    if element is TensorElement.BF16:
        found = (found.astype(np.uint32) << 16).view(np.float32)
    assert not np.isnan(found[:2]).any()
    assert np.isnan(found[2:]).all()


def test_gathered_rows(compile_ptx: Compile) -> None:
    array = np.arange(50 * 32, dtype=np.uint32).reshape(50, 32)
    tensor = TensorMap(array, (16, 1))
    found = loaded(compile_ptx, tensor, (8, 3, 44, 0, 99), 256, "tile::gather4")
    rows = found.view(np.uint32).reshape(4, 16)
    assert (rows[:3] == array[[3, 44, 0], 8:24]).all()
    assert (rows[3] == 0).all()


@pytest.mark.parametrize("offsets", [(0, 0), (1, 2), (2, 0)])
def test_im2col_is_a_convolution_s_matrix(compile_ptx: Compile, offsets: tuple[int, int]) -> None:
    """NHWC images, a filter of 3x3 with a border of one: the pixels under filter tap `offsets`."""
    random = np.random.default_rng(3)
    array = random.integers(1, 99, (3, 5, 6, 8)).astype(np.float32)
    tensor = TensorMap(array, lower=(-1, -1), upper=(-1, -1), channels=8, pixels=40)
    start_w, start_h, start_n = 2, 1, 0
    x, y = offsets
    found = loaded(
        compile_ptx,
        tensor,
        (0, start_w, start_h, start_n),
        40 * 32,
        "im2col",
        f", {{{x}, {y}}}",
    )
    padded = np.pad(array, ((0, 0), (1, 1), (1, 1), (0, 0)))
    every = [
        padded[n, h + y, w + x] for n in range(3) for h in range(5) for w in range(6)
    ]  # tap (x, y) of the output pixel (w, h)
    first = (start_h + 1) * 6 + start_w + 1
    assert (found.view(np.float32).reshape(40, 8) == np.array(every[first : first + 40])).all()


def test_stores_leave_out_what_is_outside(compile_ptx: Compile) -> None:
    body = """ld.param.u64 %rd2, [to]; mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mov.u32 %r6, %r1;
        FILL: mad.lo.u32 %r3, %r6, 4, %r2; st.shared.u32 [%r3], %r6; add.u32 %r6, %r6, 32;
        setp.lt.u32 %p3, %r6, 128; @%p3 bra FILL; bar.sync 0; setp.ne.u32 %p1, %r1, 0;
        mov.u32 %r5, -3; fence.proxy.async.shared::cta;
        @!%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd2, {12, %r5}], [%r2];
        cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; ret;"""
    array = np.zeros((6, 20), np.uint32)
    run(compile_ptx(body, "u64 to", SHARED), TensorMap(array, (16, 8)))
    expected = np.zeros((6, 20), np.uint32)
    expected[:5, 12:] = np.arange(128).reshape(8, 16)[3:, :8]
    assert (array == expected).all()


@pytest.mark.parametrize("operation", ["add", "min", "max", "and", "or", "xor"])
def test_reductions_of_tensors_and_runs(compile_ptx: Compile, operation: str) -> None:
    body = f"""ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, %tid.x;
        mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, 4, %r2; mul.lo.u32 %r4, %r1, 3;
        st.shared.u32 [%r3], %r4; bar.sync 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra END;
        cp.reduce.async.bulk.tensor.1d.global.shared::cta.{operation}.tile.bulk_group
        [%rd1, {{0}}], [%r2];
        cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation}.u32 [%rd2], [%r2], 128;
        cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; END: ret;"""
    before = np.random.default_rng(2).integers(0, 99, 32).astype(np.uint32)
    one, other = before.copy(), before.copy()
    run(compile_ptx(body, "u64 a, u64 b", SHARED), TensorMap(one, (32,)), other)
    apply = {"add": np.add, "min": np.minimum, "max": np.maximum}.get(operation)
    apply = apply or getattr(np, f"bitwise_{operation}")
    expected = apply(before, 3 * np.arange(32, dtype=np.uint32))
    assert (one == expected).all()
    assert (other == expected).all()


def test_runs_go_both_ways_and_are_traffic(compile_ptx: Compile) -> None:
    body = f"""{START} mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 4096;
        cp.async.bulk.prefetch.L2.global [%rd1], 4096;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
        [%r2], [%rd1], 4096, [%r4];
        {WAIT} @%p1 bra END;
        cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 4096;
        cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; END: ret;"""
    given, found = np.arange(1024, dtype=np.float32), np.zeros(1024, np.float32)
    trace = run(compile_ptx(body, "u64 from, u64 to", SHARED), given, found)
    assert (found == given).all()
    rows = [row for row in trace.instructions if row.opcode == "cp.async.bulk"]
    assert [(row.kind, row.space) for row in rows if not row.is_part] == [
        ("load", "global"),
        ("load", "global"),
        ("store", "global"),
    ]
    for row in rows:
        table = trace.accesses if row.space == "global" else trace.pattern_counts
        warps = (
            (table.pc == row.pc).sum()
            if row.space == "global"
            else int(trace.pattern_counts.count[trace.pattern_counts.pc == row.pc].sum())
        )
        assert warps == 4096 // (32 * 16)


def test_maps_may_be_changed_on_the_device(compile_ptx: Compile) -> None:
    """A map in global memory gets another array, size, stride and box."""
    array = np.arange(64 * 32, dtype=np.float32).reshape(64, 32)
    tensor = TensorMap(np.zeros((4, 4), np.float32), (4, 4))
    body = f"""ld.param.u64 %rd5, [other]; {START}
        tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd5;
        tensormap.replace.tile.global_dim.global.b1024.b32 [%rd1], 0, 32;
        tensormap.replace.tile.global_dim.global.b1024.b32 [%rd1], 1, 64;
        tensormap.replace.tile.global_stride.global.b1024.b64 [%rd1], 0, 128;
        tensormap.replace.tile.box_dim.global.b1024.b32 [%rd1], 0, 32;
        tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%rd1], 0;
        fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;
        mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 512;
        cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
        [%r2], [%rd1, {{0, 7}}], [%r4];
        {WAIT} mov.u32 %r6, 0; mov.u32 %r7, 512; {COPY_OUT}"""
    found = np.zeros((4, 32), np.float32)
    run(compile_ptx(body, "u64 from, u64 to, u64 other", SHARED), tensor, found, array)
    assert (found == array[7:11]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"box": (16, 8, 1)}, "the box of a tensor map of 2 dimensions"),
        ({"box": (300, 8)}, "sizes of a box are from 1 to 256"),
        ({"box": (3, 8)}, "rows of a box are multiples of 16 bytes, got 12"),
        ({"box": (32, 8), "swizzle": Swizzle.BYTES_64}, "do not fit a swizzle of 64"),
        ({"box": (16, 8), "steps": (1, 9)}, "steps are from 1 to 8"),
        ({"box": (16, 8), "strides": (100,)}, "strides of a tensor map are multiples of 16"),
    ],
)
def test_maps_that_a_driver_refuses(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        TensorMap(np.zeros((32, 32), np.float32), **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("copy", "message"),
    [
        ("[%r2], [%rd1], 24, [%r4]", "size 0x18 is no multiple of 16"),
        ("[%r2+4], [%rd1], 32, [%r4]", "destination .* is no multiple of 16"),
        ("[%r2], [%rd1], 8192, [%r4]", "at address"),
    ],
)
def test_runs_that_hardware_refuses(compile_ptx: Compile, copy: str, message: str) -> None:
    body = f"""{START}
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes {copy}; WAIT: ret;"""
    kernel = compile_ptx(body, "u64 from, u64 to", SHARED)
    with pytest.raises(MemoryAccessError, match=message):
        run(kernel, np.zeros(1024, np.float32), np.zeros(4, np.float32))


def test_memory_that_is_no_map(compile_ptx: Compile) -> None:
    body = f"""{START} cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes
        [%r2], [%rd1, {{0}}], [%r4]; WAIT: ret;"""
    kernel = compile_ptx(body, "u64 from, u64 to", SHARED)
    with pytest.raises(MemoryAccessError, match="this memory holds no tensor map"):
        run(kernel, np.zeros(1024, np.float32), np.zeros(4, np.float32))
