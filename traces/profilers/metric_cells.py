"""Cells of profiler files: numbers with separators, units with prefixes, launch sizes."""

from __future__ import annotations

import math
import re

from kernelcast.traces.profilers.metric_table import Size
from kernelcast.units import prefix_factor

__all__ = ["read_number", "read_size", "unit_factor"]

_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?$")
_PLAIN = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$")
_WITH_UNIT = re.compile(r"(?P<number>[+-]?[\d.,]+(?:[eE][+-]?\d+)?)\s*(?P<unit>[%A-Za-z][\w/%]*)$")
_LEVEL = re.compile(r"(?:Idle|Low|Mid|High|Max) \((?P<level>\d+)\)$")
_SIZE = re.compile(r"\(?\s*(\d+)\s*[,x ]\s*(\d+)\s*[,x ]\s*(\d+)\s*\)?$")
_COUNTED = frozenset(
    {
        *("inst", "instruction", "instructions", "sector", "sectors", "cycle", "cycles"),
        *("warp", "warps", "thread", "threads", "block", "blocks", "request", "requests"),
        *("register", "registers", "transaction", "transactions", "wave", "waves"),
    }
)
_SCALED = {"byte": 1.0, "bytes": 1.0, "B": 1.0, "second": 1.0, "seconds": 1.0, "s": 1.0}
_SCALED |= {"sec": 1.0, "hz": 1.0, "Hz": 1.0}


def read_number(text: str, unit: str = "") -> float | None:
    """A cell in SI units, percentages as fractions; None when it holds no number.

    Commas count only as separators of three digits; `decimal_commas` has replaced others before.
    An unknown unit gives None too, rather than a wrong scale.
    """
    text = text.strip()
    level = _LEVEL.match(text)
    if level:
        return float(level["level"])
    attached = None if unit or _PLAIN.match(text) else _WITH_UNIT.match(text)
    if attached:
        text, unit = attached["number"], attached["unit"]
    factor = unit_factor(unit)
    if factor is None:
        return None
    if _GROUPED.match(text):
        text = text.replace(",", "")
    if not _PLAIN.match(text):
        return None
    value = float(text) * factor
    return value if math.isfinite(value) else None


def unit_factor(unit: str) -> float | None:
    """The factor to SI: `Kbyte` 1000, `usecond` 1e-6, `%` 0.01; None when unknown."""
    numerator, _, denominator = unit.strip().partition("/")
    above = _simple_factor(numerator)
    below = _simple_factor(denominator)
    return None if above is None or below is None else above / below


def _simple_factor(unit: str) -> float | None:
    if unit in ("", "ratio") or unit in _COUNTED:
        return 1.0
    if unit == "%":
        return 0.01
    prefix = prefix_factor(unit)
    if prefix is not None:
        return prefix
    for name in (*_SCALED, *_COUNTED):
        if unit.endswith(name):
            prefix = prefix_factor(unit[: -len(name)])
            if prefix is not None:
                return prefix * _SCALED.get(name, 1.0)
    return None


def read_size(text: str) -> Size | None:
    """`(65, 2048, 1)` as ncu writes launch sizes; None for anything else."""
    match = _SIZE.match(text.strip())
    return (int(match[1]), int(match[2]), int(match[3])) if match else None
