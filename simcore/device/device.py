"""A GPU as data: architecture facts and measured throughputs, SI units, a source for each value.

Device files are `simcore/devices/<name>.toml`; see docs/devices.md for the format. Code reads plain
values (`device.l2.capacity_bytes`); where a value comes from is in `device.provenance`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from kernelcast.simcore.device.atomic_facts import AtomicFacts
from kernelcast.simcore.device.device_view import DeviceView
from kernelcast.simcore.device.host_link_facts import HostLinkFacts
from kernelcast.simcore.device.memory_side_facts import MemorySideFacts
from kernelcast.simcore.device.section import Facts, Section
from kernelcast.simcore.device.tensor_facts import TensorFacts
from kernelcast.simcore.device.texture_facts import TextureFacts
from kernelcast.simcore.device.timing_facts import TimingFacts

__all__ = [
    "SEGMENT_RULES",
    "ArchitectureFacts",
    "CacheFacts",
    "CoalescingRule",
    "ConstantFacts",
    "Device",
    "DramFacts",
    "MeasuredCurve",
    "MeasuredThroughput",
    "PeakThroughput",
    "Provenance",
    "SegmentFacts",
    "SharedMemoryFacts",
    "SmFacts",
    "Source",
    "offer_changes",
]


class Source(Enum):
    """How a value is known."""

    MEASURED = "measured"
    DATASHEET = "datasheet"
    DERIVED = "derived"
    ASSUMED = "assumed"
    PUBLISHED = "published"


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a value of a device file is known, and where it is written."""

    source: Source
    reference: str


class CoalescingRule(Enum):
    """How lane addresses become transactions of the first level."""

    SECTORS = "sectors"  # distinct sectors of a warp: Kepler and later, Fermi without L1
    LINES = "lines"  # distinct whole L1 lines of a warp: Fermi with L1
    WORDS = "words"  # one segment where thread k wants word k: compute capability 1.0 and 1.1
    SEGMENTS = "segments"  # segments by word size that shrink: compute capability 1.2 and 1.3
    FIXED_SEGMENTS = "fixed segments"  # distinct segments of the smallest size


SEGMENT_RULES = (CoalescingRule.WORDS, CoalescingRule.SEGMENTS, CoalescingRule.FIXED_SEGMENTS)
"""Rules of `SegmentFacts`, under which global memory has no cache."""


@dataclass(frozen=True, slots=True)
class ArchitectureFacts:
    """The architecture of a GPU: names, SMs, warp width and clocks."""

    vendor: str
    name: str
    compute_capability: str
    sm_count: int
    warp_width: int
    clock_hz: float
    running_clock_hz: float | None = None


@dataclass(frozen=True, slots=True)
class SmFacts:
    """Limits of one streaming multiprocessor (compute unit).

    `reserved_shared_bytes`: shared memory that the system takes for each thread block besides its
    own (1 KB from compute capability 8.0 on); None where it takes none. On AMD's GPUs
    `max_thread_blocks` is that of barriers, which thread blocks of one warp need none of: of these
    there is room for `max_single_warp_thread_blocks`. `scalar_registers` of an SM, which its
    schedulers share evenly; None where they limit nothing.
    """

    max_threads: int
    max_warps: int
    max_thread_blocks: int
    max_threads_per_thread_block: int
    registers: int
    register_allocation_unit: int
    register_allocation_per: str  # "warp" or "thread block"
    warp_allocation_granularity: int
    max_registers_per_thread: int
    shared_bytes: int
    max_shared_bytes_per_thread_block: int
    shared_allocation_bytes: int
    fp32_lanes: int
    fp64_lanes: int
    warp_schedulers: int
    reserved_shared_bytes: int | None = None
    shared_configurations_kib: str = "0"
    """Sizes of shared memory in the memory that L1 shares with it; `0` where both are apart."""
    max_single_warp_thread_blocks: int | None = None
    scalar_registers: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheFacts:
    """One cache: an L1 of each SM, or the L2 of the device.

    `caches_global_loads`: plain ld.global uses it; `caches_read_only_loads`: ld.global.nc does.
    `write_allocate` stores put their sectors into it (L2); otherwise they pass through (L1).
    `index` is how an address picks its set: "modulo" or "hashed". `partitions` of an L2 share its
    capacity: each serves its part of the SMs, and holds what they read of the others' lines.
    """

    capacity_bytes: int
    line_bytes: int
    sector_bytes: int
    ways: int
    replacement: str
    index: str
    caches_global_loads: bool
    caches_read_only_loads: bool
    caches_local: bool
    write_allocate: bool
    partitions: int = 1
    fetch_bytes: int = 0
    """What a miss brings at a time; 0: a sector, or a DRAM transaction where that is more."""


@dataclass(frozen=True, slots=True)
class SegmentFacts:
    """Coalescing of compute capability 1.x.

    Each `request_threads` threads of a warp (half of it) make a request of their own, to shared
    memory as to global memory; there it becomes transactions of `min_segment_bytes` to 128 bytes.
    """

    request_threads: int
    min_segment_bytes: int


@dataclass(frozen=True, slots=True)
class SharedMemoryFacts:
    """The banks of shared memory, and the width of each."""

    banks: int
    bank_bytes: int


@dataclass(frozen=True, slots=True)
class ConstantFacts:
    """Distinct words that one constant access serves per pass."""

    words_per_pass: int
    word_bytes: int
    pass_cycles: float = 1.0
    """Cycles from one pass of an SM's constant cache to the next."""


@dataclass(frozen=True, slots=True)
class DramFacts:
    """`partial_write_fills`: a sector written in part is read before it is written back."""

    bandwidth_bytes_per_s: float
    transaction_bytes: int
    capacity_bytes: int
    ecc: bool
    partial_write_fills: bool


@dataclass(frozen=True, slots=True)
class PeakThroughput:
    """Theoretical peaks, operations per second (a fused multiply-add is two)."""

    fp32_flops_per_s: float
    fp64_flops_per_s: float


@dataclass(frozen=True, slots=True)
class MeasuredThroughput:
    """The six figures of the quantitative roofline (Konstantinidis thesis, section 4.2.3).

    T_SP, T_DP: multiply-adds, two operations each; T_int: integer multiply-adds, two each;
    T_add: integer additions; T_ldst: shared-memory loads and stores, all per second;
    B_mem: mean of read, write and copy bandwidth.
    """

    fp32_ops_per_s: float
    fp64_ops_per_s: float
    int_ops_per_s: float
    add_ops_per_s: float
    load_store_ops_per_s: float
    dram_bandwidth_bytes_per_s: float


@dataclass(frozen=True, slots=True)
class MeasuredCurve:
    """A quantity over another, in SI units, by rising x: bandwidth over footprint.

    `spread` of each point is the interquartile range over the median; all three have one length.
    """

    x_name: str
    x_unit: str
    y_name: str
    y_unit: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    spread: tuple[float, ...]
    provenance: Provenance


@dataclass(frozen=True, repr=False)
class Device(DeviceView):
    """One GPU. `name` is its key (`gtx-480`); `measured` is None when nobody measured it."""

    name: str
    title: str
    architecture: ArchitectureFacts
    sm: SmFacts
    coalescing: CoalescingRule
    l1: CacheFacts | None
    l2: CacheFacts
    shared: SharedMemoryFacts
    constant: ConstantFacts
    dram: DramFacts
    peak: PeakThroughput
    measured: MeasuredThroughput | None
    timing: TimingFacts | None = None
    segments: SegmentFacts | None = None
    sections: Mapping[str, Any] = field(hash=False, default_factory=dict)
    """What only a model knows to read, by the names of sections; `section` gives it its type."""
    tensor: TensorFacts | None = None
    atomics: AtomicFacts = field(default_factory=AtomicFacts)
    texture: TextureFacts | None = None
    host_link: HostLinkFacts | None = None
    memory_side: MemorySideFacts | None = None
    provenance: Mapping[str, Provenance] = field(compare=False, repr=False, default_factory=dict)
    early_release: bool = False
    """Whether warps that finish give their share of the thread block's resources back at once."""
    fitted_on: tuple[str, ...] = ()
    """Points of the validation, `suite/kernel/quantity`, that values of the file were chosen by."""
    curves: Mapping[str, MeasuredCurve] = field(compare=False, repr=False, default_factory=dict)
    """Measured curves by name, as `kernelcast bench` writes them."""

    ceilings: Mapping[str, float] = field(compare=False, repr=False, default_factory=dict)
    """The highest figure of each bandwidth and rate of `[observed]`, by its name there."""

    def section(self, section: Section[Facts]) -> Facts | None:
        """What the file says in a section that belongs to a model; None where it has none."""
        found: Facts | None = self.sections.get(section.name)
        return found

    def with_section(self, section: Section[Facts], facts: Facts | None) -> Device:
        """The device with other facts in that section, or without it."""
        others = {name: value for name, value in self.sections.items() if name != section.name}
        return replace(self, sections=others if facts is None else {**others, section.name: facts})

    def changed(self, changes: Mapping[str, int | float | str | bool]) -> Device:
        """The GPU with some facts changed and what depends on them rescaled (docs/whatif.md).

        `changes` by dotted names, `{"sm.registers": 65536}`; DeviceFileError, in one line, for
        unknown names and for a device that its checks refuse.
        """
        return _changes[0](self, changes)

    def is_fitted_on(self, point: str) -> bool:
        """Whether a value of the file was chosen by the point: it says nothing of the errors."""
        return point in self.fitted_on

    def missing_tensor_units(self, type_names: Iterable[str]) -> str:
        """Half a sentence about the first type that it cannot execute; empty if it can all."""
        for name in type_names:
            if self.tensor is None:
                return f"{self.name} has no tensor units for its {name} operations"
            if self.tensor.multiply_adds_per_cycle(name) is None:
                return f"the tensor units of {self.name} have no {name} operations"
        return ""

    @property
    def running_clock_hz(self) -> float:
        """The clock while kernels run: the nominal one, unless the file says that it rises."""
        return self.architecture.running_clock_hz or self.architecture.clock_hz

    @property
    def sm_cycles_per_s(self) -> float:
        """Cycles of all SMs together, per second."""
        return self.architecture.sm_count * self.running_clock_hz

    def seconds(self, cycles: float) -> float:
        """SM cycles to seconds."""
        return cycles / self.running_clock_hz

    @property
    def throughputs(self) -> str:
        """How the least certain throughput of `measured` is known; empty when there are none."""
        ways = {
            where.source for key, where in self.provenance.items() if key.startswith("measured.")
        }
        certain = (Source.ASSUMED, Source.DERIVED, Source.DATASHEET, Source.PUBLISHED)
        return next((way.value for way in (*certain, Source.MEASURED) if way in ways), "")

    @property
    def assumed(self) -> tuple[str, ...]:
        """Dotted names of values that nobody measured or published."""
        return tuple(
            key for key, where in self.provenance.items() if where.source is Source.ASSUMED
        )


_changes: list[Callable[[Device, Mapping[str, int | float | str | bool]], Device]] = []


def offer_changes(change: Callable[[Device, Mapping[str, Any]], Device]) -> None:
    """Says what `Device.changed` does: that reads device files, which hold devices."""
    _changes[:] = [change]
