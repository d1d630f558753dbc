"""Sums of absolute differences, and averages, of the parts of two registers.

AMD Instinct MI200 Instruction Set Architecture, chapter 12.11: V_SAD_U8 and its kin, V_LERP_U8.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate, Operand

__all__ = ["BYTE_SUMS"]

_BYTE = 8


def _part(site: Site, index: int, place: int, bits: int) -> Operand:
    field = Immediate(place), Immediate(bits)
    return site.code.compute("bfe.u32", 32, site.integer(index), *field)


def _differences(bits: int, shift: int, is_masked: bool, site: Site) -> None:
    """The sum, `shift` bits up, added to the third operand.

    Where it is masked, parts count whose counterpart in the second operand is not zero.
    """
    code = site.code
    total: Operand = Immediate(0)
    for place in range(0, 32, bits):
        first, second = (_part(site, index, place, bits) for index in (1, 2))
        larger = code.compute("max.u32", 32, first, second)
        found = code.compute("sub.u32", 32, larger, code.compute("min.u32", 32, first, second))
        if is_masked:
            counts = code.compute("setp.ne.u32", 1, second, Immediate(0))
            found = code.compute("selp.b32", 32, found, Immediate(0), counts)
        total = code.compute("add.u32", 32, total, found)
    if shift:
        total = code.compute("shl.b32", 32, total, Immediate(shift))
    code.set_vector(site.operands[0], site.main("add.u32", 32, total, site.integer(3)))


def _averages(site: Site) -> None:
    """Each byte of both and a bit of the third operand, added up and halved."""
    code = site.code
    found: Operand = Immediate(0)
    for place in range(0, 32, _BYTE):
        both = code.compute("add.u32", 32, *(_part(site, index, place, _BYTE) for index in (1, 2)))
        both = code.compute("add.u32", 32, both, _part(site, 3, place, 1))
        half = code.compute("shr.u32", 32, both, Immediate(1))
        found = code.compute(
            "or.b32", 32, found, code.compute("shl.b32", 32, half, Immediate(place))
        )
    code.set_vector(site.operands[0], site.main("mov.b32", 32, found))


BYTE_SUMS: Mapping[str, Lowering] = {
    "v_sad_u8": partial(_differences, _BYTE, 0, False),
    "v_sad_hi_u8": partial(_differences, _BYTE, 16, False),
    "v_sad_u16": partial(_differences, 16, 0, False),
    "v_msad_u8": partial(_differences, _BYTE, 0, True),
    "v_lerp_u8": _averages,
}
