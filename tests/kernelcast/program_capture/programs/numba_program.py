"""Adds vectors, sums with atomics and uses constants in Numba, and checks the results."""

import sys

import numpy as np
from numba import cuda, float32

FACTORS = np.array([2, 3], np.float32)


@cuda.jit
def added(out, first, second):
    """One element for each thread."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = first[i] + second[i]


@cuda.jit
def summed(total, values):
    """One sum for each block, in shared memory, added up by atomics."""
    factors = cuda.const.array_like(FACTORS)
    part = cuda.shared.array(128, float32)
    lane = cuda.threadIdx.x
    i = cuda.grid(1)
    part[lane] = values[i] * factors[1] if i < values.size else 0
    cuda.syncthreads()
    step = 64
    while step:
        if lane < step:
            part[lane] += part[lane + step]
        cuda.syncthreads()
        step //= 2
    if lane == 0:
        cuda.atomic.add(total, 0, part[0])


def main() -> None:
    """Runs both kernels, the first one on a stream and between events."""
    values = np.arange(1000, dtype=np.float32)
    stream, first, last = cuda.stream(), cuda.event(), cuda.event()
    device = cuda.to_device(values, stream)
    out = cuda.device_array_like(device)
    first.record(stream)
    added[8, 128, stream](out, device, device)
    last.record(stream)
    stream.synchronize()
    assert 0 < cuda.event_elapsed_time(first, last) < 1
    assert (out.copy_to_host() == 2 * values).all()
    total = cuda.to_device(np.zeros(1, np.float32))
    summed[8, 128](total, device)
    assert total.copy_to_host()[0] == 3 * values.sum()
    pinned = cuda.pinned_array(10, np.float32)
    pinned[:] = 7
    assert (cuda.to_device(pinned).copy_to_host() == 7).all()
    sys.stdout.write("all right\n")


main()
