"""What must hold between the tables of a trace that comes from a file, whoever wrote it.

Simulators and models index by the numbers of a trace without looking, in compiled code that would
read and write beside its arrays: whatever they rely on is looked at here, once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.errors import TraceFormatError
from kernelcast.traces.issue_control import KM, SCOREBOARDS, IssueControl
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.trace import InstructionRow, Trace
from kernelcast.traces.warp_paths import MOST_EVENTS, NO_PATTERN, WarpPaths

__all__ = ["KINDS", "MOST_INSTRUCTIONS", "SPACES", "UNITS", "check_trace"]

KINDS = (
    *("compute", "load", "store", "atomic", "fence", "warp", "call", "vote"),
    *("barrier", "branch", "exit", "tensor memory"),
)
UNITS = (
    *("fp16", "fp32", "fp64", "integer", "conversion", "special function", "load/store"),
    *("texture", "tensor", "control", "barrier", "move"),
)
SPACES = ("", "generic", "global", "shared", "local", "const", "param")
MOST_INSTRUCTIONS = 1 << 17
_MOST_THREADS = 1024
"""The most threads of a thread block on any GPU."""
_MOST_WIDTH = 64
_MOST_REGISTERS = 1 << 18
_MOST_ACCESS_BYTES = 1 << 12
_MOST_WORK = 1 << 32
"""The most operations of one instruction and lane."""
_MOST_RESOURCES = 1 << 31
_MOST_CODE_BYTES = 1 << 26
_MOST_STALL_CYCLES, _MOST_BANK_READS = 1 << 16, 3
_MOST_INSTRUCTION_BYTES = 64
_MOST_COUNT = 1 << 52
"""Floating point holds all integers up to it, and sums of some of them do not overflow."""
_ADDRESSES = 1 << 62
_STARTS = 16
_FIRST_PRINTED, _DELETE = 0x20, 0x7F
_SURROGATES = range(0xD800, 0xE000)

Ints = npt.NDArray[np.int64]
Range = tuple[str, npt.NDArray[Any], int, int]
"""A name, a column, and the range from the first number to before the last that it may have."""


def check_trace(path: Path, trace: Trace) -> None:
    """Raises TraceFormatError, with what is wrong first, unless models can take the trace."""
    try:
        _check_launch(trace)
        for row in trace.instructions:
            _check_instruction(row, len(trace.instructions))
        _check_ranges(_ranges(trace))
        _check_patterns(trace.patterns, trace.warp_width, "a pattern")
        _check_addresses(trace.accesses.address, trace.accesses.pattern, trace.patterns)
        _check_counts(trace)
        if trace.paths is not None:
            _check_paths(trace, trace.paths)
    except ValueError as error:
        raise TraceFormatError(f"{path}: {error}") from None


def _check_launch(trace: Trace) -> None:
    needs = trace.resources
    for text in (trace.kernel, trace.engine, trace.no_paths):
        _check_text(text)
    if not trace.warp_width.bit_count() == 1 or trace.warp_width > _MOST_WIDTH:
        raise ValueError(f"warps of {trace.warp_width} threads")
    if trace.threads_per_thread_block > _MOST_THREADS:
        raise ValueError(f"thread blocks of {trace.threads_per_thread_block} threads")
    if not math.isfinite(trace.elapsed_s) or trace.elapsed_s < 0:
        raise ValueError(f"elapsed_s is {trace.elapsed_s!r}")
    if not 0 < len(trace.instructions) <= MOST_INSTRUCTIONS:
        raise ValueError(f"{len(trace.instructions)} instructions")
    for name, number in (
        ("live_registers", needs.live_registers),
        ("fewest_registers", needs.fewest_registers),
        ("shared_bytes", needs.shared_bytes),
        ("local_bytes", needs.local_bytes),
        ("registers", needs.registers),
        ("max_registers", needs.max_registers),
        *needs.compiled_registers,
        ("scalar_registers", needs.scalar_registers),
    ):
        if number is not None and not 0 <= number < _MOST_RESOURCES:
            raise ValueError(f"{name} is {number}")


def _check_instruction(row: InstructionRow, pcs: int) -> None:
    for name, number, end in (
        ("merged_into", row.merged_into, pcs),
        ("flops", row.flops, _MOST_WORK),
        ("tensor_operations", row.tensor_operations, _MOST_WORK),
        ("access_bytes", row.access_bytes, _MOST_ACCESS_BYTES),
        ("basic_block", row.basic_block, _MOST_RESOURCES),
        ("line", row.line, _MOST_RESOURCES),
        ("origin_line", row.origin_line, _MOST_RESOURCES),
        ("ptx_line", row.ptx_line, _MOST_RESOURCES),
        *(("a register", register, _MOST_REGISTERS) for register in (*row.reads, *row.writes)),
    ):
        if not 0 <= number < end:
            raise ValueError(f"{name} of the instruction at {row.pc} is {number}")
    if row.control is not None:
        _check_control(row.control, row.pc)
    for name, text, known in (
        ("kind", row.kind, KINDS),
        ("unit", row.unit, UNITS),
        ("space", row.space, SPACES),
    ):
        if text not in known:
            raise ValueError(f"{name} of the instruction at {row.pc} is {text!r}")
    for text in (row.opcode, row.mnemonic, row.cache, row.file, row.origin_file):
        _check_text(text)
    for text in (row.operand_kind, row.tensor_type, row.sequence, row.special_register):
        _check_text(text)
    for text in (row.text, row.ptx_text):
        _check_text(text)


def _check_control(control: IssueControl, pc: int) -> None:
    for name, number, end in (
        ("address", control.address, _MOST_CODE_BYTES),
        ("stall_cycles", control.stall_cycles, _MOST_STALL_CYCLES + 1),
        *(("a scoreboard", number, SCOREBOARDS) for number in control.waits),
        *(
            ("a scoreboard", number, SCOREBOARDS)
            for number in (control.written, control.read)
            if number is not None
        ),
        *(("bank_reads", number, _MOST_BANK_READS + 1) for number in control.bank_reads),
        ("bytes", control.bytes, _MOST_INSTRUCTION_BYTES + 1),
        *(("a counter", number, KM + 1) for number in control.counters),
        ("left of counters", len(control.left), KM + 2),
    ):
        if not 0 <= number < end:
            raise ValueError(f"{name} of the instruction at {pc} is {number}")


def _check_text(text: str) -> None:
    """Texts are printed: no terminal must obey them."""
    for letter in map(ord, text):
        if letter < _FIRST_PRINTED or letter == _DELETE or letter in _SURROGATES:
            raise ValueError(f"the text {ascii(text)[:60]} cannot be printed")


def _ranges(trace: Trace) -> Iterator[Range]:
    accesses, counts = trace.accesses, trace.pattern_counts
    pcs, patterns = len(trace.instructions), len(trace.patterns.mask)
    stages, classes = len(trace.stage_warp_issues), len(trace.classes.warp_issues)
    yield "pc", accesses.pc, 0, pcs
    yield "warp", accesses.warp, 0, len(trace.warp_time)
    yield "stage", accesses.stage, 0, stages
    yield "pattern", accesses.pattern, 0, patterns
    yield "pc of a pattern count", counts.pc, 0, pcs
    yield "stage of a pattern count", counts.stage, 0, stages
    yield "start of a pattern count", counts.start, 0, _STARTS
    yield "pattern of a pattern count", counts.pattern, 0, patterns
    yield "class of a thread block", trace.classes.of_thread_block, 0, classes
    yield "time", accesses.time, 0, _MOST_COUNT
    yield "time of a warp", trace.warp_time, 0, _MOST_COUNT // trace.thread_blocks
    yield "count of a pattern", counts.count, 0, _MOST_COUNT
    most = _MOST_COUNT // trace.thread_blocks
    yield "count of warp instructions", trace.classes.warp_issues, 0, most
    yield "count of lanes", trace.classes.lane_executions, 0, most
    yield "count of warp instructions of a stage", trace.stage_warp_issues, 0, _MOST_COUNT


def _check_ranges(ranges: Iterator[Range]) -> None:
    for name, column, first, end in ranges:
        if column.size and int(column.min()) < first:
            raise ValueError(f"a {name} is below {first}")
        if column.size and int(column.max()) >= end:
            raise ValueError(f"a {name} is not below {end}")


def _check_patterns(patterns: PatternTable, width: int, name: str) -> None:
    if width < _MOST_WIDTH and (patterns.mask >> np.uint64(width)).any():
        raise ValueError(f"{name} has lanes beyond {width}")
    offsets = patterns.offsets
    if offsets.size and (int(offsets.min()) <= -_ADDRESSES or int(offsets.max()) >= _ADDRESSES):
        raise ValueError(f"an offset of {name} is beyond the address space")


def _check_addresses(address: Ints, pattern: npt.NDArray[np.int32], patterns: PatternTable) -> None:
    """Raises ValueError unless addresses of all active lanes are within the address space."""
    if not len(address):
        return
    lanes = np.arange(patterns.offsets.shape[1], dtype=np.uint64)
    is_active = (patterns.mask[:, None] >> lanes) & np.uint64(1) != 0
    lowest = np.where(is_active, patterns.offsets, 0).min(axis=1, initial=0)
    highest = np.where(is_active, patterns.offsets, 0).max(axis=1, initial=0)
    if int(address.min()) < 0 or int(address.max()) >= _ADDRESSES:
        raise ValueError("an address is beyond the address space")
    if int((address + lowest[pattern]).min()) < 0:
        raise ValueError("a lane's address is negative")
    if int((address + highest[pattern]).max()) >= _ADDRESSES:
        raise ValueError("a lane's address is beyond the address space")


def _check_counts(trace: Trace) -> None:
    accesses = trace.accesses
    if (accesses.time >= trace.warp_time[accesses.warp]).any():
        raise ValueError("an access comes after the end of its warp")
    issues, lanes = trace.classes.totals()
    if (lanes > issues * trace.warp_width).any():
        raise ValueError("more lanes take part than warps have")
    stages = trace.stage_warp_issues
    if stages.max(initial=0) > _MOST_COUNT // max(1, len(stages)):
        raise ValueError("a count of warp instructions of a stage is too large")
    if (stages.sum(axis=0) != issues).any():
        raise ValueError("the stages have not the warp instructions of the thread blocks")


def _check_paths(trace: Trace, paths: WarpPaths) -> None:
    phases, start = paths.phases, paths.start
    _check_ranges(
        iter(
            (
                ("thread block of a path", paths.thread_blocks, 0, trace.thread_blocks),
                ("pc of a path", paths.pc, 0, len(trace.instructions)),
                ("number of lanes of a path", paths.lanes, 0, trace.warp_width + 1),
                ("pattern of a path", paths.pattern, NO_PATTERN, len(paths.patterns.mask)),
                ("event of a phase", phases.event, 0, len(paths.pc)),
                ("barrier of a phase", phases.barrier, 0, len(phases.thread_block)),
                ("phase", phases.phase, 0, _MOST_RESOURCES),
                ("thread block of a barrier", phases.thread_block, 0, len(paths.thread_blocks)),
            )
        )
    )
    if len(paths.pc) > MOST_EVENTS:
        raise ValueError(f"the paths have more than {MOST_EVENTS} events")
    if start[0] != 0 or start[-1] != len(paths.pc) or (np.diff(start) < 0).any():
        raise ValueError("the paths do not begin where others end")
    if (np.diff(paths.thread_blocks) <= 0).any():
        raise ValueError("the thread blocks of the paths do not rise")
    if paths.longest is not None:
        _check_paths(trace, paths.longest)
    _check_patterns(paths.patterns, trace.warp_width, "a pattern of a path")
    has_pattern = paths.pattern != NO_PATTERN
    _check_addresses(paths.address[has_pattern], paths.pattern[has_pattern], paths.patterns)
