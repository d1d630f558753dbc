"""A device in a line, and as a table of its facts with their sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelcast.notebook import Table, Tabular

__all__ = ["DeviceView"]


class DeviceView(Tabular):
    """What notebooks and messages show of a device."""

    name: str
    title: str
    sections: Mapping[str, Any]
    provenance: Mapping[str, Any]

    @property
    def label(self) -> str:
        """Name and title."""
        return f"device {self.name}: {self.title}"

    def table(self) -> Table:
        """Every fact with where it is from."""
        rows = (
            (name, _value(self, name), where.source.value)
            for name, where in self.provenance.items()
        )
        return ("fact", ">value", "source"), rows


def _value(device: DeviceView, name: str) -> object:
    """The value of a dotted name; nothing for one that is no attribute, as of a list."""
    section, _, rest = name.partition(".")
    found: Any = device.sections.get(section, getattr(device, section, None))
    for part in rest.split(".") if rest else ():
        found = getattr(found, part, "")
    return getattr(found, "value", found)
