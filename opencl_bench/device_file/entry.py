"""One value of a device file with its source, and the text of such files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kernelcast.opencl_bench.measurement import Curve
from kernelcast.simcore.device.device import Source

__all__ = [
    "Entry",
    "Section",
    "Value",
    "assumed",
    "curve_lines",
    "datasheet",
    "derived",
    "list_lines",
    "measured",
    "section_lines",
    "toml_text",
]

Value: TypeAlias = int | float | str | bool


@dataclass(frozen=True, slots=True)
class Entry:
    """A value of a device file with its source and reference."""

    value: Value
    source: Source
    reference: str


Section: TypeAlias = Mapping[str, Entry]


def measured(value: Value, reference: str) -> Entry:
    """An entry whose value was measured."""
    return Entry(value, Source.MEASURED, reference)


def datasheet(value: Value, query: str) -> Entry:
    """What the vendor's driver says, by the name of the query."""
    return Entry(value, Source.DATASHEET, f"the driver reports it: {query}")


def derived(value: Value, reference: str) -> Entry:
    """An entry whose value follows from others."""
    return Entry(value, Source.DERIVED, reference)


def assumed(value: Value, reference: str) -> Entry:
    """An entry whose value is assumed."""
    return Entry(value, Source.ASSUMED, reference)


def section_lines(name: str, section: Section) -> Iterator[str]:
    """The lines of a section in TOML."""
    yield f"\n[{name}]"
    for key, entry in section.items():
        yield f"{key} = {_entry_text(entry)}"


def list_lines(name: str, section: Mapping[str, Sequence[Entry]]) -> Iterator[str]:
    """A section of lists of entries, such as `[observed]`."""
    if section:
        yield f"\n[{name}]"
    for key, entries in section.items():
        yield f"{key} = ["
        yield from (f"    {_entry_text(entry)}," for entry in entries)
        yield "]"


def curve_lines(curve: Curve, reference: str) -> Iterator[str]:
    """The section `[curves.<name>]`."""
    yield f"\n[curves.{curve.name}]"
    for key, text in (
        ("x_name", curve.x_name),
        ("x_unit", curve.x_unit.value),
        ("y_name", curve.y_name),
        ("y_unit", curve.y_unit.value),
    ):
        yield f"{key} = {toml_text(text)}"
    yield f"x = [{', '.join(repr(float(point.x)) for point in curve.points)}]"
    yield f"y = {_numbers(point.y for point in curve.points)}"
    yield f"spread = {_numbers(point.spread for point in curve.points)}"
    yield f"source = {toml_text(Source.MEASURED.value)}"
    yield f"ref = {toml_text(reference)}"


def toml_text(value: Value) -> str:
    """A value as TOML writes it; measured numbers with six significant digits."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        text = f"{value:.6g}"
        return text if "." in text or "e" in text else f"{text}.0"
    return json.dumps(value.replace("\x7f", ""), ensure_ascii=False)


def _entry_text(entry: Entry) -> str:
    return (
        f"{{ value = {toml_text(entry.value)}, source = {toml_text(entry.source.value)}, "
        f"ref = {toml_text(entry.reference)} }}"
    )


def _numbers(values: Iterable[float]) -> str:
    return "[" + ", ".join(toml_text(float(value)) for value in values) + "]"
