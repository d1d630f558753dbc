"""A batch of neighbouring thread blocks that the reference engine runs together.

Lanes are numbered thread block by thread block, each padded to whole warps.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.engine.recording.recorder import BatchCounts
from kernelcast.simcore.engine.reference.clusters import ClusterMembers
from kernelcast.simcore.engine.reference.lanes import Lanes, LaneView, RegisterFile, reinterpret
from kernelcast.simcore.isa.analysis.cluster_addresses import CLUSTER_SPECIALS, needs_clusters
from kernelcast.simcore.isa.analysis.warp_dependence import numbered_lanes
from kernelcast.simcore.isa.ir.kernel import (
    Immediate,
    Kernel,
    Operand,
    Register,
    Special,
    SpecialRegister,
)
from kernelcast.simcore.isa.matrix.products import Multiplication, multiply
from kernelcast.simcore.isa.types import Kind, ScalarType
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.launch.launch_memory import LaunchMemory
from kernelcast.simcore.launch.local_arrays import shared_bytes
from kernelcast.simcore.launch.memory_spaces import FlatMemory

__all__ = ["Batch", "GridShape", "thread_blocks_at_once"]


class GridShape:
    """Sizes of a launch in warps and lanes."""

    def __init__(self, launch: Launch, width: int) -> None:
        self.launch = launch
        self.width = width
        self.threads = launch.threads_per_thread_block
        self.warps = -(-self.threads // width)
        self.lanes = self.warps * width
        self.launch_lanes = self.lanes * launch.thread_blocks


# Lanes per batch: large enough to amortise a NumPy call, small enough for the L2 cache.
_BATCH_LANES = 1 << 16
# Fewer where their local and shared memory and their registers would not fit into this.
_BATCH_BYTES = 1 << 30


def thread_blocks_at_once(kernel: Kernel, shape: GridShape) -> int:
    """How many thread blocks of a launch make a batch; at least one."""
    registers = sum(register.bits for register in kernel.registers) // 8
    needed = shape.lanes * (kernel.local_bytes + registers) + shared_bytes(kernel, shape.launch)
    return max(1, min(_BATCH_LANES // shape.lanes, _BATCH_BYTES // max(1, needed)))


class Batch:
    """Some thread blocks, by number: their memory, clocks and special registers."""

    def __init__(
        self,
        kernel: Kernel,
        shape: GridShape,
        memory: LaunchMemory,
        constants: frozenset[int],
        thread_blocks: npt.NDArray[np.int64],
    ) -> None:
        self.shape = shape
        self.width = shape.width
        self.thread_blocks = thread_blocks
        self.count = count = len(thread_blocks)
        self.lanes = count * shape.lanes
        self.launch_lanes = shape.launch_lanes
        self.warps = _numbers_within(thread_blocks, shape.warps)
        """The number of each warp in the launch."""
        self.counts = BatchCounts(count, len(kernel.blocks), len(kernel.instructions), shape.warps)
        self.shared_bytes = shared_bytes(kernel, shape.launch)
        self.shared = FlatMemory("shared memory", self.shared_bytes, count)
        self.local = FlatMemory(
            "local memory", kernel.local_bytes, self.lanes if kernel.local_bytes else 1
        )
        self.multiply: Multiplication = multiply
        self.cluster: ClusterMembers | None = None
        cluster = shape.launch.cluster_of(kernel)
        if needs_clusters(kernel) or cluster != (1, 1, 1):
            self.cluster = ClusterMembers(shape.launch.grid, cluster, thread_blocks)
        self._lane = np.arange(self.lanes)
        self._owner = self._lane // shape.lanes
        self._memory = memory
        self._numbered_lanes = numbered_lanes(kernel, self.width)
        self._special: dict[Special, Lanes] = {}
        self._immediates: dict[tuple[int, ScalarType], Lanes] = {}
        self.file = RegisterFile(kernel.registers, self.lanes, self.width, constants, self.special)

    def exists(self) -> npt.NDArray[np.bool_] | None:
        """Lanes that are threads; None when there is no padding."""
        if self.shape.lanes == self.shape.threads:
            return None
        return np.tile(np.arange(self.shape.lanes) < self.shape.threads, self.count)

    def thread_block_of(self, lanes: npt.NDArray[np.intp] | None) -> npt.NDArray[np.int64]:
        """The thread block of each lane, counted within the batch."""
        return self._owner if lanes is None else self._owner[lanes]

    def thread_blocks_in(
        self, masks: Sequence[npt.NDArray[np.bool_] | None]
    ) -> npt.NDArray[np.bool_]:
        """The thread blocks with lanes in any of the masks, of which None is all lanes."""
        found = np.zeros(self.count, np.bool_)
        for mask in masks:
            found |= True if mask is None else mask.reshape(self.count, -1).any(axis=1)
        return found

    def count_guarded_off(self, frame: LaneView, pc: int, chosen: npt.NDArray[np.intp]) -> None:
        """Counts the lanes of a frame that a guard kept from an instruction: all but `chosen`."""
        off = np.ones(frame.count, np.bool_)
        off[chosen] = False
        owners = self.thread_block_of(frame.lanes)[off]
        self.counts.count_guarded_off(pc, np.bincount(owners, minlength=self.count))

    def lane_of(self, lanes: npt.NDArray[np.intp] | None) -> npt.NDArray[np.int64]:
        """Numbers of lanes in the batch; `lanes` None means all of them."""
        return self._lane if lanes is None else lanes

    def launch_lane_of(self, lanes: npt.NDArray[np.intp] | None) -> npt.NDArray[np.int64]:
        """The number of each lane in the launch, padding included."""
        first = self.thread_blocks * self.shape.lanes
        position = self.lane_of(lanes)
        return first[self.thread_block_of(lanes)] + position % self.shape.lanes

    def stage_of(self, warps: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The barrier stage of each warp's thread block."""
        return self.counts.stage[warps // self.shape.warps]

    def thread_name(self, lane: int) -> str:
        """`thread (x, y, z) of thread block (x, y, z)` for messages."""
        block, thread = divmod(lane, self.shape.lanes)
        launch = self.shape.launch
        return (
            f"thread {_position(thread, launch.thread_block)} "
            f"of thread block {_position(int(self.thread_blocks[block]), launch.grid)}"
        )

    def operand(self, frame: LaneView, operand: Operand, read_as: ScalarType) -> Lanes:
        """An operand as the type that the instruction reads."""
        if isinstance(operand, Register):
            return reinterpret(frame.read(operand), operand.bits, read_as)
        if isinstance(operand, Immediate):
            return self._immediate(operand.bits, read_as)
        if isinstance(operand, SpecialRegister):
            value = frame.special(operand.which)
            return reinterpret(value, value.dtype.itemsize * 8, read_as)
        return self._immediate(self._memory.address_of(operand), read_as)

    def special(self, which: Special) -> Lanes:
        """A special register: uint32, uint64 for the 64-bit ones, a scalar when uniform."""
        if which in (Special.CLOCK, Special.CLOCK64):
            return self._clock(which)
        if which is Special.GLOBALTIMER:
            return np.uint64(time.monotonic_ns())
        value = self._special.get(which)
        if value is None:
            value = self._special[which] = self._make_special(which)
        return value

    def _immediate(self, bits: int, read_as: ScalarType) -> Lanes:
        key = (bits, read_as)
        value = self._immediates.get(key)
        if value is None:
            if read_as.kind is Kind.PREDICATE:
                value = np.bool_(bits)
            else:
                raw = np.array(bits & ((1 << read_as.bits) - 1), read_as.storage)
                value = raw.view(read_as.dtype)[()]
            self._immediates[key] = value
        return value

    def _clock(self, which: Special) -> Lanes:
        """A warp's clock counts the instructions that it issued."""
        clocks = np.repeat(self.counts.warp_time, self.width)
        return clocks.astype(np.uint64 if which is Special.CLOCK64 else np.uint32)

    def _make_special(self, which: Special) -> Lanes:
        launch, name = self.shape.launch, which.value
        if name.startswith(("%ntid.", "%nctaid.")):
            sizes = launch.thread_block if name.startswith("%ntid.") else launch.grid
            return np.uint32(sizes["xyz".index(name[-1])])
        if name.startswith("%ctaid."):
            coordinate = _coordinate(self.thread_blocks, launch.grid, "xyz".index(name[-1]))
            return np.repeat(coordinate, self.shape.lanes)
        if which in CLUSTER_SPECIALS:
            assert self.cluster is not None
            return np.repeat(self.cluster.special(which), self.shape.lanes)
        values: dict[Special, Lanes] = {
            Special.NWARPID: np.uint32(self.shape.warps),
            Special.WARP_WIDTH: np.uint32(self.width),
            Special.SMID: np.uint32(0),
            Special.NSMID: np.uint32(1),
            Special.GRIDID: np.uint64(1),
            Special.DYNAMIC_SMEM_SIZE: np.uint32(launch.dynamic_shared_bytes),
            Special.TOTAL_SMEM_SIZE: np.uint32(self.shared_bytes),
        }
        if which in values:
            return values[which]
        return np.tile(self._within_thread_block(which), self.count)

    def _within_thread_block(self, which: Special) -> npt.NDArray[np.uint32]:
        """Special registers that are the same in every thread block, for the lanes of one."""
        lane, name = np.arange(self.shape.lanes), which.value
        if name.startswith("%tid."):
            return _coordinate(lane, self.shape.launch.thread_block, "xyz".index(name[-1]))
        if which is Special.WARPID:
            return (lane // self.width).astype(np.uint32)
        within_warp = lane % self._numbered_lanes
        if which is Special.LANEID:
            return within_warp.astype(np.uint32)
        return _lane_mask(within_warp.astype(np.uint64), name.removeprefix("%lanemask_"))


def _numbers_within(thread_blocks: npt.NDArray[np.int64], parts: int) -> npt.NDArray[np.int64]:
    """Numbers in the launch of the `parts` of each thread block, flat."""
    return (thread_blocks[:, None] * parts + np.arange(parts)).reshape(-1)


def _coordinate(
    number: npt.NDArray[np.int64], sizes: tuple[int, int, int], axis: int
) -> npt.NDArray[np.uint32]:
    x, y, _ = sizes
    divided = (number % x, number // x % y, number // (x * y))
    return divided[axis].astype(np.uint32)


def _lane_mask(lane: npt.NDArray[np.uint64], relation: str) -> npt.NDArray[np.uint32]:
    one = np.uint64(1)
    bit = one << lane
    below = bit - one
    masks = {
        "eq": bit,
        "lt": below,
        "le": below | bit,
        "gt": ~(below | bit),
        "ge": ~below,
    }
    return masks[relation].astype(np.uint32)


def _position(number: int, sizes: tuple[int, int, int]) -> str:
    x, y, _ = sizes
    return f"({number % x}, {number // x % y}, {number // (x * y)})"
