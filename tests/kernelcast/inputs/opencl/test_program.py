"""Programs that pyopencl has built, with its buffers, on PoCL."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import kernelcast as kc
from kernelcast.errors import InputError, LaunchError, MemoryAccessError
from kernelcast.inputs.clang import find_clang

cl = pytest.importorskip("pyopencl")

_SOURCE = """
__kernel void saxpy(__global float *y, __global const float *x, float a, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] += a * x[i] + OFFSET;
}
__kernel void turn(__global float *y, __local float *part) {
  int l = get_local_id(0);
  part[l] = y[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  y[get_global_id(0)] = part[get_local_size(0) - 1 - l];
}
"""
N = 64


@pytest.fixture(scope="module")
def context() -> Any:
    try:
        find_clang("OpenCL C")
        devices = [device for platform in cl.get_platforms() for device in platform.get_devices()]
    except (InputError, cl.Error) as error:
        pytest.skip(str(error))
    if not devices:
        pytest.skip("no OpenCL device")
    return cl.Context(devices[:1])


@pytest.fixture(scope="module")
def program(context: Any) -> Any:
    return cl.Program(context, _SOURCE).build(options=["-DOFFSET=0.5f", "-cl-mad-enable"])


def buffer(context: Any, contents: Any) -> Any:
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    return cl.Buffer(context, flags, hostbuf=contents)


def contents(queue: Any, source: Any) -> Any:
    found = np.empty(N, np.float32)
    cl.enqueue_copy(queue, found, source).wait()
    return found


@pytest.mark.parametrize("engine", ["reference", "jit"])
def test_results_are_those_of_the_device(context: Any, program: Any, engine: str) -> None:
    """The build options count: OFFSET comes from one."""
    queue = cl.CommandQueue(context)
    x, y = np.arange(N, dtype=np.float32), np.ones(N, np.float32)
    on_device, mine = buffer(context, y), buffer(context, y)
    source = buffer(context, x)
    arguments = [source, np.float32(2), np.int32(60)]
    cl.Kernel(program, "saxpy")(queue, (N,), (16,), on_device, *arguments).wait()
    cl.Kernel(program, "turn")(queue, (N,), (16,), on_device, cl.LocalMemory(64)).wait()
    kernels = kc.opencl_program(program)
    run = partial(kernels["saxpy"].run, queue=queue, write_back=True, engine=engine)
    run([mine, *arguments], global_size=N, local_size=16)
    run = partial(kernels["turn"].run, write_back=True, engine=engine)
    run([mine, cl.LocalMemory(64)], global_size=N, local_size=16)
    assert np.array_equal(contents(queue, mine), contents(queue, on_device))
    assert contents(queue, mine)[15] == 1.5


def test_buffers_stay_as_they_are_unless_asked(context: Any, program: Any) -> None:
    queue = cl.CommandQueue(context)
    y = buffer(context, np.ones(N, np.float32))
    kernel = kc.opencl_program(program)["saxpy"]
    trace = kernel.run([y, y, 2.0, N], global_size=N, local_size=16)
    assert (contents(queue, y) == 1).all()
    assert trace.data.thread_block == (16, 1, 1)


def test_a_buffer_given_twice_is_one(context: Any, program: Any) -> None:
    queue = cl.CommandQueue(context)
    y = buffer(context, np.ones(N, np.float32))
    kernel = kc.opencl_program(program)["saxpy"]
    kernel.run([y, y, 2.0, N], global_size=N, local_size=16, write_back=True)
    assert (contents(queue, y) == 3.5).all()


def test_arrays_of_numpy_and_of_pyopencl(context: Any, program: Any) -> None:
    queue = cl.CommandQueue(context)
    array = pytest.importorskip("pyopencl.array").to_device(queue, np.ones(N, np.float32))
    x = np.full(N, 2, np.float32)
    kernel = kc.opencl_program(program)["saxpy"]
    kernel.run([array, x, 2.0, N], global_size=N, local_size=16, write_back=True)
    assert (array.get() == 5.5).all()
    kernel.run([x, array, 1.0, N], global_size=N, local_size=16)
    assert (x == 8).all()


def test_an_error_names_the_line_of_the_program(context: Any, program: Any) -> None:
    y = buffer(context, np.ones(N, np.float32))
    kernel = kc.opencl_program(program)["saxpy"]
    with pytest.raises(MemoryAccessError) as caught:
        kernel.run([y, y, 2.0, 2 * N], global_size=2 * N, local_size=16)
    assert caught.value.origin is not None
    assert (caught.value.origin.file, caught.value.origin.line) == ("OpenCL program", 4)


def test_a_null_pointer_and_a_missing_kernel(context: Any, program: Any) -> None:
    kernels = kc.opencl_program(program)
    assert list(kernels) == ["saxpy", "turn"]
    with pytest.raises(MemoryAccessError, match="0x0"):
        kernels["saxpy"].run([None, None, 2.0, N], global_size=N, local_size=16)
    with pytest.raises(LaunchError, match="has no kernel 'saxpi'"):
        kernels["saxpi"]


def test_a_program_of_machine_code_has_nothing_to_read(context: Any, program: Any) -> None:
    binaries = program.get_info(cl.program_info.BINARIES)
    built = cl.Program(context, context.devices, binaries).build()
    with pytest.raises(InputError, match="only machine code"):
        kc.opencl_program(built)


def test_what_is_no_program() -> None:
    with pytest.raises(InputError, match=r"takes a pyopencl\.Program, got str"):
        kc.opencl_program(_SOURCE)
