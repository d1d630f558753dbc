"""Threads with stacks for compiled code, whatever the process gives to others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from kernelcast.errors import ExecutionError
from kernelcast.simcore.launch.allocations import ROW_WORDS
from kernelcast.simcore.launch.launch_memory import LaunchMemory

__all__ = [
    "aligned",
    "first_rows",
    "pointer_rows",
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


def pointer_rows(memory: LaunchMemory) -> Ints:
    """What each pointer among the parameters points to, shape (pointers, ROW_WORDS)."""
    rows = [allocation.row for _, allocation in memory.pointers]
    return np.array(rows, np.int64).reshape(-1, ROW_WORDS)


def first_rows(table: Ints, slots: int) -> Ints:
    """The host address of the first row of a table, for each access that looks one up."""
    return np.full(slots, table.ctypes.data, np.int64)
