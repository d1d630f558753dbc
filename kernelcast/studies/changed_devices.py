"""The devices of a sweep, changed as it wants them."""

from __future__ import annotations

from dataclasses import dataclass

from kernelcast.errors import KernelcastError
from kernelcast.simcore.device.changed import changed_device
from kernelcast.simcore.device.device import Device
from kernelcast.store.memory_facts import MemoryFacts, memory_facts
from kernelcast.studies.plan import SweptDevice

__all__ = ["Architecture", "architecture"]


@dataclass(frozen=True, slots=True)
class Architecture:
    """A changed device of the sweep, or why there is no such device."""

    swept: SweptDevice
    device: Device | None
    reason: str
    facts: MemoryFacts | None


def architecture(swept: SweptDevice) -> Architecture:
    """The device with its changes made, or why no GPU can be so."""
    try:
        device = changed_device(swept.base, swept.changes)
    except KernelcastError as error:
        return Architecture(swept, None, error.message, None)
    return Architecture(swept, device, "", memory_facts(device))
