"""Values of an access in words: what it read, what it wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kernelcast.simcore.isa.ir.kernel import Atomic, Instruction, Load, Store
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["value_text"]

_SMALL = 1 << 24
_FLOATS = {32: ScalarType.F32, 64: ScalarType.F64}
_UPDATES: Mapping[str, Callable[[int, int], int]] = {
    "and": lambda old, value: old & value,
    "or": lambda old, value: old | value,
    "xor": lambda old, value: old ^ value,
    "exch": lambda old, value: value,
    "inc": lambda old, value: 0 if old >= value else old + 1,
    "dec": lambda old, value: value if old == 0 or old > value else old - 1,
}
"""Atomics of bits; `add`, `min` and `max` depend on the type."""


def value_text(access: Instruction, words: Mapping[int, int]) -> str:
    """`words`: bits of the elements of a load or store by number; of an atomic, see `Watch`."""
    if not words:
        return ""
    if isinstance(access, Load | Store):
        told = [_number(word, access.type) for _, word in sorted(words.items())]
        verb = "read" if isinstance(access, Load) else "wrote"
        return f"{verb} {told[0] if len(told) == 1 else '(' + ', '.join(told) + ')'}"
    if isinstance(access, Atomic):
        old = words.get(len(access.sources))
        if old is None:
            return ""
        new = _after(access, old, [words[n] for n in range(len(access.sources)) if n in words])
        wrote = "" if new is None else f", wrote {_number(new, access.type)}"
        return f"read {_number(old, access.type)}{wrote}"
    return ""


def _after(access: Atomic, old: int, operands: Sequence[int]) -> int | None:
    """The bits that an atomic leaves; None where that is not known."""
    name, mask = access.operation, (1 << access.type.bits) - 1
    if len(operands) == 2 and name == "cas":
        return operands[1] if old & mask == operands[0] & mask else old
    if len(operands) != 1:
        return None
    if name in _UPDATES:
        return _UPDATES[name](old & mask, operands[0] & mask) & mask
    if name not in ("add", "min", "max") or access.type.bits not in (16, 32, 64):
        return None
    before, value = (_typed(bits, access.type) for bits in (old, operands[0]))
    with np.errstate(all="ignore"):
        after = {"add": np.add, "min": np.minimum, "max": np.maximum}[name](before, value)
    return int(np.array(after).view(access.type.storage))


def _typed(word: int, type_: ScalarType) -> Any:
    bits = np.array(word & ((1 << type_.bits) - 1), np.uint64).astype(type_.storage)
    return np.frombuffer(bits.tobytes(), type_.dtype)[0]


def _number(word: int, type_: ScalarType) -> str:
    """A number as the type says; large untyped bits also as a float."""
    bits = word & ((1 << type_.bits) - 1)
    if type_.is_float or type_.is_signed:
        return str(_typed(bits, type_))
    if not type_.is_integer or bits < _SMALL:
        return str(bits)
    told = f"0x{bits:0{type_.bits // 4}x}"
    if type_.ptx_name.startswith("b") and type_.bits in _FLOATS:
        as_float = _typed(bits, _FLOATS[type_.bits])
        signed = bits - (1 << type_.bits)
        if -signed < _SMALL:
            return str(signed)
        return f"{told} ({as_float} as a float)"
    return str(bits)
