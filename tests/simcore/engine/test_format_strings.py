"""printf's format strings against the C library's own printf."""

from __future__ import annotations

import ctypes
import struct

import pytest

from kernelcast.simcore.engine.rules.format_strings import formatted

CASES: list[tuple[str, str, tuple[int | float, ...]]] = [
    *((form, "i", (value,)) for form in ("%d", "%5d|", "%-5d|", "%05d", "%+d", "% i", "%.3d")
      for value in (0, 7, -42, 123456)),
    *((form, "I", (value,)) for form in ("%u", "%x", "%X", "%#x", "%o", "%#o", "%08x")
      for value in (0, 9, 0xDEADBEEF)),
    *((form, "q", (-5,)) for form in ("%lld", "%ld", "%10ld|")),
    *((form, "Q", (2**63 + 1,)) for form in ("%llu", "%lu", "%lx", "%zu")),
    *((form, "d", (value,)) for form in ("%f", "%.2f", "%10.3e|", "%g", "%-8.1f|", "%G", "%E")
      for value in (0.0, -1.5, 3.14159e10, 1e-9)),
    ("%hd %hhu", "iI", (70000, 300)),
    ("%c%c", "ii", (65, 98)),
    ("100%% of %d", "i", (3,)),
    ("%*d|%.*f", "iiid", (6, 42, 2, 2.71828)),
    ("%d %f %d %lld", "idiq", (1, 2.5, 3, -4)),
]  # fmt: skip
C_TYPES = {
    "i": ctypes.c_int,
    "I": ctypes.c_uint,
    "q": ctypes.c_longlong,
    "Q": ctypes.c_ulonglong,
    "d": ctypes.c_double,
}


def c_printf(template: str, types: str, values: tuple[int | float, ...]) -> str:
    buffer = ctypes.create_string_buffer(200)
    arguments = [C_TYPES[t](v) for t, v in zip(types, values, strict=True)]  # type: ignore[arg-type]
    ctypes.CDLL(None).snprintf(buffer, ctypes.c_size_t(200), template.encode(), *arguments)
    return buffer.value.decode()


@pytest.mark.parametrize(("template", "types", "values"), CASES)
def test_conversions(template: str, types: str, values: tuple[int | float, ...]) -> None:
    memory = struct.pack(f"@{types}", *values)  # C's alignment
    base = 0x1000

    def read(address: int, size: int) -> bytes:
        return memory[address - base : address - base + size]

    text, count = formatted(template, base, read, lambda _: "")
    assert (text, count) == (c_printf(template, types, values), len(values))


def test_strings_and_pointers() -> None:
    memory = struct.pack("<QQ", 77, 0x7F00)
    text, count = formatted(
        "[%5s] %p %y", 0, lambda at, size: memory[at : at + size], {77: "abc"}.__getitem__
    )
    assert (text, count) == ("[  abc] 0x7f00 %y", 2)
