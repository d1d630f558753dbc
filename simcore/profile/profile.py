"""What a profiler would report of one kernel on one device: all that a model may know of a kernel.

A profile comes from a simulated trace or from a profiler's file; `origin` says which. Counts of
threads ("thread-level": one per lane that takes part) and of warps ("warp-level": one per issue)
are kept apart by name. A quantity that the origin cannot know is None, never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import TYPE_CHECKING

from kernelcast.notebook import Table, Tabular
from kernelcast.simcore.isa.ir.source_names import source_name
from kernelcast.simcore.launch.launch import LaunchShape
from kernelcast.simcore.profile.amd_counts import AmdCounts
from kernelcast.simcore.profile.derived import DerivedInputs, ProfileSource, Value
from kernelcast.simcore.profile.machine_counts import MachineCounts

if TYPE_CHECKING:
    from kernelcast.simcore.device.device import Device

__all__ = [
    "HotSpot",
    "InstructionCounts",
    "KernelProfile",
    "LaunchShape",
    "LaunchValidity",
    "MemoryTraffic",
    "MixRow",
    "Occupancy",
    "OccupancyLimiter",
    "SharedMemoryUse",
    "WorkType",
]


class WorkType(Enum):
    """K_type of the quantitative roofline: the operations that count as useful work."""

    FP64 = "fp64"
    FP32 = "fp32"
    INT = "int"
    TENSOR = "tensor"
    """Operations of tensor units of all types; only models that know such units take it."""


@dataclass(frozen=True, slots=True)
class InstructionCounts:
    """Thread-level counts except `warp_instructions`; native counting rules (docs/counting.md).

    `fma32` and `fma64` are contained in `fp32` and `fp64` (one each, as nvprof counts them).
    `tensor_operations` by type (docs/counting.md), two for each multiply-add, are in none of the
    others; None where the origin does not tell.
    """

    fma32: float
    fma64: float
    fp32: float
    fp64: float
    integer: float
    load_store: float
    warp_instructions: float
    thread_instructions: float | None = None
    conversion: float | None = None
    control: float | None = None
    special_function: float | None = None
    source_warp_instructions: float | None = None
    source_thread_instructions: float | None = None
    tensor_operations: Mapping[str, float] | None = None

    @property
    def tensor_total(self) -> float:
        """Tensor operations of all types."""
        return sum((self.tensor_operations or {}).values())

    def flops(self, work_type: WorkType) -> float:
        """Floating-point operations of that precision in one launch; a multiply-add is two."""
        match work_type:
            case WorkType.FP64:
                return self.fp64 + self.fma64
            case WorkType.FP32:
                return self.fp32 + self.fma32
            case WorkType.TENSOR:
                return self.tensor_total
            case WorkType.INT:
                return 0.0


@dataclass(frozen=True, slots=True)
class MemoryTraffic:
    """Transactions of `sector_bytes` at each level, per launch.

    `requests` are warp-level instructions; `l1_sectors` what they ask the first level for.
    `global_load_transactions`: what their lanes coalesce to, of any size: sectors, lines, segments.
    """

    dram_read_transactions: float
    dram_write_transactions: float
    sector_bytes: int = 32
    global_load_requests: float | None = None
    global_store_requests: float | None = None
    global_load_sectors: float | None = None
    global_store_sectors: float | None = None
    l1_read_sectors: float | None = None
    l1_hit_sectors: float | None = None
    l2_read_sectors: float | None = None
    l2_read_hit_sectors: float | None = None
    l2_write_sectors: float | None = None
    l2_atomic_sectors: float = 0.0
    """Sectors of atomics, which are among those read and among those written."""
    requested_load_bytes: float | None = None
    requested_store_bytes: float | None = None
    global_load_transactions: float | None = None
    global_store_transactions: float | None = None
    left_write_transactions: float = 0.0
    """What L2 still holds when the launch ends, of those that DRAM writes."""
    memory_side_hits: float = 0.0
    """What L2 reads from a cache between it and DRAM: no transactions of DRAM."""

    @property
    def within_launch(self) -> MemoryTraffic:
        """The traffic without what is written back when the launch has ended."""
        writes = self.dram_write_transactions - self.left_write_transactions
        return replace(self, dram_write_transactions=writes, left_write_transactions=0.0)

    @property
    def dram_bytes(self) -> float:
        """Bytes that DRAM reads and writes."""
        return self.sector_bytes * (self.dram_read_transactions + self.dram_write_transactions)

    @property
    def l2_bytes(self) -> float | None:
        """Bytes between SMs and L2; None unless reads and writes are known."""
        is_known = self.l2_read_sectors is not None and self.l2_write_sectors is not None
        return self.known_l2_bytes if is_known else None

    @property
    def known_l2_bytes(self) -> float:
        """Known bytes between SMs and L2; an atomic changes its sector in one transaction."""
        sectors = (self.l2_read_sectors or 0.0) + (self.l2_write_sectors or 0.0)
        return self.sector_bytes * (sectors - self.l2_atomic_sectors)


@dataclass(frozen=True, slots=True)
class SharedMemoryUse:
    """Warp-level requests and the passes ("wavefronts") that bank conflicts make of them.

    An atomic loads and stores: `atomic_wavefronts` are in both. `ideal_wavefronts`: how few could
    have loaded and stored the same words. `load_conflicts` and `store_conflicts`: passes lost to
    conflicts by what only loads or only stores.
    """

    load_requests: float
    load_wavefronts: float
    store_requests: float
    store_wavefronts: float
    constant_requests: float = 0.0
    constant_wavefronts: float = 0.0
    ideal_wavefronts: float | None = None
    atomic_wavefronts: float = 0.0
    load_conflicts: float | None = None
    store_conflicts: float | None = None


class OccupancyLimiter(Enum):
    """The resource that limits the resident thread blocks of an SM."""

    THREADS = "threads per SM"
    WARPS = "warps per SM"
    THREAD_BLOCKS = "thread blocks per SM"
    REGISTERS = "registers"
    SCALAR_REGISTERS = "scalar registers"
    SHARED_MEMORY = "shared memory"
    GRID = "grid size"


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Resident thread blocks of one SM. `limits` gives each resource's own bound."""

    thread_blocks_per_sm: int
    warps_per_sm: int
    fraction: float
    limiter: OccupancyLimiter
    limits: tuple[tuple[OccupancyLimiter, int], ...]
    registers_per_thread: int
    registers_assumed: bool
    waves: float


@dataclass(frozen=True, slots=True)
class HotSpot:
    """One source line of global-memory traffic or of bank conflicts."""

    pc: int
    mnemonic: str
    place: str
    origin_place: str
    requests: float
    transactions: float
    ideal_transactions: float


@dataclass(frozen=True, slots=True)
class MixRow:
    """Dynamic executions of one opcode, unmerged."""

    opcode: str
    unit: str
    thread: float
    warp: float
    native_thread: float


@dataclass(frozen=True, slots=True)
class LaunchValidity:
    """The thesis's conditions for a prediction to hold (section 5.1.4 and 5.2.6).

    A check is None when the profile does not tell.
    """

    threads_enough: bool | None
    thread_blocks_enough: bool | None
    time_enough: bool | None

    @property
    def checks(self) -> tuple[str, ...]:
        """Every condition with its answer."""
        answers = {True: "yes", False: "NO", None: "not known"}
        return tuple(
            f"{condition}: {answers[passed]}"
            for passed, condition in (
                (self.threads_enough, "at least 64 threads a thread block"),
                (self.thread_blocks_enough, "at least 90 thread blocks"),
                (self.time_enough, "at least 0.5 ms a launch"),
            )
        )

    @property
    def reasons(self) -> tuple[str, ...]:
        """The conditions that fail, in words."""
        return tuple(
            reason
            for passed, reason in (
                (self.threads_enough, "fewer than 64 threads a thread block"),
                (self.thread_blocks_enough, "fewer than 90 thread blocks"),
                (self.time_enough, "shorter than 0.5 ms a launch"),
            )
            if passed is False
        )


@dataclass(frozen=True, repr=False)
class KernelProfile(Tabular):
    """One launch on `device`; `repeats` launches make up the reported time."""

    kernel: str
    device: str
    origin: str
    instructions: InstructionCounts
    traffic: MemoryTraffic
    launch: LaunchShape | None = None
    occupancy: Occupancy | None = None
    shared: SharedMemoryUse | None = None
    repeats: int = 1
    warp_width: int = 32
    divergence: float | None = None
    """Mean share of active lanes per issued warp instruction, 0 to 1."""
    barrier_stages: int | None = None
    mix: tuple[MixRow, ...] = ()
    hot_spots: tuple[HotSpot, ...] = ()
    assumptions: tuple[str, ...] = field(default=())
    target: Device | None = field(default=None, repr=False, compare=False)
    """The device itself, when it is at hand: a device file of the user's is not found by name."""
    inputs: DerivedInputs = field(default_factory=DerivedInputs, repr=False, compare=False)
    """What `derived` makes, and has made."""
    not_timed: str = field(default="", repr=False, compare=False)
    """Half a sentence why there are no paths although they were wanted."""
    code: str = ""
    """Which code was executed: `source`, or machine code by its architecture, `sm_80`; empty where
    a profiler counted on a GPU."""
    machine: MachineCounts | None = None
    """Counts of machine code of NVIDIA's; None for all other code."""
    amd: AmdCounts | None = None
    """Counts of machine code of AMD's; None for all other code."""
    sample_share: float | None = None
    """The share of the thread blocks whose memory was simulated for all; None for all of them."""
    has_source: bool = field(compare=False, default=False)
    """Whether the kernel could have been executed as PTX or LLVM IR, too."""

    @property
    def label(self) -> str:
        """Kernel and device."""
        return f"profile of {source_name(self.kernel)} on {self.device}, {self.origin}"

    def table(self) -> Table:
        """Counts that are known and not zero, per launch."""
        counts = {**_numbers(self.instructions), **_numbers(self.traffic)}
        rows = ((name.replace("_", " "), f"{value:,.6g}") for name, value in counts.items())
        return ("count", ">per launch"), rows

    def derived(self, make: Callable[[ProfileSource], Value]) -> Value | None:
        """What `make` makes of trace, device and memory, once, when it is first asked for.

        None where the origin is a profiler's file. So a model has inputs that no other one needs.
        """
        return self.inputs.of(make)


def _numbers(part: InstructionCounts | MemoryTraffic) -> dict[str, float]:
    values = {item.name: getattr(part, item.name) for item in fields(part)}
    return {
        name: value for name, value in values.items() if isinstance(value, int | float) and value
    }
