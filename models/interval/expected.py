"""How long the walks of an SM will take, for whoever waits for them."""

from __future__ import annotations

import os

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.timing.kernel.timed_kernel import TimedKernel

__all__ = ["expected_walks_s"]

_INSTRUCTIONS_PER_S = 12e6
"""Walked of real kernels by one core of 2024 that has other work."""
_PERIODS = 6
"""Walked of a launch that is soon found to be steady: ramp-up, stretches, rest and tail."""


def expected_walks_s(
    kernel: TimedKernel, device: Device, walks: int, most_instructions: int
) -> float:
    """Seconds that so many walks will take on all cores.

    `most_instructions` are those of `steady_stretch`.
    """
    recorded = len(kernel.paths.thread_blocks)
    if not recorded:
        return 0.0
    each = max(1.0, len(kernel.paths.pc) / recorded)
    of_sm = -(-kernel.thread_blocks // device.architecture.sm_count)
    most = max(_PERIODS * max(recorded, kernel.thread_blocks_per_sm), most_instructions / each)
    cores = min(walks, os.cpu_count() or 1)
    return walks * min(of_sm, most) * each / _INSTRUCTIONS_PER_S / max(1, cores)
