"""What the timing simulator is told of one kernel on one device."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.timing_facts import TimingFacts
from kernelcast.simcore.timing.kernel.machine_schedule import MachineSchedule
from kernelcast.traces.trace import InstructionRow
from kernelcast.traces.warp_paths import WarpPaths

__all__ = ["MemoryLevels", "MemorySideShares", "Pipeline", "TimedKernel", "timing_facts"]


class Pipeline(Enum):
    """The part of an SM that executes an instruction.

    The first ten have `PipelineFacts`, the eleventh is as fast as [tensor] of the device says.
    """

    FP32 = "fp32"
    FP64 = "fp64"
    HALF = "half"
    INTEGER = "integer"
    INTEGER_MULTIPLY = "integer_multiply"
    CONVERSION = "conversion"
    SPECIAL_FUNCTION = "special_function"
    SHUFFLE = "shuffle"
    VECTOR = "vector"
    """All vector instructions of AMD's machine code, which share the lanes of a SIMD."""
    SCALAR = "scalar"
    """Scalar instructions of AMD's machine code."""
    TENSOR = "tensor"
    SHARED = "shared"
    CONSTANT = "constant"
    GLOBAL = "global"
    """Global, local and texture accesses: through L1, L2, DRAM."""
    BARRIER = "barrier"
    FENCE = "fence"
    BRANCH = "branch"
    RECONVERGENCE = "reconvergence"
    """Where lanes that have parted wait for each other (`BSYNC`)."""
    EXIT = "exit"
    COMMIT = "commit"
    """Takes an issue slot, no unit, and tells an mbarrier when what it reads is there."""
    WAIT = "wait"
    """Takes an issue slot when what it reads is there, and no unit."""
    NONE = "none"
    """Folded by a native compiler: no issue slot, but its result depends on its sources."""


@dataclass(frozen=True)
class MemoryLevels:
    """What global accesses take at each level, by pc, from the cache simulation.

    All are of shape (instructions,). `sectors`: mean sectors of a request, `lines` of L2 and
    `pieces` of DRAM that it touches, `ideal_sectors`: the fewest sectors that hold its bytes.
    `l1_hits` is a share of all sectors, `l2_hits` what DRAM does not move of those that go past
    L1, below 0 where it moves more; loads and stores alike.
    `bytes_per_lane`: what one lane moves. `l1_pending` of all sectors hit L1 while they are still
    on their way for another warp; `l2_waits` of those past L1 wait for DRAM, whoever asked it for
    them. `partial_writes` of those past L1 are written in part only.
    """

    sectors: npt.NDArray[np.float64]
    lines: npt.NDArray[np.float64]
    pieces: npt.NDArray[np.float64]
    ideal_sectors: npt.NDArray[np.float64]
    l1_hits: npt.NDArray[np.float64]
    l2_hits: npt.NDArray[np.float64]
    bytes_per_lane: npt.NDArray[np.float64]
    l1_pending: npt.NDArray[np.float64]
    l2_waits: npt.NDArray[np.float64]
    partial_writes: npt.NDArray[np.float64]

    @classmethod
    def none(cls, instructions: int) -> MemoryLevels:
        """The levels of so many instructions that access nothing."""
        return cls(**{item.name: np.zeros(instructions) for item in fields(cls)})

    def of(self, source: npt.NDArray[np.intp]) -> MemoryLevels:
        """The columns of the instructions `source`, one after the other."""
        return MemoryLevels(
            **{item.name: getattr(self, item.name)[source] for item in fields(self)}
        )


class MemorySideShares(NamedTuple):
    """The share that the cache between L2 and DRAM has of what L2 moves, and of what it reads."""

    moved: float = 0.0
    read: float = 0.0


_NOTHING_AT_SIDE = MemorySideShares()


@dataclass(frozen=True)
class TimedKernel:
    """Columns by pc, shape (instructions,): `pipeline`; `is_store` (nothing waits for it).

    `reads`, `writes`: numbers of the registers of each pc, predicates among them, padded with -1,
    shape (instructions, most). `wavefronts` of each event of `paths`: passes that a shared,
    constant or L1 access takes, cycles of a scheduler's tensor unit (1 for all others), shape
    (events,); `ideal_wavefronts` those without conflicts of banks and of constant
    addresses, and without what texture units take.
    `tensor_latency` by pc: cycles until the result of a tensor operation is there; None where there
    are none. `atomic_cycles` by pc: for how long a request keeps the busiest address of all atomics
    occupied; None where there are none. `schedule`: how the assembler has scheduled machine code,
    whose registers in `reads` and `writes` are scoreboards; None for all other code.
    """

    paths: WarpPaths
    pipeline: tuple[Pipeline, ...]
    is_store: npt.NDArray[np.bool_]
    reads: npt.NDArray[np.int32]
    writes: npt.NDArray[np.int32]
    wavefronts: npt.NDArray[np.float64]
    ideal_wavefronts: npt.NDArray[np.float64]
    levels: MemoryLevels
    thread_blocks: int
    thread_blocks_per_sm: int
    warp_width: int
    tensor_latency: npt.NDArray[np.float64] | None = None
    atomic_cycles: npt.NDArray[np.float64] | None = None
    path_share: float = 1.0
    """Events of `paths` over those that as many average thread blocks of the launch execute."""
    instructions: tuple[InstructionRow, ...] = ()
    """Instructions by pc, where there is a source; only reports read them."""
    traced: npt.NDArray[np.intp] | None = None
    """The pc in the trace of what each instruction does, or is a part of; None: its own."""
    schedule: MachineSchedule | None = None
    sectors_per_piece: float = math.inf
    """Sectors that DRAM moves for each piece that it begins (`simcore/memory/dram_pieces`)."""
    memory_side: MemorySideShares = _NOTHING_AT_SIDE
    longest: TimedKernel | None = None
    """The launch with the path of its longest thread block alone, whose `path_share` is the share
    of it that was recorded; None where others are about as long."""

    def of(self, source: npt.NDArray[np.intp]) -> TimedKernel:
        """The kernel with new instruction numbers, each like the pc `source[number]`.

        Paths keep the old numbers.
        """
        latency, atomic = self.tensor_latency, self.atomic_cycles
        return replace(
            self,
            pipeline=tuple(self.pipeline[pc] for pc in source.tolist()),
            is_store=self.is_store[source],
            reads=self.reads[source],
            writes=self.writes[source],
            levels=self.levels.of(source),
            tensor_latency=None if latency is None else latency[source],
            atomic_cycles=None if atomic is None else atomic[source],
            schedule=None if self.schedule is None else self.schedule.of(source),
            traced=source if self.traced is None else self.traced[source],
            instructions=tuple(
                row if row.pc == number else replace(row, pc=number)
                for number, row in enumerate(self.instructions[pc] for pc in source.tolist())
            ),
        )


def timing_facts(device: Device) -> TimingFacts:
    """The timing facts of a device, which must have them."""
    assert device.timing is not None, "the caller refuses devices without timing facts"
    return device.timing
