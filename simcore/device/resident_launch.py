"""What a launch makes of a device."""

from __future__ import annotations

from typing import NamedTuple

from kernelcast.simcore.device.device import Device

__all__ = ["ResidentLaunch"]


class ResidentLaunch(NamedTuple):
    """A device with the L1 that shared memory leaves, and the thread blocks that an SM holds."""

    device: Device
    thread_blocks_per_sm: int
