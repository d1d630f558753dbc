"""Registers that instructions of AMD's code read or write without naming them: EXEC, VCC, SCC.

RDNA 2 Instruction Set Architecture, chapters 3 and 12.
"""

from __future__ import annotations

from kernelcast.ptx_frontend.amdgcn.lowering.generations import plain_name
from kernelcast.ptx_frontend.amdgcn.lowering.scalars.plain import SCC_READERS, SCC_WRITERS
from kernelcast.ptx_frontend.amdgcn.text import AsmInstruction

__all__ = ["SCC", "unnamed_registers"]

SCC = "scc"
_EXEC, _VCC = "exec_lo", "vcc_lo"
_NEWEST = "gfx1201"
"""An architecture of which all names of RDNA are known."""
_OF_LANES = ("v_", "ds_", "global_", "flat_", "buffer_", "scratch_")
Names = tuple[str, ...]


def unnamed_registers(instruction: AsmInstruction) -> tuple[Names, Names]:
    """What an instruction reads and writes besides its operands."""
    opcode = instruction.opcode
    reads: list[str] = []
    writes: list[str] = []
    if opcode.startswith(_OF_LANES):
        reads.append(_EXEC)
        if opcode.startswith("v_cmpx"):
            writes.append(_EXEC)
        if opcode.startswith(("v_div_fmas", "v_dual_cndmask")):
            reads.append(_VCC)
    if "saveexec" in opcode:
        reads.append(_EXEC)
        writes.append(_EXEC)
    if opcode.startswith("s_cbranch_exec"):
        reads.append(_EXEC)
    if opcode.startswith("s_cbranch_vcc"):
        reads.append(_VCC)
    name = plain_name(opcode, _NEWEST)
    if name in SCC_READERS:
        reads.append(SCC)
    if name in SCC_WRITERS:
        writes.append(SCC)
    return tuple(reads), tuple(writes)
