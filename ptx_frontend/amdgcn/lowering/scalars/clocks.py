"""Counters of cycles and of time.

AMD Instinct MI200 Instruction Set Architecture, chapter 12.6: S_MEMTIME counts cycles,
S_MEMREALTIME those of a clock that does not change, of 100 MHz. RDNA 3 counts cycles in a register
of the hardware (RDNA 3 Instruction Set Architecture, 3.4.10).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kernelcast.ptx_frontend.amdgcn.lowering.site import Lowering, Site
from kernelcast.simcore.isa.ir.kernel import Immediate, Special, SpecialRegister

__all__ = ["CLOCKS"]

_TICK_NS = 10
_COUNTER = re.compile(
    r"hwreg\(HW_REG_SHADER_CYCLES(?P<word>_LO|_HI)?(?:, (?P<first>\d+), (?P<bits>\d+))?\)"
)


def _cycles(site: Site) -> None:
    found = site.main("mov.u64", 64, SpecialRegister(Special.CLOCK64))
    site.code.set_scalar(site.operands[0], site.code.halves(found))


def _time(site: Site) -> None:
    now = site.code.compute("mov.u64", 64, SpecialRegister(Special.GLOBALTIMER))
    found = site.main("div.u64", 64, now, Immediate(_TICK_NS))
    site.code.set_scalar(site.operands[0], site.code.halves(found))


def _part_of_cycles(site: Site) -> None:
    """`s_getreg_b32` of the counter of cycles: its lowest bits, or one of its words."""
    code = site.code
    named = _COUNTER.search(site.instruction.span.text)
    if named is None:
        raise code.refused("a register of the hardware")
    low, high = code.halves(code.compute("mov.u64", 64, SpecialRegister(Special.CLOCK64)))
    field = Immediate(int(named["first"] or 0)), Immediate(int(named["bits"] or 32))
    word = high if named["word"] == "_HI" else low
    code.set_scalar(site.operands[0], [site.main("bfe.u32", 32, word, *field)])


CLOCKS: Mapping[str, Lowering] = {
    "s_memtime": _cycles,
    "s_memrealtime": _time,
    "s_getreg_b32": _part_of_cycles,
}
