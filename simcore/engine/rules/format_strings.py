"""printf's format strings: conversions of C, arguments from memory as CUDA lays them out.

Every argument stands at a multiple of its size: 4 bytes for int, 8 for long, pointers and double.
Vectors of OpenCL (`%v4hlf`) are as many arguments; their elements are printed with commas between.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from kernelcast.simcore.host.limits import MOST_FIELD_WIDTH

__all__ = ["formatted"]

_CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?"
    r"(?:v(?P<elements>2|3|4|8|16))?"
    r"(?P<length>hh|hl|h|ll|l|j|z|t|q|L)?(?P<kind>[diouxXfFeEgGaAcsp%])"
)
_LONG = ("l", "ll", "j", "z", "t", "q")
_KEPT_BITS = {"hh": 8, "h": 16}


class _Arguments:
    """Reads one argument after the other."""

    def __init__(self, address: int, read: Callable[[int, int], bytes]) -> None:
        self._first = address
        self._read = read
        self._offset = 0
        self.count = 0

    def take(self, size: int) -> bytes:
        self._offset = -(-self._offset // size) * size
        found = self._read(self._first + self._offset, size)
        self._offset += size
        self.count += 1
        return found

    def integer(self, size: int, *, signed: bool) -> int:
        return int.from_bytes(self.take(size), "little", signed=signed)


def formatted(
    template: str,
    address: int,
    read: Callable[[int, int], bytes],
    string: Callable[[int], str],
) -> tuple[str, int]:
    """The text, and how many arguments it took; `read` gets (address, size), `string` an address.

    ValueError for a conversion of too many characters. What is no conversion of C stays as it is.
    """
    arguments = _Arguments(address, read)
    text = _CONVERSION.sub(lambda found: _converted(found, arguments, string), template)
    return text, arguments.count


def _converted(found: re.Match[str], arguments: _Arguments, string: Callable[[int], str]) -> str:
    kind = found["kind"]
    if kind == "%":
        return "%"
    flags, width, precision = found["flags"], found["width"] or "", found["precision"]
    if width == "*":
        width = str(arguments.integer(4, signed=True))
    if precision == "*":
        asked = arguments.integer(4, signed=True)
        precision = str(asked) if asked >= 0 else None
    for size in (width, precision or ""):
        if size and abs(int(size)) > MOST_FIELD_WIDTH:
            raise ValueError(f"a conversion of {size} characters, more than {MOST_FIELD_WIDTH}")
    dot = "" if precision is None else f".{precision or 0}"
    form, length = f"%{flags}{width}{dot}", found["length"] or ""
    if found["elements"] and kind not in "csp":
        count = int(found["elements"])
        return ",".join(_number(form, kind, length, arguments) for _ in range(count))
    match kind:
        case "s":
            return (form + "s") % string(arguments.integer(8, signed=False))
        case "c":
            return f"%{flags}{width}c" % chr(arguments.integer(4, signed=False) & 0xFF)
        case "p":
            return f"%{flags}{width}s" % hex(arguments.integer(8, signed=False))
    return _number(form, kind, length, arguments)


def _number(form: str, kind: str, length: str, arguments: _Arguments) -> str:
    if kind in "diouxX":
        return _integer(form, kind, length, arguments)
    return _real(form, kind, float(np.frombuffer(arguments.take(8), "<f8")[0]))


def _integer(form: str, kind: str, length: str, arguments: _Arguments) -> str:
    signed = kind in "di"
    size = 8 if length in _LONG else 4
    value = arguments.integer(size, signed=signed)
    if (bits := _KEPT_BITS.get(length)) is not None:
        value &= (1 << bits) - 1
        if signed and value >> (bits - 1):
            value -= 1 << bits
    if kind == "o" and "#" in form:
        # C writes 0 before octal numbers, Python 0o
        return (form.replace("#", "") + "s") % (f"0{value:o}" if value else "0")
    if not value:  # C marks no hexadecimal 0
        form = form.replace("#", "")
    return (form + ("d" if kind in "diu" else kind)) % value


def _real(form: str, kind: str, value: float) -> str:
    if kind in "aA":
        text = value.hex()
        return (form.split(".")[0] + "s") % (text.upper() if kind == "A" else text)
    return (form + kind) % value
