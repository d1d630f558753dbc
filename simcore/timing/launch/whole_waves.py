"""A launch without the last wave of its thread blocks where that is not full."""

from __future__ import annotations

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.timing.kernel.timed_kernel import TimedKernel
from kernelcast.simcore.timing.launch.unequal_shares import unequal_shares

__all__ = ["whole_waves"]


def whole_waves(kernel: TimedKernel, device: Device) -> int:
    """Thread blocks of all waves but a last one that is not full, unless that is the only one.

    All of them where it matters which SM gets which.
    """
    sms, per_sm = device.architecture.sm_count, kernel.thread_blocks_per_sm
    wave = sms * per_sm
    full = kernel.thread_blocks // wave * wave
    if not full or unequal_shares(kernel.paths, kernel.thread_blocks, sms, per_sm) is not None:
        return kernel.thread_blocks
    return full
