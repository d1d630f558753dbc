"""The `.nv.info` sections of a cubin: what the driver is told of a kernel.

A section is a list of attributes. Each begins with a format byte and an attribute byte; then comes
a 16-bit value or, where the format says so, a 16-bit size and as many bytes. Which number means
what was found by compiling kernels of known parameters, registers, stacks and barriers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = [
    "FRAME_BYTES",
    "REGISTERS",
    "STACK_BYTES",
    "CodeParameter",
    "KernelInfo",
    "module_registers",
    "read_kernel_info",
]

_SIZED = 4
_PARAMETER_BANK, _MOST_THREADS, _REQUIRED_THREADS = 0x0A, 0x05, 0x10
_PARAMETER, _PARAMETER_BYTES = 0x17, 0x19
_CLUSTER, _BARRIERS = 0x3D, 0x4C
_WORDS = 0xFFFF
REGISTERS, FRAME_BYTES, STACK_BYTES = 0x2F, 0x11, 0x12
"""Attributes of `.nv.info` that give a number for each function."""


@dataclass(frozen=True, slots=True)
class CodeParameter:
    """A parameter of a kernel: its number, its place among the parameters, and bytes."""

    ordinal: int
    offset: int
    size: int


@dataclass(slots=True)
class KernelInfo:
    """What `.nv.info.KERNEL` says; `base` is where parameters begin in constant bank 0."""

    base: int | None = None
    parameter_bytes: int = 0
    parameters: list[CodeParameter] = field(default_factory=list)
    most_threads: tuple[int, int, int] | None = None
    required_threads: tuple[int, int, int] | None = None
    cluster: tuple[int, int, int] | None = None
    barriers: int = 0


def _attributes(content: bytes) -> Iterator[tuple[int, bytes]]:
    """(attribute, payload) of each entry; a payload of two bytes where the value stands inline."""
    position = 0
    while position + 4 <= len(content):
        form, attribute = content[position], content[position + 1]
        value = content[position + 2 : position + 4]
        position += 4
        if form != _SIZED:
            yield attribute, value
            continue
        (size,) = struct.unpack("<H", value)
        payload = content[position : position + size]
        if len(payload) < size:
            raise ValueError("an attribute of .nv.info is cut short")
        yield attribute, payload
        position += size


def _words(payload: bytes) -> tuple[int, ...]:
    count = len(payload) // 4
    return struct.unpack(f"<{count}I", payload[: 4 * count])


def read_kernel_info(content: bytes) -> KernelInfo:
    """The attributes of one kernel; ValueError when the section is damaged."""
    info = KernelInfo()
    for attribute, payload in _attributes(content):
        words = _words(payload)
        if attribute == _PARAMETER and len(words) >= 3:
            ordinal, offset = words[1] & _WORDS, words[1] >> 16
            info.parameters.append(CodeParameter(ordinal, offset, words[2] >> 18))
        elif attribute == _PARAMETER_BANK and len(words) >= 2:
            info.base = words[1] & _WORDS
            info.parameter_bytes = words[1] >> 16
        elif attribute == _PARAMETER_BYTES:
            info.parameter_bytes = int.from_bytes(payload[:2], "little")
        elif attribute == _BARRIERS:
            info.barriers = payload[0]
        elif len(words) >= 3 and attribute in (_MOST_THREADS, _REQUIRED_THREADS, _CLUSTER):
            _set_sizes(info, attribute, (words[0], words[1], words[2]))
    info.parameters.sort(key=lambda parameter: parameter.ordinal)
    return info


def _set_sizes(info: KernelInfo, attribute: int, sizes: tuple[int, int, int]) -> None:
    if attribute == _MOST_THREADS:
        info.most_threads = sizes
    elif attribute == _REQUIRED_THREADS:
        info.required_threads = sizes
    else:
        info.cluster = sizes


def module_registers(content: bytes) -> dict[int, dict[int, int]]:
    """Registers, frame bytes and stack bytes: attribute -> number of a symbol -> value."""
    found: dict[int, dict[int, int]] = {REGISTERS: {}, FRAME_BYTES: {}, STACK_BYTES: {}}
    for attribute, payload in _attributes(content):
        words = _words(payload)
        if attribute in found and len(words) >= 2:
            found[attribute][words[0]] = words[1]
    return found
