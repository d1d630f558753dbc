"""Changed tensor maps, and instructions beside asynchronous copies that leave values alone."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernelcast.errors import MemoryAccessError, PtxSyntaxError
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Argument, Launch
from kernelcast.simcore.launch.tensor_maps import Fill, Swizzle, TensorElement, TensorMap

both: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[2] / "trace_comparison.py"))
)
Compile = Callable[..., Kernel]
SHARED = ".shared .align 1024 .b8 tile[4096]; .shared .align 8 .b64 bar;"
ELEMENTS = {
    "u8": 0,
    "u16": 1,
    "u32": 2,
    "s32": 3,
    "u64": 4,
    "s64": 5,
    "f16": 6,
    "f32": 7,
    "f32.ftz": 8,
    "f64": 9,
    "bf16": 10,
    "tf32": 11,
    "tf32.ftz": 12,
}
"""LLVM prints these names beside the numbers (llvm.nvvm.tensormap.replace.elemtype)."""


def run(kernel: Kernel, *arguments: Argument, threads: int = 32) -> None:
    both.run_on_both(kernel, Launch((1, 1, 1), (threads, 1, 1), arguments))


def copied(compile_ptx: Compile, tensor: TensorMap, changes: str, size: int) -> npt.NDArray[Any]:
    """What a copy of the box at (0, 0) brings after the map has been changed."""
    body = f"""ld.param.u64 %rd1, [map]; ld.param.u64 %rd2, [to]; mov.u32 %r1, %tid.x;
        mov.u32 %r2, tile; mov.u32 %r4, bar; setp.ne.u32 %p1, %r1, 0; @%p1 bra SET;
        mbarrier.init.shared.b64 [%r4], 1; mbarrier.arrive.expect_tx.shared.b64 _, [%r4], {size};
        {changes} cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
        [%r2], [%rd1, {{0, 0}}], [%r4]; SET: bar.sync 0;
        WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0; @!%p2 bra WAIT;
        mov.u32 %r6, %r1; NEXT: setp.ge.u32 %p3, %r6, {size}; @%p3 ret; add.u32 %r3, %r2, %r6;
        ld.shared.u8 %r5, [%r3]; cvt.u64.u32 %rd3, %r6; add.u64 %rd3, %rd3, %rd2;
        st.global.u8 [%rd3], %r5; add.u32 %r6, %r6, 32; bra NEXT;"""
    found = np.zeros(size, np.uint8)
    run(compile_ptx(body, "u64 map, u64 to", SHARED), tensor, found)
    return found


def replaced(field: str, value: int) -> str:
    return f"tensormap.replace.tile.{field}.global.b1024.b32 [%rd1], {value};"


@pytest.mark.drawn(7)
@pytest.mark.parametrize("name", sorted(ELEMENTS))
def test_numbers_of_element_types(compile_ptx: Compile, name: str) -> None:
    """A size shows in what a box of 16 x 2 brings, flushing in what becomes of 1e-40."""
    number = ELEMENTS[name]
    element = next(e for e in TensorElement if e.number == number)
    assert element.name.lower().replace("_", ".") == name
    size = int(name.removesuffix(".ftz")[-2:]) // 8 if name not in ("u8",) else 1
    given = np.full((4, 64), 1e-40, np.float32)
    tensor = TensorMap(given, (16, 2))
    found = copied(compile_ptx, tensor, replaced("elemtype", number), 32 * size)
    expected = given.view(np.uint8)[:2, : 16 * size].reshape(-1)
    if name.endswith("ftz"):
        expected = np.zeros_like(expected)
    assert (found == expected).all()


@pytest.mark.parametrize(("number", "swizzle"), list(enumerate(Swizzle)))
def test_numbers_of_swizzles(compile_ptx: Compile, number: int, swizzle: Swizzle) -> None:
    given = np.arange(16 * 32, dtype=np.float32).reshape(16, 32)
    columns = (swizzle.span or 128) // 4
    changed = copied(
        compile_ptx, TensorMap(given, (columns, 16)), replaced("swizzle_mode", number), 64 * columns
    )
    made = copied(compile_ptx, TensorMap(given, (columns, 16), swizzle=swizzle), "", 64 * columns)
    assert (changed == made).all()
    assert [s.span for s in Swizzle] == [0, 32, 64, 128]


def test_number_of_the_fill(compile_ptx: Compile) -> None:
    given = np.ones((1, 16), np.float32)
    assert [fill.value for fill in (Fill.ZEROS, Fill.NAN)] == [0, 1]
    zeros = copied(
        compile_ptx, TensorMap(given, (16, 2), fill=Fill.NAN), replaced("fill_mode", 0), 128
    )
    nans = copied(compile_ptx, TensorMap(given, (16, 2)), replaced("fill_mode", 1), 128)
    assert (zeros.view(np.float32)[16:] == 0).all()
    assert np.isnan(nans.view(np.float32)[16:]).all()


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("elemtype", 13, "elements of type 13 of a tensor map are not supported"),
        ("interleave_layout", 1, "interleaved tensor maps are not supported"),
    ],
)
def test_numbers_that_mean_nothing_here(
    compile_ptx: Compile, field: str, value: int, message: str
) -> None:
    tensor = TensorMap(np.ones((4, 16), np.float32), (16, 2))
    with pytest.raises(MemoryAccessError, match=message):
        copied(compile_ptx, tensor, replaced(field, value), 128)


@pytest.mark.parametrize(("field", "value"), [("swizzle_mode", 4), ("fill_mode", 2)])
def test_numbers_that_do_not_fit(compile_ptx: Compile, field: str, value: int) -> None:
    tensor = TensorMap(np.ones((4, 16), np.float32), (16, 2))
    with pytest.raises(PtxSyntaxError, match=f"there is no {field} {value}"):
        copied(compile_ptx, tensor, replaced(field, value), 128)


def test_multimem_of_one_device(compile_ptx: Compile) -> None:
    """A store, a reduction and a load of the sum over all devices: this one alone."""
    body = """ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd3, %r1, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
        multimem.ld_reduce.relaxed.sys.global.add.f32 %f1, [%rd1];
        multimem.st.relaxed.sys.global.f32 [%rd2], %f1;
        multimem.red.relaxed.sys.global.add.f32 [%rd1], %f1; ret;"""
    given = np.arange(32, dtype=np.float32)
    a, b = given.copy(), np.zeros(32, np.float32)
    run(compile_ptx(body, "u64 a, u64 b"), a, b)
    assert (b == given).all()
    assert (a == 2 * given).all()


def test_multimem_of_vectors(compile_ptx: Compile) -> None:
    body = """ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd3, %r1, 16; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
        multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
        multimem.st.relaxed.sys.global.v4.f32 [%rd2], {%f4, %f3, %f2, %f1}; ret;"""
    a, b = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    run(compile_ptx(body, "u64 a, u64 b"), a, b)
    assert (b.reshape(-1, 4) == a.reshape(-1, 4)[:, ::-1]).all()


def test_what_has_no_effect_on_values(compile_ptx: Compile) -> None:
    """Cache policies, register counts, and waits for kernels launched before."""
    body = """griddepcontrol.wait; ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x;
        setmaxnreg.dec.sync.aligned.u32 24; setmaxnreg.inc.sync.aligned.u32 240;
        createpolicy.fractional.L2::evict_last.b64 %rd4, 1.0;
        createpolicy.range.L2::evict_last.L2::evict_first.b64 %rd5, [%rd1], 64, 128;
        createpolicy.cvt.L2.b64 %rd6, 0x14F0000000000000;
        mul.wide.u32 %rd3, %r1, 4; add.u64 %rd1, %rd1, %rd3;
        ld.global.L2::cache_hint.u32 %r2, [%rd1], %rd4; add.u32 %r2, %r2, 1;
        st.global.L2::cache_hint.u32 [%rd1], %r2, %rd5;
        prefetch.global.L2 [%rd1]; discard.global.L2 [%rd1+128], 128;
        applypriority.global.L2::evict_normal [%rd1], 128;
        griddepcontrol.launch_dependents; ret;"""
    a = np.arange(256, dtype=np.uint32)
    expected = a + 1
    run(compile_ptx(body, "u64 a"), a, threads=128)
    assert (a[:128] == expected[:128]).all()
