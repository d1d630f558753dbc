"""`__local` arguments: their sizes, where they lie, what they occupy, wrong kinds of argument."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import LaunchError, MemoryAccessError, WorkloadError
from kernelcast.simcore.launch.launch import Launch, LocalBytes
from kernelcast.simcore.launch.local_arrays import placed_arguments, shared_bytes

_TEXT = """target triple = "spir64-unknown-unknown"
@fixed = internal addrspace(3) global [5 x i32] undef, align 4
define spir_kernel void @places(ptr addrspace(1) %out, ptr addrspace(3) %a, i32 %n,
    ptr addrspace(3) %b) {
  %i = call spir_func i64 @_Z12get_local_idj(i32 0)
  %v = trunc i64 %i to i32
  %f = getelementptr i32, ptr addrspace(3) @fixed, i64 0
  store i32 -3, ptr addrspace(3) %f, align 4
  %p = getelementptr i32, ptr addrspace(3) %a, i64 %i
  store i32 %v, ptr addrspace(3) %p, align 4
  %q = getelementptr i32, ptr addrspace(3) %b, i64 %i
  store i32 %n, ptr addrspace(3) %q, align 4
  call spir_func void @_Z7barrierj(i32 1)
  %x = load i32, ptr addrspace(3) %p, align 4
  %y = load i32, ptr addrspace(3) %q, align 4
  %z = add i32 %x, %y
  %o = getelementptr i32, ptr addrspace(1) %out, i64 %i
  store i32 %z, ptr addrspace(1) %o, align 4
  ret void
}
declare spir_func i64 @_Z12get_local_idj(i32)
declare spir_func void @_Z7barrierj(i32)
"""
_PTX = """.version 7.0
.target sm_70, texmode_independent
.address_size 64
.entry places(.param .u64 .ptr .global .align 4 out, .param .u64 .ptr .shared .align 4 a,
    .param .u32 n, .param .u64 .ptr .shared .align 4 b)
{
  .reg .b32 %r<6>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [a]; ld.param.u64 %rd3, [b]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd4, %r2, 4;
  add.s64 %rd5, %rd2, %rd4; add.s64 %rd6, %rd3, %rd4; add.s64 %rd7, %rd1, %rd4;
  st.shared.u32 [%rd5], %r2;
  st.shared.u32 [%rd6], %r1;
  bar.sync 0;
  ld.shared.u32 %r3, [%rd5]; ld.shared.u32 %r4, [%rd6];
  add.s32 %r5, %r3, %r4;
  st.global.u32 [%rd7], %r5;
  ret;
}
"""
THREADS = 33
BYTES = 4 * THREADS


@pytest.fixture(params=["llvm", "ptx"])
def kernel(request: pytest.FixtureRequest, tmp_path: Path) -> kc.RunnableKernel:
    """A kernel in the languages of both front ends."""
    name, text = {"llvm": ("k.ll", _TEXT), "ptx": ("k.ptx", _PTX)}[request.param]
    (tmp_path / name).write_text(text)
    return kc.load(tmp_path / name)["places"]


def run(kernel: kc.RunnableKernel, args: Sequence[Any], **options: Any) -> kc.KernelTrace:
    return kernel.run(grid=2, block=THREADS, args=args, **options)


@pytest.mark.parametrize("engine", ["reference", "jit"])
@pytest.mark.parametrize("size", [BYTES, np.int64(BYTES), LocalBytes(BYTES)])
def test_arrays_do_not_overlap(kernel: kc.RunnableKernel, engine: str, size: Any) -> None:
    out = np.zeros(THREADS, np.int32)
    run(kernel, [out, size, 1000, size], engine=engine)
    assert out.tolist() == [1000 + i for i in range(THREADS)]


def test_each_array_begins_at_a_multiple_of_16(kernel: kc.RunnableKernel) -> None:
    """Arrays lie behind the variables and 20 and 10 bytes of the caller's dynamic memory."""
    arguments = (np.zeros(1), LocalBytes(5), 7, LocalBytes(40))
    static = kernel.kernel.shared_bytes
    assert static in (0, 20)
    launch = Launch((1, 1, 1), (1, 1, 1), arguments, dynamic_shared_bytes=10)
    first = (32 if static else 0) + 16
    assert placed_arguments(kernel.kernel, launch) == (arguments[0], first, 7, first + 16)
    assert shared_bytes(kernel.kernel, launch) == first + 16 + 40


def test_the_arrays_occupy_shared_memory(kernel: kc.RunnableKernel) -> None:
    """A device with 48 KB holds two thread blocks of 20 KB each, and none of 60 KB."""
    out = np.zeros(THREADS, np.int32)
    trace = run(kernel, [out, 10_000, 0, 10_000])
    assert trace.data.resources.shared_bytes == pytest.approx(20_000, abs=64)
    with pytest.raises(LaunchError, match="shared memory per thread block"):
        run(kernel, [out, 30_000, 0, 30_000], devices=["gtx-480"])


@pytest.mark.parametrize("engine", ["reference", "jit"])
def test_an_access_behind_the_last_array(kernel: kc.RunnableKernel, engine: str) -> None:
    out = np.zeros(THREADS, np.int32)
    with pytest.raises(MemoryAccessError, match="shared memory"):
        run(kernel, [out, BYTES, 0, BYTES - 16], engine=engine)


@pytest.mark.parametrize(
    ("position", "value", "message"),
    [
        (
            1,
            np.zeros(8, np.float32),
            r"argument 2 \(a\) is the size of a __local array in bytes, got an array",
        ),
        (1, 1.5, "got float"),
        (1, b"12345678", "got bytes"),
        (1, 0, "a __local array of 0 bytes"),
        (3, LocalBytes(-4), "a __local array of -4 bytes"),
        (0, LocalBytes(64), "a __local array but the kernel takes u64"),
        (2, LocalBytes(64), "a __local array but the kernel takes"),
    ],
)
def test_wrong_kinds(kernel: kc.RunnableKernel, position: int, value: Any, message: str) -> None:
    arguments: list[Any] = [np.zeros(THREADS, np.int32), BYTES, 1, BYTES]
    arguments[position] = value
    with pytest.raises(LaunchError, match=message):
        run(kernel, arguments)


def test_the_local_memory_of_pyopencl(kernel: kc.RunnableKernel) -> None:
    opencl = pytest.importorskip("pyopencl")
    out = np.zeros(THREADS, np.int32)
    run(kernel, [out, opencl.LocalMemory(BYTES), 1, opencl.LocalMemory(BYTES)])
    assert out[-1] == THREADS


_WORKLOAD = """[kernel]
source = "k.ll"
[sizes.full]
n = 33
[launch]
global_size = ["2 * n"]
local_size = ["n"]
[[args]]
name = "out"
type = "s32[n]"
[[args]]
name = "a"
type = "local f32[local_size.x]"
[[args]]
name = "n"
type = "s32"
value = 5
[[args]]
name = "b"
type = "local bytes[4 * n]"
"""


@pytest.fixture
def workload(tmp_path: Path) -> Callable[[str, str], Path]:
    """A workload in which one text is another."""

    def make(old: str = "", new: str = "") -> Path:
        (tmp_path / "k.ll").write_text(_TEXT)
        assert old in _WORKLOAD
        (tmp_path / "w.toml").write_text(_WORKLOAD.replace(old, new) if old else _WORKLOAD)
        return tmp_path / "w.toml"

    return make


def test_a_workload_has_local_arrays(workload: Callable[..., Path]) -> None:
    loaded = kc.load_workload(workload())
    arguments = loaded.make_arguments()
    assert arguments[1] == arguments[3] == LocalBytes(BYTES)
    trace = loaded.run(arguments=arguments)
    assert trace.data.resources.shared_bytes == 32 + 144 + BYTES
    out = arguments[0]
    assert isinstance(out, np.ndarray)
    assert out.tolist() == [5 + i for i in range(THREADS)]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("local f32[local_size.x]", "local f32", "needs a size"),
        ("local bytes[4 * n]", "local bytes", "needs a size"),
        ("local f32[local_size.x]", "local f33[4]", "is not a type"),
        ('"local f32[local_size.x]"', '"local f32[4]"\ninit = "ones"', "init: a local array has"),
        ('"local f32[local_size.x]"', '"local f32[4]"\nvalue = 4', "value: a local array has no"),
        ("local f32[local_size.x]", "local f32[n - 33]", "sizes must be positive"),
    ],
)
def test_wrong_local_arrays(
    workload: Callable[..., Path], old: str, new: str, message: str
) -> None:
    with pytest.raises(WorkloadError, match=message):
        kc.load_workload(workload(old, new)).make_arguments()
