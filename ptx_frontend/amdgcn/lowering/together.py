"""Two instructions that RDNA 3 issues as one (VOPD): both read before either writes.

RDNA 3 Instruction Set Architecture, chapter 7.6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.ptx_frontend.amdgcn.text import AsmInstruction

__all__ = ["lower_together"]

_KEPT = "v998"
"""A register that no instruction names."""
_IMPLIED = "vcc_lo"
_OPERANDS_OF_CHOICE = 3


def lower_together(site: Site, table: Mapping[str, Lowering]) -> None:
    """Lowers both halves; what the first one writes is kept apart until the second one has read.

    UnsupportedInstruction for a half that is not in the table.
    """
    code, first = site.code, _alone(site.instruction)
    assert first.partner is not None
    target = first.operands[0]
    code.set_vector(_KEPT, code.word(target))
    apart = replace(first, operands=(_KEPT, *first.operands[1:]))
    for half in (apart, _alone(first.partner)):
        lower = table.get(half.opcode)
        if lower is None:
            raise code.refused(f"{half.opcode} is not executed")
        lower(replace(site, instruction=half))
    code.set_vector(target, code.word(_KEPT))


def _alone(instruction: AsmInstruction) -> AsmInstruction:
    """The half with the mask that a choice reads without its name."""
    operands = instruction.operands
    is_choice = instruction.opcode.startswith("v_cndmask")
    if is_choice and len(operands) == _OPERANDS_OF_CHOICE:
        operands = (*operands, _IMPLIED)
    return replace(instruction, operands=operands)
