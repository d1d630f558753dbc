"""What a profiler counts of machine code alone: by pipe, by opcode and by kind, and spills.

Which pipe executes an opcode was read off the counters of a GPU: in the file
`validation/measured/h100-sxm.json` are counts by pipe and by opcode of the same launches, and what
stands here makes the one out of the other for all of them. Opcodes that no launch has are after the
list of pipelines in NVIDIA's Nsight Compute documentation ("Kernel Profiling Guide", metrics
decoder), or go with those that compute alike. `ERRBAR` and `CGAERRBAR` always come together: which
is which is a guess. Kinds of thread instructions (`smsp__sass_thread_inst_executed_op_*_pred_on`)
were found in the same way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernelcast.traces.trace import InstructionRow, Trace

__all__ = ["PIPES", "MachineCounts", "machine_counts", "pipes_of"]

_NVIDIA = "sm_"
_BY_PIPE: Mapping[str, str] = {
    "fma": (
        "FADD FMUL FFMA FADD2 FMUL2 FFMA2 FSWZADD IMAD IDP XMAD IMUL FADD32I FMUL32I FFMA32I VIADD"
    ),
    "fp16": "HADD2 HMUL2 HFMA2 HMNMX2 HSET2 HSETP2",
    "fp64": "DADD DMUL DFMA DSETP DMNMX",
    "xu": "MUFU I2F F2I F2F FRND POPC FLO BREV F2IP FCHK",
    "tensor": "HMMA IMMA BMMA DMMA QMMA OMMA HGMMA QGMMA IGMMA BGMMA MOVM",
    "lsu": (
        "LDG STG LDS STS LDL STL LD ST LDGSTS LDSM STSM ATOM ATOMG ATOMS RED REDG SHFL S2R S2UR "
        "MEMBAR CCTL CCTLL QSPC LDGDEPBAR ARRIVES MATCH B2R SYNCS STAS"
    ),
    "tex": "TEX TLD TLD4 TXD TXQ TMML SULD SUST SURED SUATOM SUQ CGAERRBAR",
    "adu": "LDC BAR BRX BRXU JMX JMXU RET ERRBAR",
    "cbu": "BSSY BSYNC BREAK EXIT WARPSYNC YIELD BMOV NANOSLEEP BPT KILL CALL RET",
    "": "BRA NOP DEPBAR ULDC UMOV VOTEU LDCU",
}
"""Opcodes by pipe; `alu` executes the rest, `uniform` those of the uniform datapath.

Those of no pipe are in none of the counters; a return is in two.
"""
_PIPES: Mapping[str, tuple[str, ...]] = {
    opcode: tuple(pipe for pipe, names in _BY_PIPE.items() if pipe and opcode in names.split())
    for opcodes in _BY_PIPE.values()
    for opcode in opcodes.split()
}
PIPES = (*filter(None, _BY_PIPE), "alu", "uniform")
_PLACES_OF_THREAD_BLOCKS = ("SR_CTAID", "SR_CgaCtaId")
"""Special registers that the address divergence unit reads; the others come by way of the LSU."""
_PAIRS_IN_FP16 = (70, 72, 75, 80)
"""Architectures with a pipe for halves, which are for `fma` elsewhere (Kernel Profiling Guide)."""

_BY_KIND: Mapping[str, str] = {
    "fp32": "FADD FMUL FFMA FADD2 FMUL2 FFMA2 FSWZADD FMNMX FMNMX3 FSEL FSET FSETP FCHK MUFU",
    "integer": (
        "IADD IADD3 IMAD IMUL XMAD IDP IABS IMNMX ISCADD ISETP LEA LOP LOP3 SHF SHL SHR BFE BFI "
        "BMSK SGXT POPC FLO BREV VIADD VIADDMNMX VIMNMX VIMNMX3 VABSDIFF VABSDIFF4"
    ),
    "memory": (
        "LDG STG LDS STS LDL STL LD ST LDC LDGSTS LDSM STSM ATOM ATOMG ATOMS RED REDG SULD SUST "
        "MEMBAR"
    ),
}
"""Opcodes by kind of thread instruction, those that the uniform datapath executes left out."""
_KINDS = {opcode: kind for kind, opcodes in _BY_KIND.items() for opcode in opcodes.split()}


@dataclass(frozen=True, slots=True)
class MachineCounts:
    """Warp instructions of machine code, by pipe and by opcode with all its modifiers.

    `threads_by_kind`: thread instructions without those that a predicate kept from it;
    `thread_instructions` counts these too.
    """

    by_pipe: Mapping[str, float]
    by_opcode: Mapping[str, float]
    local_loads: float
    local_stores: float
    shared_loads: float
    shared_stores: float
    threads_by_kind: Mapping[str, float]
    thread_instructions: float

    @property
    def warp_instructions(self) -> float:
        """All of them."""
        return sum(self.by_opcode.values())

    @property
    def active_lanes(self) -> float | None:
        """Mean threads that go through a warp instruction; None where there is none."""
        issued = self.warp_instructions
        return self.thread_instructions / issued if issued else None


def pipes_of(opcode: str, modifiers: Iterable[str] = (), architecture: int = 90) -> tuple[str, ...]:
    """The pipes that execute a base opcode of SASS, none where no counter has it.

    Of `S2R` and `S2UR` that which most special registers come from.
    """
    pipes = _PIPES.get(opcode)
    if pipes is None:
        return ("uniform",) if opcode.startswith("U") else ("alu",)
    if pipes == ("fp16",) and architecture not in _PAIRS_IN_FP16:
        return ("tensor",) if "MMA" in modifiers else ("fma",)
    return pipes


def machine_counts(trace: Trace) -> MachineCounts | None:
    """The counts of one launch; None where no machine code of NVIDIA's was executed."""
    if not trace.is_machine_code or not trace.code.startswith(_NVIDIA):
        return None
    architecture = int(trace.code.removeprefix("sm_").rstrip("af"))
    issues, (_, lanes) = trace.classes.group_issues(), trace.classes.totals()
    active = _active_lanes(trace.instructions, lanes)
    rows = [row for row in trace.instructions if not row.is_part and issues[row.pc]]
    pipes = _summed(rows, issues, lambda row: _pipes(row, architecture))
    kinds = _summed(rows, lanes, lambda row: (_KINDS.get(row.mnemonic.partition(".")[0], ""),))
    opcodes = _summed(rows, issues, lambda row: (row.mnemonic,))
    return MachineCounts(
        dict(sorted(pipes.items())),
        dict(sorted(opcodes.items(), key=lambda item: (-item[1], item[0]))),
        local_loads=_of_opcodes(opcodes, "LDL"),
        local_stores=_of_opcodes(opcodes, "STL"),
        shared_loads=_of_opcodes(opcodes, "LDS", "LDSM"),
        shared_stores=_of_opcodes(opcodes, "STS", "STSM"),
        threads_by_kind={kind: kinds.get(kind, 0.0) for kind in _BY_KIND},
        thread_instructions=float(sum(active[row.basic_block] for row in rows)),
    )


def _pipes(row: InstructionRow, architecture: int) -> tuple[str, ...]:
    if row.special_register.startswith(_PLACES_OF_THREAD_BLOCKS):
        return ("adu",)
    opcode, *modifiers = row.mnemonic.split(".")
    return pipes_of(opcode, modifiers, architecture)


def _active_lanes(
    rows: Iterable[InstructionRow], lanes: npt.NDArray[np.int64]
) -> Mapping[int, int]:
    """Lanes that go through each basic block, whether or not a predicate lets them take part.

    A branch at its end counts for all of them, and so does what has no predicate.
    """
    found: dict[int, int] = defaultdict(int)
    for row in rows:
        found[row.basic_block] = max(found[row.basic_block], int(lanes[row.pc]))
    return found


def _summed(
    rows: Iterable[InstructionRow],
    counts: npt.NDArray[np.int64],
    names: Callable[[InstructionRow], tuple[str, ...]],
) -> dict[str, float]:
    """Counts of the rows, under all names of each."""
    found: dict[str, float] = defaultdict(float)
    for row in rows:
        for name in names(row):
            found[name] += float(counts[row.pc])
    return dict(found)


def _of_opcodes(by_opcode: Mapping[str, float], *opcodes: str) -> float:
    return sum(count for name, count in by_opcode.items() if name.partition(".")[0] in opcodes)
