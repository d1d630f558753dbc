"""A device as named facts, and a device from named facts: what the sections of its file hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from kernelcast.simcore.device.device import Device, Provenance
from kernelcast.simcore.device.rescaling import Facts, Scalar
from kernelcast.simcore.device.section import section_names

__all__ = ["absent_facts", "device_facts", "device_table", "optional_sections"]

_NOT_FACTS = frozenset(("name", "title", "provenance", "fitted_on", "curves", "ceilings"))


def device_facts(device: Device) -> dict[str, Scalar]:
    """The value of every fact by its dotted name; choices by the names that files give them.

    Lists of points, as of curves, are no facts.
    """
    return {
        name: value
        for part, facts in _parts(device)
        if part not in _NOT_FACTS
        for name, value in _facts(part, facts)
    }


def _parts(device: Device) -> Iterator[tuple[str, Any]]:
    """The device's fields by name, models' sections as if they were fields."""
    for item in fields(device):
        if item.name == "sections":
            yield from device.sections.items()
        else:
            yield item.name, getattr(device, item.name)


def _facts(name: str, value: Any) -> Iterator[tuple[str, Scalar]]:
    if isinstance(value, Enum):
        yield name, str(value.value)
    elif isinstance(value, int | float | str):
        yield name, value
    elif is_dataclass(value):
        for item in fields(value):
            yield from _facts(f"{name}.{item.name}", getattr(value, item.name))


def optional_sections(device: Device) -> tuple[str, ...]:
    """Sections that a device of its kind may have, and this one has not."""
    own = (name for name, value in _parts(device) if name not in _NOT_FACTS and value is None)
    return (*own, *(name for name in section_names() if name not in device.sections))


def absent_facts(device: Device) -> tuple[str, ...]:
    """Facts that a section may have, and this device's has not."""
    return tuple(
        f"{part}.{item.name}"
        for part, facts in _parts(device)
        if is_dataclass(facts)
        for item in fields(facts)
        if getattr(facts, item.name) is None
    )


def device_table(facts: Facts, provenance: Callable[[str], Provenance]) -> dict[str, Any]:
    """The tables of a device file: `{"sm": {"max_warps": {"value": 48, "source": ..., ...}}}`."""
    table: dict[str, Any] = {}
    for name, value in facts.items():
        *sections, last = name.split(".")
        place = table
        for section in sections:
            place = place.setdefault(section, {})
        where = provenance(name)
        place[last] = {"value": value, "source": where.source.value, "ref": where.reference}
    return table
