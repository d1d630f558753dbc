"""Vector instructions that write a part of a register: a byte or a half (SDWA).

AMD Instinct MI200 Instruction Set Architecture, chapter 13.3.9.
"""

from __future__ import annotations

from dataclasses import replace

from kernelcast.ptx_frontend.amdgcn.lowering.site import SELECTED, Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate

__all__ = ["lower_part", "writes_part"]

_WHOLE = ("DWORD", "")
_ASIDE = "v65535"
"""A register that no GPU has."""
_ALL = 0xFFFFFFFF


def writes_part(site: Site) -> bool:
    """Whether the result goes into a part of a register."""
    return site.instruction.modifiers.get("dst_sel", "") not in _WHOLE


def lower_part(site: Site, lower: Lowering) -> None:
    """Lowers the instruction for a register aside, and moves the part of it to its place."""
    code, modifiers = site.code, site.instruction.modifiers
    target, *sources = site.operands
    aside = replace(site.instruction, operands=(_ASIDE, *sources))
    lower(replace(site, instruction=aside))
    shift, mask = SELECTED[modifiers["dst_sel"]]
    value = code.compute("and.b32", 32, code.word(_ASIDE), Immediate(mask))
    value = code.compute("shl.b32", 32, value, Immediate(shift))
    match modifiers.get("dst_unused"):
        case "UNUSED_PAD":
            pass
        case "UNUSED_PRESERVE":
            rest = Immediate(_ALL & ~(mask << shift))
            kept = code.compute("and.b32", 32, code.single(target), rest)
            value = code.compute("or.b32", 32, value, kept)
        case _:
            raise code.refused("a part of a register with its sign")
    code.set_vector(target, value)
