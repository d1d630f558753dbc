"""What one execution of a kernel did, in columns: depends on kernel, input and warp width only.

Nothing here knows a GPU. Warps are numbered `thread_block * warps_per_thread_block + warp`, thread
blocks linearly with x fastest. A *pattern* is the shape of one warp-level memory access: which
lanes take part and where they point to relative to the first active lane. Regular kernels have few
patterns, so an access is a small row: who, when, where, which pattern.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kernelcast.traces.issue_control import IssueControl
from kernelcast.traces.pattern_table import PatternTable
from kernelcast.traces.static_schedule import PlacedRegion, StaticSchedule, placed_regions
from kernelcast.traces.warp_paths import WarpPaths

__all__ = [
    "AS_WRITTEN",
    "SOURCE_CODE",
    "SOURCE_CODES",
    "AccessTable",
    "InstructionRow",
    "PatternCounts",
    "ResourceNeeds",
    "ThreadBlockClasses",
    "Trace",
]

Ints = npt.NDArray[np.int64]
SOURCE_CODE = "source"
"""What a trace of a kernel in its source form calls its code."""
AS_WRITTEN = "as-written"
"""What a trace calls a source form whose own order timing takes, as no assembler leaves it."""
SOURCE_CODES = (SOURCE_CODE, AS_WRITTEN)


@dataclass(frozen=True, slots=True)
class InstructionRow:
    """What a counter must know of one static instruction; the row's position is its pc.

    `unit` is a functional unit's name ("fp32", "integer", "load/store", ...), `space` an address
    space's name or empty, `access_bytes` the bytes that one lane moves. `is_source` is False for
    an instruction that only native code has, `is_native` for one that a native compiler folds away;
    `merged_into` is the pc of the wider access that swallows this one (its own pc otherwise): the
    native counting rules of docs/counting.md. `is_part`: part of what another instruction does; it
    counts nowhere, but its access reaches memory. `reads` and `writes` are numbers of registers,
    predicates, guards and addresses among them. `operand_kind` of what computes: `int` or `float`
    by its type, then `_const` where a source is a constant, `_reg` where none is; else empty.
    `tensor_type`: what a tensor operation multiplies and adds up in (`fp16`, `bf16 sparse`, ...),
    `tensor_operations`: what of it counts for one lane, two for each multiply-add; zeros that a
    sparse one leaves out count as well. `sequence`: what native code has a sequence of instructions
    for, by operation, accuracy and type (`div.rn.f32`); empty for all others. `special_register`:
    what machine code reads there, `SR_TID.X`. `control`: how the assembler has scheduled it; None
    where that is not known. `text`: the instruction as the code's listing has it; `ptx_line`: the
    line of PTX that machine code was assembled from, whose text is `ptx_text`; 0 where that is not
    known.
    """

    pc: int
    opcode: str
    mnemonic: str
    unit: str
    flops: int
    kind: str
    """compute, load, store, atomic, fence, warp, call, vote, barrier, branch or exit."""
    basic_block: int
    space: str = ""
    access_bytes: int = 0
    cache: str = ""
    is_native: bool = True
    merged_into: int = -1
    file: str = ""
    line: int = 0
    origin_file: str = ""
    origin_line: int = 0
    is_source: bool = True
    is_part: bool = False
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()
    operand_kind: str = ""
    tensor_type: str = ""
    tensor_operations: int = 0
    sequence: str = ""
    special_register: str = ""
    control: IssueControl | None = None
    text: str = ""
    ptx_line: int = 0
    ptx_text: str = ""

    @property
    def is_counted_natively(self) -> bool:
        """Whether the instruction counts in native code by itself."""
        return self.is_native and not self.is_part and self.merged_into == self.pc


@dataclass(frozen=True, slots=True)
class ResourceNeeds:
    """What a launch occupies on an SM besides its threads.

    `registers` is the count per thread that the user gave, `live_registers` the largest number of
    32-bit registers that are live at once (an estimate of what a compiler would allocate);
    `fewest_registers`: how many it cannot do without, where the estimate has more so that loads
    come early. `max_registers` is `.maxnreg`. `shared_bytes` per thread block, `local_bytes` per
    thread. `compiled_registers`: what compilers took for architectures, `gfx90a` and the count.
    `scalar_registers` of a warp of AMD's machine code; 0 for all other code.
    """

    live_registers: int
    shared_bytes: int
    local_bytes: int = 0
    registers: int | None = None
    max_registers: int | None = None
    fewest_registers: int | None = None
    compiled_registers: tuple[tuple[str, int], ...] = ()
    scalar_registers: int = 0


@dataclass(frozen=True)
class ThreadBlockClasses:
    """Thread blocks that executed the same counts form a class.

    `of_thread_block`: class of each thread block, shape (thread blocks,).
    `warp_issues`, `lane_executions`: per thread block of a class, shape (classes, instructions).
    `later_arrivals`: how often lanes came to an instruction where others of their warp waited for
    them, which a GPU issues for each group of lanes; None where there is none.
    """

    of_thread_block: npt.NDArray[np.int32]
    warp_issues: Ints
    lane_executions: Ints
    later_arrivals: Ints | None = None

    @cached_property
    def sizes(self) -> Ints:
        """Thread blocks of each class, shape (classes,)."""
        return np.bincount(self.of_thread_block, minlength=len(self.warp_issues))

    def totals(self) -> tuple[Ints, Ints]:
        """Warp issues and lane executions of the whole grid, shape (instructions,) each."""
        return self.sizes @ self.warp_issues, self.sizes @ self.lane_executions

    def group_issues(self) -> Ints:
        """Warp issues of the whole grid as a GPU counts them, shape (instructions,)."""
        issues, _ = self.totals()
        if self.later_arrivals is None:
            return issues
        found: Ints = issues + self.sizes @ self.later_arrivals
        return found


@dataclass(frozen=True)
class AccessTable:
    """Warp-level accesses to global and local memory, in program order within each warp.

    Columns of equal length: `pc`; `warp`; `time`, the warp's own count of issued instructions;
    `stage`, how many barriers its thread block had passed; `address` of the first active lane
    (virtual, bytes); `pattern`, a row of the PatternTable.
    """

    pc: npt.NDArray[np.int32]
    warp: npt.NDArray[np.int32]
    time: npt.NDArray[np.int32]
    stage: npt.NDArray[np.int32]
    address: Ints
    pattern: npt.NDArray[np.int32]

    @classmethod
    def empty(cls) -> AccessTable:
        """A table without rows."""
        none = np.empty(0, np.int32)
        return cls(none, none, none, none, np.empty(0, np.int64), none)

    def __len__(self) -> int:
        return len(self.pc)


@dataclass(frozen=True)
class PatternCounts:
    """How often a shared or constant access had a pattern; order does not matter to banks.

    `start` is the first active lane's address modulo 16, which is all that conflicts depend on.
    """

    pc: npt.NDArray[np.int32]
    stage: npt.NDArray[np.int32]
    start: npt.NDArray[np.int32]
    pattern: npt.NDArray[np.int32]
    count: Ints

    @classmethod
    def empty(cls) -> PatternCounts:
        """A table without rows."""
        none = np.empty(0, np.int32)
        return cls(none, none, none, none, np.empty(0, np.int64))

    def __len__(self) -> int:
        return len(self.pc)


@dataclass(frozen=True)
class Trace:
    """One execution of one launch.

    `stage_warp_issues`: warp issues between barriers, shape (stages, instructions).
    `warp_time`: instructions that each warp issued, shape (warps,).
    """

    kernel: str
    grid: tuple[int, int, int]
    thread_block: tuple[int, int, int]
    warp_width: int
    resources: ResourceNeeds
    instructions: tuple[InstructionRow, ...]
    classes: ThreadBlockClasses
    stage_warp_issues: Ints
    warp_time: npt.NDArray[np.int32]
    patterns: PatternTable
    accesses: AccessTable
    pattern_counts: PatternCounts
    engine: str
    elapsed_s: float
    has_memory: bool = True
    """False when only instructions were recorded: the memory tables are empty then."""
    pairs_agree: bool = False
    """Whether each two neighbouring warps (2i, 2i + 1) of every thread block took the same branches
    in the same order, a last odd one being alone. False where that is not known, or where the
    kernel can tell the width of its warps."""
    paths: WarpPaths | None = None
    no_paths: str = ""
    """Half a sentence why there are no paths although they were wanted."""
    code: str = SOURCE_CODE
    """Which code was executed: that of the source, or machine code by its architecture, `sm_80`."""
    schedule: StaticSchedule | None = None
    """The order that an assembler would give what was executed in its source form."""

    @property
    def is_machine_code(self) -> bool:
        """Whether what was executed, and counted, is what a GPU executes."""
        return self.code not in SOURCE_CODES

    @property
    def thread_blocks(self) -> int:
        """The number of thread blocks in the grid."""
        x, y, z = self.grid
        return x * y * z

    @property
    def threads_per_thread_block(self) -> int:
        """The number of threads in a thread block."""
        x, y, z = self.thread_block
        return x * y * z

    @property
    def warps_per_thread_block(self) -> int:
        """Warps of a thread block; the last one may be partly filled."""
        return -(-self.threads_per_thread_block // self.warp_width)

    @cached_property
    def placed_regions(self) -> tuple[PlacedRegion, ...]:
        """The regions of the schedule that occur in the paths."""
        if self.paths is None:
            return ()
        block_of = np.array([row.basic_block for row in self.instructions], np.intp)
        return placed_regions(self.paths, block_of, self.schedule)

    def source_instructions(self) -> tuple[int, int]:
        """How many instructions of the source were executed: by warps, and by threads."""
        chosen = np.array([row.is_source for row in self.instructions], np.bool_)
        warps, lanes = self.classes.totals()
        return int(warps[chosen].sum()), int(lanes[chosen].sum())
