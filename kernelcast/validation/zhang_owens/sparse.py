"""Zhang and Owens, section 5.3: sparse matrix times vector, bytes for each entry of the matrix.

The paper counts fixed segments of the smallest size, of 32 bytes as on the GTX 285 and of 16; the
GPU itself has segments that shrink. An entry is a value of 4 bytes, its share of a column index,
and what is read of the vector for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kernelcast.architectures import whatif
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.models.component_throughput.model import NAME
from kernelcast.models.component_throughput.times import Component
from kernelcast.simcore.device.changed import changed_device
from kernelcast.simcore.device.device import CoalescingRule, Device
from kernelcast.simcore.memory.simulated_memory import simulate_memory
from kernelcast.simcore.profile.occupancy import occupancy
from kernelcast.simcore.profile.profile import LaunchShape
from kernelcast.traces.trace import InstructionRow
from kernelcast.validation.paper_figures import PaperFigure, Subject
from kernelcast.validation.workload_suite import SUITE
from kernelcast.validation.zhang_owens.case_studies import ZHANG_OWENS, paper_gpu, printed_table
from kernelcast.workload.file import load_workload

__all__ = [
    "FORMS",
    "EntryBytes",
    "entry_bytes",
    "gpu_with_segments",
    "gpu_with_textures",
    "sparse_figures",
    "sparse_trace",
    "texture_vector_bytes",
]

FORMS: Mapping[str, str] = {"ell": "ELL", "bell_im": "BELL+IM", "bell_imiv": "BELL+IMIV"}
"""Storage formats, by the workload's name."""
_ROWS = 49_152
_ENTRIES = _ROWS * 39
_WORD_BYTES = 4
_INDEX_BYTES = {"ell": 4.0, "bell_im": 4 / 9, "bell_imiv": 4 / 9}
"""One index an entry, or one for a tile of 3 x 3."""
_PAPER_SEGMENT_BYTES, _SMALLER_SEGMENT_BYTES = 32, 16


@dataclass(frozen=True, slots=True)
class EntryBytes:
    """DRAM reads for each entry of the matrix."""

    index: float
    values: float
    vector: float

    @property
    def total(self) -> float:
        """Bytes of all three parts."""
        return self.index + self.values + self.vector


def sparse_trace(form: str, *, is_texture: bool = False, size: str = "full") -> KernelTrace:
    """The trace with its accesses, on the lattice matrix of 49,152 rows."""
    name = f"spmv_{form}_texture" if is_texture else f"spmv_{form}"
    return load_workload(SUITE / "sparse_formats" / f"{name}.toml").run(size)


def gpu_with_segments(rule: CoalescingRule, smallest_bytes: int) -> Device:
    """The paper's GPU with another rule of segments."""
    return changed_device(
        paper_gpu(), {"coalescing": rule.value, "segments.min_segment_bytes": smallest_bytes}
    )


def gpu_with_textures() -> Device:
    """The paper's GPU with read-only loads as texture fetches."""
    return changed_device(
        paper_gpu(), {"l1.caches_read_only_loads": True, "l2.caches_read_only_loads": True}
    )


def entry_bytes(trace: KernelTrace, device: Device) -> EntryBytes:
    """Bytes for each entry of the matrix, by what the loads fetch.

    The index is the only integer, and values of neighbouring rows follow each other, so that they
    move as many bytes as are asked for.
    """
    sums = {"index": 0.0, "values": 0.0, "vector": 0.0}
    for row, moved, asked in _loads(trace, device):
        if "f32" not in row.mnemonic:
            part = "index"
        else:
            part = "values" if abs(moved - asked) < 1e-6 * asked else "vector"
        sums[part] += moved / _ENTRIES
    return EntryBytes(**sums)


def texture_vector_bytes(trace: KernelTrace, device: Device) -> float:
    """DRAM reads of the launch through the texture caches."""
    return sum(moved for row, moved, _ in _loads(trace, device) if row.cache == "nc")


def sparse_figures() -> Iterator[PaperFigure]:
    """Executes six kernels, a few seconds."""
    for form in FORMS:
        trace = sparse_trace(form)
        yield from _byte_figures(form, trace)
        yield from _time_figures(form, trace)
        yield from _texture_figures(form)


def _loads(trace: KernelTrace, device: Device) -> Iterator[tuple[InstructionRow, float, float]]:
    """Loads of global memory with the bytes that they read from DRAM.

    The third of each are the bytes that full warps ask for.
    """
    data = trace.data
    shape = LaunchShape(data.grid, data.thread_block)
    resident = occupancy(data.resources, shape, device).thread_blocks_per_sm
    traffic = simulate_memory(data, device, resident).traffic
    counts = traffic.by_instruction
    warp_bytes = data.warp_width * _WORD_BYTES
    for row in data.instructions:
        if row.kind == "load" and row.space == "global":
            moved = float(counts.dram_reads[row.pc]) * traffic.transaction_bytes
            yield row, moved, float(counts.requests[row.pc]) * warp_bytes


def _byte_figures(form: str, trace: KernelTrace) -> Iterator[PaperFigure]:
    rows = [row for row in printed_table("sparse_bytes") if row["form"] == form]
    for row in rows:
        rule, smallest = CoalescingRule(row["coalescing"]), int(row["smallest_segment_bytes"])
        found = entry_bytes(trace, gpu_with_segments(rule, smallest))
        subject = _subject(form, "5.3" if row["basis"] == "printed" else "5.3, derived")
        kind = "fixed" if rule is CoalescingRule.FIXED_SEGMENTS else "shrinking"
        yield subject.near(
            f"of the vector, {kind} segments of {smallest} B",
            float(row["vector_bytes"]),
            found.vector,
            percent=float(row["within_percent"]),
            unit="B/entry",
        )
        if row["total_bytes"]:
            printed = _INDEX_BYTES[form]
            yield subject.near("of the index", printed, found.index, percent=0.01, unit="B/entry")
            total = float(row["total_bytes"])
            yield subject.near("in total", total, found.total, points=0.005, unit="B/entry")


def _time_figures(form: str, trace: KernelTrace) -> Iterator[PaperFigure]:
    """Times with the paper's segments and with smaller ones, its last suggestion."""
    device = gpu_with_segments(CoalescingRule.FIXED_SEGMENTS, _PAPER_SEGMENT_BYTES)
    changes = {"memory.min_segment_bytes": _SMALLER_SEGMENT_BYTES}
    before, after = whatif(trace, device, changes, models=[NAME]).rows
    subject = _subject(form, "5.3, fig 11")
    yield subject.same("bottleneck", Component.GLOBAL.value, before.estimate.bottleneck)
    yield subject.judged(
        f"speed-up with segments of {_SMALLER_SEGMENT_BYTES} B",
        "shorter",
        after.speedup,
        "more than 1",
        is_met=after.speedup > 1,
    )


def _texture_figures(form: str) -> Iterator[PaperFigure]:
    trace, device = sparse_trace(form, is_texture=True), gpu_with_textures()
    yield _subject(form, "5.3, derived").same(
        "of the vector in all, through the texture caches",
        _ROWS * _WORD_BYTES,
        texture_vector_bytes(trace, device),
        unit="B",
    )


def _subject(form: str, place: str) -> Subject:
    return Subject(ZHANG_OWENS, f"SpMV {FORMS[form]}", place)
