"""What is wrong with a module, and where once that is known."""

from __future__ import annotations

__all__ = ["SpirvProblem"]


class SpirvProblem(Exception):
    """A module that is malformed, or one that uses what kernelcast does not execute.

    `place` is the instruction that the reason is about, where that is not the one being read.
    """

    def __init__(self, reason: str, is_unsupported: bool = False, place: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_unsupported = is_unsupported
        self.place = place

    def at(self, offset: int, name: str) -> SpirvProblem:
        """The problem of the instruction `name` at a byte; one that has a place keeps it."""
        place = self.place or f"byte {offset} ({name})"
        return SpirvProblem(self.reason, self.is_unsupported, place)

    @property
    def message(self) -> str:
        """The reason with its place, once that is known."""
        return f"{self.place}: {self.reason}" if self.place else self.reason
