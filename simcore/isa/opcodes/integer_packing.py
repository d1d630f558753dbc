"""`cvt.pack`: two s32, clamped to narrow integers, side by side above each other.

The first is the upper one. Integers of at most 8 bits are put below those of a third operand (PTX
ISA, cvt.pack).
"""

from __future__ import annotations

import numpy as np

from kernelcast.simcore.isa.numerics.lane_code import LaneCode
from kernelcast.simcore.isa.numerics.packed import Array
from kernelcast.simcore.isa.opcodes import ptx_forms
from kernelcast.simcore.isa.opcodes.columns import Columns
from kernelcast.simcore.isa.opcodes.table import Context, Emission, opcode
from kernelcast.simcore.isa.types import ScalarType, Unit

__all__ = ["PACKED_INTEGERS"]

PACKED_INTEGERS = {f"{sign}{bits}": (sign == "s", bits) for sign in "us" for bits in (2, 4, 8, 16)}
"""Whether each packed integer type is signed, and its bits; the narrowest exist only here."""


def _limits(is_signed: bool, bits: int) -> tuple[int, int]:
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)


def _emission(is_signed: bool, bits: int) -> Emission:
    low, high = _limits(is_signed, bits)

    def clamped(code: LaneCode, value: str) -> str:
        kind = code.type("i32")
        for name, bound in (("smax", low), ("smin", high)):
            value = code.intrinsic(name, "i32", [(kind, value), (kind, code.splat("i32", bound))])
        return code.binary("and", "i32", value, code.splat("i32", (1 << bits) - 1))

    def emit(code: LaneCode, _context: Context, a: str, b: str, *above: str) -> str:
        word = clamped(code, b)
        for value, place in ((clamped(code, a), bits), *((c, 2 * bits) for c in above)):
            placed = code.binary("shl", "i32", value, code.splat("i32", place))
            word = code.binary("or", "i32", word, placed)
        return word

    return emit


def _register(name: str, is_signed: bool, bits: int) -> None:
    low, high = _limits(is_signed, bits)
    mask = np.uint32((1 << bits) - 1)

    @opcode(
        f"cvt.pack.{name}",
        "u=tt" if bits == 16 else "u=ttu",
        (ScalarType.S32,),
        unit=Unit.CONVERSION,
        modifiers=("sat",),
        columns=Columns(forms=ptx_forms.INTEGER_PACKING),
        llvm=_emission(is_signed, bits),
    )
    def _pack(_context: Context, a: Array, b: Array, *above: Array) -> Array:
        upper, lower = (np.clip(x, low, high).astype(np.uint32) & mask for x in (a, b))
        word = lower | (upper << np.uint32(bits))
        for c in above:
            word = word | (c << np.uint32(2 * bits))
        return word


for _name, (_is_signed, _bits) in PACKED_INTEGERS.items():
    _register(_name, _is_signed, _bits)
