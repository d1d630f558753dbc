"""A simulated profile under the names of AMD's rocprof.

Counters of instructions are those of machine code; what a source form has executed has none. Hits
and misses of L2 (TCC) are of reads, in sectors of the device's L2; sizes are in kilobytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.traces.amd_opcodes import AmdKind

__all__ = ["RocprofMetric", "rocprof_metrics"]

RocprofMetric = tuple[str, float, str, str]
"""Name, value, unit and description."""
_KIB = 1024.0
_BY_KIND: tuple[tuple[str, tuple[AmdKind, ...], str], ...] = (
    ("SQ_INSTS_VALU", (AmdKind.VALU, AmdKind.MATRIX), "vector instructions, of matrices as well"),
    ("SQ_INSTS_MFMA", (AmdKind.MATRIX,), "products of matrices"),
    ("SQ_INSTS_SALU", (AmdKind.SALU,), "scalar instructions"),
    ("SQ_INSTS_SMEM", (AmdKind.SMEM,), "scalar loads"),
    ("SQ_INSTS_LDS", (AmdKind.LDS,), "instructions of local memory"),
    ("SQ_INSTS_BRANCH", (AmdKind.BRANCH,), "branches and ends of wavefronts"),
    ("SQ_INSTS_SENDMSG", (AmdKind.MESSAGE,), "messages"),
)


def rocprof_metrics(profile: KernelProfile) -> Iterator[RocprofMetric]:
    """All counters that the profile knows, per launch."""
    yield from _instructions(profile)
    shared, traffic = profile.shared, profile.traffic
    if shared is not None and shared.load_conflicts is not None:
        conflicts = shared.load_conflicts + (shared.store_conflicts or 0.0)
        yield "SQ_LDS_BANK_CONFLICT", conflicts, "cycles", "passes lost to bank conflicts"
    if traffic.l2_read_sectors is not None and traffic.l2_read_hit_sectors is not None:
        hits = traffic.l2_read_hit_sectors
        yield "TCC_HIT_sum", hits, "sectors", "reads that L2 has"
        yield "TCC_MISS_sum", traffic.l2_read_sectors - hits, "sectors", "reads that L2 lacks"
    each = traffic.sector_bytes / _KIB
    read = traffic.dram_read_transactions + traffic.memory_side_hits
    yield "FETCH_SIZE", read * each, "KB", "read by L2 from memory or the cache beside it"
    yield "WRITE_SIZE", traffic.dram_write_transactions * each, "KB", "written to memory"


def _instructions(profile: KernelProfile) -> Iterator[RocprofMetric]:
    counts = profile.amd
    if counts is None:
        return
    unit = "instructions"
    yield "SQ_WAVES", counts.waves, "wavefronts", "wavefronts that were started"
    for name, kinds, description in _BY_KIND:
        yield name, counts.of(*kinds), unit, description
    yield "SQ_INSTS_VMEM_RD", counts.reads, unit, "reads of vector memory, FLAT among them"
    yield "SQ_INSTS_VMEM_WR", counts.writes, unit, "writes of vector memory, FLAT among them"
    if profile.divergence is not None:
        yield "VALUUtilization", 100.0 * profile.divergence, "%", "active lanes of an instruction"
