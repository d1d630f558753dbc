"""What AMD's machine code says of each instruction besides what it computes: length, waits.

A wavefront issues one instruction in a turn of its SIMD, which comes every four cycles (AMD
Graphics Core Next architecture white paper, 2012); `s_nop` and `s_sleep` say for how long it rests.
Registers need no scoreboards: results of vector and scalar instructions are there in the next turn,
and loads are waited for by counters (AMD Instinct MI200 Instruction Set Architecture, 4.4).

RDNA issues one in every cycle, holds it until the registers are there that it reads, and counts
stores apart from loads (AMD RDNA architecture white paper; RDNA 2 Instruction Set Architecture,
4.4).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from kernelcast.errors import SourceSpan
from kernelcast.ptx_frontend.amdgcn.code_object import KernelMetadata
from kernelcast.ptx_frontend.amdgcn.encoding import instruction_bytes
from kernelcast.ptx_frontend.amdgcn.lowering.generations import (
    has_own_group_registers,
    is_rdna,
)
from kernelcast.ptx_frontend.amdgcn.lowering.writer import register_names
from kernelcast.ptx_frontend.amdgcn.text import AsmInstruction
from kernelcast.ptx_frontend.amdgcn.unnamed_registers import SCC, unnamed_registers
from kernelcast.simcore.isa.ir.kernel import Atomic, Instruction, Kernel, Load, Store
from kernelcast.simcore.isa.ir.machine_code import (
    KM,
    LGKM,
    VM,
    VS,
    AmdKind,
    IssueControl,
    MachineCode,
    MachineInstruction,
    amd_instruction,
)

__all__ = ["machine_code"]

_TURN = 4
"""Cycles between two turns of a SIMD."""
_SLEEP = 64
"""Cycles of one unit of `s_sleep`."""
_LEFT = re.compile(r"(vmcnt|lgkmcnt)\((\d+)\)")
_COUNTS = re.compile(r"s_wait_(?P<names>\w+cnt(?:_dscnt)?) (?P<left>\w+)")
"""Waits of RDNA 4 for one counter, or two, of which the first has the upper byte."""
_PLACES = {"loadcnt": VM, "storecnt": VS, "dscnt": LGKM, "kmcnt": KM}
_STORES_LEFT = re.compile(r"s_waitcnt_vscnt null, (\w+)")
_MOST_LEFT = 63
_COUNTERS = {
    AmdKind.VMEM: (VM,),
    AmdKind.FLAT: (VM, LGKM),
    AmdKind.LDS: (LGKM,),
    AmdKind.SMEM: (LGKM,),
    AmdKind.MESSAGE: (LGKM,),
}
_TWO_RESULTS = re.compile(r"_co_|v_div_scale|v_mad_[ui]64")
_WORDS = re.compile(r"dwordx(\d)|_b(64|96|128)$")
_WORD_BITS = 32
_ALL = 1 << 10
_WRITES_NOTHING = re.compile(r"_store_|^ds_(?:write|store)|^s_cmp|^s_bitcmp|^s_c?branch|^s_store")
_ATOMIC = re.compile(r"_atomic_|^ds_(?!read|write|load|store|bpermute|permute|swizzle)")


def machine_code(
    kernel: Kernel,
    code: Sequence[AsmInstruction],
    metadata: KernelMetadata,
    architecture: str,
) -> MachineCode:
    """The facts of a kernel that was made of `code`, by pc."""
    by_place, names = (
        dict[tuple[int, int], MachineInstruction](),
        _Names(is_rdna(architecture), has_own_group_registers(architecture)),
    )
    address = 0
    for instruction in code:
        size = instruction_bytes(instruction, architecture)
        by_place[_place(instruction.span)] = _facts(instruction, address, size, names)
        address += size
    counted = [item for item in kernel.instructions if not item.is_part]
    opcodes = {instruction.span.line: instruction.opcode for instruction in code}
    return MachineCode(
        architecture=architecture,
        registers=metadata.lane_registers,
        scalar_registers=metadata.scalar_registers,
        instructions={
            item.pc: by_place[_place(item.span)]
            for item in counted
            if _place(item.span) in by_place
        },
        register_names=tuple(names.numbers),
        merged=dict(_merged(kernel, opcodes)),
    )


def _place(span: SourceSpan) -> tuple[int, int]:
    return span.line, span.column


def _names_of(operand: str) -> Sequence[str]:
    return (operand,) if operand == SCC else register_names(operand)


class _Names:
    """Numbers of registers, in the order in which they are met, for a generation of GPUs."""

    def __init__(self, is_rdna: bool, counts_scalars: bool) -> None:
        self.is_rdna = is_rdna
        self.counts_scalars = counts_scalars
        """Whether scalar loads have a counter of their own."""
        self.numbers: dict[str, int] = {}

    def of(self, operands: Sequence[str]) -> tuple[int, ...]:
        found = (name for text in operands for name in _names_of(text.strip("-|")))
        return tuple(
            dict.fromkeys(self.numbers.setdefault(name, len(self.numbers)) for name in found)
        )


def _facts(
    instruction: AsmInstruction, address: int, size: int, names: _Names
) -> MachineInstruction:
    reads, writes = _registers(instruction, names.is_rdna)
    return MachineInstruction(
        address=address,
        opcode=instruction.opcode,
        reads=names.of(reads),
        writes=names.of(writes),
        control=IssueControl(
            address=address,
            stall_cycles=_rest(instruction, 1 if names.is_rdna else _TURN),
            yields=True,
            written=None,
            read=None,
            waits=(),
            reuse=0,
            bytes=size,
            counters=_counters(instruction, names),
            left=_left(instruction),
            is_interlocked=names.is_rdna,
        ),
        text=instruction.span.text,
    )


def _has_result(instruction: AsmInstruction) -> bool:
    """Whether the first operand is written."""
    opcode = instruction.opcode
    if not instruction.operands or _WRITES_NOTHING.search(opcode):
        return False
    if _ATOMIC.search(opcode):
        return "_rtn_" in opcode or instruction.returns_old
    return True


def _registers(
    instruction: AsmInstruction, is_rdna: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What an instruction reads and writes; for RDNA also what its text does not name."""
    written = _results_of(instruction) if is_rdna else int(_has_result(instruction))
    writes, reads = instruction.operands[:written], instruction.operands[written:]
    if not is_rdna:
        return reads, writes
    more_reads, more_writes = unnamed_registers(instruction)
    reads, writes = (*reads, *more_reads), (*writes, *more_writes)
    if instruction.partner is not None:
        other_reads, other_writes = _registers(instruction.partner, is_rdna)
        reads, writes = (*reads, *other_reads), (*writes, *other_writes)
    return reads, writes


def _results_of(instruction: AsmInstruction) -> int:
    """How many operands are written: two where a mask of carries comes second."""
    opcode = instruction.opcode
    if not _has_result(instruction) or opcode.startswith("v_cmpx"):
        return 0
    return 2 if _TWO_RESULTS.search(opcode) else 1


def _rest(instruction: AsmInstruction, turn: int) -> int:
    """Cycles until the next instruction of the wavefront, which has a turn in so many."""
    first = instruction.operands[0] if instruction.operands else "0"
    if instruction.opcode == "s_nop":
        return turn * (int(first, 0) + 1)
    if instruction.opcode == "s_sleep":
        return turn + _SLEEP * int(first, 0)
    return turn


def _counters(instruction: AsmInstruction, names: _Names) -> tuple[int, ...]:
    if instruction.opcode.startswith("s_dcache"):
        return ()
    found = amd_instruction(instruction.opcode)
    counters = () if found is None else _COUNTERS.get(found.kind, ())
    if names.counts_scalars and found is not None and found.kind is AmdKind.SMEM:
        return (KM,)
    if names.is_rdna and VM in counters and not _has_result(instruction):
        return tuple(VS if counter == VM else counter for counter in counters)
    return counters


def _left(instruction: AsmInstruction) -> tuple[int, ...]:
    """How many of each counter may go on; empty for what is no wait for them."""
    if counts := _COUNTS.match(instruction.span.text):
        left = [_MOST_LEFT] * (KM + 1)
        number = int(counts["left"], 0)
        for name in reversed(re.findall(r"[a-z]+cnt", counts["names"])):
            if name in _PLACES:
                left[_PLACES[name]] = number & 0xFF if "_" in counts["names"] else number
            number >>= 8
        return tuple(left)
    if stores := _STORES_LEFT.match(instruction.span.text):
        return _MOST_LEFT, _MOST_LEFT, int(stores[1], 0)
    if instruction.opcode != "s_waitcnt":
        return ()
    words = " ".join((*instruction.operands, *instruction.modifiers))
    found = {name: int(number) for name, number in _LEFT.findall(words)}
    if words == "0":
        found = {"vmcnt": 0, "lgkmcnt": 0}
    return found.get("vmcnt", _MOST_LEFT), found.get("lgkmcnt", _MOST_LEFT)


def _merged(kernel: Kernel, opcodes: dict[int, str]) -> Iterator[tuple[int, int]]:
    """Accesses of words that are one of several words, with that of the first word."""
    by_line = defaultdict[int, list[Instruction]](list)
    for item in kernel.instructions:
        if isinstance(item, Load | Store | Atomic):
            by_line[item.span.line].append(item)
    for line, accesses in by_line.items():
        words = _words(opcodes.get(line, ""))
        for number, item in enumerate(accesses):
            if number % words:
                yield item.pc, accesses[number - number % words].pc


def _words(opcode: str) -> int:
    if opcode.startswith("s_load"):
        return _ALL
    found = _WORDS.search(opcode)
    if found is None:
        return 1
    return int(found[1]) if found[1] else int(found[2]) // _WORD_BITS
