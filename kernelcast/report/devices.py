"""One device with the source of every value, its observations and its measured curves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, OverflowMethod, RenderableType
from rich.text import Text

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
    ("_per_s", "1/s"),
    ("_s", "s"),
)
"""Ends of names, longest first."""
_FIRST = (
    *("architecture.name", "architecture.compute_capability", "architecture.sm_count"),
    *("architecture.clock_hz", "architecture.warp_width", "peak.fp32_flops_per_s"),
    *("peak.fp64_flops_per_s", "tensor.fp16", "sm.max_warps", "sm.registers", "sm.shared_bytes"),
    *("l1.capacity_bytes", "l2.capacity_bytes", "timing.l2_bandwidth_bytes_per_s"),
    *("dram.capacity_bytes", "dram.bandwidth_bytes_per_s", "timing.dram_efficiency"),
    *("timing.dram_latency_cycles", "timing.launch_overhead_s"),
)
"""What is shown of a device unless all is asked for."""
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
    """`values`: the rows by column; `sources`: how many are from where; `curves`: their points."""
    header, *rows = device_rows(device, observations)
    names = [str(name) for name in header]
    return {
        "device": device.name,
        "title": device.title,
        "values": [dict(zip(names, row, strict=True)) for row in rows],
        "sources": dict(_sources(rows).most_common()),
        "curves": [_curve_record(name, curve) for name, curve in device.curves.items()],
    }


def device_table(
    device: Device, observations: Observations = (), *, is_complete: bool = True
) -> RenderableType:
    """The values of a device with their sources, and its curves, as tables.

    Unless it is complete only the first values, a line each, and how many there are by source.
    """
    header, *rows = device_rows(device, observations)
    title = f"{device.name}: {device.title}"
    values = column_table(title, "value", ">", "unit", *(str(name) for name in header[3:]))
    for column in values.columns[:-1]:
        column.no_wrap = True
    overflow: OverflowMethod = "fold" if is_complete else "ellipsis"
    for key, value, *rest, reference in rows if is_complete else _first(rows):
        shown = str(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            shown = exact_number(value)
        told = Text(str(reference), no_wrap=not is_complete, overflow=overflow)
        values.add_row(str(key), shown, *(str(cell) for cell in rest), told)
    if not is_complete:
        return Group(values, Text(_counts(device, rows)))
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


def _first(rows: Rows) -> Rows:
    by_name = {str(row[0]): row for row in rows}
    return [by_name[name] for name in _FIRST if name in by_name]


def _sources(rows: Rows) -> Counter[str]:
    return Counter(str(source) for _, _, _, source, _ in rows)


def _counts(device: Device, rows: Rows) -> str:
    """How many values there are, and from where."""
    told = ", ".join(f"{count} {source}" for source, count in _sources(rows).most_common())
    curves = f", and {len(device.curves)} curves" if device.curves else ""
    return f"{len(rows)} values: {told}{curves} (-v shows all with their references)"


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
