"""One device with the source of every value, its observations and its measured curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType

from kernelcast.report.tables import column_table
from kernelcast.report.text import exact_number
from kernelcast.simcore.device.named_facts import device_facts
from kernelcast.simcore.device.section import section_named
from kernelcast.simcore.isa.tensor_types import TensorType

if TYPE_CHECKING:
    from kernelcast.simcore.device.checks import Observation
    from kernelcast.simcore.device.device import Device, MeasuredCurve

__all__ = ["device_record", "device_rows", "device_table"]

_UNITS = (
    ("_bytes_per_s", "B/s"),
    ("_bytes_per_cycle", "B/cycle"),
    ("_flops_per_s", "flop/s"),
    ("_ops_per_s", "op/s"),
    ("_bytes", "B"),
    ("_cycles", "cycles"),
    ("_sectors", "sectors"),
    ("_efficiency", "share"),
    (".lanes", "threads/cycle"),
    (".texels_per_cycle", "texels/cycle"),
    *((f"tensor.{type_.value}", "multiply-adds/cycle") for type_ in TensorType),
    ("_hz", "Hz"),
    ("_s", "s"),
)
"""Ends of names, longest first."""
_HEADER = ("name", "value", "unit", "source", "reference")

Observations = Sequence["Observation"]
Record = dict[str, Any]
Rows = list[Sequence[object]]


def device_rows(device: Device, observations: Observations = ()) -> Rows:
    """Every value under its dotted name, then observations as `observed.<quantity>`."""
    rows: Rows = [_HEADER]
    facts = device_facts(device)
    for key, where in device.provenance.items():
        rows.append((key, facts[key], _unit(key), where.source.value, where.reference))
    for item in observations:
        where = item.provenance
        key = f"observed.{item.quantity}"
        rows.append((key, item.value, _unit(key), where.source.value, where.reference))
    return rows


def device_record(device: Device, observations: Observations = ()) -> Record:
    """`values`: the rows by column; `curves`: their points and where they are from."""
    header, *rows = device_rows(device, observations)
    names = [str(name) for name in header]
    return {
        "device": device.name,
        "title": device.title,
        "values": [dict(zip(names, row, strict=True)) for row in rows],
        "curves": [_curve_record(name, curve) for name, curve in device.curves.items()],
    }


def device_table(device: Device, observations: Observations = ()) -> RenderableType:
    """All values of a device with their sources, and its curves, as tables."""
    header, *rows = device_rows(device, observations)
    title = f"{device.name}: {device.title}"
    values = column_table(title, "value", ">", "unit", *(str(name) for name in header[3:]))
    values.columns[0].no_wrap = True
    for key, value, *rest in rows:
        shown = exact_number(value) if isinstance(value, float) else str(value)
        values.add_row(str(key), shown, *(str(cell) for cell in rest))
    if not device.curves:
        return values
    curves = column_table("curves", "x", ">y", "spread", "source", "reference")
    for name, curve in device.curves.items():
        where = curve.provenance
        curves.add_section()
        curves.add_row(name, "", "", where.source.value, where.reference)
        curves.add_row(f"{curve.x_name}, {curve.x_unit}", f"{curve.y_name}, {curve.y_unit}")
        for cells in _points(curve):
            curves.add_row(*cells)
    return Group(values, curves)


def _points(curve: MeasuredCurve) -> Iterator[tuple[str, str, str]]:
    for x, y, spread in zip(curve.x, curve.y, curve.spread, strict=True):
        yield exact_number(x), f"{y:.4g}", f"{spread:.1%}"


def _curve_record(name: str, curve: MeasuredCurve) -> Record:
    return {
        "name": name,
        "x_name": curve.x_name,
        "x_unit": curve.x_unit,
        "y_name": curve.y_name,
        "y_unit": curve.y_unit,
        "points": [list(point) for point in zip(curve.x, curve.y, curve.spread, strict=True)],
        "source": curve.provenance.source.value,
        "reference": curve.provenance.reference,
    }


def _unit(key: str) -> str:
    """The unit that a name ends with; empty for counts and texts."""
    section = section_named(key.partition(".")[0])
    units = (*section.units.items(), *_UNITS) if section else _UNITS
    return next((unit for end, unit in units if key.endswith(end)), "")
