"""Stores that are asynchronous or go to all devices: masked copies, `st.async`, `multimem`."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.launch import Argument, Launch

both: Any = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[2] / "trace_comparison.py"))
)
Compile = Callable[..., Kernel]
START = """ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 16;
    add.u64 %rd1, %rd1, %rd2;"""


def run(kernel: Kernel, *arguments: Argument) -> None:
    both.run_on_both(kernel, Launch((1, 1, 1), (32, 1, 1), arguments))


@pytest.mark.parametrize("mask", [0xFFFF, 0x8001, 0x0FF0, 0])
def test_a_mask_chooses_of_every_sixteen_bytes(compile_ptx: Compile, mask: int) -> None:
    body = f"""ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, tile;
    mad.lo.u32 %r3, %r1, 4, %r2; st.shared.u32 [%r3], 0x5A5A5A5A; bar.sync 0;
    setp.ne.u32 %p1, %r1, 0; @%p1 ret; mov.u16 %rs1, {mask};
    cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r2], 64, %rs1;
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;"""
    out = np.full((4, 16), 7, np.uint8)
    run(compile_ptx(body, module=".shared .align 128 .b8 tile[128];"), out)
    chosen = [bool(mask >> byte & 1) for byte in range(16)]
    np.testing.assert_array_equal(out, np.tile(np.where(chosen, 0x5A, 7), (4, 1)))


def test_stores_to_global_memory_tell_no_mbarrier(compile_ptx: Compile) -> None:
    body = f"""{START} st.async.mmio.release.sys.global.u32 [%rd1], %r1;
    red.async.mmio.release.gpu.global.add.u32 [%rd1+4], %r1; ret;"""
    out = np.ones((32, 4), np.uint32)
    run(compile_ptx(body), out)
    lanes = np.arange(32)
    np.testing.assert_array_equal(out[:, :2], np.stack((lanes, lanes + 1), axis=1))


@pytest.mark.parametrize(
    ("type_", "dtype"), [("v4.f32", np.float32), ("v4.f16x2", np.float16), ("v8.f16", np.float16)]
)
def test_vectors_are_added_on_one_device(
    compile_ptx: Compile, type_: str, dtype: type[np.generic]
) -> None:
    """What `ld_reduce` gives is added to the sums, `st` stores it once more."""
    count = int(type_[1])
    letter = "rs" if type_ == "v8.f16" else "f" if type_ == "v4.f32" else "r"
    values = ", ".join(f"%{letter}{i}" for i in range(count))
    body = f"""{START} ld.param.u64 %rd3, [sums]; add.u64 %rd3, %rd3, %rd2;
    ld.param.u64 %rd4, [copies]; add.u64 %rd4, %rd4, %rd2;
    multimem.ld_reduce.relaxed.sys.global.add.{type_} {{{values}}}, [%rd1];
    multimem.red.relaxed.sys.global.add.{type_} [%rd3], {{{values}}};
    multimem.st.relaxed.sys.global.{type_} [%rd4], {{{values}}}; ret;"""
    given = np.random.default_rng(1).integers(-9, 9, (32, 16 // np.dtype(dtype).itemsize))
    given = given.astype(dtype)
    sums, copies = np.ones_like(given), np.zeros_like(given)
    run(compile_ptx(body, "u64 out, u64 sums, u64 copies"), given, sums, copies)
    np.testing.assert_array_equal(sums - given, np.ones_like(given))
    np.testing.assert_array_equal(copies, given)
