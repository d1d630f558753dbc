"""What compiled code takes as fixed of a launch: sizes, integer parameters, pointers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kernelcast.simcore.engine.jit.analysis.lane_variance import (
    LaneVariance,
    constant_variance,
    uniform,
)
from kernelcast.simcore.engine.jit.analysis.warp_analysis import Facts
from kernelcast.simcore.engine.jit.codegen.clusters import cluster_value, cluster_variances
from kernelcast.simcore.engine.jit.codegen.registers import lane_vector
from kernelcast.simcore.engine.jit.codegen.workspace import field_offset
from kernelcast.simcore.isa.analysis.cluster_addresses import CLUSTER_SPECIALS, needs_clusters
from kernelcast.simcore.isa.analysis.control_flow import writes
from kernelcast.simcore.isa.analysis.warp_dependence import numbered_lanes
from kernelcast.simcore.isa.ir.kernel import Compute, Kernel, Load, Register, Special
from kernelcast.simcore.isa.numerics.lane_code import LaneCode
from kernelcast.simcore.launch.image_descriptors import (
    descriptor_words,
    parameter_memory_bytes,
    placed_images,
)
from kernelcast.simcore.launch.images import Sampler
from kernelcast.simcore.launch.launch import Launch
from kernelcast.simcore.launch.launch_memory import LaunchMemory
from kernelcast.simcore.launch.local_arrays import placed_arguments
from kernelcast.simcore.launch.textures import levels_of

__all__ = ["LaunchFacts", "SpecialValues", "launch_facts", "pointer_roots"]

_CONFLICT = -1


@dataclass(frozen=True)
class LaunchFacts:
    """Facts of a launch that compiled code has as constants.

    `integers`: (offset, bytes, value) of the parameters that compiled code has as constants;
    `pointers`: places of pointers in the memory of parameters, in the order of their rows.
    """

    width: int
    grid: tuple[int, int, int]
    thread_block: tuple[int, int, int]
    shared_bytes: int
    dynamic_shared_bytes: int
    integers: tuple[tuple[int, int, int], ...]
    pointers: tuple[int, ...]
    parameter_bytes: int = 0
    """The size of all parameters with the descriptors of images."""
    numbered_lanes: int = 64
    """`%laneid` counts modulo this."""
    cluster: tuple[int, int, int] | None = None
    """Thread blocks of a cluster; None where the kernel knows of none."""
    numbers: tuple[int, ...] = ()
    """Offsets of parameters that are mere numbers: code may read them when it runs as well."""
    read_axes: tuple[int, ...] = ()
    """Axes along which code reads the size of the grid; `grid` is the most there then."""
    together: int = 1
    """Warps that are executed as one of `width` lanes."""

    @property
    def threads(self) -> int:
        """Threads of a thread block."""
        x, y, z = self.thread_block
        return x * y * z

    @property
    def warps(self) -> int:
        """Warps of a thread block; the last one may be partly filled."""
        return -(-self.threads // self.width)

    @property
    def cluster_size(self) -> int:
        """0 where the kernel knows of no cluster."""
        x, y, z = self.cluster or (0, 0, 0)
        return x * y * z


def launch_facts(
    kernel: Kernel, launch: Launch, memory: LaunchMemory, width: int, shared: int
) -> LaunchFacts:
    """The facts of a launch with `shared` bytes of shared memory a thread block."""
    pointers = tuple(place for place, _ in memory.pointers)
    integers: list[tuple[int, int, int]] = []
    numbers: list[int] = []
    images = placed_images(kernel, launch)
    for value, parameter in zip(placed_arguments(kernel, launch), kernel.parameters, strict=True):
        for _ in levels_of(value):
            placed = next(images)
            if placed.level == 0:
                integers.append((parameter.offset, 8, placed.place))
            integers += descriptor_words(placed)
        if isinstance(value, Sampler):
            integers.append((parameter.offset, parameter.size, value.word))
        elif parameter.offset in pointers:
            continue  # the code serves wherever it points
        elif isinstance(value, (int, np.integer)) and not parameter.type.is_float:
            bits = int(value) & ((1 << (8 * parameter.size)) - 1)
            integers.append((parameter.offset, parameter.size, bits))
            if not parameter.is_local_array:
                numbers.append(parameter.offset)
    return LaunchFacts(
        width=width,
        grid=launch.grid,
        thread_block=launch.thread_block,
        shared_bytes=shared,
        dynamic_shared_bytes=launch.dynamic_shared_bytes,
        integers=tuple(integers),
        pointers=pointers,
        parameter_bytes=parameter_memory_bytes(kernel, launch),
        numbered_lanes=numbered_lanes(kernel, width),
        cluster=launch.cluster_of(kernel) if needs_clusters(kernel) else None,
        numbers=tuple(numbers),
    )


def pointer_roots(
    kernel: Kernel, pointers: tuple[int, ...], places: Mapping[int, int]
) -> dict[int, int]:
    """Register index -> row of the pointer that its address was computed from, where only one is.

    `places`: what loads of parameters read, by pc.
    """
    rows = {place: row for row, place in enumerate(pointers)}
    found: dict[int, int] = {}
    changed = True
    while changed:
        changed = False
        for instruction in kernel.instructions:
            roots: set[int] = set()
            if isinstance(instruction, Load):
                roots = {rows[o] for o in (places.get(instruction.pc, -1),) if o in rows}
            elif isinstance(instruction, Compute) and instruction.type.bits >= 32:
                sources = (s for s in instruction.sources if isinstance(s, Register))
                roots = {found[s.index] for s in sources if s.index in found}
            if not roots:
                continue
            root = roots.pop() if len(roots) == 1 else _CONFLICT
            for register in writes(instruction):
                old = found.get(register.index, root)
                new = root if old == root else _CONFLICT
                if found.get(register.index) != new:
                    found[register.index] = new
                    changed = True
    return {index: root for index, root in found.items() if root != _CONFLICT}


class SpecialValues:
    """Shapes of special registers, and the code that computes their scalar bases."""

    def __init__(self, launch: LaunchFacts) -> None:
        self._launch = launch
        self.width = launch.width
        self.variances: dict[Special, LaneVariance] = {}
        self._make()

    def facts(self) -> Facts:
        """What is known of special registers and parameters before the kernel runs."""
        integers = {offset: (size, value) for offset, size, value in self._launch.integers}

        def parameter(offset: int, bits: int) -> LaneVariance:
            known = integers.get(offset)
            if known is None or 8 * known[0] < bits:
                return uniform(self.width)
            return constant_variance(self.width, known[1] & ((1 << bits) - 1))

        partial = self._launch.threads % self.width != 0
        return Facts(self.width, partial, self.variances, parameter, self._launch.parameter_bytes)

    def write(self, entry: LaneCode) -> dict[Special, str]:
        """Scalar bases, or vectors of those without a pattern, valid in the whole function."""
        values: dict[Special, str] = {}
        launch, width = self._launch, self.width
        linear = entry.op(f"mul i32 %warp, {width}")
        x, y, _ = launch.thread_block
        for which, variance in self.variances.items():
            name = which.value
            if variance.constant is not None and not variance.is_varying:
                values[which] = str(variance.constant)
            elif name.startswith("%tid."):
                values[which] = self._thread(entry, linear, "xyz".index(name[-1]), variance, (x, y))
            elif name.startswith("%ctaid."):
                values[which] = f"%c{name[-1]}"
            elif name.startswith("%nctaid."):
                values[which] = _read_size(entry, name[-1])
            elif which is Special.WARPID:
                values[which] = "%warp"
            elif which in CLUSTER_SPECIALS:
                values[which] = cluster_value(entry, which, launch.cluster or (1, 1, 1))
            else:
                values[which] = "0"
        return values

    def _thread(
        self,
        entry: LaneCode,
        linear: str,
        axis: int,
        variance: LaneVariance,
        sizes: tuple[int, int],
    ) -> str:
        code = entry
        if variance.is_varying:
            code = entry.with_lanes(self.width)
            single = entry.op(f"insertelement <{self.width} x i32> poison, i32 {linear}, i32 0")
            linear = entry.op(
                f"shufflevector <{self.width} x i32> {single}, <{self.width} x i32> poison, "
                f"<{self.width} x i32> zeroinitializer"
            )
            linear = code.binary("add", "i32", linear, lane_vector("i32", tuple(range(self.width))))
        x, y = sizes
        if axis:
            divisor = x if axis == 1 else x * y
            linear = code.binary("udiv", "i32", linear, code.splat("i32", divisor))
        if axis == 2 or (axis == 0 and y * self._launch.thread_block[2] == 1):
            return linear
        size = x if axis == 0 else y
        if axis == 1 and self._launch.thread_block[2] == 1:
            return linear
        return code.binary("urem", "i32", linear, code.splat("i32", size))

    def _make(self) -> None:
        launch, width = self._launch, self.width
        lanes = range(width)
        for axis, letter in enumerate("xyz"):
            self._constant(f"%ntid.{letter}", launch.thread_block[axis])
            self._constant(f"%nctaid.{letter}", launch.grid[axis])
            if axis in launch.read_axes:
                most = uniform(width, (1, launch.grid[axis]))
                self.variances[Special(f"%nctaid.{letter}")] = most
            last = launch.grid[axis] - 1
            variance = uniform(width, (0, last)) if last else constant_variance(width, 0)
            self.variances[Special(f"%ctaid.{letter}")] = variance
            self.variances[Special(f"%tid.{letter}")] = self._thread_variance(axis)
        self.variances[Special.WARPID] = uniform(width, (0, launch.warps - 1))
        numbers = tuple(lane % launch.numbered_lanes for lane in lanes)
        self._pattern(Special.LANEID, numbers)
        for relation in ("eq", "lt", "le", "gt", "ge"):
            special = Special(f"%lanemask_{relation}")
            self._pattern(special, tuple(_lane_mask(lane, relation) for lane in numbers))
        for special, value in (
            (Special.NWARPID, launch.warps),
            (Special.WARP_WIDTH, width),
            (Special.SMID, 0),
            (Special.NSMID, 1),
            (Special.GRIDID, 1),
            (Special.DYNAMIC_SMEM_SIZE, launch.dynamic_shared_bytes),
            (Special.TOTAL_SMEM_SIZE, launch.shared_bytes),
        ):
            self.variances[special] = constant_variance(width, value)
        for special in (Special.CLOCK, Special.CLOCK64, Special.GLOBALTIMER):
            self.variances[special] = uniform(width)
        if launch.cluster is not None:
            self.variances |= cluster_variances(width, launch.grid, launch.cluster)

    def _constant(self, name: str, value: int) -> None:
        self.variances[Special(name)] = constant_variance(self.width, value)

    def _pattern(self, special: Special, values: tuple[int, ...]) -> None:
        offsets = tuple(value - values[0] for value in values)
        bounds = (min(values), max(values))
        power = 64 if not values[0] else 0
        self.variances[special] = LaneVariance(offsets, values[0], bounds, power)

    def _thread_variance(self, axis: int) -> LaneVariance:
        """Fixed patterns where warps fill whole rows, or rows whole warps."""
        x, y, z = self._launch.thread_block
        width = self.width
        lanes = range(width)
        padded = (self._launch.warps * width - 1) // (x * y)
        bounds = ((0, x - 1), (0, y - 1), (0, padded))[axis]
        if axis == 1 and z == 1:
            bounds = (0, (self._launch.warps * width - 1) // x)
        below = width.bit_length() - 1
        if y * z == 1:
            if axis:
                return constant_variance(width, 0)
            last = self._launch.warps * width - 1
            base = 0 if self._launch.warps == 1 else None
            return LaneVariance(tuple(lanes), base, (0, last), below)
        if x % width == 0:
            if axis == 0:
                base = 0 if x == width else None
                return LaneVariance(tuple(lanes), base, bounds, below)
            return uniform(width, bounds)
        if width % x == 0:
            rows = width // x
            if axis == 0:
                return LaneVariance(tuple(lane % x for lane in lanes), 0, bounds, 64)
            if y % rows == 0 or z == 1:
                if axis == 1:
                    power = rows.bit_length() - 1
                    return LaneVariance(tuple(lane // x for lane in lanes), None, bounds, power)
                return uniform(width, bounds) if z > 1 else constant_variance(width, 0)
        return LaneVariance(None)


def _read_size(entry: LaneCode, axis: str) -> str:
    where = entry.op(f"getelementptr i8, ptr %w, i64 {field_offset(f'grid_{axis}')}")
    size = entry.op(f"load i64, ptr {where}")
    return entry.op(f"trunc i64 {size} to i32")


def _lane_mask(lane: int, relation: str) -> int:
    bit = 1 << lane
    masks = {"eq": bit, "lt": bit - 1, "le": 2 * bit - 1, "gt": -2 * bit, "ge": -bit}
    return masks[relation] & 0xFFFFFFFF
