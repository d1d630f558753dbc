"""Estimates as `kernelcast estimate --json` and `kernelcast capture --json` have written them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelcast.errors import KernelcastError

__all__ = ["Recorded", "read_records", "recorded"]


@dataclass(frozen=True, slots=True)
class Recorded:
    """The time of one kernel on one device by one model, and the parts of it in seconds."""

    kernel: str
    device: str
    model: str
    time_s: float
    bottleneck: str = ""
    code: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, str]:
        """What is compared with what."""
        return self.kernel, self.device, self.model


def read_records(path: Path) -> tuple[Recorded, ...]:
    """All estimates of a file: one record, a list of them, or one a line; KernelcastError else."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise KernelcastError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    found = tuple(item for record in _records(path, text) for item in _estimates(path, record))
    if not found:
        raise KernelcastError(
            f"{path}: no estimates in it; `kernelcast estimate --json` makes them"
        )
    keys = [item.key for item in found]
    for key in keys:
        if keys.count(key) > 1:
            raise KernelcastError(f"{path}: two estimates of {' '.join(key)}")
    return found


def recorded(record: Mapping[str, Any]) -> tuple[Recorded, ...]:
    """The estimates of a record of `estimate --json`."""
    return tuple(_estimates(Path("record"), record))


def _records(path: Path, text: str) -> list[Any]:
    try:
        whole = json.loads(text)
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        try:
            return [json.loads(line) for line in lines]
        except ValueError:
            raise KernelcastError(f"{path}: not JSON: {error}") from None
    return whole if isinstance(whole, list) else [whole]


def _estimates(path: Path, record: Any) -> Iterator[Recorded]:
    if not isinstance(record, dict):
        raise KernelcastError(f"{path}: a record is an object, not {type(record).__name__}")
    try:
        for item in record.get("estimates", ()):
            yield Recorded(
                str(record["kernel"]),
                str(item["device"]),
                str(item["model"]),
                _seconds(item["time_s"]),
                str(item.get("bottleneck", "")),
                str(item.get("code", "")),
                dict(_leaves(item.get("terms", {}))),
            )
        for item in record.get("totals", ()):
            parts = {name: _seconds(item[f"{name}_s"]) for name in ("kernels", "copies")}
            program = " ".join(map(str, record.get("program", ["program"])))
            name = f"{program}, process {item['process']}"
            yield Recorded(
                name, str(item["device"]), "time line", _seconds(item["timeline_s"]), parts=parts
            )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise KernelcastError(f"{path}: not what kernelcast writes: {error!r}") from None


def _seconds(value: Any) -> float:
    seconds = float(value)
    if not (math.isfinite(seconds) and seconds >= 0):
        raise ValueError(f"{value} is no time")
    return seconds


def _leaves(term: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """The terms without parts, in seconds."""
    parts = term.get("parts", ())
    if not parts and term:
        yield str(term["name"]), _seconds(term["seconds"])
    for part in parts:
        yield from _leaves(part)
