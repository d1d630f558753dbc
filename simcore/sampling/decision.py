"""Whether a part of a launch can stand for all of it."""

from __future__ import annotations

from kernelcast.simcore.isa.analysis.slices import Slice, address_slice, control_slice
from kernelcast.simcore.isa.ir.kernel import Kernel

__all__ = ["FEWEST_THREADS", "why_not_sampled"]

FEWEST_THREADS = 10**8
"""Smaller launches are simulated in full: that takes seconds, and has no error."""


def why_not_sampled(
    kernel: Kernel, threads: int, fewest_threads: int = FEWEST_THREADS
) -> str | None:
    """Half a sentence why the launch must be run in full; None when it may be sampled.

    Thread blocks that are left out write nothing, so no path and no address may depend on memory.
    """
    if threads < fewest_threads:
        return f"{threads:,} threads are fewer than {fewest_threads:,}"
    for what, part in (
        ("which instructions run", control_slice(kernel)),
        ("where memory is accessed", address_slice(kernel)),
    ):
        if not part.is_static:
            return f"{what} depends on {_culprit(kernel, part)}"
    return None


def _culprit(kernel: Kernel, part: Slice) -> str:
    pc = min(part.loads or part.clocks)
    instruction = next(item for item in kernel.instructions if item.pc == pc)
    what = "data that" if part.loads else "the clock, which"
    return f"{what} {instruction.mnemonic} reads at {instruction.span.place}"
