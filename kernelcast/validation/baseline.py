"""The error table of the last accepted state: an alarm when errors move, not an oracle."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from kernelcast.errors import KernelcastError
from kernelcast.partial_files import ReplacedFile
from kernelcast.validation.report import ValidationReport

__all__ = ["BASELINE", "accept", "knows", "moved"]

BASELINE = Path(__file__).resolve().parents[2] / "validation" / "baseline.json"
_POINT = 0.01
_DIGITS = 4

Table = dict[str, dict[str, dict[str, float]]]


def moved(
    report: ValidationReport, file: Path = BASELINE, *, models: Collection[str] = ()
) -> list[str]:
    """Mean absolute errors that left the accepted baseline, a line each.

    They differ from it by more than one percentage point, are new, or are gone; with `models` of
    these only.
    """
    known, now = _read(file).get(report.suite, {}), _errors(report)
    found = []
    for model in sorted(models or {*known, *now}):
        devices, before = now.get(model, {}), known.get(model, {})
        for device in sorted({*devices, *before}):
            name = f"{report.suite}, {model}, {device}"
            if device not in before:
                found.append(f"{name}: {devices[device]:.1%}, not in the baseline")
            elif device not in devices:
                found.append(f"{name}: gone, {before[device]:.1%} in the baseline")
            elif abs(devices[device] - before[device]) > _POINT:
                found.append(f"{name}: {devices[device]:.1%}, was {before[device]:.1%}")
    return found


def knows(suite: str, file: Path = BASELINE) -> bool:
    """Whether errors of the suite were ever accepted."""
    return suite in _read(file)


def accept(report: ValidationReport, file: Path = BASELINE) -> None:
    """Makes the report's errors the baseline of its suite."""
    table = _read(file) if file.exists() else {}
    table[report.suite] = {
        model: {device: round(error, _DIGITS) for device, error in devices.items()}
        for model, devices in _errors(report).items()
    }
    with ReplacedFile(file) as stream:
        stream.write((json.dumps(table, indent=2, sort_keys=True) + "\n").encode())


def _errors(report: ValidationReport) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for model, device, error in _rows(report):
        found.setdefault(model, {})[device] = error
    return found


def _rows(report: ValidationReport) -> Iterator[tuple[str, str, float]]:
    for (model, device), statistics in report.statistics.items():
        yield model, device, statistics.mape


def _read(file: Path) -> Table:
    try:
        table = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise KernelcastError(f"{file}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise KernelcastError(f"{file}: is not JSON: {error}") from None
    if not _is_table(table):
        raise KernelcastError(f"{file}: must map suites to models to devices to errors")
    found: Table = table
    return found


def _is_table(table: object, depth: int = 3) -> bool:
    if not depth:
        return isinstance(table, float | int)
    return isinstance(table, Mapping) and all(_is_table(x, depth - 1) for x in table.values())
