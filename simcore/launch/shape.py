"""How large a launch is, whatever it executes."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LaunchShape"]


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """Thread blocks of a grid and threads of a thread block, as (x, y, z)."""

    grid: tuple[int, int, int]
    thread_block: tuple[int, int, int]

    @property
    def thread_blocks(self) -> int:
        """The number of thread blocks in the grid."""
        x, y, z = self.grid
        return x * y * z

    @property
    def threads_per_thread_block(self) -> int:
        """The number of threads in a thread block."""
        x, y, z = self.thread_block
        return x * y * z
