"""Numbers out of the middle of two registers, medians, distances, and any function of three bits.

AMD Instinct MI200 Instruction Set Architecture, chapter 12.10; AMD Instinct CDNA 4 Instruction Set
Architecture, `V_BITOP3_B32`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__ = ["BIT_FIELDS", "truth_table"]

_BYTE = Immediate(3)


def _aligned(unit: Operand | None, site: Site) -> None:
    """32 bits of a pair, the first operand above the second, from a bit or a byte on."""
    code, amount = site.code, site.integer(3)
    if unit is not None:
        amount = code.compute("shl.b32", 32, amount, unit)
    found = site.main("shf.r.wrap.b32", 32, site.integer(2), site.integer(1), amount)
    code.set_vector(site.operands[0], found)


def _byte_as_number(byte: int, site: Site) -> None:
    moved = site.code.compute("shr.u32", 32, site.integer(1), Immediate(8 * byte))
    part = site.code.compute("and.b32", 32, moved, Immediate(0xFF))
    site.code.set_vector(site.operands[0], site.main("cvt.rn.f32.u32", 32, part))


def _distance(site: Site) -> None:
    found = site.main("sad.u32", 32, site.integer(1), site.integer(2), site.integer(3))
    site.code.set_vector(site.operands[0], found)


def truth_table(site: Site) -> Immediate:
    """The result for each of the eight values of three bits: `bitop3:0x5d`, which is 0 if absent.

    Its bit is the number that bits of the three operands make, the first one's highest.
    """
    return Immediate(int(site.instruction.modifiers.get("bitop3", "0"), 0))


def _of_three_bits(site: Site) -> None:
    sources = (site.integer(index) for index in (1, 2, 3))
    site.code.set_vector(site.operands[0], site.main("lop3.b32", 32, *sources, truth_table(site)))


BIT_FIELDS: Mapping[str, Lowering] = {
    "v_alignbit_b32": partial(_aligned, None),
    "v_alignbyte_b32": partial(_aligned, _BYTE),
    "v_sad_u32": _distance,
    "v_bitop3_b32": _of_three_bits,
    **{f"v_cvt_f32_ubyte{byte}": partial(_byte_as_number, byte) for byte in range(4)},
}
