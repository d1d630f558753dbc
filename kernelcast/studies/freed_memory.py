"""Memory that a process has freed and will need again soon."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

__all__ = ["keep_freed_memory"]

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
_GIBIBYTE = 1 << 30


def keep_freed_memory() -> None:
    """Has glibc keep up to 2 GiB of what this process frees; nothing elsewhere.

    A sweep makes tables of up to 100 MB for each memory of each launch. What goes back to the
    system is cleared before it is used again, a seventh of the time of some launches. `mallopt` of
    malloc.h: large pieces, too, come from the heap, of which there is one for all threads.
    """
    if sys.platform != "linux":
        return
    set_option: Any = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is None:
        return
    set_option(_MMAP_THRESHOLD, _GIBIBYTE)
    set_option(_TRIM_THRESHOLD, 2 * _GIBIBYTE - 1)
    set_option(_ARENA_MAX, 1)
