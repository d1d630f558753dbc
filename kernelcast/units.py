"""The one table of unit prefixes, and the texts of quantities made with it.

Decimal and binary prefixes are apart: `k` is 1000, `Ki` is 1024. Code computes in plain SI floats;
only reports and readers of foreign files come here.
"""

from __future__ import annotations

import math
import re

from kernelcast.errors import KernelcastError

__all__ = [
    "BINARY_PREFIXES",
    "DECIMAL_PREFIXES",
    "format_count",
    "format_quantity",
    "format_seconds",
    "format_si",
    "parse_si",
    "prefix_factor",
]

DECIMAL_PREFIXES = {
    "p": 1e-12,
    "n": 1e-9,
    "µ": 1e-6,
    "m": 1e-3,
    "": 1.0,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "E": 1e18,
}
BINARY_PREFIXES = {
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
    "Pi": 2.0**50,
    "Ei": 2.0**60,
}
_SPELLINGS = {"u": "µ", "μ": "µ", "K": "k"}  # ASCII, the Greek letter, and what profilers write
_NUMBER = re.compile(r"\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*$")
_MINUTE, _HOUR = 60.0, 3600.0
_EXACT_COUNT = 10_000_000


def prefix_factor(prefix: str) -> float | None:
    """What a decimal or binary prefix multiplies with; None when it is no prefix."""
    spelled = _SPELLINGS.get(prefix, prefix)
    return DECIMAL_PREFIXES.get(spelled, BINARY_PREFIXES.get(spelled))


def format_si(value: float, unit: str, digits: int = 4) -> str:
    """`digits` significant digits with the decimal prefix that leaves 1 to 1000: `163.4 GB/s`.

    Raises ValueError for NaN and infinities, which no quantity of a report may be.
    """
    if not math.isfinite(value):
        raise ValueError(f"not a finite quantity: {value}")
    rounded = float(f"{value:.{digits - 1}e}")
    prefix, factor = "", 1.0
    if rounded:
        fitting = [
            item for item in DECIMAL_PREFIXES.items() if item[1] <= abs(rounded) * (1 + 1e-12)
        ]
        prefix, factor = fitting[-1] if fitting else next(iter(DECIMAL_PREFIXES.items()))
    return f"{_significant(rounded / factor, digits)} {prefix}{unit}".rstrip()


def _significant(value: float, digits: int) -> str:
    """Fixed notation with `digits` significant digits where that is possible."""
    if not value:
        return "0"
    before_point = math.floor(math.log10(abs(value)) + 1e-12) + 1
    if not -digits <= before_point <= 6:
        return f"{value:.{digits - 1}e}"
    return f"{value:.{max(0, digits - before_point)}f}"


def parse_si(text: str, unit: str = "") -> float:
    """The number in `text`, prefix applied: `1.5k` is 1500, `parse_si("32 KiB", "B")` 32768.

    Raises KernelcastError when `text` is not a number, a prefix and exactly `unit`.
    """
    match = _NUMBER.match(text)
    if match:
        number, rest = float(match[1]), match[2]
        if rest.endswith(unit):
            factor = prefix_factor(rest[: len(rest) - len(unit)].strip())
            if factor is not None and math.isfinite(number * factor):
                return number * factor
    wanted = f"a number in {unit}" if unit else "a number"
    raise KernelcastError(f"{text!r} is not {wanted} with a unit prefix such as k, M, Gi or m")


def format_seconds(seconds: float) -> str:
    """A duration: `20.41 ms`; `2 min 5 s` and `1 h 3 min` above two minutes."""
    total = round(abs(seconds)) if math.isfinite(seconds) else 0
    sign = "-" if seconds < 0 else ""
    if total >= _HOUR:
        return f"{sign}{total // int(_HOUR)} h {total % int(_HOUR) // int(_MINUTE)} min"
    if total >= 2 * _MINUTE:
        return f"{sign}{total // int(_MINUTE)} min {total % int(_MINUTE)} s"
    return format_si(seconds, "s")


def format_count(count: float) -> str:
    """A number of things: exact with separators below ten million, else `2.345 G`."""
    if abs(count) < _EXACT_COUNT:
        return f"{int(count):,}" if float(count).is_integer() else f"{count:,.4g}"
    return format_si(count, "")


def format_quantity(value: float | str, unit: str) -> str:
    """A model's parameter as a report shows it: `57.69 %` for a fraction, `163.4 GB/s`, `7.943`."""
    if isinstance(value, str):
        return value
    if unit == "fraction":
        return f"{value * 100:.2f} %"
    if unit == "s":
        return format_seconds(value)
    if unit in ("op", "flop", "B") or unit.endswith("/s"):
        return format_si(value, unit)
    return f"{_significant(value, 4)} {unit}".rstrip()
