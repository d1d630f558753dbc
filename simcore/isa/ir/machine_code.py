"""What only machine code says of an instruction: its opcode, its registers, how it is scheduled.

It travels beside the intermediate representation and changes nothing that an engine computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kernelcast.traces.amd_opcodes import AmdKind, amd_instruction
from kernelcast.traces.issue_control import KM, LGKM, SCOREBOARDS, VM, VS, IssueControl

__all__ = [
    "KM",
    "LGKM",
    "SCOREBOARDS",
    "VM",
    "VS",
    "AmdKind",
    "IssueControl",
    "MachineCode",
    "MachineInstruction",
    "amd_instruction",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineInstruction:
    """One instruction of the machine: `address` in bytes from the beginning of its section.

    `opcode` is its name without modifiers. `reads` and `writes` number registers as
    `MachineCode.register_names` does. `ptx_line`: the line of the PTX that it was assembled from, 0
    where that is not known, with its text `ptx_text`. `special_register`: the one that it reads,
    `SR_TID.X`, or empty. `text`: the instruction as a disassembler lists it.
    """

    address: int
    opcode: str
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    control: IssueControl | None = None
    ptx_line: int = 0
    special_register: str = ""
    text: str = ""
    ptx_text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineCode:
    """What is known of a kernel because it is machine code.

    `instructions` by the pc of the instruction that counts for it. `registers`: 32-bit registers
    per thread that the assembler took. `spill_bytes`: local memory per thread that spilled
    registers take, bytes. `system_shared_bytes`: shared memory of a thread block that comes before
    the kernel's own, which no limit of the kernel counts. `merged`: parts that are words of a wider
    access, with the pc that makes it. `scalar_registers` of a warp of AMD's code.
    """

    architecture: str
    registers: int
    instructions: Mapping[int, MachineInstruction]
    register_names: tuple[str, ...] = ()
    spill_bytes: int = 0
    system_shared_bytes: int = 0
    barriers: int = 0
    notes: Mapping[str, str] = field(default_factory=dict)
    merged: Mapping[int, int] = field(default_factory=dict)
    scalar_registers: int = 0
