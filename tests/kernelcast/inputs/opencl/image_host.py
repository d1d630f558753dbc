"""Runs the kernels with images on the first OpenCL device, in a process of its own.

Arguments: the source, a file for the results, and the size. Devices without these images are told
by exit status 3.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pyopencl as cl

UNSUPPORTED = 3
GROUP = (4, 4)


def main(source: str, results: str, size: int) -> None:
    device = cl.get_platforms()[0].get_devices()[0]
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    with open(source) as file:
        program = cl.Program(context, file.read()).build()
    order, kind = cl.channel_order, cl.channel_type
    flags = cl.mem_flags
    shape = (size, size)

    def image(array: Any, channels: int, type_: int, sizes: tuple[int, ...]) -> Any:
        copied = flags.READ_WRITE | flags.COPY_HOST_PTR
        format_ = cl.ImageFormat(channels, type_)
        return cl.create_image(context, copied, format_, shape=sizes, hostbuf=array)

    def fetched(picture: Any, like: Any) -> Any:
        found = np.zeros_like(like)
        cl.enqueue_copy(queue, found, picture, origin=(0, 0), region=shape)
        return found

    random = np.random.default_rng(size)
    try:
        colours = random.random((size, size, 4), np.float32)
        grey = random.integers(0, 256, (size, size), np.uint8)
        whole = random.integers(0, 1000, (size, size, 4), np.uint16)
        cloud = random.random((3, 4, 5, 4), np.float32)
        first = image(colours, order.RGBA, kind.FLOAT, shape)
        second = image(cloud, order.RGBA, kind.FLOAT, (5, 4, 3))
        third = image(whole, order.RGBA, kind.UNSIGNED_INT16, shape)
        turned = image(np.zeros_like(whole), order.RGBA, kind.UNSIGNED_INT16, shape)
        fourth = image(grey, order.R, kind.UNORM_INT8, shape)
        edges = image(np.zeros_like(grey), order.R, kind.UNORM_INT8, shape)
        sampler = cl.Sampler(context, True, cl.addressing_mode.CLAMP_TO_EDGE, cl.filter_mode.LINEAR)
    except cl.Error:
        sys.exit(UNSUPPORTED)
    blurred, sums = np.zeros((size, size, 4), np.float32), np.zeros(shape, np.float32)
    blurred_buffer = cl.Buffer(context, flags.READ_WRITE, blurred.nbytes)
    sums_buffer = cl.Buffer(context, flags.READ_WRITE, sums.nbytes)
    program.blur(queue, shape, GROUP, first, blurred_buffer, sampler)
    program.volume(queue, shape, GROUP, second, sums_buffer)
    program.transposed(queue, shape, GROUP, third, turned)
    program.sobel(queue, shape, GROUP, fourth, edges)
    cl.enqueue_copy(queue, blurred, blurred_buffer)
    cl.enqueue_copy(queue, sums, sums_buffer)
    np.savez(
        results,
        blur=blurred,
        volume=sums,
        transposed=fetched(turned, whole),
        sobel=fetched(edges, grey),
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
