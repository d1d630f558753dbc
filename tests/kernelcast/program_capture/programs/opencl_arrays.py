"""pyopencl with its arrays and reductions, which finds its results right."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array

SOURCE = """
__kernel void saxpy(float a, __global const float *x, __global float *y, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] += a * x[i];
}
__kernel void numbers(__global int *out) { out[get_global_id(0)] = get_global_id(0); }
"""
COUNT = 3000


def main() -> None:
    (platform,) = cl.get_platforms()
    (device,) = platform.get_devices()
    assert device.type == cl.device_type.GPU
    assert sys.argv[1] in device.name, device.name
    context = cl.Context([device])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    buffers(context, queue)
    arrays(queue)
    if importlib.util.find_spec("mako") is not None:
        reductions(context, queue)
    svm(context, queue)
    print("all right")


def buffers(context: cl.Context, queue: cl.CommandQueue) -> None:
    x = np.arange(COUNT, dtype=np.float32)
    y = np.ones(COUNT, np.float32)
    flags = cl.mem_flags
    on_device = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=x)
    result = cl.Buffer(context, flags.READ_WRITE, y.nbytes)
    cl.enqueue_copy(queue, result, y)
    program = cl.Program(context, SOURCE).build(["-D", "UNUSED=1"])
    assert {kernel.function_name for kernel in program.all_kernels()} == {"saxpy", "numbers"}
    event = program.saxpy(queue, (3072,), (128,), np.float32(2), on_device, result, np.int32(COUNT))
    event.wait()
    times = event.profile
    assert times.queued <= times.submit <= times.start < times.end
    cl.enqueue_copy(queue, y, result)
    assert np.array_equal(y, 2 * x + 1)
    assert "nonsense" in why_not_built(context, "__kernel void wrong(int) { nonsense; }")


def why_not_built(context: cl.Context, source: str) -> str:
    try:
        cl.Program(context, source).build()
    except cl.RuntimeError as error:
        return str(error)
    return ""


def arrays(queue: cl.CommandQueue) -> None:
    generator = np.random.default_rng(1)
    first = generator.random((40, 50), np.float32)
    second = generator.random((40, 50), np.float32)
    a, b = cl_array.to_device(queue, first), cl_array.to_device(queue, second)
    assert np.allclose((a * b + 2 * a).get(), first * second + 2 * first, rtol=1e-6)
    assert np.array_equal(cl_array.arange(queue, 100, dtype=np.int32).get(), np.arange(100))


def reductions(context: cl.Context, queue: cl.CommandQueue) -> None:
    from pyopencl.reduction import ReductionKernel

    norm = ReductionKernel(
        context,
        np.float32,
        neutral="0",
        reduce_expr="a+b",
        map_expr="x[i]*x[i]",
        arguments="__global const float *x",
    )
    values = np.linspace(0, 1, 777, dtype=np.float32)
    array = cl_array.to_device(queue, values)
    found = norm(array).get()
    assert np.isclose(found, (values.astype(np.float64) ** 2).sum(), rtol=1e-5)
    assert np.isclose(cl_array.sum(array).get(), values.sum(dtype=np.float64), rtol=1e-5)
    assert cl_array.max(array).get() == 1


def svm(context: cl.Context, queue: cl.CommandQueue) -> None:
    memory = cl.SVM(cl.svm_empty(context, cl.svm_mem_flags.READ_WRITE, 256, np.int32))
    program = cl.Program(context, SOURCE).build()
    program.numbers(queue, (256,), None, memory)
    queue.finish()
    with memory.map_ro(queue) as values:
        assert np.array_equal(values, np.arange(256))


main()
