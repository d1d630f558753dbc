"""`kernelcast.topdown`: one call for what was executed here and for what a profiler measured."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeAlias

from kernelcast.errors import KernelcastError
from kernelcast.execution.kernel_trace import KernelTrace
from kernelcast.models.topdown import ApplicationTopDown
from kernelcast.simcore.device.device import Device
from kernelcast.simcore.device.file import load_device
from kernelcast.simcore.profile.profile import KernelProfile
from kernelcast.topdown_analysis.measured import MeasuredGpu, measured_topdown

__all__ = ["TopDownSource", "topdown"]

TopDownSource: TypeAlias = KernelTrace | KernelProfile | str | os.PathLike[str]


def topdown(
    source: TopDownSource,
    device: Device | str | None = None,
    *,
    kernel: str | None = None,
    compute_capability: str | None = None,
    strict: bool = False,
) -> ApplicationTopDown:
    """Where the issue slots of an SM go (Saiz 2021), on three levels.

    A trace with paths (`run(record_paths=True)`) is simulated on `device`, a profile of one on its
    own device unless another is given. A path is a CSV file of nvprof or ncu: `device` or
    `compute_capability` says where it was measured if the file does not, `kernel` picks one of its
    kernels, and `strict` adds up its metrics as the thesis prints them. `total` of the result is
    the one kernel, or all of them weighted by time; `total["Memory Bound"].percent` is of IPC_MAX.
    MetricsError for files that lack metrics, ModelNotApplicable without paths or timing facts.
    """
    target = load_device(device) if isinstance(device, str) else device
    if not isinstance(source, KernelTrace | KernelProfile):
        gpu = _measured_gpu(target, compute_capability)
        return measured_topdown(Path(source), gpu, kernel, is_strict=strict)
    if kernel is not None or compute_capability is not None or strict:
        raise KernelcastError(
            "kernel, compute_capability and strict are for a profiler's file, not for a simulation"
        )
    return _simulated(source, target)


def _measured_gpu(device: Device | None, compute_capability: str | None) -> MeasuredGpu | None:
    """None where neither is given, for the file may tell."""
    if device is not None and compute_capability is not None:
        raise KernelcastError(
            "name the GPU of the metrics: either a device or a compute capability"
        )
    if device is not None:
        return MeasuredGpu.of_device(device)
    if compute_capability is not None:
        return MeasuredGpu.of_capability(compute_capability)
    return None


def _simulated(source: KernelTrace | KernelProfile, device: Device | None) -> ApplicationTopDown:
    # The compiled simulator is slow to import, and profilers' files do not need it.
    from kernelcast.topdown_analysis.simulated import simulated_topdown

    if isinstance(source, KernelProfile):
        return simulated_topdown(source, device or source.target or load_device(source.device))
    if device is None:
        raise KernelcastError("name the GPU to simulate: topdown(trace, device)")
    return simulated_topdown(source.profile(device), device)
