"""Threads with stacks for compiled code, whatever the process gives to others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from kernelcast.errors import ExecutionError
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.image_descriptors import DescriptorField, placed_images
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.launch.lazy_buffer import LazyBuffer
from kernelcast.simcore.launch.memory_spaces import LaunchMemory
from kernelcast.simcore.launch.textures import levels_of

__all__ = [
    "aligned",
    "buffer_table",
    "start_threads",
]

_OWN_BYTES = 1 << 23
"""Bytes for small frames, and for Python that compiled code calls: what Linux gives to a thread."""
_MOST_BYTES = 1 << 30
_UNIT_BYTES = 1 << 16
_LOCK = threading.Lock()


def start_threads(
    work: Sequence[Callable[[], None]], frame_bytes: int, started: list[threading.Thread]
) -> None:
    """One thread for each, added to `started`. `frame_bytes`: what compiled code takes of a stack.

    ExecutionError where a stack would be too large for this process.
    """
    size = -(-(_OWN_BYTES + frame_bytes) // _UNIT_BYTES) * _UNIT_BYTES
    problem = f"a warp of this kernel takes {frame_bytes:,} bytes of stack as compiled code"
    if size > _MOST_BYTES:
        raise ExecutionError(
            f"{problem}, more than {_MOST_BYTES - _OWN_BYTES:,}: try --engine reference"
        )
    for task in work:
        thread = threading.Thread(target=task)
        with _LOCK:  # the size is the same for all threads of the process
            before = threading.stack_size(size)
            try:
                thread.start()
            except RuntimeError:
                raise ExecutionError(f"{problem}, more than this process can have") from None
            finally:
                threading.stack_size(before)
        started.append(thread)


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
