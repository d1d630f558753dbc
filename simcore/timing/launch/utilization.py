"""How busy each part of a GPU is during a launch, and nvprof's ratings of it from 0 to 10."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.device import Device
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel, timing_facts
from kernelcast.simcore.timing.launch.launch_timing import LaunchTiming
from kernelcast.simcore.timing.walk.sm_machine import sm_machine

__all__ = ["Resource", "nvprof_ratings", "utilization"]

Floats = npt.NDArray[np.floating[Any]]
_REGISTER_BYTES = 4.0
_WITH_L1_SHARED = ("2.", "3.")
"""Compute capabilities whose L1 and shared memory nvprof rates as one, and arithmetic as one."""


class Resource(Enum):
    """What nvprof rates, named as in its metrics without `_utilization`."""

    ALU = "alu_fu"
    SINGLE_PRECISION = "single_precision_fu"
    DOUBLE_PRECISION = "double_precision_fu"
    HALF_PRECISION = "half_precision_fu"
    SPECIAL = "special_fu"
    TENSOR = "tensor_precision_fu"
    LOAD_STORE = "ldst_fu"
    CONTROL_FLOW = "cf_fu"
    L1_SHARED = "l1_shared"
    SHARED = "shared"
    L1 = "tex"
    L2 = "l2"
    DRAM = "dram"


_INTEGER = (Pipeline.INTEGER, Pipeline.INTEGER_MULTIPLY)
_UNITS: Mapping[Resource, tuple[Pipeline, ...]] = {
    Resource.ALU: (Pipeline.FP32, Pipeline.VECTOR, Pipeline.FP64, *_INTEGER),
    Resource.SINGLE_PRECISION: (Pipeline.FP32, Pipeline.VECTOR, *_INTEGER),
    Resource.DOUBLE_PRECISION: (Pipeline.FP64,),
    Resource.HALF_PRECISION: (Pipeline.HALF,),
    Resource.SPECIAL: (Pipeline.SPECIAL_FUNCTION, Pipeline.CONVERSION),
}
"""NVIDIA Profiler User's Guide: integers count with single precision."""
_ONE_BY_ONE = frozenset((Resource.SINGLE_PRECISION, Resource.DOUBLE_PRECISION, Resource.SHARED))
_TOGETHER = frozenset((Resource.ALU, Resource.L1_SHARED))


def utilization(
    kernel: TimedKernel, device: Device, timing: LaunchTiming
) -> Mapping[Resource, float]:
    """Busy cycles over the cycles of the launch, mean of all SMs; DRAM over its nominal bandwidth.

    Units that share a rating add up. `timing` is of `kernel` on `device`.
    """
    cycles = timing.cycles * timing.scale
    work = _Work(kernel, device)
    shares = {
        resource: sum(work.unit(pipeline) for pipeline in pipelines) / cycles
        for resource, pipelines in _UNITS.items()
    }
    shares[Resource.LOAD_STORE] = work.load_store / cycles
    shares[Resource.CONTROL_FLOW] = work.branches / cycles
    shares[Resource.TENSOR] = work.tensor / cycles
    shares[Resource.SHARED] = work.shared / cycles
    shares[Resource.L1] = work.l1 / cycles
    shares[Resource.L1_SHARED] = (work.shared + work.l1) / cycles
    shares[Resource.L2] = work.l2 / cycles
    shares[Resource.DRAM] = work.dram / cycles
    return {resource: min(1.0, share) for resource, share in shares.items()}


def nvprof_ratings(shares: Mapping[Resource, float], device: Device) -> dict[str, int]:
    """nvprof's ratings by metric without its suffix, as the device has them.

    0 stands for idle, 10 for tenths above nine.
    """
    is_joint = device.architecture.compute_capability.startswith(_WITH_L1_SHARED)
    absent = _ONE_BY_ONE if is_joint else _TOGETHER
    return {
        resource.value: min(10, math.ceil(10.0 * share - 1e-9))
        for resource, share in shares.items()
        if resource not in absent
    }


class _Work:
    """Busy cycles of an average SM during the launch, each resource at its full rate."""

    def __init__(self, kernel: TimedKernel, device: Device) -> None:
        paths, sms = kernel.paths, device.architecture.sm_count
        self._kernel, self._timing = kernel, timing_facts(device)
        self._machine = sm_machine(kernel, device, sms)
        launches = kernel.thread_blocks / len(paths.thread_blocks) / kernel.path_share / sms
        size = len(kernel.pipeline)
        self._count = launches * np.bincount(paths.pc, minlength=size)
        self._passes = launches * np.bincount(paths.pc, kernel.wavefronts, minlength=size)
        self._nominal = device.dram.bandwidth_bytes_per_s / device.running_clock_hz / sms
        self._sector_bytes = device.l2.sector_bytes

    def unit(self, pipeline: Pipeline) -> float:
        lanes = self._timing.lanes_of(pipeline.value)
        return self._of(pipeline, self._count) * self._kernel.warp_width / lanes

    @property
    def tensor(self) -> float:
        return self._of(Pipeline.TENSOR, self._passes) / self._machine.schedulers

    @property
    def shared(self) -> float:
        return self._of(Pipeline.SHARED, self._passes) * self._machine.shared_cycles

    @property
    def l1(self) -> float:
        moved = self._count * self._kernel.warp_width * self._kernel.levels.bytes_per_lane
        passes = np.maximum(self._passes, moved / self._timing.l1_wavefront_bytes)
        return self._of(Pipeline.GLOBAL, passes)

    @property
    def load_store(self) -> float:
        """One register of each lane at a time, as fast as shared memory is read."""
        registers = np.maximum(1.0, np.ceil(self._kernel.levels.bytes_per_lane / _REGISTER_BYTES))
        accesses = self._count * registers * self._machine.shared_cycles
        return self._of(Pipeline.SHARED, accesses) + self._of(Pipeline.GLOBAL, accesses)

    @property
    def branches(self) -> float:
        issues = self._machine.schedulers / self._machine.issue_cycles
        issued = self._of(Pipeline.BRANCH, self._count)
        return (issued + self._of(Pipeline.RECONVERGENCE, self._count)) / issues

    @property
    def l2(self) -> float:
        return float(self._past_l1.sum()) * self._machine.l2_cycles

    @property
    def dram(self) -> float:
        sectors = float((self._past_l1 * (1.0 - self._kernel.levels.l2_hits)).sum())
        missed = 1.0 - self._kernel.memory_side.moved
        return missed * sectors * self._sector_bytes / self._nominal

    @property
    def _past_l1(self) -> Floats:
        levels = self._kernel.levels
        past: Floats = self._count * levels.sectors * (1.0 - levels.l1_hits)
        return past

    def _of(self, pipeline: Pipeline, values: Floats) -> float:
        chosen = [item is pipeline for item in self._kernel.pipeline]
        return float(values[chosen].sum())
