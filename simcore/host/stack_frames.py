"""How much stack compiled functions take, as their first instructions say."""

from __future__ import annotations

import re

import numpy as np

__all__ = ["frame_bytes"]

_X86_FUNCTION_ALIGNMENT = 16
_X86_SUBTRACTION_BYTES = 3  # before the number
_X86_PROLOGUE = re.compile(
    rb"(?:[\x50-\x57]|\x41[\x50-\x57]"  # push
    rb"|\x48\x89\xe5"  # mov rbp, rsp
    rb"|\x48\x81\xe4....|\x48\x83\xe4.)*"  # and rsp, alignment
    rb"\x48\x81\xec(....)",  # sub rsp, bytes
    re.DOTALL,
)
# sub (sp or x9), (sp or x9), immediate of 12 bits, shifted left by 12 or not
_ARM_SUBTRACTION, _ARM_MASK = 0xD1000000, 0xFF800000
_ARM_SHIFTED = 1 << 22
_ARM_REGISTERS = (9, 31)


def frame_bytes(code: bytes, architecture: str) -> int:
    """The bytes of the frames of all functions in a section of code together.

    No chain of calls takes more unless it goes round. Frames below 128 bytes may be left out.
    """
    if architecture == "x86_64":
        return _of_x86(code)
    return _of_arm(code)


def _of_x86(code: bytes) -> int:
    total = 0
    for found in _X86_PROLOGUE.finditer(code):
        # what comes before a function is padding, which may look like its first instructions
        last = found.start(1) - _X86_SUBTRACTION_BYTES
        if any(at % _X86_FUNCTION_ALIGNMENT == 0 for at in range(found.start(), last + 1)):
            total += int.from_bytes(found[1], "little")
    return total


def _of_arm(code: bytes) -> int:
    words = np.frombuffer(code[: len(code) // 4 * 4], "<u4").astype(np.int64)
    target, source = words & 31, words >> 5 & 31
    chosen = (words & _ARM_MASK) == _ARM_SUBTRACTION
    chosen |= (words & _ARM_MASK) == _ARM_SUBTRACTION | _ARM_SHIFTED
    chosen &= np.isin(target, _ARM_REGISTERS) & np.isin(source, _ARM_REGISTERS)
    chosen &= (target == _ARM_REGISTERS[1]) | (source == _ARM_REGISTERS[1]) | (target == source)
    amount = words >> 10 & 0xFFF
    amount = np.where(words & _ARM_SHIFTED, amount << 12, amount)
    return int(amount[chosen].sum())
