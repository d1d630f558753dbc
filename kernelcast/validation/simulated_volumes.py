"""Data volumes of a launch in its steady state, from the simulated memory of a device.

Thread blocks in the middle of the grid are simulated: first enough of them to turn over L2, then
some waves that are measured. What they compute is left out; their addresses come from PTX.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kernelcast.errors import LaunchError
from kernelcast.models.warpspeed.warpspeed_facts import WARPSPEED
from kernelcast.simcore.device.banked_l1 import has_banked_l1
from kernelcast.simcore.device.changed import changed_device
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.engine.jit.runtime.run import SlicedLaunch
from kernelcast.simcore.isa.analysis.instruction_rows import instruction_rows
from kernelcast.simcore.launch.launch import Limits
from kernelcast.simcore.launch.local_arrays import resource_needs
from kernelcast.simcore.memory.hierarchy import TrafficResult
from kernelcast.simcore.memory.l1_passes import data_passes, tag_passes
from kernelcast.simcore.memory.native_accesses import native_accesses
from kernelcast.simcore.memory.stream import TrafficSimulator
from kernelcast.simcore.profile.occupancy import occupancy
from kernelcast.simcore.profile.profile import LaunchShape
from kernelcast.traces.stream import AccessBatch, GridPart
from kernelcast.traces.trace import InstructionRow, PatternCounts
from kernelcast.validation.warpspeed_twins import Configuration

__all__ = ["SimulatedVolumes", "effective_device", "simulated_volumes", "uneven"]

_TURNOVERS = 2.0
"""L2 capacities that the thread blocks before the measured ones read and write."""
_FEWEST_WARM_UP_WAVES = 4
_MEASURED_WAVES = 3
_UNEVENNESS = 0.3
"""Thread blocks last up to so much longer, each by another amount: in step, SMs would get the same
neighbours wave after wave, and L1 would keep what it does not keep in reality, where waves fray
(Ernst et al. 2022, section 5.6)."""
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_START_BYTES = 16

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SimulatedVolumes:
    """Volumes of each cell: wavefronts of the data banks and passes of L1, and bytes.

    `waves`: how many were measured.
    """

    l1_accesses: float
    l1_wavefronts: float
    l1_passes: float
    l2_load_bytes: float
    l2_store_bytes: float
    dram_load_bytes: float
    dram_store_bytes: float
    waves: float


def effective_device(device: Device) -> Device:
    """The device with the L2 capacity before data is lost, where that is known to be less."""
    facts = device.section(WARPSPEED)
    if facts is None:
        return device
    changes = {"l2.capacity_bytes": facts.l2_effective_bytes, "l2.partitions": 1}
    return changed_device(device, changes)


def simulated_volumes(configuration: Configuration, device: Device) -> SimulatedVolumes:
    """Simulates the volumes; LaunchError where nothing fits, or the grid has too few waves."""
    kernel, launch = configuration.kernel_and_launch()
    target = effective_device(device)
    shape = LaunchShape(launch.grid, launch.thread_block)
    resident = occupancy(resource_needs(kernel, launch), shape, target).thread_blocks_per_sm
    width = target.architecture.warp_width
    warps = -(-launch.threads_per_thread_block // width)
    wave = resident * target.architecture.sm_count
    source = SlicedLaunch(kernel, launch, width, Limits())
    rows = instruction_rows(kernel)
    requests = _RequestTally(rows, target, launch.grid)
    source.stream([GridPart(*item) for item in requests.ranges], [requests])
    simulator = TrafficSimulator(rows, width, warps, target, resident)
    span = _MeasuredSpan(simulator, *_span(configuration, wave, target))
    source.stream([GridPart(*item) for item in span.ranges], [span])
    return _volumes(configuration, requests, span, rows, wave)


def _span(configuration: Configuration, wave: int, device: Device) -> tuple[int, int, int]:
    """Where warm-up, measurement and what follows begin: the measurement in the grid's middle."""
    x, y, z = configuration.grid
    threads = np.prod(configuration.thread_block) * np.prod(configuration.folding.cells)
    turnover = _TURNOVERS * device.l2.capacity_bytes / configuration.twin.compulsory_bytes
    warm_up = max(int(np.ceil(turnover / threads)), _FEWEST_WARM_UP_WAVES * wave)
    begin, measured = (z // 2 * y + y // 2) * x, _MEASURED_WAVES * wave
    if begin + measured > x * y * z:
        raise LaunchError(
            f"{configuration.title}: the grid has {x * y * z} thread blocks, and waves of {wave} "
            f"on {device.title}: {_MEASURED_WAVES} do not fit its second half"
        )
    return max(0, begin - warm_up), begin, begin + measured


def _volumes(
    configuration: Configuration,
    requests: _RequestTally,
    span: _MeasuredSpan,
    rows: tuple[InstructionRow, ...],
    wave: int,
) -> SimulatedVolumes:
    """The volumes of the measured span.

    Thread blocks overlap the ends of the span, which may cut more of them early at one end than at
    the other: what an instruction causes is divided by how many cells' requests it made.
    """
    is_load = np.array([row.kind == "load" for row in rows], np.bool_)
    is_store = np.array([row.kind == "store" for row in rows], np.bool_)
    asked = requests.bytes / configuration.cells
    measured = span.difference("requested_bytes")
    used = asked > 0
    cells = np.where(used, measured, 1.0) / np.where(used, asked, 1.0)
    stored = measured[is_store].sum() / asked[is_store].sum()
    sector, transaction = span.after.sector_bytes, span.after.transaction_bytes
    fills = span.after.fill_reads - span.before.fill_reads

    def of_cell(column: str, chosen: npt.NDArray[np.bool_], unit: int) -> float:
        return float((span.difference(column) / cells)[chosen & used].sum() * unit)

    return SimulatedVolumes(
        l1_accesses=float(requests.accesses / configuration.cells),
        l1_wavefronts=float(requests.wavefronts / configuration.cells),
        l1_passes=float(requests.passes / configuration.cells),
        l2_load_bytes=of_cell("l2_reads", is_load, sector),
        l2_store_bytes=of_cell("l2_writes", is_store, sector),
        dram_load_bytes=of_cell("dram_reads", is_load | is_store, transaction)
        + float(fills / stored) * transaction,
        dram_store_bytes=float(span.difference("dram_writes").sum() / stored) * transaction,
        waves=(span.end - span.begin) / wave,
    )


class _RequestTally:
    """What the warps of the launch ask of L1, from four rows of thread blocks.

    Thread blocks of a row differ where one reaches over the edge of the domain; rows do at the end
    of y and of z. Each of the four stands for all rows of its kind.
    """

    def __init__(
        self, rows: tuple[InstructionRow, ...], device: Device, grid: tuple[int, int, int]
    ) -> None:
        x, y, z = grid
        kinds = {(at_z * y + at_y) * x: 0 for at_z in (0, z - 1) for at_y in (0, y - 1)}
        self._weights = dict.fromkeys(sorted(kinds), 0)
        for at_z, layers in ((0, z - 1), (z - 1, 1)):
            for at_y, lines in ((0, y - 1), (y - 1, 1)):
                self._weights[(at_z * y + at_y) * x] += layers * lines
        self.ranges = [(first, first + x) for first in self._weights]
        self._row = x
        self._device = device
        self._native = native_accesses(rows)
        self.bytes: Floats = np.zeros(len(rows))
        self.accesses = self.wavefronts = self.passes = 0.0

    def accept(self, batch: AccessBatch) -> None:
        first = batch.first_thread_block
        weight = self._weights[max(start for start in self._weights if start <= first)]
        found, patterns = batch.accesses, batch.patterns
        pc, pattern = found.pc, found.pattern
        ones = np.ones(len(pc), np.int64)
        start = (found.address % _START_BYTES).astype(np.int32)
        rows = PatternCounts(pc, np.zeros_like(pc), start, pattern, ones)
        data = data_passes(rows, patterns, self._native, self._device)
        tags = tag_passes(pc, found.address, pattern, patterns, self._native, self._device)
        lanes = np.bitwise_count(patterns.mask[pattern]).astype(np.float64)
        np.add.at(self.bytes, pc, weight * lanes * self._native.bytes[pc])
        self.accesses += weight * len(pc)
        banked = has_banked_l1(self._device)
        self.wavefronts += weight * float((data if banked else tags).sum())
        self.passes += weight * float(np.maximum(data, tags).sum())


class _MeasuredSpan:
    """Thread blocks `first` to `end`; what those from `begin` on change is measured."""

    def __init__(self, simulator: TrafficSimulator, first: int, begin: int, end: int) -> None:
        self._simulator = simulator
        self.begin, self.end = begin, end
        self.ranges = [(first, begin), (begin, end)] if first < begin else [(begin, end)]
        self._is_fresh = True
        self._before: TrafficResult | None = None

    def accept(self, batch: AccessBatch) -> None:
        if self._is_fresh and batch.first_thread_block:
            self._simulator.skip_to(batch.first_thread_block)
        self._is_fresh = False
        if self._before is None and batch.first_thread_block >= self.begin:
            self._before = self._simulator.traffic_so_far()
        self._simulator.accept(replace(batch, warp_time=uneven(batch)))

    @property
    def before(self) -> TrafficResult:
        assert self._before is not None
        return self._before

    @property
    def after(self) -> TrafficResult:
        return self._simulator.traffic_so_far()

    def difference(self, column: str) -> npt.NDArray[np.int64]:
        """What the span added to a counter, by pc."""
        later, earlier = (
            getattr(item.by_instruction, column) for item in (self.after, self.before)
        )
        found: npt.NDArray[np.int64] = later - earlier
        return found


def uneven(batch: AccessBatch) -> npt.NDArray[np.int32]:
    """The warps' times, those of each thread block longer by a share that its number decides."""
    times = batch.warp_time.reshape(batch.thread_blocks, -1)
    numbers = np.arange(batch.thread_blocks, dtype=np.uint64) + np.uint64(batch.first_thread_block)
    shares = ((numbers * _GOLDEN) >> np.uint64(40)) / 2.0**24
    longer = np.rint(times.max(axis=1) * _UNEVENNESS * shares).astype(np.int32)
    found: npt.NDArray[np.int32] = (times + longer[:, None]).ravel()
    return found
