"""Findings as JSON objects and back: what `bench --json` prints and what resuming reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelcast.opencl_bench.measurement import Curve, CurvePoint, Finding, Measurement, Unit

__all__ = ["finding_of", "finding_record"]

Record = dict[str, Any]


def finding_record(finding: Finding) -> Record:
    """`points` of a curve are rows of x, y and spread."""
    if isinstance(finding, Measurement):
        return {
            "kind": "measurement",
            "name": finding.name,
            "value": finding.value,
            "unit": finding.unit.value,
            "spread": finding.spread,
            "samples": finding.samples,
            "noisy": finding.is_noisy,
            "method": finding.method,
        }
    return {
        "kind": "curve",
        "name": finding.name,
        "x_name": finding.x_name,
        "x_unit": finding.x_unit.value,
        "y_name": finding.y_name,
        "y_unit": finding.y_unit.value,
        "points": [[point.x, point.y, point.spread] for point in finding.points],
        "method": finding.method,
    }


def finding_of(record: Mapping[str, Any]) -> Finding:
    """What `finding_record` was made from; KeyError, TypeError or ValueError for anything else."""
    if record["kind"] == "measurement":
        return Measurement(
            str(record["name"]),
            float(record["value"]),
            Unit(record["unit"]),
            float(record["spread"]),
            int(record["samples"]),
            str(record["method"]),
        )
    return Curve(
        str(record["name"]),
        str(record["x_name"]),
        Unit(record["x_unit"]),
        str(record["y_name"]),
        Unit(record["y_unit"]),
        tuple(CurvePoint(float(x), float(y), float(s)) for x, y, s in record["points"]),
        str(record["method"]),
    )
