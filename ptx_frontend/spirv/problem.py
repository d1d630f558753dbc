"""What is wrong with a module, before its place is known."""

from __future__ import annotations

__all__ = ["SpirvProblem"]


class SpirvProblem(Exception):
    """A module that is malformed, or one that uses what kernelcast does not execute."""

    def __init__(self, reason: str, is_unsupported: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_unsupported = is_unsupported
