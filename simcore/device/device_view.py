"""A device in a line, and as a table of its facts with their sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kernelcast.notebook import InNotebooks, Table

if TYPE_CHECKING:
    from kernelcast.simcore.device.device import Device

__all__ = ["DeviceView"]


class DeviceView(InNotebooks):
    """What notebooks and messages show of a device."""

    @property
    def label(self) -> str:
        """Name and title."""
        device = cast("Device", self)
        return f"device {device.name}: {device.title}"

    def table(self) -> Table:
        """Every fact with where it is from."""
        from kernelcast.simcore.device.named_facts import device_facts

        device = cast("Device", self)
        rows = (
            (name, value, where.source.value if (where := device.provenance.get(name)) else "")
            for name, value in device_facts(device).items()
        )
        return ("fact", ">value", "source"), rows
