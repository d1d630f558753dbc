"""Which GPUs have L1 and shared memory in one array of banks."""

from __future__ import annotations

import re

from kernelcast.simcore.device.device import Device

__all__ = ["has_banked_l1"]

_FIRST_BANKED = 7


def has_banked_l1(device: Device) -> bool:
    """Whether L1 and shared memory are one array of banks."""
    major = re.match(r"(\d+)\.\d+$", device.architecture.compute_capability)
    is_nvidia = device.architecture.vendor == "NVIDIA"
    return is_nvidia and major is not None and int(major[1]) >= _FIRST_BANKED
