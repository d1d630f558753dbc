"""When results are there, by pc: of scalar loads, of tensor operations and of atomics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kernelcast.simcore.device.timing_facts import TimingFacts
from kernelcast.simcore.timing.kernel.amd_rows import is_scalar_load
from kernelcast.simcore.timing.kernel.component import Component
from kernelcast.simcore.timing.kernel.timed_kernel import Pipeline, TimedKernel
from kernelcast.traces.trace import InstructionRow

__all__ = ["results", "scalar_loads", "sooner"]

Floats = npt.NDArray[np.float64]


def scalar_loads(instructions: Sequence[InstructionRow], pcs: int) -> npt.NDArray[np.bool_]:
    """Whether each pc is a load of a scalar unit."""
    found = np.zeros(pcs, np.bool_)
    found[: len(instructions)] = [is_scalar_load(row) for row in instructions]
    return found


def sooner(
    is_scalar: npt.NDArray[np.bool_], timing: TimingFacts, without: frozenset[Component]
) -> Floats:
    """Cycles by which what a scalar load finds is there before what L1 has for lanes, by pc."""
    less = timing.l1_latency_cycles - timing.constant_latency_cycles
    cycles = 0.0 if Component.MEMORY_LATENCY in without else max(0.0, less)
    return np.where(is_scalar, cycles, 0.0)


def results(kernel: TimedKernel, without: frozenset[Component]) -> Floats:
    """Cycles from the issue of a tensor operation to its result, or of atomics, by pc."""
    atomic = kernel.atomic_cycles
    others: Floats = np.zeros(len(kernel.pipeline)) if atomic is None else atomic
    if kernel.tensor_latency is None:
        return others
    latency: Floats = np.ceil(kernel.tensor_latency)
    if Component.ARITHMETIC_LATENCY in without:
        latency = np.minimum(latency, 1.0)
    is_tensor = np.array([item is Pipeline.TENSOR for item in kernel.pipeline], np.bool_)
    found: Floats = np.where(is_tensor, latency, others)
    return found
