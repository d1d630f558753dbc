"""Host memory that native code works on: pieces on cache lines, and the table of buffers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.image_descriptors import DescriptorField, placed_images
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.launch.lazy_buffer import LazyBuffer
from kernelcast.simcore.launch.memory_spaces import LaunchMemory
from kernelcast.simcore.launch.textures import levels_of

__all__ = ["aligned", "buffer_table"]

Ints = npt.NDArray[np.int64]


def aligned(size: int) -> npt.NDArray[np.uint8]:
    """A zeroed array on a cache line, of at least 64 bytes."""
    raw = np.zeros(size + 128, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + max(64, -(-size // 64) * 64)]


def buffer_table(kernel: Kernel, launch: Launch, memory: LaunchMemory) -> Ints:
    """Rows of pointer parameters in their order, then of module variables."""
    rows = []
    images = placed_images(kernel, launch)
    by_address = {buffer.first: buffer for buffer in memory.globals.buffers}
    chosen = []
    for value, parameter in zip(launch.arguments, kernel.parameters, strict=True):
        places = [next(images).place + DescriptorField.TEXELS for _ in levels_of(value)]
        if isinstance(value, (np.ndarray, LazyBuffer)):
            places = [parameter.offset]
        for place in places:
            raw = memory.parameters.bytes[place : place + 8]
            chosen.append(by_address[int(raw.copy().view(np.int64)[0])])
    chosen += [buffer for buffer in memory.globals.buffers if buffer not in chosen]
    for buffer in chosen:
        if buffer.is_materialised:
            writable = buffer.size if buffer.bytes.flags.writeable else 0
            rows.append((buffer.first, buffer.size, writable, buffer.bytes.ctypes.data))
        else:  # slices run without contents
            rows.append((buffer.first, buffer.size, buffer.size, 0))
    return np.array(rows, np.int64).reshape(-1, 4)
