"""Arithmetic on the bytes and halves of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernelcast.ptx_frontend.sass.lowering.site import Site
from kernelcast.simcore.isa.ir.kernel import Compute, Immediate, Operand, Register
from kernelcast.simcore.isa.opcodes.table import OPCODES
from kernelcast.simcore.isa.types import ScalarType

__all__ = ["PACKED", "Packed", "packed_value", "write_packed"]


@dataclass(frozen=True, slots=True)
class Packed:
    """How many integers a word has, and whether they are signed."""

    count: int
    is_signed: bool


PACKED = {
    "8x4": Packed(4, False),
    "16x2": Packed(2, False),
    "U8x4": Packed(4, False),
    "S8x4": Packed(4, True),
    "U16x2": Packed(2, False),
    "S16x2": Packed(2, True),
}
"""The integers that modifiers name."""


def write_packed(
    site: Site,
    destination: Register,
    name: str,
    packed: Packed,
    sources: Sequence[Operand],
    *,
    modifiers: Sequence[str] = (),
    is_main: bool = False,
) -> None:
    """A packed video instruction of PTX (`vadd`, `vmin`, ...) of two words, and what it adds to."""
    a, b, *rest = sources
    sign = "s32" if packed.is_signed else "u32"
    types = [f"{operand}.{sign}" for operand in "dab"]
    fields = site.fields(f"{name}{packed.count}", is_main=is_main)
    site.builder.append(
        Compute(
            **fields,
            opcode=OPCODES[f"{name}{packed.count}"],
            type=ScalarType.U32,
            source_type=ScalarType.U32,
            destinations=(destination,),
            sources=(a, b, rest[0] if rest else Immediate(0)),
            modifiers=frozenset((*types, *modifiers)),
        )
    )


def packed_value(
    site: Site, name: str, packed: Packed, a: Operand, b: Operand, modifiers: Sequence[str] = ()
) -> Register:
    """What such an instruction gives, in a new register."""
    result = site.register(32)
    write_packed(site, result, name, packed, (a, b), modifiers=modifiers)
    return result
