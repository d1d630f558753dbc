"""What a profiler counts of machine code alone: instructions by pipe and by opcode, and spills.

Which pipe executes an opcode is after the list of pipelines in NVIDIA's Nsight Compute
documentation ("Kernel Profiling Guide", metrics decoder); opcodes that it does not name go with
those that compute alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from kernelcast.traces.trace import Trace

__all__ = ["PIPES", "MachineCounts", "machine_counts", "pipe_of"]

_BY_PIPE: Mapping[str, str] = {
    "fma": "FADD FMUL FFMA FADD2 FMUL2 FFMA2 FSWZADD IMAD IDP XMAD IMUL FADD32I FMUL32I FFMA32I",
    "fp16": "HADD2 HMUL2 HFMA2 HMNMX2 HSET2 HSETP2",
    "fp64": "DADD DMUL DFMA DSETP DMNMX",
    "xu": "MUFU I2F F2I F2F FRND POPC FLO BREV F2IP",
    "tensor": "HMMA IMMA BMMA DMMA QMMA OMMA HGMMA QGMMA IGMMA BGMMA MOVM",
    "lsu": (
        "LDG STG LDS STS LDL STL LD ST LDGSTS LDSM STSM ATOM ATOMG ATOMS RED REDG SHFL S2R "
        "MEMBAR CCTL CCTLL QSPC ERRBAR LDGDEPBAR ARRIVES MATCH B2R SYNCS STAS"
    ),
    "tex": "TEX TLD TLD4 TXD TXQ TMML SULD SUST SURED SUATOM SUQ",
    "adu": "LDC BAR BRX BRXU JMX JMXU CALL RET",
    "cbu": "BRA BSSY BSYNC BREAK EXIT WARPSYNC YIELD BMOV NANOSLEEP BPT KILL NOP DEPBAR",
}
"""Opcodes by pipe; `alu` executes the rest, `uniform` those of the uniform datapath."""
_PIPES = {opcode: pipe for pipe, opcodes in _BY_PIPE.items() for opcode in opcodes.split()}
PIPES = (*_BY_PIPE, "alu", "uniform")
_UNIFORM_LOADS = ("S2UR", "LDCU")


@dataclass(frozen=True, slots=True)
class MachineCounts:
    """Warp instructions of machine code, by pipe and by opcode with all its modifiers."""

    by_pipe: Mapping[str, float]
    by_opcode: Mapping[str, float]
    local_loads: float
    local_stores: float


def pipe_of(opcode: str) -> str:
    """The pipe that executes a base opcode of SASS."""
    if opcode in _PIPES:
        return _PIPES[opcode]
    if opcode.startswith("U") or opcode in _UNIFORM_LOADS:
        return "uniform"
    return "alu"


def machine_counts(trace: Trace) -> MachineCounts | None:
    """The counts of one launch; None where no machine code was executed."""
    if not trace.is_machine_code:
        return None
    issues, _ = trace.classes.totals()
    by_pipe: dict[str, float] = defaultdict(float)
    by_opcode: dict[str, float] = defaultdict(float)
    for row in trace.instructions:
        if row.is_part or not issues[row.pc]:
            continue
        by_pipe[pipe_of(row.mnemonic.partition(".")[0])] += float(issues[row.pc])
        by_opcode[row.mnemonic] += float(issues[row.pc])
    return MachineCounts(
        dict(sorted(by_pipe.items())),
        dict(sorted(by_opcode.items(), key=lambda item: (-item[1], item[0]))),
        _of_opcode(by_opcode, "LDL"),
        _of_opcode(by_opcode, "STL"),
    )


def _of_opcode(by_opcode: Mapping[str, float], opcode: str) -> float:
    return sum(count for name, count in by_opcode.items() if name.split(".")[0] == opcode)
