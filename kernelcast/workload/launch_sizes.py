"""A launch as callers write it: sizes in CUDA's or OpenCL's terms, arguments of other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from kernelcast.errors import LaunchError
from kernelcast.simcore.launch.launch import Argument, LocalBytes, dimensions, thread_blocks_of

__all__ = ["LaunchSizes", "Size", "as_argument"]

Size: TypeAlias = int | Sequence[int]


@dataclass(frozen=True, slots=True)
class LaunchSizes:
    """Either thread blocks and threads of each, or all work-items and those of a work-group."""

    grid: Size | None = None
    block: Size | None = None
    global_size: Size | None = None
    local_size: Size | None = None

    def resolved(
        self, required: tuple[int, int, int] | None = None
    ) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """(grid, thread block), each as (x, y, z); LaunchError when they are not given once.

        A kernel that `required` a local size need not be told it.
        """
        is_opencl = self.global_size is not None or self.local_size is not None
        if is_opencl and (self.grid is not None or self.block is not None):
            raise LaunchError("give either grid and block or global_size and local_size")
        if not is_opencl:
            if self.grid is None or self.block is None:
                raise LaunchError("give grid and block, or global_size and local_size")
            return dimensions(self.grid, "grid"), dimensions(self.block, "thread block")
        local_size = required if self.local_size is None else self.local_size
        if self.global_size is None or local_size is None:
            raise LaunchError("give both global_size and local_size")
        return thread_blocks_of(self.global_size, local_size)


def as_argument(value: Any) -> Argument:
    """The argument itself; of pyopencl's LocalMemory its size."""
    kind = type(value)
    if kind.__name__ == "LocalMemory" and kind.__module__.split(".")[0] == "pyopencl":
        return LocalBytes(int(value.size))
    argument: Argument = value  # the launch checks what it is
    return argument
