"""A launch as callers write it: sizes in CUDA's or OpenCL's terms, arguments of other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from kernelcast.errors import LaunchError
from kernelcast.simcore.isa.ir.kernel import Kernel
from kernelcast.simcore.launch.element_checks import check_elements
from kernelcast.simcore.launch.launch import (
    Argument,
    Launch,
    LocalBytes,
    dimensions,
    thread_blocks_of,
)

__all__ = ["LaunchDescription", "Size", "as_argument"]

Size: TypeAlias = int | Sequence[int]


@dataclass(frozen=True, slots=True)
class LaunchDescription:
    """All of a launch but its arguments, as callers write it.

    Either thread blocks and threads of each, or all work-items and those of a work-group; `cluster`
    is None where the kernel says it or has none.
    """

    grid: Size | None = None
    block: Size | None = None
    global_size: Size | None = None
    local_size: Size | None = None
    shared_bytes: int = 0
    cluster: Size | None = None
    registers: int | None = None
    argument_names: Sequence[str] = ()

    def launch(self, kernel: Kernel, arguments: Sequence[Any]) -> Launch:
        """The launch of a kernel.

        Raises LaunchError when the sizes are not given once, and for an array of other elements
        than the kernel's source declares; warns where its code tells the same.
        """
        grid, thread_block = self._sizes(kernel.required_threads)
        launch = Launch(
            grid=grid,
            thread_block=thread_block,
            arguments=tuple(map(as_argument, arguments)),
            dynamic_shared_bytes=self.shared_bytes,
            cluster=None if self.cluster is None else dimensions(self.cluster, "cluster"),
            registers=self.registers,
            argument_names=tuple(self.argument_names),
        )
        check_elements(kernel, launch)
        return launch

    def _sizes(
        self, required: tuple[int, int, int] | None
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
