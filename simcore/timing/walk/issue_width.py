"""How many instructions a scheduler issues in a cycle: of one warp, or of several."""

from __future__ import annotations

from kernelcast.simcore.device.timing_facts import TimingFacts
from kernelcast.simcore.timing.kernel.timed_kernel import TimedKernel

__all__ = ["is_mixed", "issues_of_a_warp"]


def issues_of_a_warp(kernel: TimedKernel, timing: TimingFacts) -> int:
    """Instructions of one warp that a scheduler issues together.

    One where it issues several of different kinds and warps: code says itself what goes together.
    """
    return 1 if is_mixed(kernel, timing) else timing.issues_per_scheduler


def is_mixed(kernel: TimedKernel, timing: TimingFacts) -> bool:
    """Whether a scheduler issues for several warps in a cycle, for each unit once."""
    return kernel.schedule is not None and timing.mixed_issues > 1
